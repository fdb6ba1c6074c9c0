//! Section 5.4: the time of a file block while other processes read other files.

use super::BLOCK;
use super::read::BlockFile;
use crate::sweep::nearest;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Dimension, Failure, Found, Known, Placement, Point, ensure};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_core::sampling::partner::{PartnerProcess, pipe};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

const CONTENTION: Method = Method {
    name: "contention",
    text: "1 to 15 forked competitors each read a file of their own of 1 MiB past the cache, 100 times. Meanwhile the main process reads \
           its own file 50 times and times every block; the mean of a block over one pass is one of 50 results. The main process then \
           waits for the others. There are four patterns: all read in sequence; all read at random; the main process reads in sequence, or \
           at random, among competitors of which every second reads at random.",
    differs: "O_DIRECT replaces F_NOCACHE. The main process makes as many of the 50 passes as fit into 0.25 s for each number of \
              competitors, at least two; the competitors make twice as many. With --quick there are two passes, with 1, 2, 4, 8 and 15 \
              competitors only. The report does not define its `linear coefficient`. Judging by its prediction of 2, it is the factor by \
              which a block's time grows when the number of competitors doubles; here it is taken over all patterns.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(4),
    measure: contention,
};

const FILE: u64 = 1 << 20;
/// The most competitors.
pub const MOST: u64 = 15;
const PASSES: u64 = 50;
const LEAST_PASSES: u64 = 2;
const TIME: Duration = Duration::from_millis(250);
/// The numbers of competitors with `--quick`.
const FEW: [u64; 5] = [1, 2, 4, 8, 15];
const GROWTH: &str = "growth by doubling";
/// Parts per million, the unit of a factor.
const PARTS: f64 = 1e6;

/// Who reads how.
#[derive(Debug, Clone, Copy)]
struct Pattern {
    name: &'static str,
    main_random: bool,
    /// Whether a competitor of this number, from 0, reads at random.
    competitor_random: fn(u64) -> bool,
}

const SEQUENTIAL: Pattern =
    Pattern { name: "all sequential", main_random: false, competitor_random: |_| false };
const RANDOM: Pattern = Pattern { name: "all random", main_random: true, competitor_random: |_| true };
const SEQUENTIAL_MIXED: Pattern = Pattern {
    name: "sequential among mixed",
    main_random: false,
    competitor_random: |number| number % 2 == 1,
};
const RANDOM_MIXED: Pattern =
    Pattern { name: "random among mixed", main_random: true, competitor_random: |number| number % 2 == 1 };
const PATTERNS: [Pattern; 4] = [SEQUENTIAL, RANDOM, SEQUENTIAL_MIXED, RANDOM_MIXED];

/// The `linear coefficient`.
pub const COEFFICIENT_ROW: Row = Row {
    section: "5.4",
    operation: "contention: growth of a block's time when the competitors double",
    unit: Unit::PartsPerMillion,
    per: "",
    theirs: Theirs::Printed("s003-0543"),
    replica: Replica::By(&CONTENTION),
    statistic: Statistic::variant(GROWTH, Fit::Mean(Deviation::None)),
    fathom: SameQuestion::Computed { of: doublings, value: growth_by_doubling },
    misleads: "The report does not define the coefficient, and its value fits no line through its table: such a line has a slope of about \
               20 µs per process. Only the main process is timed. The others start and end on their own, so with few passes the main \
               process may read alone for a while.",
};

/// The time that one more competitor adds.
pub const SLOPE_ROW: Row = Row {
    section: "5.4",
    operation: "contention, all sequential: one more process",
    unit: Unit::Nanoseconds,
    per: "process",
    theirs: Theirs::NotPrinted(
        "the report prints no slope: a least-squares line through its table of 1 to 15 competitors has 20.1 µs",
    ),
    replica: Replica::By(&CONTENTION),
    statistic: Statistic::variant(SEQUENTIAL.name, Fit::Slope { from: 1.0, to: MOST as f64 }),
    fathom: SameQuestion::Slope("filesystem/contention", "processes", |machine| {
        point(machine, SEQUENTIAL.name, 1).without("processes")
    }),
    misleads: "Only the main process is timed, and no barrier holds the competitors until all are ready. Fathom times all processes while \
               all of them read, up to 50.",
};

