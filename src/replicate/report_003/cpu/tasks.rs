//! Section 3.5: what it takes to create a process or a thread and to see it end.

use super::super::repetitions::{RUNS, Repetitions};
use crate::experiment::{Failure, Placement, ensure, errno};
use crate::quantity::Unit;
use crate::replicate::sweep::nearest;
use crate::replicate::{Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, timer};
use crate::statistics;
use std::ptr::{null, null_mut};
use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(1);
/// Their repetitions in an average.
pub const REPETITIONS: u64 = 200;

const PROCESS: Method = Method {
    name: "process creation",
    text: "rdtscStart(), fork(), in the child exit(1) at once, in the parent wait(NULL), rdtscEnd(); 200 times in a loop, whose \
           mean is one of ten results.",
    differs: "The process is this program's, small and fresh; the sizes of theirs are not printed.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: LIMIT,
    measure: processes,
};

const THREAD: Method = Method {
    name: "thread creation",
    text: "rdtscStart(), pthread_create() of a thread that ends at once, pthread_join(), rdtscEnd(); 200 times in a loop, whose \
           mean is one of ten results.",
    differs: "The thread ends by returning, which is what pthread_exit(0) does.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: LIMIT,
    measure: threads,
};

/// A process.
pub const PROCESS_ROW: Row = Row {
    section: "3.5.1",
    operation: "process creation (fork, exit, wait)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s003-0521"),
    replica: Replica::By(&PROCESS),
    statistic: Statistic::of(Fit::MeanButFarthest),
    fathom: SameQuestion::Point("cpu/process_creation", |machine| {
        nearest(
            "cpu/process_creation",
            machine,
            &[("measure", &["fork, exit, wait"]), ("placement", &["one-cpu"])],
            &[],
        )
    }),
    misleads: "The same is timed. But exit(1) also runs what the C library does at an exit, in pages that the child \
               has to copy first, which Fathom's child does not. And a mean of two hundred is above a median, for \
               some creations take several times as long; of ten results the one that departs most is left out by \
               hand.",
};

/// A thread.
pub const THREAD_ROW: Row = Row {
    section: "3.5.2",
    operation: "kernel thread creation (create, exit, join)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s003-0522"),
    replica: Replica::By(&THREAD),
    statistic: Statistic::of(Fit::MeanButFarthest),
    fathom: SameQuestion::Point("cpu/thread_creation", |machine| {
        nearest(
            "cpu/thread_creation",
            machine,
            &[("measure", &["create and join"]), ("placement", &["one-cpu"])],
            &[],
        )
    }),
    misleads: "The same is timed. A mean of two hundred is above the median that Fathom gives, for some creations \
               take several times as long. The result left out by hand (540,676 cycles among 54,000) looks like a \
               slip of the point, not like a departure.",
};

fn processes(stage: &Stage) -> Result<Series, Failure> {
    runs(stage, || {
        let mut forked = 0;
        let mut status = 0;
        let ticks = timer::paoloni(|| {
            // SAFETY: this process has one thread; the child only ends.
            unsafe {
                forked = libc::fork();
                if forked == 0 {
                    libc::exit(1);
                }
                libc::wait(&raw mut status);
            }
        });
        errno("fork", forked)?;
        ensure(
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 1,
            "the child did not end as it was told",
        )?;
        Ok(ticks)
    })
}

extern "C" fn at_once(_: *mut libc::c_void) -> *mut libc::c_void {
    null_mut()
}

fn threads(stage: &Stage) -> Result<Series, Failure> {
    runs(stage, || {
        let mut created = 0;
        let ticks = timer::paoloni(|| {
            // SAFETY: the thread does nothing, and is joined where it was made.
            unsafe {
                let mut thread = 0;
                created = libc::pthread_create(&raw mut thread, null(), at_once, null_mut());
                if created == 0 {
                    libc::pthread_join(thread, null_mut());
                }
            }
        });
        ensure(created == 0, "a thread could not be made")?;
        Ok(ticks)
    })
}

/// Ten averages of their number of repetitions.
pub fn runs(stage: &Stage, mut once: impl FnMut() -> Result<i64, Failure>) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let repetitions = Repetitions::of(stage, REPETITIONS, RUNS);
    let (mut values, mut all) = (vec![], vec![]);
    for _ in 0..RUNS {
        let some = (0..repetitions.count).map(|_| once()).collect::<Result<Vec<_>, _>>()?;
        values.push(some.iter().sum::<i64>() as f64 / some.len() as f64 * ns);
        all.extend(some.into_iter().map(|ticks| ticks as f64 * ns));
    }
    let series = Series { seen: repetitions.said(), ..Series::of(values) };
    Ok(distribution(&all).into_iter().fold(series, Series::seen))
}

/// What the averages do not show: the middle of all differences, and those below zero.
fn distribution(all: &[f64]) -> Vec<String> {
    let median = statistics::median(all)
        .map(|median| format!("median of all {} differences: {:.2} µs", all.len(), median / 1e3));
    let negative = all.iter().filter(|ns| **ns < 0.0).count();
    let early = (negative > 0).then(|| {
        format!(
            "{negative} of {} differences are negative: the other side ran before the first reading",
            all.len()
        )
    });
    median.into_iter().chain(early).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_averages_hide_is_said() {
        let said = distribution(&[-100.0, 2000.0, 3000.0, 50_000.0]);
        assert!(said[0].contains("2.50 µs") && said[0].contains("4 differences"), "{said:?}");
        assert!(said[1].starts_with("1 of 4"), "{said:?}");
        assert_eq!(distribution(&[1.0, 2.0]).len(), 1);
    }
}
