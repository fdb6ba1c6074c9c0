//! Points from which others differ by their placement only: without it the name of one is also that of another.

use super::PointResult;
use fathom_core::experiment::{AXIS_PLACEMENT, Point};

/// Whether the plan has the point at another placement as well.
pub fn is_of_several_placements(points: &[PointResult], experiment: &str, point: &Point) -> bool {
    let anywhere = point.without(AXIS_PLACEMENT.name);
    let is_twin = |other: &PointResult| {
        other.experiment == experiment
            && other.point != *point
            && other.point.without(AXIS_PLACEMENT.name) == anywhere
    };
    points.iter().any(is_twin)
}
