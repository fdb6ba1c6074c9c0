//! Bencher Metric Format: <https://bencher.dev/docs/reference/bencher-metric-format/>.

use super::figures::{figures, name};
use crate::form::pretty;
use fathom_core::quantity::Unit;
use fathom_engine::results::Results;
use serde::Serialize;
use std::collections::BTreeMap;

/// A measured value with the ends of its 95 % interval.
#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// Every figure by name and measure.
pub(super) fn of(results: &Results) -> String {
    let metric = |point: &fathom_engine::results::PointResult| {
        let estimate = point.estimate()?;
        let metric = Metric {
            value: estimate.value,
            lower_value: estimate.interval.map(|ends| ends.low),
            upper_value: estimate.interval.map(|ends| ends.high),
        };
        Some((name(point), BTreeMap::from([(measure(point.unit), metric)])))
    };
    pretty(&figures(results).filter_map(metric).collect::<BTreeMap<_, _>>())
}

/// The measure's slug: `latency` is Bencher's own, in nanoseconds; the others name their unit.
fn measure(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "latency",
        Unit::BytesPerSecond => "bytes-per-second",
        Unit::Bytes => "bytes",
        Unit::PartsPerMillion => "parts-per-million",
    }
}
