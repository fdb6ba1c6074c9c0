//! Section 3.5: creating a process or a thread and waiting for its end.

use super::super::repetitions::{RUNS, Repetitions};
use crate::sweep::nearest;
use crate::{Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, timer};
use fathom_core::experiment::{Failure, Placement, ensure, errno};
use fathom_core::quantity::Unit;
use fathom_core::statistics;
use std::ptr::{null, null_mut};
use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(1);
/// The report's repetitions in an average.
pub const REPETITIONS: u64 = 200;

const PROCESS: Method = Method {
    name: "process creation",
    text: "Between rdtscStart() and rdtscEnd() the program calls fork(); the child calls exit(1) at once, and the parent calls wait(NULL). \
           It does this 200 times in a loop; the mean is one of ten results.",
    differs: "The process that forks is Fathom's, small and fresh; the report does not print the size of its own.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: LIMIT,
    measure: processes,
};

const THREAD: Method = Method {
    name: "thread creation",
    text: "Between rdtscStart() and rdtscEnd() the program creates a thread that ends at once (pthread_create()) and joins it \
           (pthread_join()). It does this 200 times in a loop; the mean is one of ten results.",
    differs: "The thread ends by returning, which has the same effect as pthread_exit(0).",
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
    misleads: "Both methods time the same operation. But exit(1) also runs the exit handlers of the C library, in pages that the child \
               must copy first; Fathom's child does not. The mean of two hundred creations lies above Fathom's median because some \
               creations take several times as long. Of its ten results the report left out by hand the one that departs most.",
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
    misleads: "Both methods time the same operation. The mean of two hundred creations lies above Fathom's median because some creations \
               take several times as long. The result that the report left out by hand (540,676 cycles among 54,000) looks like a \
               misplaced decimal point, not like an outlier.",
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
            "the child did not end with exit status 1",
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
        ensure(created == 0, "a thread could not be created")?;
        Ok(ticks)
    })
}

/// Ten averages, each of the report's number of repetitions.
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

/// What the averages hide: the median of all differences, and how many are negative.
fn distribution(all: &[f64]) -> Vec<String> {
    let median = statistics::median(all)
        .map(|median| format!("The median of all {} differences is {:.2} µs.", all.len(), median / 1e3));
    let negative = all.iter().filter(|ns| **ns < 0.0).count();
    let early = (negative > 0).then(|| {
        format!(
            "{negative} of {} differences are negative: the new process or thread ran before the first reading.",
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
