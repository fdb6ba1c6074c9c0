//! One ratio for a family of points, as system calls or caches: what moves all of them by a few per cent is seen in none by
//! itself, and in all together at once.
//!
//! The ratio is a mean of the points' ratios on logarithms, as costs (a rate is turned round), weighted by what each is known
//! to, and with a limit on what a single point can do (Huber 1964, "Robust estimation of a location parameter", Ann. Math.
//! Stat. 35): a point that moved by itself has its own row.
//!
//! Its error is not that of so many independent points. Trials of one round are made in the same minute, with the same
//! neighbours, so the points of a run move together: the deviations of all trials of a round are added before they are squared
//! (a cluster-robust error, Liang & Zeger 1986, Biometrika 73), and the degrees of freedom are those of the rounds. The error is
//! never smaller than the scatter of the points' ratios allows, nor than the differences of a side's runs.
//!
//! What a run has once, such as its hour, shows in no round of it. Where a side has one run, its error is therefore
//! [`FROM_RUN_TO_RUN`] times that of its rounds.

use super::family::{FAMILIES, family};
use super::side::{Level, ReducedRun, Side};
use super::verdict::{Verdict, chance_of_a_family};
use super::{Row, pairing};
use fathom_core::experiment::Point;
use fathom_core::quantity::Kind;
use fathom_core::statistics::{self, Contrast, LogLevel};
use std::collections::BTreeMap;

/// The points below which there is no family: two that agree are no pattern.
const FEWEST_POINTS: usize = 3;

/// By how much the error of a run's family exceeds that of its rounds. In 39 contrasts of families between runs of one machine (an
/// Emerald Rapids guest, and a Zen 3 guest whose cores were shared 33 to 45 % of the time) the mean square of change over error
/// was 3.0, where 1.2 is expected of ten degrees of freedom: a factor of 1.6, rounded up.
pub(crate) const FROM_RUN_TO_RUN: f64 = 2.0;

/// The least error of a family in one run: the layout that its processes have in common, as that of the kernel. Instructions and
/// system calls of three calm runs differed by so much.
const LEAST_ERROR: f64 = 0.001;

/// The least scatter of a family's points by which they are weighted, so that none that happened to agree counts for all.
const LEAST_SCATTER: f64 = 0.01;

/// From how many of its errors on a point's deviation counts less than in full (Huber's constant).
const FAR: f64 = 1.5;

/// The chance with which a change of the smallest visible size would be found, were a family's level the mean of its trials. It is a
/// median, which varies more than their mean; for nine of ten, simulated pairs find four of five.
const POWER: f64 = 0.9;

/// The most further runs that are proposed.
const MOST_RUNS: u32 = 99;

/// The points of a family with their common ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledFamily {
    /// Its name.
    pub name: &'static str,
    /// The number of its points that both sides have.
    pub points: usize,
    /// How many of them moved in the direction of the common ratio.
    pub agreeing: usize,
    /// The contrast from the first to the second side, as cost: above 1 it got worse.
    pub contrast: Contrast,
    /// The largest difference that does not matter: the smallest of its experiments.
    pub margin: f64,
    /// The change, as a share, that this comparison finds in four of five cases; a smaller one may have been missed.
    pub smallest_visible: f64,
    /// How many more runs of each side would find a change of the size of the margin; 0 if these do, `None` if a hundred would
    /// not.
    pub further_runs: Option<u32>,
    /// The verdict. A difference is one from no change at all, and may be smaller than the margin.
    pub verdict: Verdict,
}

impl PooledFamily {
    /// Whether it got worse, and is not shown to have done so by less than the margin.
    pub fn regressed(&self) -> bool {
        self.verdict == Verdict::Worse && !self.contrast.is_within(self.margin)
    }

    /// Whether a change of the size of the margin is neither found nor excluded, nor would have been found.
    pub fn is_unseen(&self) -> bool {
        self.verdict == Verdict::Inconclusive && self.smallest_visible > self.margin
    }
}

/// The families of the rows, without their verdicts.
pub(super) fn of(rows: &[Row], before: &Side, after: &Side, interleaved: bool) -> Vec<PooledFamily> {
    let sides = [before, after].map(|side| side.runs.iter().map(by_point).collect::<Vec<_>>());
    let mut families: Vec<PooledFamily> = FAMILIES
        .into_iter()
        .filter_map(|name| {
            let members = rows.iter().filter(|row| is_member(row, name)).collect::<Vec<_>>();
            pooled(name, &members, &sides, interleaved)
        })
        .collect();
    let by_chance = chance_of_a_family(families.len());
    for family in &mut families {
        family.see(by_chance, sides.each_ref().map(|runs| runs.len() as f64));
    }
    families
}

