//! What follows from a run for who chooses a machine, or writes programs for it.

use super::works::cited;
use crate::finding;
use crate::paper::Text;
use fathom_engine::results::Results;

/// What each mechanism of the run advises, the most far-reaching first.
pub(super) fn all(results: &Results) -> impl Iterator<Item = Text> {
    let advice = results.mechanisms.iter().map(|mechanism| finding::text(&mechanism.advice));
    advice.filter(|text| !text.is_empty()).map(|text| cited(&text))
}
