//! The sign of figures that another measurement of the same operation denies.

use super::precision::USEFUL;
use fathom_core::experiment::Found;
use fathom_core::quantities;
use fathom_engine::results::PointResult;

/// The sign behind the name of such a figure.
const MARK: &str = "¶";

/// What the other measurement gave, where it is further from the point's figure than what may be quoted by itself; `None` where nothing denies
/// it.
pub(super) fn by(point: &PointResult) -> Option<Found> {
    let value = point.estimate()?.value;
    point.denied_by.filter(|other| (other.value / value - 1.0).abs() > USEFUL)
}

/// The sign with its space, if another measurement denies the point's figure; else nothing.
pub(super) fn mark(point: &PointResult) -> String {
    if by(point).is_some() { format!(" {MARK}") } else { String::new() }
}

/// The meaning of the sign where there is little room; `None` if no point has it.
pub(super) fn in_short<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> Option<String> {
    let is_denied = points.into_iter().any(|point| by(point).is_some());
    is_denied.then(|| format!("{MARK}: another measurement of it is apart"))
}

/// The meaning of the sign below a table; empty if no point has it.
pub(super) fn legend<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> String {
    if points.into_iter().any(|point| by(point).is_some()) {
        format!(
            " {MARK}: another measurement of the same operation is more than {} away, and the intervals are apart (Cross-checks).",
            quantities::target(USEFUL)
        )
    } else {
        String::new()
    }
}
