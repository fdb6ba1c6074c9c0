//! Files and devices whose truth is known: a cache that a run limits, a file system that answers late; and those that cannot be
//! measured, for which there must be a reason. Caches and disks that are held to a known size or rate are rigs of
//! `fathom verify` (`verify.rs`).
//!
//! What needs root, a loop device or a control group runs in a mount namespace of its own, so that nothing is left of it.

use crate::claim::{self, at_least, between, decided};
use crate::tier::{Outcome, Test, alone, needs_root, skipped};

pub const TESTS: &[&[Test]] = &[OWN, appended::TESTS, others::TESTS, served::TESTS, stacked::TESTS];

const OWN: &[Test] = &alone![
    a_run_limits_its_page_cache_and_finds_the_cliff_there,
    the_group_of_a_killed_run_goes_with_the_next,
    an_ordinary_user_is_limited_by_a_scope_or_told_what_can_be_done,
    folders_that_cannot_be_measured_have_a_reason_and_keep_nothing,
    a_full_disk_has_a_reason_and_the_run_goes_on,
    a_folder_that_is_not_ours_has_a_reason,
    a_killed_run_leaves_files_that_the_next_one_sweeps_and_an_interrupted_one_none,
];

mod appended;

mod late;

mod others;

mod served;

mod stacked;

use crate::control_group::Group;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const MIB: f64 = (1 << 20) as f64;

fn fathom() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_fathom"))
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

/// Skips the test where this process may make no control groups, or memory is no larger than the limit that a run sets.
fn needs_limits() -> Outcome {
    needs_root()?;
    if fathom::machine::memory_ceiling().is_none_or(|bytes| bytes <= LIMIT) {
        return skipped("there is no more memory than the limit that a run sets");
    }
    Group::new("memory").map(drop)
}

const LIMIT: u64 = 512 << 20;

fn a_run_limits_its_page_cache_and_finds_the_cliff_there() -> Outcome {
    needs_limits()?;
    decided(|| {
        let work = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let output = limited(work.path(), "50s").output().unwrap();
        assert_eq!(groups_of_runs(), Vec::<PathBuf>::new(), "the group goes with the run");
        let points = points(&output);
        let again = |file: u64| {
            let is_it = |point: &&Value| {
                point["parameters"]["state"] == "read before" && point["parameters"]["file"] == file
            };
            claim::value(points.iter().find(is_it))
        };
        let (within, beyond) = (again(LIMIT / 16 * 15)?, again(LIMIT / 16 * 24)?);
        Ok(vec![at_least("a file beyond the limit over one within", Some(beyond.over(within)), 2.0)])
    })
}

fn the_group_of_a_killed_run_goes_with_the_next() -> Outcome {
    needs_limits()?;
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
    Ok(())
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

fn an_ordinary_user_is_limited_by_a_scope_or_told_what_can_be_done() -> Outcome {
    needs_limits()?;
    let group = Group::new("memory")?;
    let limit = (400_u64 << 20).to_string();
    group.set(("memory.limit_in_bytes", limit.clone()), ("memory.max", limit))?;
    if group.unified {
        return skipped("a stand-in cannot join a control group of version 2 for another user");
    }
    std::fs::set_permissions(group.entrance(), std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let without = found_by_an_ordinary_user(place.path(), None);
    let reason = without.to_string();
    assert!(reason.contains("MemoryMax=512M") && without["median"].is_null(), "{reason}");
    let script = SYSTEMD_RUN.replace("PROCS", &group.entrance());
    decided(|| {
        let _ = std::fs::remove_file(place.path().join("true.jsonl"));
        let within = found_by_an_ordinary_user(place.path(), Some(&script));
        let found = claim::value(Some(&within))?.times(1.0 / MIB);
        Ok(vec![between("MiB of the scope's page cache", Some(found), 380.0, 420.0)])
    })
}

/// A file system in a file, mounted from a loop device.
const LOOP_DEVICE: &str = "truncate -s 400m \"$WORK/image\"; mkfs.ext4 -q -F \"$WORK/image\"; \
    mount -o loop \"$WORK/image\" \"$MOUNT\"; \
    NUMBER=$(cat /sys/class/block/$(basename $(findmnt -no SOURCE \"$MOUNT\"))/dev);";

/// A disk of a few megabytes, in a file.
const SMALL_DISK: &str = "truncate -s 8m \"$WORK/small\"; mkfs.ext4 -q -F \"$WORK/small\";";

/// Measures reads in a folder that the script makes, and lists what is left there.
fn read_in(work: &Path, make: &str) -> (Output, String) {
    let script = format!(
        "{make} \"$FATHOM\" run filesystem/read --quick --budget \"${{BUDGET:-3s}}\" --precision 99% --alongside --dir \"$MOUNT\" \
         -o \"$RUN\" --format json || true; ls -A \"$MOUNT\" > \"$WORK/left\""
    );
    let output = in_namespace(work, &script);
    (output, std::fs::read_to_string(work.join("left")).unwrap())
}

fn folders_that_cannot_be_measured_have_a_reason_and_keep_nothing() -> Outcome {
    needs_root()?;
    let cases = [
        (format!("{SMALL_DISK} mount -o loop \"$WORK/small\" \"$MOUNT\";"), "a quarter of what is free"),
        ("mount -t tmpfs none \"$MOUNT\";".to_owned(), "is in memory (tmpfs)"),
    ];
    for (make, expected) in cases {
        let work = tempfile::tempdir().unwrap();
        let (output, found) = read_in(work.path(), &make);
        let points = points(&output);
        let reasons: Vec<&str> = points.iter().filter_map(|point| point["reason"].as_str()).collect();
        assert!(
            reasons.iter().any(|reason| reason.contains(expected)),
            "none of {reasons:#?} tells `{expected}`"
        );
        assert!(["", "lost+found"].contains(&found.trim()), "left by {make}: {found}");
    }
    // Where no file can be made at all, a run is refused before anything is measured.
    let work = tempfile::tempdir().unwrap();
    let (output, found) =
        read_in(work.path(), &format!("{SMALL_DISK} mount -o loop,ro \"$WORK/small\" \"$MOUNT\";"));
    refused(&output, "Read-only file system");
    assert_eq!(found.trim(), "lost+found");
    assert!(!work.path().join("run.jsonl").exists());
    Ok(())
}

/// A run that was refused says why, and prints no report.
fn refused(output: &Output, expected: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.stdout.is_empty() && said.contains(expected) && said.contains("--dir"), "{said}");
}

/// A disk that fills up between the look at its room and the write.
fn a_full_disk_has_a_reason_and_the_run_goes_on() -> Outcome {
    needs_root()?;
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
    Ok(())
}

fn a_folder_that_is_not_ours_has_a_reason() -> Outcome {
    needs_root()?;
    let work = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o mode=0755 none \"$MOUNT\"; cp \"$FATHOM\" \"$MOUNT/program\"; chmod 755 \"$WORK\"; \
        mkdir -m 777 \"$MOUNT/out\"; exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$MOUNT/program\" run \
        filesystem/read --quick --budget 3s --alongside --dir \"$MOUNT\" -o \"$MOUNT/out/run.jsonl\" --format json";
    let output = in_namespace(work.path(), script);
    assert_eq!(output.status.code(), Some(2));
    refused(&output, "Permission denied");
    Ok(())
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

fn a_killed_run_leaves_files_that_the_next_one_sweeps_and_an_interrupted_one_none() -> Outcome {
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
    Ok(())
}
