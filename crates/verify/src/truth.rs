//! The judgement of a truth: the set value compared with the found one, and with the instrument's own doubts about it.

use super::rig::{PointRef, Rig};
use fathom_core::quantity::Unit;
use fathom_core::sampling::Sample;
use fathom_core::statistics::{self, Estimate, Interval, quantile, quantile_interval, share_interval};
use fathom_core::{quantities, sorting};
use fathom_engine::record::{Truth, Verdict};
use fathom_engine::results::{CoreState, Outcome, PointResult, Results};
use std::collections::BTreeMap;

/// The tolerance of a figure, as a share of the set value.
pub const TOLERANCE: f64 = 0.02;

/// A truth that was set, before its figure is known.
pub struct Claim {
    truth: Truth,
    set: f64,
    tolerance: f64,
}

pub struct TruthFigure {
    value: f64,
    interval: Option<Interval>,
    /// A disturbance that may have changed it, by the instrument's own account.
    doubt: Option<String>,
}

impl Claim {
    /// The claim that a rig has set this value, to be found within 2 %.
    pub fn of(rig: &Rig, what: impl Into<String>, unit: Option<Unit>, set: f64) -> Self {
        let truth = Truth { what: what.into(), unit, set: Some(set), ..blank(rig) };
        Claim { truth, set, tolerance: TOLERANCE * set.abs() }
    }

    /// The claim about a time in nanoseconds.
    pub fn time(rig: &Rig, what: impl Into<String>, set_ns: f64) -> Self {
        Self::of(rig, what, Some(Unit::Nanoseconds), set_ns)
    }

    /// The claim about a share, which is given in parts per million.
    pub fn share(rig: &Rig, what: impl Into<String>, set: f64) -> Self {
        Self::of(rig, what, Some(Unit::PartsPerMillion), 1e6 * set)
    }

    /// The claim with this tolerance, in the unit, if it is greater: the resolution of the clock that set the truth.
    #[must_use]
    pub fn within(mut self, resolution: f64) -> Self {
        self.tolerance = self.tolerance.max(resolution);
        self
    }

    /// The claim that it is found within this share of the set value, in place of 2 %.
    #[must_use]
    pub fn to(mut self, share: f64) -> Self {
        self.tolerance = share * self.set.abs();
        self
    }

    /// The verdict on the figure, or on the reason why there is none.
    pub fn judged(self, figure: Result<TruthFigure, NoFigure>) -> Truth {
        let figure = match figure {
            Ok(figure) => figure,
            Err(NoFigure { verdict, because }) => {
                return Truth { set: None, verdict, because: Some(because), ..self.truth };
            }
        };
        let (verdict, because) = self.verdict(&figure);
        Truth {
            tolerance: Some(self.tolerance),
            found: Some(figure.value),
            interval: figure.interval,
            verdict,
            because,
            ..self.truth
        }
    }

    /// Right and wrong are verdicts on whole intervals: a test of equivalence (Schuirmann 1987, "A comparison of the two
    /// one-sided tests procedure and the power approach", J. Pharmacokinet. Biopharm. 15).
    fn verdict(&self, figure: &TruthFigure) -> (Verdict, Option<String>) {
        let Some(interval) = figure.interval else {
            return inconclusive("too few trials were made for an interval");
        };
        let (least, most) = (self.set - self.tolerance, self.set + self.tolerance);
        if least <= interval.low && interval.high <= most {
            return (Verdict::Right, None);
        }
        if let Some(doubt) = &figure.doubt {
            return inconclusive(doubt);
        }
        if interval.high < least || most < interval.low {
            return (Verdict::Wrong, Some("the whole interval is outside the tolerance".to_owned()));
        }
        inconclusive("the interval extends beyond the tolerance: measure longer with `--times-as-long`")
    }
}

fn inconclusive(because: &str) -> (Verdict, Option<String>) {
    (Verdict::Inconclusive, Some(because.to_owned()))
}

impl TruthFigure {
    pub fn of(estimate: &Estimate, points: &[&PointResult]) -> Self {
        let doubt = points.iter().find_map(|point| doubt(point));
        TruthFigure { value: estimate.value, interval: estimate.interval, doubt }
    }

    pub fn exactly(value: f64) -> Self {
        TruthFigure { value, interval: Some(Interval { low: value, high: value }), doubt: None }
    }

    /// The share of random draws that are hits, in parts per million, with its interval; `None` without draws.
    pub fn share(hits: u64, all: u64) -> Option<Self> {
        let ends = share_interval(hits, all)?;
        let interval = Some(Interval { low: 1e6 * ends.low, high: 1e6 * ends.high });
        Some(TruthFigure { value: 1e6 * hits as f64 / all as f64, interval, doubt: None })
    }

