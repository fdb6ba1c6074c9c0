//! Section 4.1: the time of a load.

use super::chain::Chain;
use crate::pace::reduced;
use crate::report_000::boilerplate::{TRIALS, timed_once};
use crate::sweep::nearest;
use crate::{Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, Requirement};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use std::time::Duration;

static CHASE: Method = Method {
    name: "memory latency",
    text: "Arrays have 2^10 to 2^28 elements of 8 bytes, which the report counts as 4, so each array is twice as large as it is called. A \
           shuffle exchanges every index with an earlier one; element i then points to the element that index i + 1 holds. The program \
           executes `ptr = *ptr` 10,000,000 times, ten times over in a trial, with pointer and counter in memory and the timer around all; \
           ten trials.",
    differs: "Arrays have up to 2^25 elements (with --quick four sizes), because shuffling more takes minutes. The loop is written in \
              assembly, with the loads and stores of unoptimised code. The index that the report's program reads past the end is taken as \
              zero. Accesses are reduced where they would take longer than 15 s for all sizes; every trial continues where the one before \
              ended, so that fewer accesses do not find the same few elements in a cache.",
    placement: Placement::OneCpu,
    needs: &[Requirement::MemoryBytes(1 << 29)],
    limit: Duration::from_mins(3),
    measure: chase,
};

/// Bytes that the report counts for an element of eight.
const COUNTED: u64 = 4;
/// Accesses of a trial: ten loops of ten million.
const ACCESSES: u64 = 100_000_000;

const CALLED_L1: u64 = 1 << 15;
const CALLED_L2: u64 = 1 << 19;
const CALLED_L3: u64 = 1 << 23;
const CALLED_RAM: u64 = 1 << 27;

fn sizes(stage: &Stage) -> Vec<u64> {
    let all = (12..=27).map(|power| 1 << power).collect();
    if stage.quick { vec![CALLED_L1, CALLED_L2, CALLED_L3, CALLED_RAM] } else { all }
}

fn chase(stage: &Stage) -> Result<Series, Failure> {
    let (sizes, tick) = (sizes(stage), stage.ns_per_tick()?);
    let (mut series, mut fewest) = (Series::default(), ACCESSES);
    for size in &sizes {
        let chain = Chain::new((size / COUNTED) as usize, stage.site.seed);
        let mut at = chain.first();
        let mut follow = |n| {
            at = chain.follow(at, n);
            Ok(())
        };
        let share = 0.9 / (sizes.len() as u64 * TRIALS) as f64;
        let count = stage.afforded(ACCESSES, share, &mut follow)?;
        let trial = |_| Ok(timed_once(|| follow(count))? * tick / count as f64);
        let values = (0..TRIALS).map(trial).collect::<Result<_, Failure>>()?;
        fewest = fewest.min(count);
        series = series.and("", *size as f64, values).having_seen(shortened(&chain, *size));
    }
    Ok(series.having_seen(reduced("or more accesses per trial", ACCESSES, fewest)))
}

/// A sentence where a chain leaves out more than a tenth of its elements.
fn shortened(chain: &Chain, size: u64) -> Option<String> {
    let elements = size / COUNTED;
    let round = chain.round(elements.min(1 << 22)).filter(|round| *round * 10 < elements * 9)?;
    Some(format!("The chain through {elements} elements repeats after {round}."))
}

const fn load(operation: &'static str, size: u64, theirs: &'static str, fathom: SameQuestion) -> Row {
    Row {
        section: "4.1",
        operation,
        unit: Unit::Nanoseconds,
        per: "",
        theirs: Theirs::Printed(theirs),
        replica: Replica::By(&CHASE),
        statistic: Statistic::of(Fit::MeanAt(size as f64)),
        fathom,
        misleads: BROKEN,
    }
}

const BROKEN: &str = "The link is taken from the next index, so the chain is no longer one cycle: it visits only a part of the array, \
                      whose size varies with the seed (Fathom counts it). On the other hand the array is twice as large as stated, eight \
                      elements share a cache line, and every step passes pointer and counter through memory. Fathom's figure is for one \
                      cycle through every line of an array of the same true size, or of the nearest that Fathom measures.";

fn cycle(machine: &Machine, size: u64) -> fathom_core::experiment::Point {
    let names: &[(&str, &[&str])] = &[("order", &["random cycle"]), ("pages", &["base"])];
    nearest("memory/load_latency", machine, names, &[("size", 2 * size)])
}

/// Table 9, level 1.
pub const L1: Row = load(
    "load, array called 32 KiB (their L1)",
    CALLED_L1,
    "s000-0064",
    SameQuestion::Point("memory/load_latency", |machine| cycle(machine, CALLED_L1)),
);

/// Table 9, level 2.
pub const L2: Row = load(
    "load, array called 512 KiB (their L2)",
    CALLED_L2,
    "s000-0065",
    SameQuestion::Point("memory/load_latency", |machine| cycle(machine, CALLED_L2)),
);

/// Table 9, level 3.
pub const L3: Row = load(
    "load, array called 8 MiB (their L3)",
    CALLED_L3,
    "s000-0066",
    SameQuestion::Point("memory/load_latency", |machine| cycle(machine, CALLED_L3)),
);

/// The summary's row.
pub const RAM: Row = load(
    "load from main memory (array called 128 MiB)",
    CALLED_RAM,
    "s000-0280",
    SameQuestion::Point("memory/load_latency", |machine| cycle(machine, CALLED_RAM)),
);
