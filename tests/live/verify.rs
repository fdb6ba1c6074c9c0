//! Verification of the instrument, as users put it there: what rigs say, and how the program ends by it.

use crate::claim::{self, Claim, Verdict, decided};
use crate::control_group::Group;
use crate::tier::{Outcome, Test, alone, needs_root, not_installed, skipped};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

pub const TESTS: &[Test] = &alone![
    what_needs_nothing_is_found_and_the_exit_status_says_so,
    a_neighbour_is_seen_and_does_not_move_the_value,
    the_states_of_a_shared_core_are_distinguished,
    a_quota_is_seen_and_does_not_move_the_value,
    a_page_cache_of_known_size_is_found,
    bytes_a_second_of_a_throttled_device_are_found,
    requests_a_second_of_a_throttled_device_are_found,
    the_end_of_a_devices_burst_is_found,
    a_disk_of_ours_keeps_no_mount_of_the_machine_busy,
    the_rate_of_a_link_is_found,
    the_delay_of_a_link_is_found,
    the_jitter_of_a_link_is_found,
    other_tools_end_with_a_session_that_is_killed,
];

/// Verifies some rigs, with nothing kept outside of a folder.
fn verified(arguments: &[&str], state: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.arg("verify").args(arguments).args(["--alongside", "--format", "json"]);
    command.env("XDG_STATE_HOME", state).output().unwrap()
}

fn truths(output: &Output) -> Vec<Value> {
    let found: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    found["truths"].as_array().unwrap().clone()
}

/// What a session of rigs says of its truths. What is skipped has its reason.
fn claims(output: &Output) -> Vec<Claim> {
    let truths = truths(output);
    assert!(!truths.is_empty(), "the rigs say nothing");
    truths.iter().map(claim_of).collect()
}

fn claim_of(truth: &Value) -> Claim {
    let word = |name: &str| truth[name].as_str().unwrap_or_default().to_owned();
    let verdict = match truth["verdict"].as_str() {
        Some("right") => Verdict::Holds,
        Some("skipped") if !word("because").is_empty() => Verdict::Holds,
        Some("wrong") => Verdict::Refuted,
        Some("inconclusive") => Verdict::Open,
        verdict => panic!("{verdict:?}: {truth:#}"),
    };
    let seen =
        format!("set {}, found {} {}: {}", truth["set"], truth["found"], truth["interval"], word("because"));
    claim::judged(format!("{} {}", word("rig"), word("what")), verdict, seen)
}

/// Verifies a rig whose truth is set with what this machine may lack; nothing of it is left in its folder.
fn rig(name: &str) -> Outcome {
    let state = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    decided(|| {
        let output = verified(&[name, "--dir", folder.path().to_str().unwrap()], state.path());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "left by {name}");
        let truths = truths(&output);
        if truths.iter().all(|truth| truth["verdict"] == "skipped") {
            return skipped(truths[0]["because"].as_str().unwrap_or_default());
        }
        Ok(claims(&output))
    })
}

