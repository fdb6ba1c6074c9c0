//! The report's summary table: theirs, here by their method, here by Fathom's method, and how far the last two are apart.
//! A pure function of a replication and of the run beside it.

use super::record::Replication;
use super::{Replica, Report, Row, SameQuestion, Summary, Theirs};
use crate::experiment::{Dimension, Found, Known, Point};
use crate::quantity::{Kind, Unit};
use crate::record::TrialOutcome;
use crate::references::{self, Figure};
use crate::results::{Results, TrendResult};
use crate::statistics::{self, Estimate, Interval, Ratio};

/// A row of the table.
pub struct Compared {
    /// What it is about.
    pub row: &'static Row,
    /// Their figure; `None` where it is not printed.
    pub theirs: Option<&'static Figure>,
    /// The points that Fathom's figure comes from.
    pub points: Vec<(&'static str, Point)>,
    /// Here by their method, or why not.
    pub replicated: Result<Summary, String>,
    /// Here by Fathom's method, or why not.
    pub fathom: Result<Found, String>,
    /// By their method over by Fathom's, with its 95 % interval where both have one; or why there is none.
    pub ratio: Result<Ratio, NoRatio>,
    /// What was seen beside their method.
    pub seen: Vec<String>,
}

/// One of the two figures that are set against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// By their method.
    Theirs,
    /// By Fathom's.
    Ours,
}

/// Why two figures have no ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRatio {
    /// One of them is missing; it says itself why.
    Missing,
    /// This one is a difference of times that cannot be told from nothing here: an outcome, and no fault.
    BelowResolution(Side),
    /// This one is a difference of times that is surely below nothing here, by less than half of what the other finds: their
    /// method subtracts more than the operation adds, and misleads; or what grows elsewhere shrinks here by Fathom's
    /// measurement (seen: a call without arguments 1.06 ns, with three 0.91).
    BelowNothing(Side),
    /// This one cannot be: a rate or a size of nothing, or a time so far below nothing that no subtraction of like work
    /// leads there.
    Impossible(Side),
}

impl NoRatio {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            NoRatio::Missing => "one of the two has no figure",
            NoRatio::BelowResolution(Side::Theirs) => {
                "below resolution: the result of their method here is not distinguishable from zero"
            }
            NoRatio::BelowResolution(Side::Ours) => {
                "below resolution: Fathom's result here is not distinguishable from zero"
            }
            NoRatio::BelowNothing(Side::Theirs) => {
                "below nothing: their method subtracts more here than the operation adds"
            }
            NoRatio::BelowNothing(Side::Ours) => {
                "below nothing: by Fathom's measurement each further one makes the operation cheaper here"
            }
            NoRatio::Impossible(Side::Theirs) => "what their method finds cannot be: it is not above nothing",
            NoRatio::Impossible(Side::Ours) => "what Fathom finds cannot be: it is not above nothing",
        }
    }
}

/// Whether a method of theirs misleads here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It gives more than Fathom finds.
    Above,
    /// It gives less than Fathom finds.
    Below,
    /// The two cannot be told apart.
    NotTold,
    /// One of them is a difference that cannot be told from nothing.
    BelowResolution,
    /// One of them is less than nothing.
    BelowNothing,
    /// One of them cannot be, and something is broken.
    Impossible,
    /// One of them has no value, or no interval that tells.
    Open,
}

impl Verdict {
    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Above => "above",
            Verdict::Below => "below",
            Verdict::NotTold => "not_told_apart",
            Verdict::BelowResolution => "below_resolution",
            Verdict::BelowNothing => "below_nothing",
            Verdict::Impossible => "impossible",
            Verdict::Open => "open",
        }
    }
}

impl Compared {
    /// What the interval of the ratio says.
    pub fn verdict(&self) -> Verdict {
        let interval = match &self.ratio {
            Ok(ratio) => ratio.interval,
            Err(NoRatio::Missing) => return Verdict::Open,
            Err(NoRatio::BelowResolution(_)) => return Verdict::BelowResolution,
            Err(NoRatio::BelowNothing(_)) => return Verdict::BelowNothing,
            Err(NoRatio::Impossible(_)) => return Verdict::Impossible,
        };
        match interval {
            None => Verdict::Open,
            Some(interval) if interval.low > 1.0 => Verdict::Above,
            Some(interval) if interval.high < 1.0 => Verdict::Below,
            Some(_) => Verdict::NotTold,
        }
    }
}

