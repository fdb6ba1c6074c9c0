//! Pairs of figures of which one cannot exceed the other on any machine: measured as in a run, they must be in the right
//! order.

use super::prelude::*;
use fathom_engine::record::Verdict;
use fathom_engine::results::Outcome;
use fathom_engine::results::bounds::{ORDERS, Order};

pub static RIG: Rig = Rig::of_known_work(
    "order",
    "operations of which one includes the other",
    Duration::from_secs(5),
    |machine| Ok(orders(machine).into_iter().flat_map(|(_, points)| points).collect()),
    judge,
);

/// The most memory of a point here: preparing more takes seconds.
const MOST_BYTES: u64 = 64 << 20;

type PointPair = [(&'static str, Point); 2];

/// Orders of points that are quick to measure here.
fn orders(machine: &Machine) -> Vec<(&'static Order, PointPair)> {
    let swept =
        |name: &str| registry::find(name).map_or_else(Vec::new, |experiment| experiment.sweep(machine));
    let of = |order: &'static Order| order.points(machine, swept).map(|points| (order, points));
    ORDERS.iter().filter_map(of).filter(|(_, points)| points.iter().all(is_quick)).collect()
}

fn is_quick((name, point): &(&'static str, Point)) -> bool {
    let bytes = point.parameters().filter_map(|(_, value)| match value {
        Value::Number(number) => Some(*number),
        Value::Name(_) => None,
    });
    !name.starts_with("filesystem/") && bytes.max().unwrap_or(0) <= MOST_BYTES
}

/// One truth: that all orders with both figures hold.
fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let at = |(name, point): &(&'static str, Point)| {
        results.points.iter().find(|result| result.experiment == *name && result.point == *point)
    };
    let pairs: Vec<[&PointResult; 2]> = orders(&results.run.header.machine)
        .iter()
        .filter_map(|(_, [lower, upper])| Some([at(lower)?, at(upper)?]))
        .filter(|pair| pair.iter().all(|result| interval_of(result)))
        .collect();
    if pairs.is_empty() {
        return vec![NoFigure::inconclusive("no two of them have an interval").of(rig)];
    }
    let broken = pairs.iter().find_map(|pair| pair.iter().find_map(|result| breaks(result)));
    let right = pairs.iter().filter(|pair| pair.iter().all(|result| breaks(result).is_none())).count();
    let claim = Claim::of(rig, "pairs of figures in the right order", None, pairs.len() as f64).within(0.5);
    let truth = claim.judged(Ok(TruthFigure::exactly(right as f64)));
    let because = broken.filter(|_| truth.verdict == Verdict::Wrong).or(truth.because);
    vec![Truth { because, ..truth }]
}

fn interval_of(result: &PointResult) -> bool {
    result.outcome.observed().is_some_and(|estimate| estimate.interval.is_some())
}

/// The bound that a figure breaks.
fn breaks(result: &PointResult) -> Option<String> {
    match &result.outcome {
        Outcome::Implausible { bound, .. } => Some(bound.because.clone()),
        _ => None,
    }
}
