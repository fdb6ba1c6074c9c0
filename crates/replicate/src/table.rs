//! The report's summary table: the report's figure, this machine's by the report's method and by Fathom's, and the ratio of the
//! last two. A pure function of a replication and of Fathom's run.

use super::record::Replication;
use super::{Replica, ReplicatedFigure, Report, Row, SameQuestion, Theirs};
use fathom_core::experiment::{Dimension, Found, Known, Point};
use fathom_core::quantity::{Kind, Unit};
use fathom_core::statistics::{self, Interval, Measured};
use fathom_engine::record::TrialOutcome;
use fathom_engine::results::{Results, TrendResult};
use fathom_report::references::{self, Figure};

pub struct Compared {
    pub row: &'static Row,
    /// The report's figure; `None` where it is not printed.
    pub theirs: Option<&'static Figure>,
    /// The points of Fathom's figure.
    pub points: Vec<(&'static str, Point)>,
    /// This machine's figure by the report's method, or why there is none.
    pub replicated: Result<ReplicatedFigure, String>,
    /// This machine's figure by Fathom's method, or why there is none.
    pub fathom: Result<Found, String>,
    /// The figure by the report's method over that by Fathom's, with its 95 % interval where both have one; or why there is no
    /// ratio.
    pub ratio: Result<Measured, NoRatio>,
    /// Sentences on what else was observed with the report's method.
    pub notes: Vec<String>,
}

/// One of the two figures that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatioSide {
    Theirs,
    Ours,
}

/// Why two figures have no ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRatio {
    /// One of them is missing, and its cell says why.
    Missing,
    /// This one is a difference of times that is not distinguishable from zero here: a possible outcome, not an error.
    BelowResolution(RatioSide),
    /// This one is a difference of times that is certainly negative here. The report's method subtracts more than the operation adds, and
    /// misleads: by as much as a neighbour on the core takes, if one was there only while it measured what it subtracts. Or a cost that grows
    /// elsewhere shrinks here by Fathom's measurement (observed: a call without arguments 1.06 ns, with three 0.91), by less than half of what
    /// the report's method finds.
    Negative(RatioSide),
    /// This one is impossible: a rate or a size that is not positive, or a time of Fathom's so far below zero that no subtraction of similar
    /// work explains it.
    Impossible(RatioSide),
}

impl NoRatio {
    pub fn reason(self) -> &'static str {
        match self {
            NoRatio::Missing => "one of the two figures is missing",
            NoRatio::BelowResolution(RatioSide::Theirs) => {
                "below resolution: the result of the report's method here is not distinguishable from zero"
            }
            NoRatio::BelowResolution(RatioSide::Ours) => {
                "below resolution: Fathom's result here is not distinguishable from zero"
            }
            NoRatio::Negative(RatioSide::Theirs) => {
                "negative: the report's method subtracts more here than the operation adds"
            }
            NoRatio::Negative(RatioSide::Ours) => {
                "negative: by Fathom's measurement each further one makes the operation cheaper here"
            }
            NoRatio::Impossible(RatioSide::Theirs) => {
                "impossible: the result of the report's method is not positive"
            }
            NoRatio::Impossible(RatioSide::Ours) => "impossible: Fathom's result is not positive",
        }
    }
}

/// Whether a method of the report misleads here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodVerdict {
    /// It gives more than Fathom finds.
    Above,
    /// It gives less than Fathom finds.
    Below,
    /// The two are not significantly different.
    NotSignificant,
    /// One of them is a difference that is not distinguishable from zero.
    BelowResolution,
    Negative,
    /// One of them is impossible, so something is broken.
    Impossible,
    /// One of them has no value, or their ratio has no interval.
    Open,
}

impl MethodVerdict {
    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            MethodVerdict::Above => "above",
            MethodVerdict::Below => "below",
            MethodVerdict::NotSignificant => "not_told_apart",
            MethodVerdict::BelowResolution => "below_resolution",
            MethodVerdict::Negative => "below_nothing",
            MethodVerdict::Impossible => "impossible",
            MethodVerdict::Open => "open",
        }
    }
}

impl Compared {
    /// What the interval of the ratio says.
    pub fn verdict(&self) -> MethodVerdict {
        let interval = match &self.ratio {
            Ok(ratio) => ratio.interval,
            Err(NoRatio::Missing) => return MethodVerdict::Open,
            Err(NoRatio::BelowResolution(_)) => return MethodVerdict::BelowResolution,
            Err(NoRatio::Negative(_)) => return MethodVerdict::Negative,
            Err(NoRatio::Impossible(_)) => return MethodVerdict::Impossible,
        };
        match interval {
            None => MethodVerdict::Open,
            Some(interval) if interval.low > 1.0 => MethodVerdict::Above,
            Some(interval) if interval.high < 1.0 => MethodVerdict::Below,
            Some(_) => MethodVerdict::NotSignificant,
        }
    }
}

