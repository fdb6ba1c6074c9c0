//! A median with its interval in JSON.

use fathom_core::statistics::Estimate;
use serde::Serialize;

/// The median, and its interval's ends if there are enough trials.
#[derive(Serialize)]
pub(super) struct WithInterval {
    median: f64,
    low: Option<f64>,
    high: Option<f64>,
}

impl WithInterval {
    pub(super) fn of(estimate: &Estimate) -> Self {
        WithInterval { median: estimate.value, low: low(estimate), high: high(estimate) }
    }
}

pub(super) fn low(estimate: &Estimate) -> Option<f64> {
    estimate.interval.map(|interval| interval.low)
}

pub(super) fn high(estimate: &Estimate) -> Option<f64> {
    estimate.interval.map(|interval| interval.high)
}