/// Whether the row is of the family. Of a size neither way is better, and a row without an error has no weight.
fn is_member(row: &Row, name: &str) -> bool {
    family(&row.experiment, &row.point) == Some(name)
        && row.unit.kind() != Kind::Size
        && row.contrast.error().is_finite()
}

type LevelsOfRun<'a> = BTreeMap<(&'a str, &'a Point), &'a Level>;

fn by_point(run: &ReducedRun) -> LevelsOfRun<'_> {
    run.levels.iter().map(|level| ((level.experiment.as_str(), &level.point), level)).collect()
}

fn pooled(
    name: &'static str,
    rows: &[&Row],
    sides: &[Vec<LevelsOfRun>; 2],
    interleaved: bool,
) -> Option<PooledFamily> {
    if rows.len() < FEWEST_POINTS {
        return None;
    }
    let costs: Vec<f64> = rows.iter().map(|row| cost(row, row.contrast.ratio().ln())).collect();
    let weights = weights(rows, &costs)?;
    let value: f64 = weights.iter().zip(&costs).map(|(weight, cost)| weight * cost).sum();
    let [before, after] = sides;
    let error = if interleaved {
        of_pairs(rows, &weights, &before[0], &after[0])?
    } else {
        let side = |place: usize| of_side(rows, &weights, &sides[place], place);
        Contrast::between(LogLevel { value: 0.0, ..side(0)? }, LogLevel { value: 0.0, ..side(1)? })
    };
    let (scatter, freedom) = scatter(&weights, &costs, value);
    let contrast = error.moved_by(value).known_no_better_than(scatter, freedom);
    Some(PooledFamily {
        name,
        points: rows.len(),
        agreeing: costs.iter().filter(|cost| **cost * value > 0.0).count(),
        contrast,
        margin: rows.iter().map(|row| row.margin).fold(f64::INFINITY, f64::min),
        smallest_visible: f64::INFINITY,
        further_runs: None,
        verdict: Verdict::Inconclusive,
    })
}

/// A logarithm of a point's figures as one of costs.
fn cost(row: &Row, log: f64) -> f64 {
    if row.unit.kind() == Kind::Rate { -log } else { log }
}

/// The weights of a family's points, whose sum is 1: by the errors of their ratios and the scatter of the points, and less for
/// those that are far from the median.
fn weights(rows: &[&Row], costs: &[f64]) -> Option<Vec<f64>> {
    let errors: Vec<f64> = rows.iter().map(|row| row.contrast.error()).collect();
    let middle = statistics::median(costs)?;
    let distances: Vec<f64> = costs.iter().map(|cost| (cost - middle).abs()).collect();
    // The median distance of a normal distribution is 0.6745 of its deviation.
    let spread = statistics::median(&distances)? / 0.6745;
    let excess = (spread.powi(2) - statistics::median(&errors)?.powi(2)).max(0.0) + LEAST_SCATTER.powi(2);
    let weight = |(error, distance): (&f64, &f64)| {
        let expected = (error.powi(2) + excess).sqrt();
        (FAR * expected / distance).min(1.0) / expected.powi(2)
    };
    let weights: Vec<f64> = errors.iter().zip(&distances).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    Some(weights.into_iter().map(|weight| weight / sum).collect())
}

/// The error of the mean that the differences between the points' ratios allow, with its degrees of freedom.
fn scatter(weights: &[f64], costs: &[f64], mean: f64) -> (f64, f64) {
    let square = |(weight, cost): (&f64, &f64)| (weight * (cost - mean)).powi(2);
    let squares: f64 = weights.iter().zip(costs).map(square).sum();
    let freedom = freedom(weights.iter().copied());
    ((squares * (freedom + 1.0) / freedom).sqrt(), freedom)
}

/// The degrees of freedom of parts whose shares have the sum 1: one less than their effective number.
fn freedom(shares: impl Iterator<Item = f64>) -> f64 {
    (1.0 / shares.map(|share| share.powi(2)).sum::<f64>() - 1.0).max(1.0)
}

/// The deviations of a family's points by round, with the error of their mean.
#[derive(Default)]
struct Rounds {
    /// The share of the weight that a round has, and its weighted deviation.
    by_round: BTreeMap<u32, (f64, f64)>,
}

impl Rounds {
    /// Adds the logarithms of a point's trials, which must not be empty.
    fn add(&mut self, weight: f64, logs: &[(u32, f64)]) {
        let count = logs.len() as f64;
        let mean = logs.iter().map(|(_, log)| log).sum::<f64>() / count;
        for (round, log) in logs {
            let (share, deviation) = self.by_round.entry(*round).or_default();
            *share += weight / count;
            *deviation += weight / count * (log - mean);
        }
    }

