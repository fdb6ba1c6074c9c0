//! Sections 3.1 and 3.2: the cost of reading the clock, and of a loop.

use super::{ASSEMBLY, unoptimised};
use crate::pace::reduced;
use crate::report_000::boilerplate::{ITERATIONS, TRIALS, timed_once, trials};
use crate::sweep::nearest;
use crate::timer::{start, stop_with_trailing_cpuid};
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Found, Known, Placement, Point};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use std::time::Duration;

const INSIDE: &str = "between the readings";
const WHOLE: &str = "with what stands around them";
const AROUND: &str = "around a loop";
const STORE: &str = "loop";
const BOTH: &str = "readings and loop";

static TIMING: Method = Method {
    name: "timing overhead",
    text: "The timer is CPUID; RDTSC; two moves … RDTSCP; two moves; CPUID, after Paoloni, with nothing between the readings. The report \
           does not say whether the timer is inside its loop of 1,000,000 iterations or around it, so Fathom does both, ten trials each: \
           inside, the figure is the mean of the differences; around, it is the whole time divided by the iterations. The loop of section \
           3.2 has 100,000,000 iterations, each with a store through a pointer, and the timer around it.",
    differs: ASSEMBLY,
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(2),
    measure: timing,
};

fn timing(stage: &Stage) -> Result<Series, Failure> {
    let (inside, whole, said) = inside(stage)?;
    let around = trials(stage, ITERATIONS, 0.1, |n| {
        unoptimised::empty(n);
        Ok(())
    })?;
    let store = trials(stage, 100_000_000, 0.4, |n| {
        unoptimised::store(n);
        Ok(())
    })?;
    let both = inside.iter().zip(&store.values).map(|(inside, store)| inside + store).collect();
    let series = Series::default().and(INSIDE, 0.0, inside).and(WHOLE, 0.0, whole);
    let series = series.and(AROUND, 0.0, around.values).and(STORE, 0.0, store.values).and(BOTH, 0.0, both);
    Ok(series.having_seen(said).having_seen(store.reduced))
}

/// The trials of the differences and of the whole time, and the sentences on reduced counts.
type Inside = (Vec<f64>, Vec<f64>, Option<String>);

/// Ten trials of the timer inside the loop: the difference that it reads, and the time of the loop, nanoseconds per iteration.
fn inside(stage: &Stage) -> Result<Inside, Failure> {
    let tick = stage.ns_per_tick()?;
    let count = stage.afforded(ITERATIONS, 0.5 / TRIALS as f64, |n| {
        pairs(n);
        Ok(())
    })?;
    let (mut read, mut whole) = (vec![], vec![]);
    for _ in 0..TRIALS {
        let mut sum = 0;
        let ticks = timed_once(|| {
            sum = pairs(count);
            Ok(())
        })?;
        read.push(sum as f64 * tick / count as f64);
        whole.push(ticks * tick / count as f64);
    }
    Ok((read, whole, reduced("timed blocks per trial", ITERATIONS, count)))
}

/// Reads the timer `n` times with nothing to be timed: the sum of the ticks between the two readings.
fn pairs(n: u64) -> u64 {
    let mut sum: u64 = 0;
    for _ in 0..n {
        let began = start();
        sum = sum.wrapping_add(stop_with_trailing_cpuid().wrapping_sub(began));
    }
    sum
}

const OVERHEAD: &str = "cpu/timing_overhead";
const LOOPS: &str = "cpu/loop_overhead";
const SAME: &str = "cpuid-rdtsc rdtscp-cpuid";

fn reading(machine: &Machine, aspect: &str) -> Point {
    nearest(OVERHEAD, machine, &[("reading", &[SAME]), ("measure", &[aspect])], &[])
}

fn pair(machine: &Machine) -> Point {
    reading(machine, "pair")
}

fn rounds(machine: &Machine, count: u64) -> Point {
    nearest(LOOPS, machine, &[("form", &["register"])], &[("iterations", count)])
}

