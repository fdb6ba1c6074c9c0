//! Why values are known less well than [`USEFUL`]: each counts for one cause, the first that its own trials show.

use crate::precision::{self, USEFUL};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::sorting;
use fathom_core::statistics;
use fathom_engine::results::{CoreShared, PointResult, Results};
use std::collections::BTreeMap;

/// What widens the interval of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WidthCause {
    /// It has none: there were fewer trials than an interval needs.
    NoInterval,
    /// Its trials or observations cluster around several values.
    Levels,
    /// The core was shared for more of its time than for that of well known values of its experiment.
    Sharing,
    /// Other work took more of its time than of that of well known values of its experiment.
    OtherWork,
    /// Single operations were timed, and the interval is no wider than a step of the clock.
    ClockStep,
    /// The trials rose or fell during the run.
    Drift,
    /// It is zero, which has no relative width.
    Zero,
    /// None of these: the trials scatter, and there are not enough of them for how much.
    Scatter,
}

impl WidthCause {
    /// What is said of so many values with it, of which the median has so many trials.
    pub(crate) fn in_words(self, values: usize, trials: f64) -> String {
        let verb = |one: &str, more: &str| if values == 1 { one.to_owned() } else { more.to_owned() };
        let has = verb("has", "have");
        let what = match self {
            WidthCause::NoInterval => format!("{has} too few trials for an interval"),
            WidthCause::Levels => format!("{has} several levels"),
            WidthCause::Sharing => "shared the core longer than others".to_owned(),
            WidthCause::OtherWork => "lost time to other work".to_owned(),
            WidthCause::ClockStep => format!("{} at the clock's step", verb("is", "are")),
            WidthCause::Drift => "drifted".to_owned(),
            WidthCause::Zero => format!("{} zero", verb("is", "are")),
            WidthCause::Scatter => {
                let each = if values == 1 { "" } else { ", in the median" };
                format!("{} ({} trials{each})", verb("scatters", "scatter"), quantities::plain(trials))
            }
        };
        format!("{} {what}", quantities::count(values))
    }

    /// Whether something beside the work widened it, which a report names also where most values are known well.
    pub(crate) fn is_disturbance(self) -> bool {
        matches!(self, WidthCause::Sharing | WidthCause::OtherWork)
    }
}

/// How many values have a cause.
pub(crate) struct CauseCount {
    pub cause: WidthCause,
    /// The number of values.
    pub values: usize,
    /// The trials of the median one of them.
    pub trials: f64,
    /// How many times as many trials the median one of them would need to be known within [`USEFUL`]: widths fall with their square
    /// root. `None` without intervals.
    pub more_trials: Option<f64>,
}

/// The causes of the values that are not known within [`USEFUL`], the most frequent first.
pub(crate) fn counts(results: &Results) -> Vec<CauseCount> {
    let is_busy = results.run.header.machine.warnings().iter().any(|warning| warning.id == "load");
    let often = results.core_shared.as_ref().is_some_and(is_often);
    let lost = |point: &PointResult| point.disturbance.lost_share;
    let shared = |point: &PointResult| point.core.as_ref()?.shared_share;
    let other_work = ExcessDisturbance::of(results, is_busy, &lost);
    let sharing = ExcessDisturbance::of(results, often, &shared);
    let step = results.run.header.clock.resolution_ns();
    let mut wide: BTreeMap<WidthCause, Vec<&PointResult>> = BTreeMap::new();
    for point in results.points.iter().filter(|point| is_wide(point)) {
        wide.entry(cause(point, step, &[&sharing, &other_work])).or_default().push(point);
    }
    let mut counts: Vec<CauseCount> =
        wide.into_iter().map(|(cause, points)| counted(cause, &points)).collect();
    sorting::by_number(&mut counts, |count| -(count.values as f64));
    counts
}

fn counted(cause: WidthCause, points: &[&PointResult]) -> CauseCount {
    let trials: Vec<f64> = points.iter().map(|point| point.trials.0 as f64).collect();
    let reaches: Vec<f64> = points.iter().filter_map(|point| precision::reach(point)).collect();
    CauseCount {
        cause,
        values: points.len(),
        trials: statistics::median(&trials).unwrap_or(0.0),
        more_trials: statistics::median(&reaches).map(|reach| (reach / USEFUL).powi(2)),
    }
}

/// The share of the time from which a shared core is a cause of wide intervals.
const OFTEN: f64 = 0.1;

fn is_often(core: &CoreShared) -> bool {
    core.share >= OFTEN && core.levels.shared.is_some()
}

/// A value that is not known within [`USEFUL`]: its interval reaches further, or it has none, or it is zero.
fn is_wide(point: &PointResult) -> bool {
    point.estimate().is_some() && precision::reach(point).is_none_or(|reach| reach > USEFUL)
}

