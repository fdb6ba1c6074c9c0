//! What a parent leaves to a run: ignored and blocked signals; and what a run leaves to its trials.

use super::binary;
use crate::short_run::{lines_of, text};
use crate::tier::{Outcome, Test, beside, inconclusive};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

pub const TESTS: &[Test] = &beside![
    a_parent_that_ignores_the_ends_of_children_and_blocks_signals_changes_no_outcome,
    trials_are_the_first_to_go_if_memory_ends,
];

/// The outcomes of the points of a short run, of those experiments that start children, by their names and the words of failure.
fn outcomes(file: &Path, spoil: bool) -> BTreeMap<String, String> {
    let mut command = Command::new(binary());
    command.args(["run", "--quick", "--alongside", "--budget", "9s", "--trial", "2ms", "--seed", "7"]);
    command.args(["process_creation", "context_switch", "synchronisation", "-o"]).arg(file);
    let begin = || {
        // SAFETY: changes of signals of the new process, between fork and exec.
        unsafe {
            libc::signal(libc::SIGCHLD, libc::SIG_IGN);
            let mut most: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut most);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const most, std::ptr::null_mut());
        }
        Ok(())
    };
    if spoil {
        // SAFETY: the closure makes system calls only.
        unsafe { command.pre_exec(begin) };
    }
    let output = command.output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 4)), "{}", text(&output.stderr));
    let mut found = BTreeMap::new();
    for trial in lines_of(file, "trial") {
        let name = format!("{} {}", trial["experiment"], trial["point"]);
        let outcome = &trial["outcome"];
        let told = outcome["failed"].as_str().or_else(|| outcome["reason"].as_str()).unwrap_or("measured");
        found.insert(name, told.to_owned());
    }
    found
}

fn a_parent_that_ignores_the_ends_of_children_and_blocks_signals_changes_no_outcome() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let usual = outcomes(&folder.path().join("usual.jsonl"), false);
    let spoilt = outcomes(&folder.path().join("spoilt.jsonl"), true);
    // Which points have time for their trials is the host's matter; how those end that had is not.
    let both: Vec<&String> = usual.keys().filter(|name| spoilt.contains_key(*name)).collect();
    if both.len() < 10 {
        return inconclusive(format!("{} points have trials in both runs", both.len()));
    }
    for name in both {
        assert_eq!(usual[name], spoilt[name], "{name}");
    }
    Ok(())
}

fn trials_are_the_first_to_go_if_memory_ends() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    // What starts each measuring process notes how the kernel would choose it.
    std::fs::write(folder.path().join("noting"), "cat /proc/self/oom_score_adj >> noted; exec \"$@\"\n")
        .unwrap();
    let mut command = Command::new(binary());
    command.args(["ab", "cpu/system_call", "--quick", "--alongside", "--budget", "4s"]);
    command.args(["--a", "prefix:sh noting", "--b", "prefix:sh noting", "-o", "both"]);
    let output = command.current_dir(folder.path()).env("XDG_STATE_HOME", folder.path()).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 4)), "{}", text(&output.stderr));
    let noted = std::fs::read_to_string(folder.path().join("noted")).unwrap();
    assert!(noted.lines().count() > 0 && noted.lines().all(|line| line == "1000"), "{noted}");
    let by_itself = chosen_without_a_command();
    assert!(by_itself.contains(&1000), "{by_itself:?}");
    Ok(())
}

/// How the kernel would choose the measuring processes of a run that nothing else starts; one that was looked at between its fork and
/// what it says of itself is chosen as its parent is.
fn chosen_without_a_command() -> BTreeSet<i32> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(binary());
    command.args(["run", "cpu/system_call", "--quick", "--alongside", "--budget", "4s", "-o", "run.jsonl"]);
    let output = command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = output.current_dir(folder.path()).env("XDG_STATE_HOME", folder.path()).spawn().unwrap();
    let mut chosen = BTreeSet::new();
    while run.try_wait().unwrap().is_none() {
        let children = format!("/proc/{0}/task/{0}/children", run.id());
        let children = std::fs::read_to_string(children).unwrap_or_default();
        let of = |child: &str| {
            std::fs::read_to_string(format!("/proc/{child}/oom_score_adj")).ok()?.trim().parse::<i32>().ok()
        };
        chosen.extend(children.split_whitespace().filter_map(of));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    chosen
}
