//! Threads and processes of this machine's kernel.

use crate::short_run::{copied_program, trials_of, wait_until};
use crate::tier::{Outcome, Test, beside, skipped};
use fathom::machine::{Host, Live, allow_this_thread};
use fathom::replicate::tasks::{fork, join, reap, thread};
use std::process::{Command, Stdio};

pub const TESTS: &[Test] = &beside![
    a_pinned_thread_runs_on_one_cpu_and_then_where_it_ran_before,
    children_and_threads_end_by_themselves,
    a_trial_of_work_on_one_cpu_may_use_no_other,
];

fn a_pinned_thread_runs_on_one_cpu_and_then_where_it_ran_before() -> Outcome {
    let all = Live.affinity().unwrap();
    let pinned = Live.pinned(all[0]);
    assert_eq!(Live.affinity().unwrap(), all[..1]);
    drop(pinned);
    drop(Live.pinned(usize::MAX));
    assert_eq!(Live.affinity().unwrap(), all);
    assert!(!allow_this_thread(&[]));
    Ok(())
}

fn children_and_threads_end_by_themselves() -> Outcome {
    reap(fork().unwrap()).unwrap();
    join(thread().unwrap()).unwrap();
    assert!(reap(1).is_err(), "not a child of ours");
    Ok(())
}

/// The CPUs that a process may use, as its line of /proc has them; nothing if it has ended.
fn allowed(process: libc::pid_t) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(line.trim().to_owned())
}

fn a_trial_of_work_on_one_cpu_may_use_no_other() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    if Live.affinity().unwrap().len() < 2 {
        return skipped("two CPUs");
    }
    let program = copied_program(folder.path());
    let mut run = Command::new(&program)
        .args([
            "run",
            "--quick",
            "--alongside",
            "--budget",
            "40s",
            "--trial",
            "400ms",
            "cpu/system_call",
            "-o",
        ])
        .arg(folder.path().join("run.jsonl"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A trial begins on any CPU, and is held to one before it prepares its work.
    let is_one = |process: libc::pid_t| allowed(process).is_some_and(|cpus| cpus.parse::<usize>().is_ok());
    let seen = std::panic::catch_unwind(|| {
        wait_until("a trial is held to one CPU", || trials_of(&program).into_iter().any(is_one));
    });
    run.kill().unwrap();
    run.wait().unwrap();
    seen.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(())
}