/// Every row of a report.
pub fn compared(report: &'static Report, replication: &Replication, results: &Results) -> Vec<Compared> {
    let known = results.known();
    report.rows.iter().map(|row| compare(row, replication, results, &known)).collect()
}

fn compare(row: &'static Row, replication: &Replication, results: &Results, known: &Known) -> Compared {
    let replicated = replicated(row, replication);
    let fathom = ours(row, results, known);
    let ratio = match (&replicated, &fathom) {
        (Ok(theirs), Ok(ours)) => {
            let (theirs, ours) = (estimate(theirs.value, theirs.interval), estimate(ours.value, ours.ends()));
            ratio(&theirs, &ours, row.unit, row.fathom.is_difference())
        }
        _ => Err(NoRatio::Missing),
    };
    let theirs = match row.theirs {
        Theirs::Printed(id) => references::figure(id),
        Theirs::NotPrinted(_) => None,
    };
    let points = row.fathom.points(known.machine);
    Compared { row, theirs, points, replicated, fathom, ratio, seen: seen(row, replication) }
}

fn replicated(row: &Row, replication: &Replication) -> Result<Summary, String> {
    let method = match row.replica {
        Replica::By(method) => method,
        Replica::NotHere(reason) => return Err(reason.to_owned()),
    };
    let line = replication.of(method.name).ok_or("it was interrupted before this method")?;
    match &line.outcome {
        TrialOutcome::Measured { sample: series } => row.statistic.summary(series).ok_or_else(|| {
            format!(
                "what was measured does not give one figure by their statistic ({})",
                row.statistic.name()
            )
        }),
        TrialOutcome::Skipped { reason } | TrialOutcome::Failed { reason } => Err(reason.clone()),
        TrialOutcome::TimedOut { after_s } => Err(format!("it did not end within {after_s} s")),
    }
}

fn seen(row: &Row, replication: &Replication) -> Vec<String> {
    let Replica::By(method) = row.replica else { return vec![] };
    let series = replication.of(method.name).and_then(|line| line.outcome.sample());
    series.map(|series| series.seen.clone()).unwrap_or_default()
}