    /// A level of 0 with the error from the rounds; `None` with fewer than three of them.
    fn level(&self) -> Option<LogLevel> {
        if self.by_round.len() < 3 {
            return None;
        }
        let sum: f64 = self.by_round.values().map(|(share, _)| share).sum();
        let freedom = freedom(self.by_round.values().map(|(share, _)| share / sum));
        let squares: f64 = self.by_round.values().map(|(_, deviation)| (deviation / sum).powi(2)).sum();
        let error = (squares * (freedom + 1.0) / freedom).sqrt().max(LEAST_ERROR / FROM_RUN_TO_RUN);
        Some(LogLevel { value: 0.0, below: error, above: error, freedom })
    }
}

/// The level of a family over a side's runs, as a distance from the side's mean, with its error.
fn of_side(rows: &[&Row], weights: &[f64], runs: &[LevelsOfRun], side: usize) -> Option<LogLevel> {
    let measured: Vec<LogLevel> =
        runs.iter().filter_map(|run| of_run(rows, weights, (run, runs), side)).collect();
    let mean = LogLevel::mean(&measured)?;
    let values: Vec<f64> = measured.iter().map(|level| level.value).collect();
    let count = values.len() as f64;
    let spread = statistics::mean(&values)?.deviation.map_or(0.0, |deviation| deviation / count.sqrt());
    Some(mean.known_no_better_than(spread, count - 1.0))
}

/// The level of a family in one run.
fn of_run(
    rows: &[&Row],
    weights: &[f64],
    (run, runs): (&LevelsOfRun, &[LevelsOfRun]),
    side: usize,
) -> Option<LogLevel> {
    let mut rounds = Rounds::default();
    let (mut sum, mut moved) = (0.0, 0.0);
    for (row, weight) in rows.iter().zip(weights) {
        let key = (row.experiment.as_str(), row.point_of(side));
        let Some(level) = run.get(&key) else { continue };
        let Some(logarithm) = level.logarithm() else { continue };
        let logs = logs(row, &level.by_round);
        if !logs.is_empty() {
            rounds.add(*weight, &logs);
        }
        let others: Vec<f64> =
            runs.iter().filter_map(|run| Some(run.get(&key)?.logarithm()?.value)).collect();
        sum += weight;
        moved += weight * cost(row, logarithm.value - statistics::mean(&others)?.value);
    }
    let rounds = rounds.level()?.widened(FROM_RUN_TO_RUN);
    (sum > 0.0).then(|| LogLevel { value: moved / sum, ..rounds })
}

fn logs(row: &Row, by_round: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let positive = by_round.iter().filter(|(_, median)| *median > 0.0);
    positive.map(|(round, median)| (*round, cost(row, median.ln()))).collect()
}

/// The error of a family whose trials have partners: what both have in common cancels.
fn of_pairs(rows: &[&Row], weights: &[f64], before: &LevelsOfRun, after: &LevelsOfRun) -> Option<Contrast> {
    let mut rounds = Rounds::default();
    for (row, weight) in rows.iter().zip(weights) {
        let level = |run: &LevelsOfRun<'_>, side| {
            run.get(&(row.experiment.as_str(), row.point_of(side))).map(|level| level.by_round.clone())
        };
        let quotients = pairing::quotients(&level(before, 0)?, &level(after, 1)?);
        if !quotients.is_empty() {
            let costs: Vec<(u32, f64)> =
                quotients.into_iter().map(|(round, log)| (round, cost(row, log))).collect();
            rounds.add(*weight, &costs);
        }
    }
    rounds.level().map(Contrast::of)
}

impl PooledFamily {
    /// Finds out what would have been seen with these numbers of runs, and with more.
    fn see(&mut self, by_chance: f64, [before, after]: [f64; 2]) {
        let reach = self.contrast.visible(by_chance, POWER);
        self.smallest_visible = reach.exp_m1();
        let parts = 1.0 / before + 1.0 / after;
        let with = |more: u32| {
            let more = f64::from(more);
            reach * ((1.0 / (before + more) + 1.0 / (after + more)) / parts).sqrt()
        };
        self.further_runs = (0..=MOST_RUNS).find(|more| with(*more) <= self.margin.ln_1p());
    }

    /// Sets the verdict, where it is known whether there is any change.
    pub(super) fn judge(&mut self, changed: bool) {
        self.verdict = match changed {
            true if self.contrast.ratio() > 1.0 => Verdict::Worse,
            true => Verdict::Better,
            false if self.contrast.is_within(self.margin) => Verdict::Equivalent,
            false => Verdict::Inconclusive,
        };
    }
}
