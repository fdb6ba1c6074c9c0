//! Sections 3.2.1 and 3.2.2: the cost of reading the clock, and of an empty loop.

use super::super::repetitions::{RUNS, Repetitions};
use crate::sweep::nearest;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, timer};
use fathom_core::experiment::{Failure, Placement};
use fathom_core::quantity::Unit;
use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(1);

const READING: Method = Method {
    name: "reading the clock",
    text: "The program makes 100,000 pairs of rdtscStart() (CPUID, RDTSC) and rdtscEnd() (RDTSCP, CPUID) with nothing between them; the \
           mean of the 100,000 differences is one of ten results.",
    differs: "",
    placement: Placement::OneCpu,
    needs: &[],
    limit: LIMIT,
    measure: reading,
};

const LOOP: Method = Method {
    name: "empty loop",
    text: "An empty loop of 0, 1, 2, 4 … 8192 iterations stands between rdtscStart() and rdtscEnd(). It is timed 100,000 / count times \
           (8192 iterations: 12 times), and the mean is divided by the count.",
    differs: "The loop is written in assembly, with the instructions of an unoptimised build and its counter in memory. The report does \
              not print its compiler flags, but an optimising compiler removes an empty loop.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: LIMIT,
    measure: loops,
};

/// Reading the time.
pub const READING_ROW: Row = Row {
    section: "3.2.1",
    operation: "reading the time (rdtscStart and rdtscEnd with nothing between them)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s003-0516"),
    replica: Replica::By(&READING),
    statistic: Statistic::of(Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point("cpu/timing_overhead", |machine| {
        nearest(
            "cpu/timing_overhead",
            machine,
            &[("reading", &["cpuid-rdtsc rdtscp-cpuid"]), ("measure", &["pair"])],
            &[],
        )
    }),
    misleads: "As the clock's share of each difference the figure is right, except that interrupts lengthen a mean, and that a mean lies \
               between two values of a counter that moves in steps. It is not the full cost of a pair: the two CPUIDs are outside the \
               difference, take some hundred cycles and, in a virtual machine, exit to the hypervisor. The report subtracts the figure \
               from page faults only; its tables of loops, calls and system calls include it.",
};

/// An empty loop.
pub const LOOP_ROW: Row = Row {
    section: "3.2.2",
    operation: "empty loop",
    unit: Unit::Nanoseconds,
    per: "iteration",
    theirs: Theirs::Printed("s003-0517"),
    replica: Replica::By(&LOOP),
    statistic: Statistic::variant(PER_ITERATION, Fit::MeanAt(LONGEST as f64)),
    fathom: SameQuestion::Slope("cpu/loop_overhead", "iterations", |machine| {
        nearest("cpu/loop_overhead", machine, &[("form", &["register"])], &[("iterations", 0)])
            .without("iterations")
    }),
    misleads: "The loop counter is in memory: each iteration loads it twice, stores it, and waits until the store is forwarded to the next \
               load, about five cycles on the report's processor (newer ones rename memory and wait less). An iteration with its counter \
               in a register takes one. 8192 iterations are timed only 12 times, so a single interrupt is visible. Short loops show the \
               cost of the clock: the table prints 39 cycles for one iteration.",
};

const TOTAL: &str = "whole loop";
const PER_ITERATION: &str = "per iteration";
const LONGEST: u64 = 8192;
/// The report's repetitions of a pair, and of a loop of one iteration.
const REPETITIONS: u64 = 100_000;

fn reading(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let repetitions = Repetitions::of(stage, REPETITIONS, RUNS);
    let values = (0..RUNS).map(|_| mean(repetitions.count, || timer::paoloni(|| ())) * ns).collect();
    Ok(Series { seen: repetitions.said(), ..Series::of(values) })
}

fn loops(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    // All counts together have about three times as many repetitions as the first alone.
    let repetitions = Repetitions::of(stage, REPETITIONS, 3);
    let mut series = Series { seen: repetitions.said(), ..Series::default() };
    for count in std::iter::once(0).chain((0..14).map(|power| 1 << power)) {
        let times = (repetitions.count / count.max(1)).max(12);
        let total = mean(times, || timer::paoloni(|| empty_loop(count))) * ns;
        series = series.and(TOTAL, count as f64, vec![total]);
        series = series.and(PER_ITERATION, count as f64, vec![total / count.max(1) as f64]);
    }
    Ok(series)
}

/// The mean of `repetitions` results of `once`, ticks.
pub fn mean(repetitions: u64, mut once: impl FnMut() -> i64) -> f64 {
    let sum: i64 = (0..repetitions).map(|_| once()).sum();
    sum as f64 / repetitions as f64
}

/// `for (i = 0; i < count; i++);` as compiled without optimisation: every use of `i` and `count` is a load, every change of `i` a
/// store.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
fn empty_loop(count: u64) {
    let (mut counter, count) = (0_u32, count as u32);
    // SAFETY: reads and writes the two variables that it is given the addresses of.
    unsafe {
        core::arch::asm!(
            "mov dword ptr [{counter}], 0",
            "2:",
            "mov {scratch:e}, dword ptr [{counter}]",
            "cmp {scratch:e}, dword ptr [{count}]",
            "jge 4f",
            "jmp 3f",
            "3:",
            "mov {scratch:e}, dword ptr [{counter}]",
            "add {scratch:e}, 1",
            "mov dword ptr [{counter}], {scratch:e}",
            "jmp 2b",
            "4:",
            counter = in(reg) &raw mut counter, count = in(reg) &raw const count, scratch = out(reg) _,
            options(nostack)
        );
    }
    debug_assert_eq!(counter, count, "the loop makes as many iterations as it was asked for");
}

/// On other architectures the compiler is made to keep the counter in memory.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call would stand inside the timed region")]
fn empty_loop(count: u64) {
    let (mut counter, count) = (0_u32, count as u32);
    while std::hint::black_box(&counter) < std::hint::black_box(&count) {
        *std::hint::black_box(&mut counter) += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_loop_goes_round_as_often_as_it_is_told() {
        // `debug_assert` above looks at the counter.
        [0, 1, 2, 8192].into_iter().for_each(empty_loop);
    }

    #[test]
    fn a_mean_is_of_all_repetitions_and_negative_ones_count() {
        let mut values = [10, -4, 6].into_iter();
        assert!((mean(3, || values.next().unwrap()) - 4.0).abs() < 1e-12);
    }
}
