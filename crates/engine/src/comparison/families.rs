//! One ratio for a family of points, as system calls or caches: what moves all of them by a few per cent is seen in none by
//! itself, and in all together at once.
//!
//! The ratio is a mean of the points' ratios on logarithms, as costs (a rate is turned round), weighted by what each is known
//! to, and with a limit on what a single point can do (Huber 1964, "Robust estimation of a location parameter", Ann. Math.
//! Stat. 35): a point that moved by itself has its own row.
//!
//! It is a ratio at the same frequency of the core (`equal_frequency.rs`), and the cycle of the core is judged beside the families, from
//! all trials of a run. Two settings that were measured alternately, and runs of different processors, are compared as they are.
//!
//! Its error has two parts. Trials of one round are made in the same minute, with the same neighbours, so the points of a run move
//! together: the deviations of all trials of a round are added before they are squared (a cluster-robust error, Liang & Zeger 1986,
//! Biometrika 73), and the degrees of freedom are those of the rounds. And each point has a level of its own in each run (the place of
//! its memory, for one), which its rounds have in common: the scatter of the points' ratios shows that. What is random in a trial is in
//! both, and counts twice: the error is rather too large. It is never smaller than the differences of a side's runs.
//!
//! What a run has once and all its points have in common, such as its hour, shows in no round of it. Where a side has one run, the error
//! of its rounds is therefore taken [`FROM_RUN_TO_RUN`] times.

use super::composition::Composition;
use super::differences::design;
use super::equal_frequency::{self, EqualFrequency};
use super::family::{CYCLE, FAMILIES, family};
use super::side::{Level, ReducedRun, Side};
use super::verdict::{Verdict, chance_of_a_family};
use super::{NotCompared, Row, pairing};
use fathom_core::experiment::Point;
use fathom_core::quantity::Kind;
use fathom_core::statistics::{self, Contrast, LogLevel};
use std::collections::{BTreeMap, BTreeSet};

/// The points below which there is no family: two that agree are no pattern.
const FEWEST_POINTS: usize = 3;

/// By how much the error of a run's family exceeds that of its rounds. In 39 contrasts of families between runs of one machine (an
/// Emerald Rapids guest, and a Zen 3 guest whose cores were shared 33 to 45 % of the time) the mean square of change over error
/// was 3.0, where 1.2 is expected of ten degrees of freedom: a factor of 1.6, rounded up.
pub(super) const FROM_RUN_TO_RUN: f64 = 2.0;

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

const MOST_RUNS: u32 = 99;

/// The points of a family with their common ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledFamily {
    /// Its name.
    pub name: &'static str,
    /// The number of its points that both sides have; none of the cycle of the core, which every trial shows.
    pub points: usize,
    /// The experiments that were pooled, and those of the family that were not compared.
    pub composition: Composition,
    /// How many of them moved in the direction of the common ratio.
    pub agreeing: usize,
    /// How many of them moved by more than the margin, in whichever direction, known or by chance.
    pub moved: usize,
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

    /// Whether a change of the size of the margin is neither found nor excluded, nor would have been found. The core's cycle is not
    /// asked: operations are compared at one frequency, so what is compared is seen whatever the host's clock did.
    pub fn is_unseen(&self) -> bool {
        self.points > 0 && self.verdict == Verdict::Inconclusive && self.smallest_visible > self.margin
    }
}

/// The families of the rows, without their verdicts.
pub(super) fn of(
    (rows, not_compared): (&[Row], &[NotCompared]),
    before: &Side,
    after: &Side,
    interleaved: bool,
) -> Vec<PooledFamily> {
    let sides = [before, after].map(|side| side.runs.iter().map(by_point).collect::<Vec<_>>());
    let at_one_frequency = !interleaved && have_one_processor(before, after);
    let of_points = FAMILIES.into_iter().filter_map(|name| {
        let members = rows.iter().filter(|row| is_member(row, name)).collect::<Vec<_>>();
        let family = Family { rows: &members, sides: &sides };
        let pooled = if interleaved { family.of_pairs(name) } else { family.of_runs(name, at_one_frequency) };
        pooled.map(|pooled| PooledFamily {
            composition: Composition::of(name, &members, not_compared),
            ..pooled
        })
    });
    let margin = rows.iter().map(|row| row.margin).fold(f64::INFINITY, f64::min);
    let cycle = at_one_frequency.then(|| cycle(before, after, margin)).flatten();
    let mut families: Vec<PooledFamily> = cycle.into_iter().chain(of_points).collect();
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

/// Whether all runs are of one kind of processor, so that their cores differ in frequency alone.
fn have_one_processor(before: &Side, after: &Side) -> bool {
    let runs = || before.runs.iter().chain(&after.runs);
    let models: BTreeSet<(Option<&String>, String)> = runs()
        .map(|run| &run.header.machine)
        .map(|machine| (machine.processor.model_name.value(), design(machine)))
        .collect();
    models.len() == 1
}

/// The logarithm of the frequency at which points of runs of one kind of processor are compared: the mean over all runs. `None` for
/// different processors, and if a run observed none.
pub(super) fn reference(before: &Side, after: &Side) -> Option<f64> {
    let runs = || before.runs.iter().chain(&after.runs);
    let logs: Option<Vec<f64>> = runs().map(|run| Some(run.usual_hz?.ln())).collect();
    statistics::mean(&logs?).map(|mean| mean.value).filter(|_| have_one_processor(before, after))
}

/// The cycle of the core on both sides: the reciprocal of its frequency over each run.
fn cycle(before: &Side, after: &Side, margin: f64) -> Option<PooledFamily> {
    let level = |side: &Side| {
        let of_run = |run: &ReducedRun| {
            let level = run.core_frequency?;
            Some(LogLevel { value: -level.value, ..level }.widened(FROM_RUN_TO_RUN))
        };
        over_runs(&side.runs.iter().filter_map(of_run).collect::<Vec<_>>())
    };
    Some(PooledFamily::of(CYCLE, Contrast::between(level(before)?, level(after)?), margin))
}

/// The mean of a side's runs, which is no better known than they agree.
fn over_runs(runs: &[LogLevel]) -> Option<LogLevel> {
    let mean = LogLevel::mean(runs)?;
    let values: Vec<f64> = runs.iter().map(|level| level.value).collect();
    let count = values.len() as f64;
    let spread = statistics::mean(&values)?.deviation.map_or(0.0, |deviation| deviation / count.sqrt());
    Some(mean.known_no_better_than(spread, count - 1.0))
}

/// The points of a family, and the levels of both sides' runs.
struct Family<'a> {
    rows: &'a [&'a Row],
    sides: &'a [Vec<LevelsOfRun<'a>>; 2],
}

