//! One point over many runs, and its change points.

use super::side::{Level, ReducedRun};
use crate::record::MethodParameter;
use fathom_core::experiment::Point;
use fathom_core::quantity::Unit;
use fathom_core::statistics::{self, Estimate};

/// A point over all runs that have a value of it.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Name of the experiment.
    pub experiment: String,
    /// Version of its method: another version has a separate history.
    pub method_version: u32,
    /// The setting of its parameters.
    pub point: Point,
    /// The parameters declared by its method.
    pub parameters: Vec<MethodParameter>,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The runs with their levels, in order of time, as indices into the given series.
    pub levels: Vec<(usize, Estimate)>,
    /// The indices in `levels` of the first level after each change by more than the margin.
    pub changes: Vec<usize>,
}

/// The histories of all points of runs in order of time, in the order of the latest run. Change points are searched on
/// logarithms, with errors that include the differences of neighbouring runs; those whose levels before and after differ by
/// more than the margin are reported.
pub fn histories(runs: &[ReducedRun], margin: impl Fn(&str) -> f64) -> Vec<History> {
    let mut histories: Vec<History> = vec![];
    let mut places = std::collections::BTreeMap::new();
    for (place, run) in runs.iter().enumerate().rev() {
        for level in run.levels.iter().filter(|level| !level.refuted) {
            let Some(estimate) = level.outcome.estimate() else { continue };
            let key = (level.experiment.as_str(), level.method_version, &level.point);
            let index = *places.entry(key).or_insert_with(|| {
                histories.push(begun(level));
                histories.len() - 1
            });
            histories[index].levels.push((place, estimate.clone()));
        }
    }
    for history in &mut histories {
        history.levels.reverse();
        history.changes = changes(&history.levels, margin(&history.experiment));
    }
    histories
}

fn begun(level: &Level) -> History {
    History {
        experiment: level.experiment.clone(),
        method_version: level.method_version,
        point: level.point.clone(),
        parameters: level.parameters.clone(),
        unit: level.unit,
        levels: vec![],
        changes: vec![],
    }
}

fn changes(levels: &[(usize, Estimate)], margin: f64) -> Vec<usize> {
    let known: Option<Vec<(f64, f64)>> = levels
        .iter()
        .map(|(_, estimate)| {
            let level = statistics::LogLevel::of(estimate)?;
            Some((level.value, level.below.max(level.above)))
        })
        .collect();
    let Some(known) = known else { return vec![] };
    let errors = statistics::errors_of_a_series(&known);
    let series: Vec<(f64, f64)> =
        known.iter().zip(errors).map(|((value, _), error)| (*value, error)).collect();
    let change_points = statistics::change_points(&series);
    let mut ends = vec![0];
    ends.extend(&change_points);
    ends.push(series.len());
    let level = |stretch: &[(f64, f64)]| {
        let values: Vec<f64> = stretch.iter().map(|(value, _)| *value).collect();
        statistics::median(&values).unwrap_or(0.0)
    };
    let moved = |place: &usize| {
        let at = ends.iter().position(|end| end == place).unwrap_or(0);
        let (before, after) = (&series[ends[at - 1]..ends[at]], &series[ends[at]..ends[at + 1]]);
        (level(after) - level(before)).abs() > margin.ln_1p()
    };
    change_points.iter().filter(|place| moved(place)).copied().collect()
}
