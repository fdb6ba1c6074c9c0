//! Files and devices whose truth is known: a cache that a run limits, a file system that answers late; and those that cannot be
//! measured, for which there must be a reason. Caches and disks that are held to a known size or rate are rigs of
//! `fathom verify` (`tests/verify.rs`).
//!
//! What needs root, a loop device or a control group runs in a mount namespace of its own, so that nothing is left of it.
//! Where that is not to be had the test says by name what it did not do.

mod control_group;
#[path = "filesystem/late.rs"]
mod late;
#[path = "filesystem/served.rs"]
mod served;
mod sessions;
#[path = "filesystem/stacked.rs"]
mod stacked;

use control_group::Group;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One measurement at a time: the tests of this file would measure each other.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const MIB: f64 = (1 << 20) as f64;

fn fathom() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_fathom"))
}

/// Whether this user may mount and make namespaces; says what is not tested where not.
fn is_root(what: &str) -> bool {
    let root = std::fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"));
    if !root {
        eprintln!("not tested, because it needs root: {what}");
    }
    root
}

/// Runs a script of bash in a mount namespace of its own. It finds the program, a folder for files, a place for a mount
/// and the run file in `$FATHOM`, `$WORK`, `$MOUNT` and `$RUN`.
fn in_namespace(work: &Path, script: &str) -> Output {
    let mount = work.join("mount");
    std::fs::create_dir_all(&mount).unwrap();
    Command::new("unshare")
        .args(["--mount", "--propagation", "private", "bash", "-ec", script])
        .env("FATHOM", fathom())
        .env("WORK", work)
        .env("MOUNT", &mount)
        .env("RUN", work.join("run.jsonl"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn points(output: &Output) -> Vec<Value> {
    let json: Result<Value, _> = serde_json::from_slice(&output.stdout);
    let json = json.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    json["points"].as_array().unwrap().clone()
}

fn near(what: &str, found: f64, truth: f64, tolerance: f64) -> Result<(), String> {
    let off = found / truth - 1.0;
    if off.abs() <= tolerance {
        Ok(())
    } else {
        Err(format!("{what}: {found}, and the truth is {truth} ({off:+.3})"))
    }
}

/// The control groups that this program has made below the one that this process is in.
fn groups_of_runs() -> Vec<PathBuf> {
    let Ok(parent) = fathom::machine::memory_parent() else { return vec![] };
    let entries = std::fs::read_dir(parent.folder).into_iter().flatten().flatten();
    let is_ours =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".fathom-"));
    entries.map(|entry| entry.path()).filter(is_ours).collect()
}

/// A run that limits its own page cache.
fn limited(work: &Path, budget: &str) -> Command {
    let mut run = Command::new(fathom());
    run.args(["run", "filesystem/reread", "--alongside", "--precision", "99%"]);
    run.args(["--budget", budget, "--format", "json", "--dir"])
        .arg(work)
        .arg("-o")
        .arg(work.join("run.jsonl"));
    run.stdin(Stdio::null());
    run
}

/// Whether this process may make control groups, and memory is larger than the limit that a run sets.
fn limits_are_needed_and_can_be_set(what: &str) -> bool {
    let needed = fathom::machine::memory_ceiling().is_some_and(|bytes| bytes > LIMIT);
    if !needed {
        eprintln!("not tested, because there is no more memory than the limit: {what}");
    }
    needed && is_root(what) && Group::new("memory").is_some()
}

const LIMIT: u64 = 1 << 30;

#[test]
fn a_run_limits_its_page_cache_and_finds_the_cliff_there() {
    let _alone = alone();
    if !limits_are_needed_and_can_be_set(
        "a run finds the end of the page cache in a control group of its own",
    ) {
        return;
    }
    sessions::in_one_of_three(|| {
        let work = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let output = limited(work.path(), "50s").output().unwrap();
        assert_eq!(groups_of_runs(), Vec::<PathBuf>::new(), "the group goes with the run");
        let points = points(&output);
        let again = |file: u64| {
            let is_it = |point: &&Value| {
                point["parameters"]["state"] == "read before" && point["parameters"]["file"] == file
            };
            let point = points.iter().find(is_it).ok_or_else(|| format!("{file} is not in the sweep"))?;
            point["median"].as_f64().ok_or_else(|| format!("{file} was not measured: {point:#?}"))
        };
        let (within, beyond) = (again(LIMIT / 16 * 15)?, again(LIMIT / 16 * 24)?);
        if beyond > 2.0 * within {
            Ok(())
        } else {
            Err(format!("no cliff: {within} ns within, {beyond} beyond"))
        }
    });
}

#[test]
fn the_group_of_a_killed_run_goes_with_the_next() {
    let _alone = alone();
    if !limits_are_needed_and_can_be_set("the control group of a killed run is removed") {
        return;
    }
    let work = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut run = limited(work.path(), "60s").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while groups_of_runs().is_empty() && began.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let made = groups_of_runs();
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(made.len(), 1, "the run makes a group");
    let next = Command::new(fathom())
        .args(["run", "cpu/system_call", "--quick", "--alongside", "--budget", "1s", "--dir"])
        .arg(work.path())
        .arg("-o")
        .arg(work.path().join("next.jsonl"))
        .output()
        .unwrap();
    assert!(matches!(next.status.code(), Some(0 | 4)), "{}", String::from_utf8_lossy(&next.stderr));
    assert_eq!(groups_of_runs(), Vec::<PathBuf>::new());
}

/// A stand-in for `systemd-run`: joins a control group, and becomes what it is told behind `--`.
const SYSTEMD_RUN: &str =
    "#!/bin/sh\necho $$ > PROCS || exit 1\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n";

/// A run of an ordinary user, with only this for `systemd-run`; what became of the page cache's size.
fn found_by_an_ordinary_user(place: &Path, systemd_run: Option<&str>) -> Value {
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};
    const NOBODY: u32 = 65534;
    let all_may = || std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(place, all_may()).unwrap();
    if let Some(script) = systemd_run {
        let program = place.join("systemd-run");
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, all_may()).unwrap();
    }
    let mut run = Command::new(fathom());
    run.args([
        "run",
        "filesystem/cache_size",
        "--quick",
        "--alongside",
        "--budget",
        "25s",
        "--format",
        "json",
    ]);
    run.arg("--dir")
        .arg(place)
        .arg("-o")
        .arg(place.join(format!("{}.jsonl", systemd_run.is_some())))
        .env("PATH", format!("{}{}", place.display(), systemd_run.map_or("", |_| ":/usr/bin:/bin")))
        .env("HOME", place);
    let output = run.uid(NOBODY).gid(NOBODY).stdin(Stdio::null()).output().unwrap();
    let is_it = |point: &&Value| {
        point["parameters"]["method"] == "residency" && point["parameters"]["content"] != "holes"
    };
    points(&output).iter().find(is_it).unwrap().clone()
}