impl<'a> Family<'a> {
    /// From independent runs.
    fn of_runs(&self, name: &'static str, at_one_frequency: bool) -> Option<PooledFamily> {
        let frequency = if at_one_frequency { self.equal_frequency() } else { EqualFrequency::NONE };
        // What follows the frequency by its own trials is at one already.
        let shift = |row: &Row, side: usize| {
            let of_run =
                |run: &LevelsOfRun| Some(frequency.shift(level_of(run, row, side)?, |log| cost(row, log)));
            let shifts = self.sides[side].iter().filter_map(of_run).filter(|_| row.at_frequency.is_none());
            mean_of(shifts)
        };
        let at = |row: &Row| cost(row, row.contrast.ratio().ln()) + shift(row, 1) - shift(row, 0);
        let costs: Vec<f64> = self.rows.iter().map(|row| at(row)).collect();
        let weights = self.weights(&costs)?;
        let side = |side: usize| {
            let of_run = |run| self.of_run(&weights, &frequency, run, side);
            over_runs(&self.sides[side].iter().filter_map(of_run).collect::<Vec<_>>())
        };
        let (before, after) = (side(0)?, side(1)?);
        let rounds = Contrast::between(LogLevel { value: 0.0, ..before }, LogLevel { value: 0.0, ..after });
        let apart = self.frequency(&weights, 1) - self.frequency(&weights, 0);
        let freedom = self.rows.len() as f64;
        let error = rounds.less_certain_by(frequency.error_at(apart), freedom);
        Some(self.pooled(name, &weights, &costs, error))
    }

    /// From trials that have partners: what both have in common cancels.
    fn of_pairs(&self, name: &'static str) -> Option<PooledFamily> {
        let costs: Vec<f64> = self.rows.iter().map(|row| cost(row, row.contrast.ratio().ln())).collect();
        let weights = self.weights(&costs)?;
        let mut rounds = Rounds::default();
        for (row, weight) in self.rows.iter().zip(&weights) {
            let level =
                |side: usize| level_of(&self.sides[side][0], row, side).map(|level| level.by_round.clone());
            let quotients = pairing::quotients(&level(0)?, &level(1)?);
            if !quotients.is_empty() {
                let costs: Vec<(u32, f64)> =
                    quotients.into_iter().map(|(round, log)| (round, cost(row, log))).collect();
                rounds.add(*weight, &costs);
            }
        }
        Some(self.pooled(name, &weights, &costs, Contrast::of(rounds.level()?)))
    }

    /// The family of these ratios, with the error of its rounds.
    fn pooled(&self, name: &'static str, weights: &[f64], costs: &[f64], rounds: Contrast) -> PooledFamily {
        let value: f64 = weights.iter().zip(costs).map(|(weight, cost)| weight * cost).sum();
        let (scatter, freedom) = scatter(weights, costs, value);
        let margin = self.rows.iter().map(|row| row.margin).fold(f64::INFINITY, f64::min);
        PooledFamily {
            points: self.rows.len(),
            agreeing: costs.iter().filter(|cost| **cost * value > 0.0).count(),
            moved: costs.iter().filter(|cost| cost.abs() > margin.ln_1p()).count(),
            ..PooledFamily::of(name, rounds.moved_by(value).less_certain_by(scatter, freedom), margin)
        }
    }