/// Skips a test of a rig's disk where other programs can make none either.
fn needs_a_disk() -> Outcome {
    needs_root()?;
    let group = Group::new("blkio")?;
    if !["io.max", "blkio.throttle.read_iops_device"].iter().any(|limit| group.path.join(limit).exists()) {
        return skipped("needs control groups that limit a device");
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "command -v mkfs.ext4 >/dev/null || exit 127; truncate -s 8M image && mkfs.ext4 -q -F image && mkdir disk && \
                  mount -o loop image disk && umount disk";
    let Ok(output) = with_own_mounts(script).current_dir(folder.path()).output() else {
        return not_installed("unshare (Debian: util-linux)");
    };
    match output.status.code() {
        Some(0) => Ok(()),
        Some(127) => not_installed("mkfs.ext4 (Debian: e2fsprogs)"),
        _ => skipped(format!("no disk can be mounted: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// A shell script that sees mounts of its own, gone with it.
fn with_own_mounts(script: &str) -> Command {
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "--propagation", "private", "sh", "-c", script]);
    shell
}

/// The mounts of processes and the files of loop devices that are in a folder, by its name: mounts above it may be gone.
fn held_in(folder: &Path) -> Vec<PathBuf> {
    let name = folder.file_name().unwrap().to_str().unwrap();
    let within =
        |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let tasks = within("/proc".into()).flat_map(|process| within(process.join("task")));
    let devices = within("/sys/block".into()).map(|device| device.join("loop/backing_file"));
    let files = tasks.map(|task| task.join("mountinfo")).chain(devices);
    files.filter(|file| std::fs::read_to_string(file).is_ok_and(|held| held.contains(name))).collect()
}

/// What is unmounted on the machine while a rig has a disk is unmounted for the rig too, and nothing of the disk is left.
fn a_disk_of_ours_keeps_no_mount_of_the_machine_busy() -> Outcome {
    needs_a_disk()?;
    let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // A machine whose mounts are shared with its namespaces, as systemd makes them.
    let script = format!(
        "mkdir disk all && mount -t tmpfs none all && mount --make-shared all && mkdir all/theirs && mount -t tmpfs none all/theirs && \
         {{ {} verify device-burst --alongside --dir $PWD/disk > told 2>&1 & }} && run=$! && \
         for i in $(seq 400); do grep -qs -e '-disk .* ext4 ' /proc/$run/task/*/mountinfo && echo mounted && break; sleep 0.05; done; \
         grep -l ' '$PWD/all/theirs' ' /proc/$run/task/*/mountinfo | wc -l; umount all/theirs; \
         grep -ls ' '$PWD/all/theirs' ' /proc/$run/task/*/mountinfo | wc -l; kill -INT $run; wait $run; ls -A disk; cat told >&2",
        env!("CARGO_BIN_EXE_fathom")
    );
    let mut shell = with_own_mounts(&script);
    let output = shell.current_dir(folder.path()).env("XDG_STATE_HOME", state.path()).output().unwrap();
    let (told, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = told.lines().collect();
    let ["mounted", before, after, left @ ..] = lines.as_slice() else {
        panic!("the rig has mounted no disk: {told} {error}");
    };
    assert_ne!(*before, "0", "the mount was not seen: {told} {error}");
    assert_eq!(*after, "0", "the unmount did not reach it: {told} {error}");
    assert!(left.is_empty(), "something is left: {told} {error}");
    // The kernel detaches a device a moment later.
    let began = Instant::now();
    while !held_in(folder.path()).is_empty() && began.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(held_in(folder.path()), Vec::<PathBuf>::new(), "a mount or a loop device is left: {error}");
    Ok(())
}

/// Tests of one rig each.
macro_rules! tests_of_rigs {
    ($($(#[$doc:meta])* $name:ident = $rig:literal;)*) => {
        $($(#[$doc])* fn $name() -> Outcome {
            rig($rig)
        })*
    };
}

tests_of_rigs! {
    a_page_cache_of_known_size_is_found = "page-cache";
    bytes_a_second_of_a_throttled_device_are_found = "device-bytes";
    requests_a_second_of_a_throttled_device_are_found = "device-requests";
    the_end_of_a_devices_burst_is_found = "device-burst";
    the_rate_of_a_link_is_found = "link";
    the_delay_of_a_link_is_found = "delay";
    the_jitter_of_a_link_is_found = "jitter";
    /// A quota of half a CPU is seen, and moves nothing.
    a_quota_is_seen_and_does_not_move_the_value = "quota";
    /// Both values of a core with a simulated neighbour are found, and its share of the time.
    the_states_of_a_shared_core_are_distinguished = "shared-core";
    /// A neighbour is seen, and moves nothing.
    a_neighbour_is_seen_and_does_not_move_the_value = "neighbour";
}

/// What the work of a rig itself makes true is found on any machine.
fn what_needs_nothing_is_found_and_the_exit_status_says_so() -> Outcome {
    let state = tempfile::tempdir().unwrap();
    let outcome = decided(|| {
        let output = verified(&["spin", "chain", "sleep", "echo", "page-fault", "chase"], state.path());
        let truths = truths(&output);
        let count = |word: &str| truths.iter().filter(|truth| truth["verdict"] == word).count();
        let open = count("inconclusive") > 0 || count("skipped") == truths.len();
        let expected = if count("wrong") > 0 {
            1
        } else if open {
            3
        } else {
            0
        };
        assert_eq!(output.status.code(), Some(expected), "{truths:#?}");
        Ok(claims(&output))
    });
    assert_eq!(std::fs::read_dir(state.path()).unwrap().count(), 0, "a part of the rigs verifies no build");
    outcome
}

/// The processes of a group that have not ended.
fn living(group: u32) -> Vec<String> {
    let group = group.to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let is_member = |stat: &String| {
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let (state, session) = (fields.next(), fields.nth(2));
        state != Some("Z") && session == Some(&group)
    };
    stats.filter(is_member).collect()
}

fn wait_until(what: &str, mut happens: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if happens() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{what}");
}

/// A session with other tools that is killed leaves none of them behind: neither what it has started, nor what that has.
fn other_tools_end_with_a_session_that_is_killed() -> Outcome {
    use std::os::unix::process::CommandExt;
    if !["perf", "sockperf", "stress-ng"].iter().any(|tool| Path::new("/usr/bin").join(tool).exists()) {
        return skipped("needs perf, sockperf or stress-ng");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(["verify", "--peers", "--alongside", "--dir"]).arg(folder.path());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    // SAFETY: makes the process the leader of a session of its own, by which all that it starts is known.
    unsafe {
        command.pre_exec(|| if libc::setsid() < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) })
    };
    let mut session = command.spawn().unwrap();
    // One that has started another: that one would be nobody's.
    let is_tool = |stat: &&String| !stat.contains("(fathom") && !stat.contains("(verify");
    wait_until("no tool was started", || living(session.id()).iter().filter(is_tool).count() > 1);
    session.kill().unwrap();
    session.wait().unwrap();
    wait_until("something was left running", || living(session.id()).is_empty());
    Ok(())
}
