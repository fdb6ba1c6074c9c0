//! Sections 3.1 and 3.2: what reading the clock costs, and what a loop costs.

use super::{ASSEMBLY, unoptimised};
use crate::experiment::{Failure, Found, Known, Placement, Point};
use crate::machine::Machine;
use crate::quantity::Unit;
use crate::replicate::pace::reduced;
use crate::replicate::report_000::boilerplate::{ITERATIONS, TRIALS, timed_once, trials};
use crate::replicate::sweep::nearest;
use crate::replicate::timer::{start, stop_with_trailing_cpuid};
use crate::replicate::{
    Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs,
};
use std::time::Duration;

const INSIDE: &str = "between the readings";
const WHOLE: &str = "with what stands around them";
const AROUND: &str = "around a loop";
const STORE: &str = "loop";
const BOTH: &str = "readings and loop";

static TIMING: Method = Method {
    name: "timing overhead",
    text: "CPUID; RDTSC; two moves … RDTSCP; two moves; CPUID, after Paoloni, with nothing between the readings. The \
           report does not say whether the timer stands inside its loop of 1,000,000 iterations or around it; both \
           are done, ten trials each: inside, the mean of the differences; around, the whole divided by the \
           iterations. The loop of section 3.2 has 100,000,000 iterations, each with a store through a pointer, and \
           the timer around it.",
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

/// What the readings pass, what all of it takes, and what is said of reduced counts.
type Inside = (Vec<f64>, Vec<f64>, Option<String>);

/// Ten trials of the timer inside the loop: what it reads itself, and what the loop takes, nanoseconds an iteration.
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
    Ok((read, whole, reduced("timed blocks a trial", ITERATIONS, count)))
}

/// Reads the timer with nothing to be timed `n` times; ticks between the two readings, summed up.
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

/// A pair of readings and once round a loop in a register.
fn pair_and_loop(known: &Known) -> Option<Found> {
    let (none, many) = (rounds(known.machine, 0), rounds(known.machine, LONG));
    let longer = known.found(LOOPS, &many)?.minus(known.found(LOOPS, &none)?);
    Some(known.found(OVERHEAD, &pair(known.machine))?.plus(longer.scaled(1.0 / LONG as f64)))
}

/// A timed block has two readings.
fn two_readings(known: &Known) -> Option<Found> {
    known.found(OVERHEAD, &reading(known.machine, "cost")).map(|cost| cost.scaled(2.0))
}

/// Iterations of the longest loop that Fathom measures.
const LONG: u64 = 8192;

fn pair_and_loops(machine: &Machine) -> Vec<(&'static str, Point)> {
    vec![(OVERHEAD, pair(machine)), (LOOPS, rounds(machine, 0)), (LOOPS, rounds(machine, LONG))]
}

/// The first row of their summary.
pub const MEASUREMENT: Row = Row {
    section: "3.1, 3.2",
    operation: "measurement overhead (timer and loop)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s000-0273"),
    replica: Replica::By(&TIMING),
    statistic: Statistic::variant(BOTH, Fit::Mean(Deviation::None)),
    fathom: SameQuestion::Computed { of: pair_and_loops, value: pair_and_loop },
    misleads: "It is the sum of two figures that never occur together: the loop surrounds the timer once in a million \
               iterations. It was never subtracted from anything.",
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
    misleads: "The method correctly gives what a pair of readings adds to a result. That the figure equals the number \
               of instructions is a coincidence: ticks are not core cycles.",
};

/// The same with both CPUIDs.
pub const TIMER_WHOLE: Row = Row {
    section: "3.1",
    operation: "timing overhead (the whole timed block, CPUID included)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::NotPrinted("they give only what passes between the two readings of the counter"),
    replica: Replica::By(&TIMING),
    statistic: Statistic::variant(WHOLE, Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Computed {
        of: |machine| vec![(OVERHEAD, reading(machine, "cost"))],
        value: two_readings,
    },
    misleads: "The figure is right, but table 1 leaves it out. It is the cost of timing to the program; in a virtual \
               machine, where every CPUID goes to the hypervisor, it is many times the figure of table 1.",
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
    misleads: "Read as section 3.1.3 has it, the figure would be one iteration of an empty loop, and the timer a millionth of \
               it: their 8.19 ns are not this, so the timer stood inside.",
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
    misleads: "Without optimisation the counter lives in memory: the figure is the latency of store forwarding, one \
               cycle on recent cores and five on older ones, and not the cost of a loop with its counter in a \
               register.",
};
