//! The trials behind the values of a run.

use fathom_core::statistics;
use fathom_engine::results::Results;

/// The trials of the median value; `None` if nothing was measured.
pub(crate) fn usual_trials(results: &Results) -> Option<f64> {
    statistics::median(&trials_of_values(results).map(|trials| trials as f64).collect::<Vec<_>>())
}

/// The trials of each value. A point that was left out for want of time had one, and has none.
pub(crate) fn trials_of_values(results: &Results) -> impl Iterator<Item = usize> {
    let valued = results.points.iter().filter(|point| point.estimate().is_some());
    valued.map(|point| point.trials.0).filter(|trials| *trials > 0)
}