pub fn compared(report: &'static Report, replication: &Replication, results: &Results) -> Vec<Compared> {
    let known = results.known();
    report.rows.iter().map(|row| compare(row, replication, results, &known)).collect()
}

fn compare(row: &'static Row, replication: &Replication, results: &Results, known: &Known) -> Compared {
    let replicated = replicated(row, replication);
    let fathom = ours(row, results, known);
    let ratio = match (&replicated, &fathom) {
        (Ok(theirs), Ok(ours)) => ratio(
            measured(theirs.value, theirs.interval),
            ours.measured,
            row.unit,
            row.fathom.is_difference(),
        ),
        _ => Err(NoRatio::Missing),
    };
    let theirs = match row.theirs {
        Theirs::Printed(id) => references::figure(id),
        Theirs::NotPrinted(_) => None,
    };
    let points = row.fathom.points(known.machine);
    Compared { row, theirs, points, replicated, fathom, ratio, notes: notes(row, replication) }
}

fn replicated(row: &Row, replication: &Replication) -> Result<ReplicatedFigure, String> {
    let method = match row.replica {
        Replica::By(method) => method,
        Replica::NotHere(reason) => return Err(reason.to_owned()),
    };
    let line = replication.of(method.name).ok_or("it was interrupted before this method")?;
    match &line.outcome {
        TrialOutcome::Measured { sample: series } => row.statistic.summary(series).ok_or_else(|| {
            format!("the trials do not give a figure by the report's statistic ({})", row.statistic.name())
        }),
        TrialOutcome::Skipped { reason } | TrialOutcome::Failed { reason } => Err(reason.clone()),
        TrialOutcome::TimedOut { after_s } => Err(format!("it was stopped after {after_s} s")),
    }
}

fn notes(row: &Row, replication: &Replication) -> Vec<String> {
    let Replica::By(method) = row.replica else { return vec![] };
    let series = replication.of(method.name).and_then(|line| line.outcome.sample());
    series.map(|series| series.notes.clone()).unwrap_or_default()
}

fn ours(row: &Row, results: &Results, known: &Known) -> Result<Found, String> {
    let unmeasured = |why: &str| Err(why.to_owned());
    match &row.fathom {
        SameQuestion::Point(_) => {
            let (experiment, point) = row.fathom.points(known.machine).remove(0);
            known.found(experiment, &point).ok_or_else(|| without_a_value(results, experiment, &point))
        }
        SameQuestion::Slope { experiment, point, along } => {
            let group = point.nearest(experiment, known.machine).without(along);
            let trend = results.trends.iter().find(|trend| {
                trend.experiment == *experiment
                    && trend.along == *along
                    && trend.group == results.shown(&group)
            });
            trend.map_or_else(
                || unmeasured("too few points of the sweep have a value"),
                |trend| Ok(slope(trend)),
            )
        }
        SameQuestion::Computed(computed) => computed
            .value(known, row.unit)
            .map_or_else(|| unmeasured("a point that the figure needs has no value"), Ok),
        SameQuestion::Nowhere { nowhere } => unmeasured(nowhere),
    }
}

fn slope(trend: &TrendResult) -> Found {
    let dimension = Dimension::Of(trend.unit);
    Found::measured(Measured { value: trend.slope(), interval: trend.slope_interval() }, dimension)
}

fn without_a_value(results: &Results, experiment: &str, point: &Point) -> String {
    let mut mine = results.of_experiment(experiment);
    let shown = results.shown(point);
    let result = mine.find(|result| result.point == shown);
    let reason = result.and_then(|result| {
        let other = result.method().err().map(|other| other.to_string());
        result.outcome.reason().or(other)
    });
    reason.unwrap_or_else(|| "this machine has no such point".to_owned())
}

/// The ratio of two figures. There is none if one of them may be zero or negative. The report's times are often differences;
/// Fathom's are where `differ` says so.
fn ratio(theirs: Measured, ours: Measured, unit: Unit, differ: bool) -> Result<Measured, NoRatio> {
    let below = |side, may_be: bool| {
        move |why| match why {
            NoRatio::Impossible(_) if may_be => NoRatio::Negative(side),
            why => why,
        }
    };
    let theirs_may_be = is_surely_negative(theirs, unit);
    let ours_may_be = differ && is_surely_negative(ours, unit) && is_plausible_beside(ours, theirs);
    ensure_positive(theirs, unit, RatioSide::Theirs).map_err(below(RatioSide::Theirs, theirs_may_be))?;
    ensure_positive(ours, unit, RatioSide::Ours).map_err(below(RatioSide::Ours, ours_may_be))?;
    statistics::ratio(theirs, ours).ok_or(NoRatio::Impossible(RatioSide::Theirs))
}