    /// The figure without doubts, because the rig itself causes the disturbance.
    #[must_use]
    pub fn whatever_disturbs(self) -> Self {
        TruthFigure { doubt: None, ..self }
    }
}

/// The reason why there is no figure, with the verdict.
#[derive(Debug, Clone)]
pub struct NoFigure {
    verdict: Verdict,
    because: String,
}

impl NoFigure {
    /// The truth could not be set.
    pub fn skipped(because: impl Into<String>) -> Self {
        NoFigure { verdict: Verdict::Skipped, because: because.into() }
    }

    /// The truth was set, but no figure was found.
    pub fn inconclusive(because: impl Into<String>) -> Self {
        NoFigure { verdict: Verdict::Inconclusive, because: because.into() }
    }

    /// The verdict on everything that a rig sets.
    pub fn of(self, rig: &Rig) -> Truth {
        Truth { verdict: self.verdict, because: Some(self.because), ..blank(rig) }
    }
}

fn blank(rig: &Rig) -> Truth {
    Truth {
        rig: rig.name.to_owned(),
        what: rig.sets.to_owned(),
        unit: None,
        set: None,
        tolerance: None,
        found: None,
        interval: None,
        verdict: Verdict::Skipped,
        because: None,
    }
}

pub fn result<'a>(results: &'a Results, (experiment, point): &PointRef) -> Result<&'a PointResult, NoFigure> {
    let is_it = |result: &&PointResult| result.experiment == *experiment && result.point == *point;
    results.points.iter().find(is_it).ok_or_else(|| NoFigure::skipped("it is not in the plan"))
}

/// A verdict on each point of the plan.
pub fn each(rig: &Rig, results: &Results, claim: impl Fn(&PointResult) -> Claim) -> Vec<Truth> {
    let judged =
        |point| claim(point).judged(estimate(point).map(|estimate| TruthFigure::of(estimate, &[point])));
    let truths: Vec<Truth> = results.points.iter().map(judged).collect();
    if truths.is_empty() { vec![NoFigure::skipped("it is not in the plan").of(rig)] } else { truths }
}

/// The estimate of a point, whether it may be used or not; or the reason why there is none.
pub fn estimate(point: &PointResult) -> Result<&Estimate, NoFigure> {
    point.outcome.observed().ok_or_else(|| {
        let reason = point.outcome.reason().unwrap_or_default();
        let was_skipped = matches!(point.outcome, Outcome::Skipped { .. });
        if was_skipped { NoFigure::skipped(reason) } else { NoFigure::inconclusive(reason) }
    })
}

/// The same with the disturbances of the point.
pub fn figure(results: &Results, named: &PointRef) -> Result<TruthFigure, NoFigure> {
    let point = result(results, named)?;
    Ok(TruthFigure::of(estimate(point)?, &[point]))
}

/// The disturbances of a point that the instrument itself recorded; `None` without any.
fn doubt(point: &PointResult) -> Option<String> {
    if let Outcome::Disturbed { by, .. } = &point.outcome {
        return Some(format!("disturbed: {by}"));
    }
    let (disturbance, trials) = (&point.disturbance, point.trials.0);
    let in_most = |count: Option<usize>| count.filter(|count| 2 * count > trials);
    if let Some(count) = in_most(disturbance.trials_with_steal) {
        return Some(format!("the hypervisor took time in {count} of {trials} trials"));
    }
    if let Some(count) = in_most(disturbance.trials_throttled) {
        return Some(format!("a quota throttled the process in {count} of {trials} trials"));
    }
    if let Some(lost) = disturbance.lost_share.filter(|lost| *lost > TOLERANCE) {
        return Some(format!("a spinning loop lost {} of its time just before", quantities::percent(lost)));
    }
    if point.core.as_ref().is_some_and(|core| matches!(core.state, CoreState::Mixed | CoreState::Shared)) {
        return Some("the core was shared with another hardware thread".to_owned());
    }
    let failing = point.evidence.checks().iter().find(|check| !check.holds)?;
    Some(format!("its evidence fails: {}: {}", failing.claim, failing.seen))
}

/// The median of a quantity of each trial, with its interval over trials.
pub fn median_of_trials(
    results: &Results,
    named: &PointRef,
    quantity: impl Fn(&Sample) -> Option<f64>,
) -> Result<TruthFigure, NoFigure> {
    estimate(result(results, named)?)?;
    let trials: Vec<[f64; 1]> = results.run.samples().filter_map(quantity).map(|value| [value]).collect();
    let estimate =
        statistics::estimate(&trials).ok_or_else(|| NoFigure::inconclusive("no trial could tell"))?;
    Ok(TruthFigure::of(&estimate, &[]))
}

