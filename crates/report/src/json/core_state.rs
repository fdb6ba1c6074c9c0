//! The state of the core, as JSON.

use super::with_interval::WithInterval;
use fathom_engine::results::{CoreShared, PointCore};
use serde::Serialize;

/// The state of the core at one point.
#[derive(Serialize)]
pub(super) struct CoreReport {
    state: &'static str,
    shared_share: Option<f64>,
    shared: Option<WithInterval>,
    observed_alone: usize,
    observed_shared: usize,
    observed_unclear: usize,
}

/// The state of the core over the run.
#[derive(Serialize)]
pub(super) struct CoreSharedReport {
    share: f64,
    low: Option<f64>,
    high: Option<f64>,
    trials: usize,
    alone: f64,
    shared: Option<f64>,
}

pub(super) fn core(found: &PointCore) -> CoreReport {
    let [observed_alone, observed_shared, observed_unclear] = found.observations;
    CoreReport {
        state: found.state.name(),
        shared_share: found.shared_share,
        shared: found.shared.as_ref().map(WithInterval::of),
        observed_alone,
        observed_shared,
        observed_unclear,
    }
}

pub(super) fn core_shared(found: &CoreShared) -> CoreSharedReport {
    CoreSharedReport {
        share: found.share,
        low: found.interval.map(|interval| interval.low),
        high: found.interval.map(|interval| interval.high),
        trials: found.trials,
        alone: found.levels.alone,
        shared: found.levels.shared,
    }
}
