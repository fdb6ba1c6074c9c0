//! Counting system calls by tracing: an independent witness that an operation enters the kernel as often as claimed.

use crate::experiment::{Failure, TRACED_CALLS, TRACED_OPERATIONS, TRACING_REFUSED, Work, Workload};

/// Traced iterations: enough for a whole number per operation, few enough to cost half a millisecond.
const ITERATIONS: u64 = 16;

/// Traced calls of recorded work, whose untimed preparation may take milliseconds.
const RECORDINGS: u64 = 2;

/// The result of tracing a workload.
#[derive(Debug, Default)]
pub struct Traced {
    /// Counts for its evidence, by name.
    pub counts: Vec<(String, f64)>,
    /// The error of a kernel that refuses tracing, by name.
    pub refused: Option<(String, f64)>,
}

/// The reason why system calls were not counted.
enum Uncounted {
    /// The kernel does not permit tracing: the error, or 0 if the requesting process is killed.
    Refused(libc::c_int),
    /// The copy could not be made, or its work failed.
    Broke,
}

/// Counts the system calls of a workload that requests it.
pub fn witness(workload: &mut Workload) -> Traced {
    let (counted, iterations) = match (&mut workload.work, workload.traced) {
        (Work::Timed { operation, .. }, true) => (count(|| operation.run(ITERATIONS)), ITERATIONS),
        (Work::Recorded(observe), true) => {
            (count(|| (0..RECORDINGS).try_for_each(|_| observe().map(drop))), RECORDINGS)
        }
        _ => return Traced::default(),
    };
    match counted {
        Ok(calls) => {
            let operations = (iterations * workload.per_iteration) as f64;
            let counts = [(TRACED_CALLS, calls as f64), (TRACED_OPERATIONS, operations)];
            let counts = counts.map(|(name, count)| (name.to_owned(), count)).to_vec();
            Traced { counts, refused: None }
        }
        Err(Uncounted::Refused(error)) => {
            Traced { counts: vec![], refused: Some((TRACING_REFUSED.to_owned(), f64::from(error))) }
        }
        Err(Uncounted::Broke) => Traced::default(),
    }
}

/// System calls of `work` in a forked copy of this process; those of a copy without work are subtracted.
fn count(work: impl FnOnce() -> Result<(), Failure>) -> Result<u64, Uncounted> {
    let idle = traced(|| Ok(()))?;
    let busy = traced(work)?;
    busy.checked_sub(idle).ok_or(Uncounted::Broke)
}

/// System calls of a forked child during `work`.
fn traced(work: impl FnOnce() -> Result<(), Failure>) -> Result<u64, Uncounted> {
    // SAFETY: a trial is single-threaded or its other threads do not matter to the copy, which only works and exits.
    match unsafe { libc::fork() } {
        -1 => Err(Uncounted::Broke),
        0 => {
            // SAFETY: the child requests tracing, stops until the parent is ready, works and ends. If tracing is refused, it ends
            // before it stops, with the error as its exit status, which has room for it.
            unsafe {
                if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) != 0 {
                    libc::_exit(*libc::__errno_location());
                }
                libc::raise(libc::SIGSTOP);
                let done = work();
                libc::_exit(i32::from(done.is_err()))
            }
        }
        child => follow(child),
    }
}

/// Lets the child run from system call to system call until it ends successfully; returns the number of entries.
fn follow(child: libc::pid_t) -> Result<u64, Uncounted> {
    let (mut stops, mut signal) = (0, 0);
    let begun = wait(child)?;
    if libc::WIFEXITED(begun) {
        return Err(Uncounted::Refused(libc::WEXITSTATUS(begun)));
    }
    if !libc::WIFSTOPPED(begun) {
        return Err(Uncounted::Refused(0));
    }
    loop {
        // SAFETY: the child is ours, traced and stopped.
        if unsafe { libc::ptrace(libc::PTRACE_SYSCALL, child, 0, signal) } != 0 {
            let error = std::io::Error::last_os_error().raw_os_error().unwrap_or_default();
            end(child);
            return Err(Uncounted::Refused(error));
        }
        let status = wait(child)?;
        if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
            return Ok(stops / 2);
        }
        if !libc::WIFSTOPPED(status) {
            return Err(Uncounted::Broke);
        }
        // A stop by SIGTRAP is the entry to or return from a system call; other signals are the work's own.
        signal = if libc::WSTOPSIG(status) == libc::SIGTRAP { 0 } else { libc::WSTOPSIG(status) };
        stops += u64::from(signal == 0);
    }
}

/// Ends a child that cannot continue.
fn end(child: libc::pid_t) {
    // SAFETY: the child is ours and not reaped.
    unsafe { libc::kill(child, libc::SIGKILL) };
    let _ = wait(child);
}

fn wait(child: libc::pid_t) -> Result<libc::c_int, Uncounted> {
    let mut status = 0;
    // SAFETY: waits for our own child.
    if unsafe { libc::waitpid(child, &raw mut status, 0) } == child {
        Ok(status)
    } else {
        Err(Uncounted::Broke)
    }
}