const fn crowded(
    operation: &'static str,
    theirs: &'static str,
    pattern: Pattern,
    point: fn(&Machine) -> Point,
) -> Row {
    Row {
        section: "5.4",
        operation,
        unit: Unit::Nanoseconds,
        per: "block of 4 KiB",
        theirs: Theirs::Printed(theirs),
        replica: Replica::By(&CONTENTION),
        statistic: Statistic::variant(pattern.name, Fit::MeanAt(MOST as f64)),
        fathom: SameQuestion::Point("filesystem/contention", point),
        misleads: "The competitors begin before the main process and may end before it; all of them run on one CPU. Fathom's processes all \
                   read during the whole time, on the CPUs that the scheduler chooses.",
    }
}

/// A block's time with 15 competitors, all reading in sequence.
pub const SEQUENTIAL_ROW: Row =
    crowded("contention, all sequential, 15 competitors", "s003-0511", SEQUENTIAL, |machine| {
        point(machine, SEQUENTIAL.name, MOST + 1)
    });

/// All at random.
pub const RANDOM_ROW: Row =
    crowded("contention, all random, 15 competitors", "s003-0512", RANDOM, |machine| {
        point(machine, RANDOM.name, MOST + 1)
    });

/// The main process in sequence, every second competitor at random.
pub const SEQUENTIAL_MIXED_ROW: Row =
    crowded("contention, sequential among mixed, 15 competitors", "s003-0513", SEQUENTIAL_MIXED, |machine| {
        point(machine, SEQUENTIAL_MIXED.name, MOST + 1)
    });

/// The main process at random, every second competitor in sequence.
pub const RANDOM_MIXED_ROW: Row =
    crowded("contention, random among mixed, 15 competitors", "s003-0514", RANDOM_MIXED, |machine| {
        point(machine, RANDOM_MIXED.name, MOST + 1)
    });

/// Fathom's point: a block's time of each process.
fn point(machine: &Machine, pattern: &str, processes: u64) -> Point {
    let names: &[(&str, &[&str])] = &[("pattern", &[pattern]), ("figure", &["each process"])];
    nearest(
        "filesystem/contention",
        machine,
        names,
        &[("file", 1000 * BLOCK as u64), ("processes", processes)],
    )
}

/// Fathom's points from 2 to 16 processes.
fn doublings(machine: &Machine) -> Vec<(&'static str, Point)> {
    let of = |pattern: Pattern| {
        [2, 4, 8, 16].map(|count| ("filesystem/contention", point(machine, pattern.name, count)))
    };
    [SEQUENTIAL, RANDOM].into_iter().flat_map(of).collect()
}

/// The mean factor from each of them to the next.
fn growth_by_doubling(known: &Known) -> Option<Found> {
    let points = doublings(known.machine);
    let times: Vec<f64> = points.iter().filter_map(|(name, point)| known.median(name, point)).collect();
    (times.len() == points.len()).then_some(())?;
    let factors: Vec<f64> =
        times.chunks(4).flat_map(|four| four.windows(2)).map(|pair| pair[1] / pair[0] * PARTS).collect();
    let mean = factors.iter().sum::<f64>() / factors.len() as f64;
    Some(Found::bare(mean, Dimension::Of(Unit::PartsPerMillion)))
}

fn contention(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let counts: Vec<u64> = if stage.quick { FEW.into() } else { (1..=MOST).collect() };
    let mut main = BlockFile::of(stage, "contention-0", FILE)?;
    for number in 1..=MOST {
        BlockFile::of(stage, &format!("contention-{number}"), FILE)?;
    }
    let began = Instant::now();
    main.pass(None)?;
    let alone = began.elapsed();
    let (mut series, mut means) = (Series::default(), vec![]);
    for pattern in PATTERNS {
        for &competitors in &counts {
            let passes = if stage.quick { LEAST_PASSES } else { afforded(alone, competitors) };
            let values = crowd(stage, &mut main, pattern, competitors, passes)?;
            let values: Vec<f64> = values.into_iter().map(|ticks| ticks * ns).collect();
            means.push((competitors, values.iter().sum::<f64>() / values.len() as f64));
            series = series.and(pattern.name, competitors as f64, values);
        }
    }
    let factors =
        means.chunks(counts.len()).flat_map(factors_by_doubling).map(|factor| factor * PARTS).collect();
    Ok(series.and(GROWTH, 0.0, factors))
}

