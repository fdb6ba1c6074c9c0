//! Files that a server in user space has, and disks whose device is such a file: what a read costs there is known, and where it
//! comes from is not.

use super::late::Late;
use super::{alone, fathom, is_root, near, points, sessions};
use fathom::machine::Machine;
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// What the server adds to every read.
const LATE: Duration = Duration::from_millis(3);

/// What a run of reads in a folder finds, the newest in its place.
fn reads(folder: &Path, run: &Path, cpu: usize) -> Output {
    let _ = std::fs::remove_file(run);
    let _ = std::fs::remove_file(run.with_extension("html"));
    let mut command = Command::new(fathom());
    command.args(["run", "filesystem/read", "--quick", "--budget", "45s", "--trial", "30ms", "--alongside"]);
    command
        .args(["--precision", "99%", "--cpu", &cpu.to_string(), "--format", "json", "--dir"])
        .arg(folder)
        .arg("-o")
        .arg(run);
    command.stdin(Stdio::null()).output().unwrap()
}

/// Medians of the reads that wait for the server one by one, in the order of the table.
fn waiting_reads(disk: &Path, run: &Path, cpu: usize) -> Result<Vec<f64>, String> {
    let points = points(&reads(disk, run, cpu));
    let alone = |point: &&Value| {
        let has = |name: &str, values: &[Value]| values.contains(&point["parameters"][name]);
        let waits = has("state", &["direct".into()])
            || has("state", &["cold".into()]) && has("order", &["random".into()]);
        let usual = has("block", &[4096.into()]) && has("call", &["read".into(), "pread".into()]);
        waits && usual && has("file", &[65_536.into(), (64 << 20).into()])
    };
    let median = |point: &Value| point["median"].as_f64().ok_or_else(|| format!("no median: {point:#}"));
    points.iter().filter(alone).map(median).collect()
}

/// Makes a disk whose device is a file of the server, which it is asked for past every cache, and mounts it. The device is
/// let go at once, so that it goes with the mount, and the mount with this thread's namespace.
fn disk_of(server: &Path, disk: &Path) {
    let script = "truncate -s 700m \"$1/image\"; mkfs.ext4 -q -F -N 256 -O ^has_journal \
        -E nodiscard,lazy_itable_init=0 \"$1/image\"; DEVICE=$(losetup --direct-io=on -f --show \"$1/image\"); \
        mount -o noatime \"$DEVICE\" \"$2\"; losetup -d \"$DEVICE\"";
    let made = Command::new("sh").args(["-ec", script, "sh"]).arg(server).arg(disk).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// A mounted disk, gone when this is dropped: before its server, who would else be waited for.
struct Disk<'path>(&'path Path);

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

/// The same server answers at once and late: what it and the kernel cost beside the delay is in both.
fn reads_what_the_server_adds() -> Result<(), String> {
    let work = tempfile::tempdir().unwrap();
    let (mount, disk) = (work.path().join("mount"), work.path().join("disk"));
    std::fs::create_dir_all(&mount).unwrap();
    std::fs::create_dir_all(&disk).unwrap();
    let cpu = Machine::describe(work.path()).allowed_cpus()[0];
    let server = Late::mounted(&mount, cpu).map_err(|error| format!("no file system to be late: {error}"))?;
    disk_of(&mount, &disk);
    let (mounted, run) = (Disk(&disk), work.path().join("run.jsonl"));
    let prompt = waiting_reads(&disk, &run, cpu)?;
    server.answer_after(LATE);
    let late = waiting_reads(&disk, &run, cpu)?;
    server.answer_after(Duration::ZERO);
    drop(mounted);
    assert_eq!((prompt.len(), late.len()), (6, 6), "direct in two orders and cold in one, of two files");
    for (prompt, late) in prompt.iter().zip(&late) {
        near("a read that is answered late", *late, LATE.as_nanos() as f64 + prompt, 0.02)?;
    }
    Ok(())
}

/// Whether such a server can be had; says what is not tested where not.
fn has_servers(what: &str) -> bool {
    let device = File::open("/dev/fuse");
    if let Err(error) = &device {
        eprintln!("not tested, because /dev/fuse is not to be had ({error}): {what}");
    }
    is_root(what) && device.is_ok()
}

#[test]
fn a_disk_that_answers_late_reads_so_late() {
    let _alone = alone();
    if has_servers("reads of a disk that answers after 3 ms take 3 ms more") {
        // The thread gets a mount namespace of its own, which must not become that of other tests.
        let session = || std::thread::spawn(reads_what_the_server_adds).join().unwrap();
        sessions::in_one_of_three(session);
    }
}

/// The server answers out of its memory, and nothing that the kernel tells can show it.
fn reads_of_the_server_have_reasons() {
    let work = tempfile::tempdir().unwrap();
    let mount = work.path().join("mount");
    std::fs::create_dir_all(&mount).unwrap();
    let cpu = Machine::describe(work.path()).allowed_cpus()[0];
    let _server = Late::mounted(&mount, cpu).expect("a file system");
    let found = points(&reads(&mount, &work.path().join("run.jsonl"), cpu));
    let of = |state: &'static str| found.iter().filter(move |point| point["parameters"]["state"] == state);
    for state in ["direct", "cold"] {
        assert!(of(state).all(|point| point["median"].is_null()), "{found:#?}");
        let told = of(state).filter_map(|point| point["reason"].as_str());
        assert!(told.filter(|reason| reason.contains("cannot be seen here")).count() >= 2, "{found:#?}");
    }
    assert!(of("warm").any(|point| point["median"].is_f64()), "the page cache can be read there: {found:#?}");
    assert_eq!(std::fs::read_dir(&mount).unwrap().count(), 0, "nothing is left");
}

#[test]
fn reads_of_a_file_system_in_user_space_are_not_called_reads_of_a_device() {
    let _alone = alone();
    if has_servers("what a server in user space answers is not called a device") {
        std::thread::spawn(reads_of_the_server_have_reasons).join().unwrap();
    }
}