/// The first cause that a value's own trials show.
fn cause(point: &PointResult, step: f64, disturbances: &[&ExcessDisturbance; 2]) -> WidthCause {
    let [sharing, other_work] = disturbances;
    match point.estimate().and_then(|estimate| estimate.interval) {
        None => WidthCause::NoInterval,
        Some(_) if precision::reach(point).is_none() => WidthCause::Zero,
        Some(_) if point.mixture.is_some() || point.modes.len() > 1 => WidthCause::Levels,
        Some(_) if sharing.had_more(point) => WidthCause::Sharing,
        Some(_) if other_work.had_more(point) => WidthCause::OtherWork,
        Some(ends) if is_of_clock(point, ends.high - ends.low, step) => WidthCause::ClockStep,
        Some(_) if drifts(point) => WidthCause::Drift,
        Some(_) => WidthCause::Scatter,
    }
}

/// Whether single operations were timed by a clock whose step is as long as half the interval.
fn is_of_clock(point: &PointResult, width: f64, step: f64) -> bool {
    point.each && point.unit == Unit::Nanoseconds && width <= 2.0 * step
}

/// Whether the medians of its trials rose or fell during the run, significantly and by more than the value would be known to.
fn drifts(point: &PointResult) -> bool {
    let rounds: Vec<(f64, f64)> =
        point.by_round.iter().map(|(round, median)| (f64::from(*round), *median)).collect();
    let (Some(line), Some(value)) = (statistics::theil_sen(&rounds), point.estimate()) else { return false };
    let first = rounds.iter().map(|(round, _)| *round).fold(f64::INFINITY, f64::min);
    let last = rounds.iter().map(|(round, _)| *round).fold(0.0, f64::max);
    let is_sloped = line.slope_interval.is_some_and(|ends| !ends.contains(0.0));
    is_sloped && (line.slope * (last - first)).abs() > USEFUL * value.value.abs()
}

/// A disturbance, as shares of the values' time beyond what is usual for well known values of their experiment: work that itself loads
/// all CPUs takes time from nobody.
struct ExcessDisturbance<'run> {
    of: &'run dyn Fn(&PointResult) -> Option<f64>,
    usual: BTreeMap<&'run str, f64>,
    /// The excess that one in twenty of the well known values has; `None` if wide values had no more of it than others.
    limit: Option<f64>,
}

/// The least excess that counts, a share of the time: what is less moves few of the observations.
const LEAST: f64 = 0.01;

/// Of well known values, so many have less than what counts as more.
const MOST: f64 = 0.95;

impl<'run> ExcessDisturbance<'run> {
    fn of(results: &'run Results, is_possible: bool, of: &'run dyn Fn(&PointResult) -> Option<f64>) -> Self {
        let (wide, narrow): (Vec<&PointResult>, Vec<&PointResult>) = results
            .points
            .iter()
            .filter(|point| precision::reach(point).is_some())
            .partition(|point| is_wide(point));
        let mut by_experiment: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for point in &narrow {
            by_experiment.entry(&point.experiment).or_default().extend(of(point));
        }
        let usual =
            by_experiment.into_iter().filter_map(|(name, shares)| Some((name, statistics::median(&shares)?)));
        let unjudged = ExcessDisturbance { of, usual: usual.collect(), limit: None };
        let excess = |points: &[&PointResult]| -> Vec<f64> {
            points.iter().filter_map(|point| unjudged.excess(point)).collect()
        };
        let (wide, mut narrow) = (excess(&wide), excess(&narrow));
        sorting::numbers(&mut narrow);
        let limit = statistics::quantile(&narrow, MOST).filter(|_| is_possible && exceeds(&wide, &narrow));
        ExcessDisturbance { limit, ..unjudged }
    }

    fn excess(&self, point: &PointResult) -> Option<f64> {
        (self.of)(point).zip(self.usual.get(point.experiment.as_str())).map(|(share, usual)| share - usual)
    }

    /// Whether a value had more of it than well known ones.
    fn had_more(&self, point: &PointResult) -> bool {
        self.limit.zip(self.excess(point)).is_some_and(|(limit, excess)| excess > limit.max(LEAST))
    }
}

/// Whether the means differ by more than their 95 % intervals. What is alike in both is no cause of widths.
fn exceeds(more: &[f64], less: &[f64]) -> bool {
    let mean = |shares: &[f64]| {
        let mean = statistics::mean(shares)?;
        Some((mean.value, mean.interval?.high - mean.value))
    };
    let (Some((more, error)), Some((less, other))) = (mean(more), mean(less)) else { return false };
    more - less > error.hypot(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "39 had the core shared more often" did not say than what.
    #[test]
    fn a_comparison_says_with_what() {
        assert_eq!(WidthCause::Sharing.in_words(39, 8.0), "39 shared the core longer than others");
    }
}
