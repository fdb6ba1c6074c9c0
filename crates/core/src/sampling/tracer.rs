//! Counting system calls by tracing: an independent witness that an operation enters the kernel as often as claimed.

use crate::experiment::{Failure, TRACED_CALLS, TRACED_OPERATIONS, TRACING_REFUSED, Work, Workload};
use crate::os::{Uncounted, traced};

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

/// Facts for a workload whose preparation traces a small sample of the work itself ([`Workload::stated`]): the system calls of
/// `work` in a forked copy of this process, and its operations; or the error of a kernel that refuses.
pub fn stated(
    operations: u64,
    work: impl FnOnce() -> Result<(), Failure>,
) -> Result<Vec<(&'static str, f64)>, Failure> {
    match count(work) {
        Ok(calls) => Ok(vec![(TRACED_CALLS, calls as f64), (TRACED_OPERATIONS, operations as f64)]),
        Err(Uncounted::Refused(error)) => Ok(vec![(TRACING_REFUSED, f64::from(error))]),
        Err(Uncounted::Broke) => Err(Failure::Broke("a traced copy of the work failed".to_owned())),
    }
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
    let idle = traced(|| Ok::<(), Failure>(()))?;
    let busy = traced(work)?;
    busy.checked_sub(idle).ok_or(Uncounted::Broke)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::partner::{PartnerProcess, pipe};
    use std::fs::File;
    use std::io::{Read, Write};
    use std::time::{Duration, Instant};

    /// Waits until the state of a process (proc(5)) is one of these; a process that does not exist is as one that is dead.
    fn comes_to(states: &[char], pid: u32) -> bool {
        let deadline = Instant::now() + Duration::from_secs(30);
        let state = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next()).unwrap_or('X')
        };
        while !states.contains(&state()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        states.contains(&state())
    }

    #[test]
    fn a_copy_that_is_traced_ends_with_the_process_that_traces_it() {
        let (reader, writer) = pipe().unwrap();
        let tracer = PartnerProcess::start(None, move || {
            let mut writer = File::from(writer);
            let work = || -> Result<(), Failure> {
                let _ = writer.write_all(&std::process::id().to_le_bytes());
                loop {
                    // SAFETY: sleeps until it is killed.
                    unsafe { libc::pause() };
                }
            };
            let _ = traced(work);
            Ok(())
        });
        let mut pid = [0; 4];
        if File::from(reader).read_exact(&mut pid).is_err() {
            // Emulators and filters refuse tracing; then there is no copy either.
            assert!(matches!(traced(|| Ok::<(), Failure>(())), Err(Uncounted::Refused(_))), "no copy");
            return;
        }
        let pid = u32::from_le_bytes(pid);
        assert!(comes_to(&['S'], pid), "it sleeps, and no more in a stop of its tracer");
        drop(tracer); // which kills it
        let gone = comes_to(&['Z', 'X'], pid);
        if !gone {
            // SAFETY: the copy, which nobody else would end.
            unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
        }
        assert!(gone, "process {pid} stays behind");
    }
}