    /// How its costs follow the frequency of the core, by the trials of both sides.
    fn equal_frequency(&self) -> EqualFrequency {
        let of_row = |row: &&'a Row, side: usize| {
            let of_run = |run: &LevelsOfRun| {
                Some(equal_frequency::series(level_of(run, row, side)?, |log| cost(row, log)))
            };
            self.sides[side].iter().filter_map(of_run).collect::<Vec<_>>()
        };
        let all = self.rows.iter().flat_map(|row| [of_row(row, 0), of_row(row, 1)].concat());
        EqualFrequency::of(&all.collect::<Vec<_>>())
    }

    /// The logarithm of the frequency during the trials of a side, as they are weighted.
    fn frequency(&self, weights: &[f64], side: usize) -> f64 {
        let of_row = |row: &&Row| {
            let runs = self.sides[side].iter().filter_map(|run| level_of(run, row, side));
            let logs: Vec<f64> = runs.flat_map(|level| &level.core_hz).map(|(_, hz)| hz.ln()).collect();
            Some(statistics::mean(&logs)?.value)
        };
        let known = || self.rows.iter().zip(weights).filter_map(|(row, weight)| Some((of_row(row)?, weight)));
        let sum: f64 = known().map(|(_, weight)| weight).sum();
        if sum > 0.0 { known().map(|(log, weight)| log * weight).sum::<f64>() / sum } else { 0.0 }
    }

    /// The weights of its points, whose sum is 1: by the errors of their ratios and the scatter of the points, and less for
    /// those that are far from the median. `None` of too few points.
    fn weights(&self, costs: &[f64]) -> Option<Vec<f64>> {
        if costs.len() < FEWEST_POINTS {
            return None;
        }
        let errors: Vec<f64> = self.rows.iter().map(|row| row.contrast.error()).collect();
        let middle = statistics::median(costs)?;
        let distances: Vec<f64> = costs.iter().map(|cost| (cost - middle).abs()).collect();
        let spread = statistics::normal_deviation(&distances)?;
        let excess = (spread.powi(2) - statistics::median(&errors)?.powi(2)).max(0.0) + LEAST_SCATTER.powi(2);
        let weight = |(error, distance): (&f64, &f64)| {
            let expected = (error.powi(2) + excess).sqrt();
            (FAR * expected / distance).min(1.0) / expected.powi(2)
        };
        let weights: Vec<f64> = errors.iter().zip(&distances).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        Some(weights.into_iter().map(|weight| weight / sum).collect())
    }

    /// The level of the family in one run, as a distance from the mean of its side, with the error of its rounds.
    fn of_run(
        &self,
        weights: &[f64],
        frequency: &EqualFrequency,
        run: &LevelsOfRun,
        side: usize,
    ) -> Option<LogLevel> {
        let mut rounds = Rounds::default();
        let (mut sum, mut moved) = (0.0, 0.0);
        for (row, weight) in self.rows.iter().zip(weights) {
            let value = |run: &LevelsOfRun| {
                let level = level_of(run, row, side)?;
                let moved = match row.at_frequency {
                    Some(of_point) => of_point.of_figure(level).0,
                    None => frequency.shift(level, |log| cost(row, log)),
                };
                Some(cost(row, level.logarithm()?.value) + moved)
            };
            let (Some(level), Some(mine)) = (level_of(run, row, side), value(run)) else { continue };
            let costs = frequency.costs(level, |log| cost(row, log));
            if !costs.is_empty() {
                rounds.add(*weight, &costs);
            }
            sum += weight;
            moved += weight * (mine - mean_of(self.sides[side].iter().filter_map(value)));
        }
        let rounds = rounds.level()?.widened(FROM_RUN_TO_RUN);
        (sum > 0.0).then(|| LogLevel { value: moved / sum, ..rounds })
    }
}

/// The level of a row's point in a run of a side.
fn level_of<'a>(run: &LevelsOfRun<'a>, row: &Row, side: usize) -> Option<&'a Level> {
    run.get(&(row.experiment.as_str(), row.point_of(side))).copied()
}

/// The mean; 0 of nothing.
fn mean_of(values: impl Iterator<Item = f64>) -> f64 {
    statistics::mean(&values.collect::<Vec<_>>()).map_or(0.0, |mean| mean.value)
}

/// A logarithm of a point's figures as one of costs.
fn cost(row: &Row, log: f64) -> f64 {
    if row.unit.kind() == Kind::Rate { -log } else { log }
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

impl PooledFamily {
    /// Without points, and before it is judged.
    fn of(name: &'static str, contrast: Contrast, margin: f64) -> Self {
        PooledFamily {
            name,
            points: 0,
            composition: Composition::default(),
            agreeing: 0,
            moved: 0,
            contrast,
            margin,
            smallest_visible: f64::INFINITY,
            further_runs: None,
            verdict: Verdict::Inconclusive,
        }
    }

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
            false if self.contrast.is_within(self.margin) && !self.is_scattered() => Verdict::Equivalent,
            false => Verdict::Inconclusive,
        };
    }

    /// Whether most of its points moved by more than the margin, in whichever direction: they may cancel in the ratio, which then
    /// says nothing of any of them.
    pub fn is_scattered(&self) -> bool {
        self.moved * 2 > self.points
    }
}
