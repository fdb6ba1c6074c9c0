//! Section 5.4: the time of a file block while other processes read other files.

use super::BlockFile;
use crate::operations::broke;
use crate::{Series, Stage};
use fathom_core::experiment::{Failure, ensure};
use fathom_core::sampling::partner::{PartnerProcess, pipe};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::fs::File;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

const FILE: u64 = 1 << 20;
pub const MOST: u64 = 15;
const PASSES: u64 = 50;
const LEAST_PASSES: u64 = 2;
const TIME: Duration = Duration::from_millis(250);
/// The numbers of competitors with `--quick`.
const FEW: [u64; 5] = [1, 2, 4, 8, 15];
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

const MIXED: fn(u64) -> bool = |number| number % 2 == 1;
const PATTERNS: [Pattern; 4] = [
    Pattern { name: "all sequential", main_random: false, competitor_random: |_| false },
    Pattern { name: "all random", main_random: true, competitor_random: |_| true },
    Pattern { name: "sequential among mixed", main_random: false, competitor_random: MIXED },
    Pattern { name: "random among mixed", main_random: true, competitor_random: MIXED },
];

/// A block's time by pattern and number of competitors.
pub fn contention(stage: &Stage) -> Result<Series, Failure> {
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
            let passes = if stage.quick { LEAST_PASSES } else { passes_within_budget(alone, competitors) };
            let values = crowd(stage, &mut main, pattern, competitors, passes)?;
            let values: Vec<f64> = values.into_iter().map(|ticks| ticks * ns).collect();
            means.push((competitors, values.iter().sum::<f64>() / values.len() as f64));
            series = series.and(pattern.name, competitors as f64, values);
        }
    }
    let factors =
        means.chunks(counts.len()).flat_map(factors_by_doubling).map(|factor| factor * PARTS).collect();
    Ok(series.and("growth by doubling", 0.0, factors))
}

/// Passes that fit into the time, if a block takes half as many times longer as there are competitors.
fn passes_within_budget(alone: Duration, competitors: u64) -> u64 {
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
    let mut chance = stage.chance();
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
            File::from(tell).write_all(&[1]).map_err(broke("telling the main process"))
        })?;
        Ok(Competitor { _process: process, done: done.into() })
    }

    fn ended(mut self) -> Result<(), Failure> {
        let read = self.done.read(&mut [0]).map_err(broke("waiting for it"))?;
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
        assert_eq!(passes_within_budget(Duration::from_millis(1), 1), 50);
        assert_eq!(passes_within_budget(Duration::from_millis(25), 4), 5);
        assert_eq!(passes_within_budget(Duration::from_secs(1), 15), LEAST_PASSES);
    }

    #[test]
    fn every_second_competitor_of_a_mixture_reads_at_random() {
        let random = |pattern: Pattern| (0..8).filter(|number| (pattern.competitor_random)(*number)).count();
        assert_eq!(PATTERNS.map(random), [0, 8, 4, 4]);
    }
}