/// The share of the trials for which `tells` is true, in parts per million.
pub fn share_of_trials(
    results: &Results,
    named: &PointRef,
    tells: impl Fn(&Sample) -> Option<bool>,
) -> Result<TruthFigure, NoFigure> {
    estimate(result(results, named)?)?;
    let answers: Vec<bool> = results.run.samples().filter_map(tells).collect();
    let so = answers.iter().filter(|answer| **answer).count() as f64;
    let all = answers.len() as f64;
    if all < statistics::MINIMUM_TRIALS as f64 {
        return Err(NoFigure::inconclusive("too few trials for a result"));
    }
    // All trials were counted, so there is no estimate.
    Ok(TruthFigure::exactly(1e6 * so / all))
}

/// A percentile over all observations, for work whose duration does not depend on the trial.
pub fn tail(point: &PointResult, level: f64) -> Result<TruthFigure, NoFigure> {
    let mut all: Vec<f64> = point.samples.iter().flatten().copied().collect();
    sorting::numbers(&mut all);
    let of = estimate(point)?;
    let value = quantile(&all, level).ok_or_else(|| NoFigure::inconclusive("there are no observations"))?;
    let interval = quantile_interval(&all, level).map(|(low, high)| Interval { low, high });
    Ok(TruthFigure::of(&Estimate { value, interval, ..of.clone() }, &[point]))
}

/// The quantity computed from the points' medians in each round, with its interval over rounds.
pub fn by_rounds<const N: usize>(
    points: [&PointResult; N],
    follows: impl Fn([f64; N]) -> f64,
) -> Result<TruthFigure, NoFigure> {
    for point in points {
        estimate(point)?;
    }
    let rounds = points.map(|point| point.by_round.iter().copied().collect::<BTreeMap<u32, f64>>());
    let in_round = |round: &u32| {
        let medians: Option<Vec<f64>> = rounds.iter().map(|of_point| of_point.get(round).copied()).collect();
        medians?.try_into().ok().map(|medians| [follows(medians)])
    };
    let trials: Vec<[f64; 1]> = rounds[0].keys().filter_map(in_round).collect();
    let estimate = statistics::estimate(&trials)
        .ok_or_else(|| NoFigure::inconclusive("no round has all of its points"))?;
    Ok(TruthFigure::of(&estimate, &points))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RIGS;

    fn figure(low: f64, high: f64, doubt: Option<&str>) -> Result<TruthFigure, NoFigure> {
        let (value, interval) = (f64::midpoint(low, high), Some(Interval { low, high }));
        Ok(TruthFigure { value, interval, doubt: doubt.map(str::to_owned) })
    }

    fn claim() -> Claim {
        Claim::of(RIGS[0], "what was set", None, 100.0)
    }

    fn judged(low: f64, high: f64, doubt: Option<&str>) -> Truth {
        claim().judged(figure(low, high, doubt))
    }

    #[test]
    fn right_and_wrong_are_said_of_whole_intervals() {
        assert_eq!(judged(98.5, 101.5, None).verdict, Verdict::Right);
        assert_eq!(judged(99.0, 102.5, None).verdict, Verdict::Inconclusive);
        assert_eq!(judged(97.0, 98.5, None).verdict, Verdict::Inconclusive);
        assert_eq!(judged(102.1, 103.0, None).verdict, Verdict::Wrong);
        assert_eq!(judged(90.0, 97.9, None).verdict, Verdict::Wrong);
    }

    #[test]
    fn what_the_instrument_saw_disturbed_is_not_called_wrong_and_may_be_right() {
        let disturbed = judged(110.0, 111.0, Some("the hypervisor took time"));
        assert_eq!(disturbed.verdict, Verdict::Inconclusive);
        assert_eq!(disturbed.because.as_deref(), Some("the hypervisor took time"));
        assert_eq!(judged(99.0, 101.0, Some("the hypervisor took time")).verdict, Verdict::Right);
    }

    #[test]
    fn what_the_clock_cannot_tell_apart_is_near_enough() {
        let verdict = |claim: Claim| claim.judged(figure(103.5, 104.5, None)).verdict;
        assert_eq!(verdict(claim()), Verdict::Wrong);
        assert_eq!(verdict(claim().within(5.0)), Verdict::Right);
        assert_eq!(verdict(claim().within(1.0)), Verdict::Wrong, "2 % stand where it is less");
    }

    #[test]
    fn without_an_interval_nothing_is_said() {
        let single = TruthFigure { value: 100.0, interval: None, doubt: None };
        assert_eq!(claim().judged(Ok(single)).verdict, Verdict::Inconclusive);
    }
}
