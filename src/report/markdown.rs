//! The report as Markdown, for an issue, a change request or a page of notes.

use super::beside::Published;
use super::{article, paper};
use crate::results::Results;

/// The whole report; figures are in the page of HTML alone.
pub fn render(results: &Results) -> String {
    paper::markdown::render(&article::of(results))
}

/// The same with published figures beside those of the run.
pub fn render_beside(results: &Results, published: &Published) -> String {
    paper::markdown::render(&article::with(results, Some(published)))
}