fn register_loops(machine: &Machine) -> Point {
    nearest(LOOPS, machine, &[("form", &["register"])], &[]).without("iterations")
}

/// A pair of readings, and one iteration of a loop whose counter is in a register.
fn pair_and_loop(known: &Known) -> Option<Found> {
    let (none, many) = (rounds(known.machine, 0), rounds(known.machine, LONG));
    let longer = known.found(LOOPS, &many)?.minus(known.found(LOOPS, &none)?);
    Some(known.found(OVERHEAD, &pair(known.machine))?.plus(longer.scaled(1.0 / LONG as f64)))
}

/// A timed block has two readings.
fn two_readings(known: &Known) -> Option<Found> {
    known.found(OVERHEAD, &reading(known.machine, "cost")).map(|cost| cost.scaled(2.0))
}

/// The iterations of Fathom's longest loop.
const LONG: u64 = 8192;

fn pair_and_loops(machine: &Machine) -> Vec<(&'static str, Point)> {
    vec![(OVERHEAD, pair(machine)), (LOOPS, rounds(machine, 0)), (LOOPS, rounds(machine, LONG))]
}

/// The first row of the report's summary.
pub const MEASUREMENT: Row = Row {
    section: "3.1, 3.2",
    operation: "measurement overhead (timer and loop)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s000-0273"),
    replica: Replica::By(&TIMING),
    statistic: Statistic::variant(BOTH, Fit::Mean(Deviation::None)),
    fathom: SameQuestion::Computed { of: pair_and_loops, value: pair_and_loop },
    misleads: "The figure is the sum of two costs that never occur together, because the loop surrounds the timer once in a million \
               iterations. The report never subtracts it from anything.",
};

/// Table 1, the timer inside the loop.
pub const TIMER: Row = Row {
    section: "3.1",
    operation: "timing overhead (between the two readings)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s000-0002"),
    replica: Replica::By(&TIMING),
    statistic: Statistic::variant(INSIDE, Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point(OVERHEAD, pair),
    misleads: "The method correctly gives what a pair of readings adds to a result. It is a coincidence that the figure equals the number \
               of instructions: ticks are not core cycles.",
};

/// The same with both CPUIDs.
pub const TIMER_WHOLE: Row = Row {
    section: "3.1",
    operation: "timing overhead (the whole timed block, CPUID included)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::NotPrinted("the report gives only the time between the two readings of the counter"),
    replica: Replica::By(&TIMING),
    statistic: Statistic::variant(WHOLE, Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Computed {
        of: |machine| vec![(OVERHEAD, reading(machine, "cost"))],
        value: two_readings,
    },
    misleads: "The figure is right, but table 1 leaves it out. It is the cost of timing to the program; in a virtual machine, where every \
               CPUID exits to the hypervisor, it is many times the figure of table 1.",
};

/// Table 1, the timer around the loop.
pub const TIMER_AROUND: Row = Row {
    section: "3.1.3",
    operation: "timing overhead (the timer around 1,000,000 empty iterations)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s000-0002"),
    replica: Replica::By(&TIMING),
    statistic: Statistic::variant(AROUND, Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point(OVERHEAD, pair),
    misleads: "By section 3.1.3, the figure would be one iteration of an empty loop plus a millionth of the timer. The report's 8.19 ns \
               are too long for that, so the timer was inside the loop.",
};

/// Table 2.
pub const LOOP: Row = Row {
    section: "3.2",
    operation: "loop overhead (a store in the body)",
    unit: Unit::Nanoseconds,
    per: "iteration",
    theirs: Theirs::Printed("s000-0006"),
    replica: Replica::By(&TIMING),
    statistic: Statistic::variant(STORE, Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Slope(LOOPS, "iterations", register_loops),
    misleads: "Without optimisation the counter is in memory. The figure is the latency of store forwarding, one cycle on recent cores and \
               five on older ones, and not the cost of a loop with its counter in a register.",
};