/// Passes that fit into the time, if a block takes half as many times longer as there are competitors.
fn afforded(alone: Duration, competitors: u64) -> u64 {
    let each = alone.as_secs_f64() * (competitors as f64 / 2.0).max(1.0);
    ((TIME.as_secs_f64() / each) as u64).clamp(LEAST_PASSES, PASSES)
}

/// The factors by which the time grows from each number of competitors to its double.
fn factors_by_doubling(means: &[(u64, f64)]) -> Vec<f64> {
    let time =
        |count: u64| means.iter().find(|(competitors, _)| *competitors == count).map(|(_, time)| *time);
    means.iter().filter_map(|(count, once)| Some(time(2 * count)? / once)).collect()
}

/// Forks the competitors, makes so many passes beside them, and waits for them: the mean ticks of a block in each pass.
fn crowd(
    stage: &Stage,
    main: &mut BlockFile,
    pattern: Pattern,
    competitors: u64,
    passes: u64,
) -> Result<Vec<f64>, Failure> {
    let others = (0..competitors)
        .map(|number| Competitor::start(stage, number, (pattern.competitor_random)(number), 2 * passes))
        .collect::<Result<Vec<_>, _>>()?;
    let mut chance = SplitMix64::seed_from_u64(stage.site.seed);
    let mut one = || main.pass(pattern.main_random.then_some(&mut chance));
    let values = (0..passes).map(|_| one()).collect::<Result<_, _>>()?;
    others.into_iter().try_for_each(Competitor::ended)?;
    Ok(values)
}

/// A process that reads its file so many times.
struct Competitor {
    _process: PartnerProcess,
    /// Receives one byte when the process has read everything, and closes when it ends.
    done: File,
}

impl Competitor {
    fn start(stage: &Stage, number: u64, random: bool, passes: u64) -> Result<Self, Failure> {
        let (done, tell) = pipe()?;
        let seed = stage.site.seed.wrapping_add(number + 1);
        // Opened here, because only the parent finds a file of the run, and this process is not the parent of the other.
        let mut file = BlockFile::of(stage, &format!("contention-{}", number + 1), FILE)?;
        let process = PartnerProcess::start(stage.site.partner, move || {
            let mut chance = SplitMix64::seed_from_u64(seed);
            for _ in 0..passes {
                file.pass(random.then_some(&mut chance))?;
            }
            let told = std::io::Write::write_all(&mut File::from(tell), &[1]);
            told.map_err(|error| Failure::Broke(format!("telling the main process: {error}")))
        })?;
        Ok(Competitor { _process: process, done: done.into() })
    }

    fn ended(mut self) -> Result<(), Failure> {
        let read =
            self.done.read(&mut [0]).map_err(|error| Failure::Broke(format!("waiting for it: {error}")))?;
        ensure(read == 1, "a competitor could not read its file")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_from_each_number_to_its_double() {
        let means = [(1, 10.0), (2, 15.0), (3, 18.0), (4, 30.0), (5, 33.0), (6, 36.0)];
        let factors = factors_by_doubling(&means);
        assert_eq!(factors, [1.5, 2.0, 2.0]);
        // Their own table, all sequential: about the 1.5 that the report speaks of.
        let theirs = [
            0.09443, 0.11512, 0.12556, 0.15618, 0.17264, 0.2002, 0.22059, 0.24195, 0.25441, 0.2752, 0.28575,
            0.3146, 0.3317, 0.35229, 0.37244,
        ];
        let table: Vec<(u64, f64)> = (1..).zip(theirs).collect();
        let factors = factors_by_doubling(&table);
        let mean = factors.iter().sum::<f64>() / factors.len() as f64;
        assert!((1.4..1.6).contains(&mean), "{mean}");
    }

    #[test]
    fn as_many_passes_are_made_as_fit_and_two_at_least() {
        assert_eq!(afforded(Duration::from_millis(1), 1), 50);
        assert_eq!(afforded(Duration::from_millis(25), 4), 5);
        assert_eq!(afforded(Duration::from_secs(1), 15), LEAST_PASSES);
    }

    #[test]
    fn every_second_competitor_of_a_mixture_reads_at_random() {
        let random = |pattern: Pattern| (0..8).filter(|number| (pattern.competitor_random)(*number)).count();
        assert_eq!(PATTERNS.map(random), [0, 8, 4, 4]);
    }
}
