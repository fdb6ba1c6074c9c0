//! Common to all formats: the selection of figures, and their names.

use fathom_engine::results::{PointResult, Results};

/// Points with a value and without failing evidence: other tools take figures as valid.
pub(super) fn figures<'a>(results: &'a Results) -> impl Iterator<Item = &'a PointResult> {
    results.points.iter().filter(|point| point.estimate().is_some() && !point.evidence.fails())
}

/// A point's name, the same in every run: `cpu/system_call/call=getppid/placement=one-cpu`.
pub(super) fn name(point: &PointResult) -> String {
    let settings = point.point.parameters().map(|(name, value)| format!("/{name}={value}"));
    crate::clean(&format!("{}{}", point.experiment, settings.collect::<String>()))
}
