//! The report's summary table: theirs, here by their method, here by Fathom's method, and how far the last two are apart.
//! A pure function of a replication and of the run beside it.

use super::record::{Outcome, Replication};
use super::{Fathom, Replica, Report, Row, Summary, Theirs};
use crate::experiment::{Dimension, Found, Known, Point};
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
    /// By their method over by Fathom's, with its 95 % interval where both have one.
    pub ratio: Option<Ratio>,
    /// What was seen beside their method.
    pub seen: Vec<String>,
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
            Verdict::Open => "open",
        }
    }
}

impl Compared {
    /// What the interval of the ratio says.
    pub fn verdict(&self) -> Verdict {
        match self.ratio.as_ref().and_then(|ratio| ratio.interval) {
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
    let ratio =
        replicated.as_ref().ok().zip(fathom.as_ref().ok()).and_then(|(theirs, ours)| ratio(theirs, ours));
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
        Outcome::Measured { series } => row.statistic.summary(series).ok_or_else(|| {
            format!(
                "what was measured does not give one figure by their statistic ({})",
                row.statistic.name()
            )
        }),
        Outcome::Skipped { reason } | Outcome::Failed { reason } => Err(reason.clone()),
        Outcome::TimedOut { after_s } => Err(format!("it did not end within {after_s} s")),
    }
}

fn seen(row: &Row, replication: &Replication) -> Vec<String> {
    let Replica::By(method) = row.replica else { return vec![] };
    match replication.of(method.name).map(|line| &line.outcome) {
        Some(Outcome::Measured { series }) => series.seen.clone(),
        _ => vec![],
    }
}

fn ours(row: &Row, results: &Results, known: &Known) -> Result<Found, String> {
    let unmeasured = |why: &str| Err(why.to_owned());
    match &row.fathom {
        Fathom::Point(experiment, point) => {
            let point = point(known.machine);
            known.found(experiment, &point).ok_or_else(|| without_a_value(results, experiment, &point))
        }
        Fathom::Slope(experiment, along, group) => {
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
        Fathom::Computed { value, .. } => {
            value(known).map_or_else(|| unmeasured("a point that it needs has no value"), Ok)
        }
        Fathom::Nowhere(reason) => unmeasured(reason),
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
    let reason = found.and_then(|result| result.outcome.reason());
    reason.unwrap_or_else(|| "this machine does not have such a point".to_owned())
}

fn ratio(theirs: &Summary, ours: &Found) -> Option<Ratio> {
    statistics::ratio(&estimate(theirs.value, theirs.interval), &estimate(ours.value, ours.ends()))
}

/// A figure as the statistics know it.
fn estimate(value: f64, interval: Option<(f64, f64)>) -> Estimate {
    let interval = interval.map(|(low, high)| Interval { low, high });
    Estimate { value, interval, level: 0.95, min: None, max: None, trials: 0, observations: 0 }
}