#[test]
fn an_ordinary_user_is_limited_by_a_scope_or_told_what_can_be_done() {
    let _alone = alone();
    let what = "an ordinary user's page cache is limited by systemd-run";
    if !limits_are_needed_and_can_be_set(what) {
        return;
    }
    let Some(group) = Group::new("memory") else { return };
    let limit = (400_u64 << 20).to_string();
    assert!(group.set(("memory.limit_in_bytes", limit.clone()), ("memory.max", limit)));
    if group.unified {
        return eprintln!(
            "not tested, because a stand-in cannot join a group of version 2 for another user: {what}"
        );
    }
    std::fs::set_permissions(group.entrance(), std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let without = found_by_an_ordinary_user(place.path(), None);
    let reason = without.to_string();
    assert!(reason.contains("MemoryMax=1G") && without["median"].is_null(), "{reason}");
    let script = SYSTEMD_RUN.replace("PROCS", &group.entrance());
    let within = found_by_an_ordinary_user(place.path(), Some(&script));
    let found = within["median"].as_f64().unwrap_or_else(|| panic!("no size: {within:#?}"));
    near("the page cache of the scope", found / MIB, 400.0, 0.05).unwrap();
}

/// A file system in a file, mounted from a loop device.
const LOOP_DEVICE: &str = "truncate -s 400m \"$WORK/image\"; mkfs.ext4 -q -F \"$WORK/image\"; \
    mount -o loop \"$WORK/image\" \"$MOUNT\"; \
    NUMBER=$(cat /sys/class/block/$(basename $(findmnt -no SOURCE \"$MOUNT\"))/dev);";

/// Every point has a reason, and none a value; nothing is left in the folder.
fn nothing_but_reasons(output: &Output, expected: &str) {
    let points = points(output);
    let reasons: Vec<&str> = points.iter().filter_map(|point| point["reason"].as_str()).collect();
    assert!(
        reasons.iter().any(|reason| reason.contains(expected)),
        "none of {reasons:#?} tells `{expected}`"
    );
    assert_eq!(reasons.len(), points.len(), "{points:#?}");
}

/// Measures reads in a folder that the script makes, and lists what is left there.
fn read_in(work: &Path, make: &str) -> (Output, String) {
    let script = format!(
        "{make} \"$FATHOM\" run filesystem/read --quick --budget \"${{BUDGET:-3s}}\" --precision 99% --alongside --dir \"$MOUNT\" \
         -o \"$RUN\" --format json || true; ls -A \"$MOUNT\" > \"$WORK/left\""
    );
    let output = in_namespace(work, &script);
    (output, std::fs::read_to_string(work.join("left")).unwrap())
}

#[test]
fn folders_that_cannot_be_measured_have_a_reason_and_keep_nothing() {
    let _alone = alone();
    if !is_root("full, read-only and memory file systems have their reasons") {
        return;
    }
    let cases = [
        ("mount -t tmpfs -o size=4m none \"$MOUNT\";", "a quarter of what is free"),
        ("mount -t tmpfs none \"$MOUNT\";", "stay in the page cache"),
        ("mount -t tmpfs -o ro none \"$MOUNT\";", "Read-only file system"),
    ];
    for (make, expected) in cases {
        let work = tempfile::tempdir().unwrap();
        let (output, found) = read_in(work.path(), make);
        let points = points(&output);
        let reasons: Vec<&str> = points.iter().filter_map(|point| point["reason"].as_str()).collect();
        assert!(
            reasons.iter().any(|reason| reason.contains(expected)),
            "none of {reasons:#?} tells `{expected}`"
        );
        assert_eq!(found.trim(), "", "left by {make}");
    }
}

/// A disk that fills up between the look at its room and the write.
#[test]
fn a_full_disk_has_a_reason_and_the_run_goes_on() {
    let _alone = alone();
    if !is_root("a full disk has its reason") {
        return;
    }
    let work = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // Room for 300 MiB is told, and a limit on the size of files stands in for a disk that has less.
    let (output, left) = read_in(work.path(), &format!("{LOOP_DEVICE} ulimit -f 20000;"));
    let points = points(&output);
    let large: Vec<&str> = points.iter().filter_map(|point| point["reason"].as_str()).collect();
    assert!(large.iter().any(|reason| reason.contains("File too large")), "{large:#?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("writing a test file: 16 of 64 MiB"), "the making of a file is shown: {said}");
    let small =
        points.iter().filter(|point| point["parameters"]["file"] == 65_536 && point["median"].is_f64());
    assert!(small.count() >= 4, "small files still fit: {points:#?}");
    assert_eq!(left.trim(), "lost+found");
}

#[test]
fn a_folder_that_is_not_ours_has_a_reason() {
    let _alone = alone();
    if !is_root("a folder of another user has its reason") {
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o mode=0755 none \"$MOUNT\"; cp \"$FATHOM\" \"$MOUNT/program\"; chmod 755 \"$WORK\"; \
        mkdir -m 777 \"$MOUNT/out\"; exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$MOUNT/program\" run \
        filesystem/read --quick --budget 3s --alongside --dir \"$MOUNT\" -o \"$MOUNT/out/run.jsonl\" --format json";
    nothing_but_reasons(&in_namespace(work.path(), script), "Permission denied");
}

/// What the folder holds whose name tells that it is ours.
fn ours(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(".fathom-")).collect()
}

fn run_in(folder: &Path) -> Command {
    let mut command = Command::new(fathom());
    command.args(["run", "filesystem/read", "--quick", "--budget", "20s", "--alongside", "-o"]);
    command.arg(folder.join("run.jsonl")).arg("--dir").arg(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn a_killed_run_leaves_files_that_the_next_one_sweeps_and_an_interrupted_one_none() {
    let _alone = alone();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // A run that has made a file which is none of these.
    let started = |others: &[String]| {
        let child = run_in(folder.path()).spawn().unwrap();
        let began = Instant::now();
        while ours(folder.path()).iter().all(|name| others.contains(name)) {
            assert!(began.elapsed() < Duration::from_secs(30), "the run makes no file");
            std::thread::sleep(Duration::from_millis(5));
        }
        child
    };
    let mut killed = started(&[]);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = ours(folder.path());
    assert!(!left.is_empty(), "the killed run's file is gone: the test does not see what it is about");
    std::fs::remove_file(folder.path().join("run.jsonl")).unwrap();
    let mut interrupted = started(&left);
    assert!(left.iter().all(|name| !ours(folder.path()).contains(name)), "not swept: {left:?}");
    // SAFETY: the child is ours and not reaped.
    unsafe { libc::kill(interrupted.id() as libc::pid_t, libc::SIGINT) };
    interrupted.wait().unwrap();
    assert!(ours(folder.path()).is_empty(), "{:?}", ours(folder.path()));
}
