//! A trial that is stopped when its run is killed.

use crate::short_run::{copied_program, processes_of, trials_of, wait_for};
use crate::tier::{Outcome, Test, beside};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub const TESTS: &[Test] = &beside![a_trial_that_is_stopped_when_its_run_is_killed_does_not_stay_behind,];

/// How often it is tried: a trial is caught at another moment each time, from the first after its program was executed.
const TIMES: usize = 12;

fn a_trial_that_is_stopped_when_its_run_is_killed_does_not_stay_behind() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let program = copied_program(folder.path());
    let mut stayed = 0;
    for number in 0..TIMES {
        let mut run = Command::new(&program)
            .args(["run", "--quick", "--alongside", "--trial", "4ms", "cpu/system_call", "-o"])
            .arg(folder.path().join(format!("{number}.jsonl")))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut trial = 0;
        // Without a pause: it is to be caught early.
        let deadline = Instant::now() + Duration::from_secs(30);
        while trial == 0 {
            trial = trials_of(&program).first().copied().unwrap_or_default();
            assert!(Instant::now() < deadline, "never: a trial runs");
        }
        // SAFETY: a process of the copy that this test has started.
        unsafe { libc::kill(trial, libc::SIGSTOP) };
        run.kill().unwrap();
        run.wait().unwrap();
        let gone = std::panic::catch_unwind(|| {
            wait_for(Duration::from_secs(10), "it is gone", || processes_of(&program).is_empty());
        });
        if gone.is_err() {
            stayed += 1;
            for process in processes_of(&program) {
                // SAFETY: as above.
                unsafe { libc::kill(process, libc::SIGKILL) };
            }
        }
    }
    assert_eq!(stayed, 0, "of {TIMES} stayed behind");
    Ok(())
}