fn ours(row: &Row, results: &Results, known: &Known) -> Result<Found, String> {
    let unmeasured = |why: &str| Err(why.to_owned());
    match &row.fathom {
        SameQuestion::Point(experiment, point) => {
            let point = point(known.machine);
            known.found(experiment, &point).ok_or_else(|| without_a_value(results, experiment, &point))
        }
        SameQuestion::Slope(experiment, along, group) => {
            let group = group(known.machine);
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
        SameQuestion::Computed { value, .. } => {
            value(known).map_or_else(|| unmeasured("a point that it needs has no value"), Ok)
        }
        SameQuestion::Nowhere(reason) => unmeasured(reason),
    }
}

fn slope(trend: &TrendResult) -> Found {
    let dimension = Dimension::Of(trend.unit);
    Found { value: trend.slope(), interval: trend.slope_interval(), dimension }
}

/// Why a point has no value.
fn without_a_value(results: &Results, experiment: &str, point: &Point) -> String {
    let mut mine = results.of_experiment(experiment);
    let shown = results.shown(point);
    let found = mine.find(|result| result.point == shown);
    let reason = found.and_then(|result| {
        let other = result.method().err().map(|other| other.to_string());
        result.outcome.reason().or(other)
    });
    reason.unwrap_or_else(|| "this machine does not have such a point".to_owned())
}

/// The ratio of two figures. Of what is not known to be above nothing there is none. Times of theirs are often differences; ours
/// are where `differ` says so.
fn ratio(theirs: &Estimate, ours: &Estimate, unit: Unit, differ: bool) -> Result<Ratio, NoRatio> {
    let below = |figure, other, side, may_be| {
        move |why| match why {
            NoRatio::Impossible(_) if may_be && is_below(figure, other, unit) => NoRatio::BelowNothing(side),
            why => why,
        }
    };
    above_nothing(theirs, unit, Side::Theirs).map_err(below(theirs, ours, Side::Theirs, true))?;
    above_nothing(ours, unit, Side::Ours).map_err(below(ours, theirs, Side::Ours, differ))?;
    statistics::ratio(theirs, ours).ok_or(NoRatio::Impossible(Side::Theirs))
}

/// Only times are ever differences, which chance can bring to nothing and below. Trials that agree on nothing to the last
/// digit are no chance.
fn above_nothing(figure: &Estimate, unit: Unit, side: Side) -> Result<(), NoRatio> {
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

/// Whether a difference of times that is surely below nothing may be so. One that is taken the wrong way round would lie about
/// as far below nothing as the other finds it above; where the other finds nothing either, any distance may be.
fn is_below(figure: &Estimate, other: &Estimate, unit: Unit) -> bool {
    let surely = figure.interval.is_some_and(|ends| ends.high < 0.0);
    unit.kind() == Kind::Cost && surely && (!other.resolved() || -figure.value < other.value / 2.0)
}

/// A figure as the statistics know it.
fn estimate(value: f64, interval: Option<(f64, f64)>) -> Estimate {
    let interval = interval.map(|(low, high)| Interval { low, high });
    Estimate { value, interval, level: 0.95, min: None, max: None, trials: 0, observations: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(value: f64, interval: Option<(f64, f64)>) -> Estimate {
        estimate(value, interval)
    }

    #[test]
    fn a_difference_that_is_lost_is_an_outcome_and_says_whose_it_is() {
        let sound = found(10.0, Some((9.0, 11.0)));
        let time = |theirs, ours| ratio(theirs, ours, Unit::Nanoseconds, false);
        assert!(time(&sound, &sound).is_ok_and(|ratio| ratio.interval.is_some()));
        let lost: [Estimate; 4] = [
            found(-0.3, Some((-1.0, 0.4))),
            found(0.3, Some((-0.4, 1.0))),
            found(-0.022, Some((-0.054, -0.002))),
            found(-0.3, None),
        ];
        for lost in &lost {
            assert_eq!(time(lost, &sound), Err(NoRatio::BelowResolution(Side::Theirs)), "{lost:?}");
            assert_eq!(time(&sound, lost), Err(NoRatio::BelowResolution(Side::Ours)), "{lost:?}");
        }
    }

    #[test]
    fn a_method_that_subtracts_too_much_misleads_and_is_not_broken() {
        let (below, sound) = (found(-0.3, Some((-0.35, -0.25))), found(1.4, Some((1.3, 1.5))));
        let time = |theirs, ours, differ| ratio(theirs, ours, Unit::Nanoseconds, differ);
        assert_eq!(time(&below, &sound, false), Err(NoRatio::BelowNothing(Side::Theirs)));
        assert_eq!(time(&sound, &below, false), Err(NoRatio::Impossible(Side::Ours)));
        // A slope may fall, but not by as much as theirs rises.
        assert_eq!(time(&sound, &below, true), Err(NoRatio::BelowNothing(Side::Ours)));
        let opposite = found(-1.4, Some((-1.5, -1.3)));
        assert_eq!(time(&sound, &opposite, true), Err(NoRatio::Impossible(Side::Ours)));
        assert_eq!(
            ratio(&below, &sound, Unit::BytesPerSecond, true),
            Err(NoRatio::Impossible(Side::Theirs)),
            "no rate is a difference"
        );
    }

    #[test]
    fn what_cannot_be_is_no_matter_of_resolution() {
        let sound = found(10.0, Some((9.0, 11.0)));
        let below = found(-9.0, Some((-10.0, -8.0)));
        let nothing = found(0.0, Some((0.0, 0.0)));
        for wrong in [&below, &nothing] {
            let told = ratio(wrong, &sound, Unit::Nanoseconds, true);
            assert_eq!(told, Err(NoRatio::Impossible(Side::Theirs)), "{wrong:?}");
        }
        for unit in [Unit::BytesPerSecond, Unit::Bytes] {
            assert_eq!(ratio(&sound, &found(0.0, None), unit, true), Err(NoRatio::Impossible(Side::Ours)));
            assert!(
                ratio(&sound, &found(3.0, Some((-1.0, 7.0))), unit, true)
                    .is_ok_and(|ratio| ratio.interval.is_none())
            );
        }
    }
}
