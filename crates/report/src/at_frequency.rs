//! The sign of figures that are stated at the run's usual frequency of the core, and not as they were observed.

use fathom_core::quantities;
use fathom_engine::results::PointResult;

/// The sign behind the name of such a figure.
pub(super) const MARK: &str = "†";

/// The sign with its space, if the point's figure is at the usual frequency; else nothing.
pub(super) fn mark(point: &PointResult) -> String {
    if point.at_frequency.is_some() { format!(" {MARK}") } else { String::new() }
}

/// The meaning of the sign below a table; empty if no point has it.
pub(super) fn legend<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> String {
    let hz = points.into_iter().find_map(|point| Some(point.at_frequency.as_ref()?.hz));
    let hz = hz.map(quantities::frequency);
    hz.map(|hz| format!(" {MARK}: at {hz}, the core's usual frequency; others as observed."))
        .unwrap_or_default()
}
