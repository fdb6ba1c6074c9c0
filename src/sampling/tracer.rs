//! Counting system calls by tracing: an independent witness that an operation enters the kernel as often as it claims.

use crate::experiment::{Failure, TRACED_CALLS, TRACED_OPERATIONS, Work, Workload};

/// Iterations that are traced: enough for a whole number per operation, few enough to cost half a millisecond.
const ITERATIONS: u64 = 16;

/// Calls of recorded work that are traced: what it prepares untimed may take milliseconds.
const RECORDINGS: u64 = 2;

/// The counts for the evidence of a workload that asks for them; nothing where tracing is refused.
pub fn witness(workload: &mut Workload) -> Vec<(String, f64)> {
    let (counted, iterations) = match (&mut workload.work, workload.traced) {
        (Work::Timed { operation, .. }, true) => (count(|| operation.run(ITERATIONS)), ITERATIONS),
        (Work::Recorded(observe), true) => {
            (count(|| (0..RECORDINGS).try_for_each(|_| observe().map(drop))), RECORDINGS)
        }
        _ => return vec![],
    };
    match counted {
        Some(calls) => vec![
            (TRACED_CALLS.to_owned(), calls as f64),
            (TRACED_OPERATIONS.to_owned(), (iterations * workload.per_iteration) as f64),
        ],
        None => vec![],
    }
}

/// System calls of `work` in a forked copy of this process; what a copy that does nothing needs is subtracted. `None` where
/// this process may not trace.
fn count(work: impl FnOnce() -> Result<(), Failure>) -> Option<u64> {
    let idle = traced(|| Ok(()))?;
    let busy = traced(work)?;
    busy.checked_sub(idle)
}

/// System calls that a forked child enters while it does `work`.
fn traced(work: impl FnOnce() -> Result<(), Failure>) -> Option<u64> {
    // SAFETY: a trial is single-threaded or its other threads do not matter to the copy, which only works and exits.
    match unsafe { libc::fork() } {
        -1 => None,
        0 => {
            // SAFETY: the child asks to be traced, stops until the parent is ready, works and ends.
            unsafe {
                if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) != 0 {
                    libc::_exit(2);
                }
                libc::raise(libc::SIGSTOP);
                let done = work();
                libc::_exit(i32::from(done.is_err()))
            }
        }
        child => follow(child),
    }
}

/// Lets the child run from system call to system call until it ends well; counts the entries.
fn follow(child: libc::pid_t) -> Option<u64> {
    let mut stops = 0;
    let mut signal = 0;
    wait(child).filter(|status| libc::WIFSTOPPED(*status))?;
    loop {
        // SAFETY: the child is ours, traced and stopped.
        if unsafe { libc::ptrace(libc::PTRACE_SYSCALL, child, 0, signal) } != 0 {
            return None;
        }
        let status = wait(child)?;
        if libc::WIFEXITED(status) {
            return (libc::WEXITSTATUS(status) == 0).then_some(stops / 2);
        }
        if !libc::WIFSTOPPED(status) {
            return None;
        }
        // A stop by SIGTRAP is an entry to or a return from a system call; other signals are the work's own.
        signal = if libc::WSTOPSIG(status) == libc::SIGTRAP { 0 } else { libc::WSTOPSIG(status) };
        stops += u64::from(signal == 0);
    }
}

fn wait(child: libc::pid_t) -> Option<libc::c_int> {
    let mut status = 0;
    // SAFETY: waits for our own child.
    (unsafe { libc::waitpid(child, &raw mut status, 0) } == child).then_some(status)
}
