//! The report as one page of HTML that needs nothing else: no network, no font, and no script to be complete.

use super::beside::Published;
use super::{article, json, paper};
use crate::results::Results;

/// The whole page, with all figures inside as JSON.
pub fn render(results: &Results) -> String {
    paper::html::render(&article::of(results), Some(&json::compact(results)))
}

/// The same with published figures beside those of the run.
pub fn render_beside(results: &Results, published: &Published) -> String {
    let document = article::with(results, Some(published));
    paper::html::render(&document, Some(&json::compact_beside(results, published)))
}