/// Only times are differences, which noise can make zero or negative. Trials that agree on zero to the last digit are not noise.
fn ensure_positive(figure: Measured, unit: Unit, side: RatioSide) -> Result<(), NoRatio> {
    match (figure.interval, unit.kind()) {
        (None, _) if figure.value > 0.0 => Ok(()),
        (None, Kind::Cost) => Err(NoRatio::BelowResolution(side)),
        (Some(ends), _) if ends.low > 0.0 => Ok(()),
        // One interval in twenty misses its truth; none misses it by more than its own width.
        (Some(ends), Kind::Cost) if ends.high + (ends.high - ends.low) > 0.0 => {
            Err(NoRatio::BelowResolution(side))
        }
        (Some(_), Kind::Rate | Kind::Size) if figure.value > 0.0 => Ok(()),
        _ => Err(NoRatio::Impossible(side)),
    }
}

/// Whether it is a time and for certain below zero, as only a difference can be.
fn is_surely_negative(figure: Measured, unit: Unit) -> bool {
    unit.kind() == Kind::Cost && figure.interval.is_some_and(|ends| ends.high < 0.0)
}

/// Whether a negative difference of values of one run is plausible. One taken the wrong way round would be about as far below zero as the
/// other figure is above it; where the other figure is not resolved either, any distance is plausible.
fn is_plausible_beside(figure: Measured, other: Measured) -> bool {
    !other.is_resolved() || -figure.value < other.value / 2.0
}

fn measured(value: f64, interval: Option<(f64, f64)>) -> Measured {
    Measured { value, interval: interval.map(|(low, high)| Interval { low, high }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_that_is_lost_is_an_outcome_and_says_whose_it_is() {
        let sound = measured(10.0, Some((9.0, 11.0)));
        let time = |theirs, ours| ratio(theirs, ours, Unit::Nanoseconds, false);
        assert!(time(sound, sound).is_ok_and(|ratio| ratio.interval.is_some()));
        let lost: [Measured; 4] = [
            measured(-0.3, Some((-1.0, 0.4))),
            measured(0.3, Some((-0.4, 1.0))),
            measured(-0.022, Some((-0.054, -0.002))),
            measured(-0.3, None),
        ];
        for lost in lost {
            assert_eq!(time(lost, sound), Err(NoRatio::BelowResolution(RatioSide::Theirs)), "{lost:?}");
            assert_eq!(time(sound, lost), Err(NoRatio::BelowResolution(RatioSide::Ours)), "{lost:?}");
        }
    }

    #[test]
    fn a_method_that_subtracts_too_much_misleads_and_is_not_broken() {
        let (below, sound) = (measured(-0.3, Some((-0.35, -0.25))), measured(1.4, Some((1.3, 1.5))));
        let time = |theirs, ours, differ| ratio(theirs, ours, Unit::Nanoseconds, differ);
        assert_eq!(time(below, sound, false), Err(NoRatio::Negative(RatioSide::Theirs)));
        // A neighbour came for what is subtracted: that the core is shared breaks no method.
        let far_below = measured(-9.0, Some((-10.0, -8.0)));
        assert_eq!(time(far_below, sound, false), Err(NoRatio::Negative(RatioSide::Theirs)));
        assert_eq!(time(sound, below, false), Err(NoRatio::Impossible(RatioSide::Ours)));
        // A slope may fall, but not by as much as theirs rises.
        assert_eq!(time(sound, below, true), Err(NoRatio::Negative(RatioSide::Ours)));
        let opposite = measured(-1.4, Some((-1.5, -1.3)));
        assert_eq!(time(sound, opposite, true), Err(NoRatio::Impossible(RatioSide::Ours)));
        assert_eq!(
            ratio(below, sound, Unit::BytesPerSecond, true),
            Err(NoRatio::Impossible(RatioSide::Theirs)),
            "no rate is a difference"
        );
    }

    #[test]
    fn an_impossible_figure_is_not_called_one_below_resolution() {
        let sound = measured(10.0, Some((9.0, 11.0)));
        let below = measured(-9.0, Some((-10.0, -8.0)));
        let nothing = measured(0.0, Some((0.0, 0.0)));
        let time = |theirs, ours| ratio(theirs, ours, Unit::Nanoseconds, true);
        assert_eq!(time(sound, below), Err(NoRatio::Impossible(RatioSide::Ours)));
        assert_eq!(time(nothing, sound), Err(NoRatio::Impossible(RatioSide::Theirs)));
        for unit in [Unit::BytesPerSecond, Unit::Bytes] {
            assert_eq!(
                ratio(sound, measured(0.0, None), unit, true),
                Err(NoRatio::Impossible(RatioSide::Ours))
            );
            assert!(
                ratio(sound, measured(3.0, Some((-1.0, 7.0))), unit, true)
                    .is_ok_and(|ratio| ratio.interval.is_none())
            );
        }
    }
}
