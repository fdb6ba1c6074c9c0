//! A point in the statistics of published reports, as JSON.

use fathom_engine::results::{PointResult, Results, ticks_and_cycles};
use serde::Serialize;

/// The statistics, in the point's unit unless the field's name has another unit.
#[derive(Serialize)]
pub(super) struct PublishedStatisticsReport {
    mean: f64,
    deviation: Option<f64>,
    trimmed_mean: f64,
    minimum: f64,
    maximum: f64,
    trials_mean: f64,
    trials_deviation: Option<f64>,
    operations_a_reading: Option<f64>,
    median_ticks: Option<f64>,
    median_core_cycles: Option<f64>,
}

impl PublishedStatisticsReport {
    /// For a point; `None` if it has no value.
    pub(super) fn of(found: &Results, point: &PointResult) -> Option<Self> {
        let published = point.published.as_ref()?;
        let median = point.estimate()?.value;
        let in_clock = ticks_and_cycles(found.run, found.core_hz, point.unit, median);
        Some(PublishedStatisticsReport {
            mean: published.observations.mean,
            deviation: published.observations.deviation,
            trimmed_mean: published.observations.trimmed_mean,
            minimum: published.observations.minimum,
            maximum: published.observations.maximum,
            trials_mean: published.trials.value,
            trials_deviation: published.trials.deviation,
            operations_a_reading: published.operations,
            median_ticks: in_clock.map(|(ticks, _)| ticks),
            median_core_cycles: in_clock.and_then(|(_, cycles)| cycles),
        })
    }
}
