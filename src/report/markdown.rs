//! The report as Markdown, for an issue, a change request or a page of notes.

use super::{article, paper};
use crate::results::Results;

/// The whole report; figures are in the page of HTML alone.
pub fn render(results: &Results) -> String {
    paper::markdown::render(&article::of(results))
}
