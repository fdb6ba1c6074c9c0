//! Files that a server in user space has, and disks whose device is such a file: what a read costs there is known, and where it
//! comes from is not.

use super::late::{Late, stay};
use super::{fathom, points};
use crate::claim::{self, Claim, Figure, between, decided};
use crate::tier::{Outcome, Test, Undecided, alone, needs_root, skipped};
use fathom::machine::Machine;
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const TESTS: &[Test] = &alone![
    a_disk_that_answers_late_reads_so_late,
    reads_of_a_file_system_in_user_space_are_not_called_reads_of_a_device,
];

/// Bytes of a read.
const BLOCK: usize = 4096;

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

/// Costs of the reads that wait for the server one by one, in the order of the table.
fn waiting_reads(disk: &Path, run: &Path, cpu: usize) -> Result<Vec<Figure>, String> {
    let points = points(&reads(disk, run, cpu));
    let alone = |point: &&Value| {
        let has = |name: &str, values: &[Value]| values.contains(&point["parameters"][name]);
        let waits = has("state", &["direct".into()])
            || has("state", &["cold".into()]) && has("order", &["random".into()]);
        let usual = has("block", &[4096.into()]) && has("call", &["read".into(), "pread".into()]);
        waits && usual && has("file", &[65_536.into(), (64 << 20).into()])
    };
    points.iter().filter(alone).map(|point| claim::value(Some(point))).collect()
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

/// Bytes of the file that is read with nothing of ours.
const PLAIN: usize = 1 << 20;

/// What such a read takes, nanoseconds, by a plain program on the same CPU: the median of reads past the page cache, as many
/// as make a fifth of a second where the server is late. Between the server's delay and its reader lie the disk's driver and the
/// waking of whoever sleeps, which is longer after a long sleep: only another reader of the same disk can tell.
fn plain_read_ns(file: &File, cpu: usize) -> f64 {
    let timed = || {
        stay(cpu).unwrap();
        let mut room = vec![0_u8; 2 * BLOCK];
        let start = room.as_ptr().align_offset(BLOCK);
        let block = &mut room[start..start + BLOCK];
        let mut took: Vec<u128> = (0..64_usize)
            .map(|n| {
                let began = Instant::now();
                file.read_exact_at(block, (n * 37 % (PLAIN / BLOCK) * BLOCK) as u64).unwrap();
                began.elapsed().as_nanos()
            })
            .collect();
        took.sort_unstable();
        took[took.len() / 2] as f64
    };
    std::thread::scope(|scope| scope.spawn(timed).join().unwrap())
}

/// The reads of a run take what they take a plain program, before it and after it.
fn reads_what_the_server_adds() -> Result<Vec<Claim>, String> {
    let work = tempfile::tempdir().unwrap();
    let (mount, disk) = (work.path().join("mount"), work.path().join("disk"));
    std::fs::create_dir_all(&mount).unwrap();
    std::fs::create_dir_all(&disk).unwrap();
    let cpu = Machine::describe(work.path()).allowed_cpus()[0];
    let server = Late::mounted(&mount, cpu).map_err(|error| format!("no file system to be late: {error}"))?;
    disk_of(&mount, &disk);
    let (mounted, run) = (Disk(&disk), work.path().join("run.jsonl"));
    let plain = disk.join("plain");
    std::fs::write(&plain, vec![1; PLAIN]).unwrap();
    File::open(&plain).unwrap().sync_all().unwrap();
    let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(&plain).unwrap();
    server.answer_after(LATE);
    let before = plain_read_ns(&file, cpu);
    let late = waiting_reads(&disk, &run, cpu)?;
    let after = plain_read_ns(&file, cpu);
    server.answer_after(Duration::ZERO);
    drop((file, mounted));
    assert_eq!(late.len(), 6, "direct in two orders and cold in one, of two files");
    assert!(before.min(after) >= LATE.as_nanos() as f64, "the server was not late: {before} {after}");
    let plain = f64::midpoint(before, after);
    let claims = late.into_iter().enumerate().map(|(number, late)| {
        let over = Some(late.times(1.0 / plain));
        between(format!("read {number} that is answered late over a plain one"), over, 0.98, 1.02)
    });
    Ok(claims.collect())
}

/// Skips the test where no such server can be had.
pub fn needs_servers() -> Outcome {
    needs_root()?;
    let device = File::open("/dev/fuse");
    device.map(drop).or_else(|error| skipped(format!("/dev/fuse is not to be had: {error}")))
}

fn a_disk_that_answers_late_reads_so_late() -> Outcome {
    needs_servers()?;
    // The thread gets a mount namespace of its own, which must not become that of other tests.
    decided(|| std::thread::spawn(reads_what_the_server_adds).join().unwrap().map_err(Undecided::from))
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
        assert!(told.filter(|reason| reason.contains("is not visible here")).count() >= 2, "{found:#?}");
    }
    assert!(of("warm").any(|point| point["median"].is_f64()), "the page cache can be read there: {found:#?}");
    assert_eq!(std::fs::read_dir(&mount).unwrap().count(), 0, "nothing is left");
}

fn reads_of_a_file_system_in_user_space_are_not_called_reads_of_a_device() -> Outcome {
    needs_servers()?;
    std::thread::spawn(reads_of_the_server_have_reasons).join().unwrap();
    Ok(())
}
