//! The report as Markdown, for an issue, a change request or a page of notes.

use super::beside::Published;
use super::{article, paper};
use crate::results::Results;

/// One page with the main figures; it reads as plain text too.
pub fn synopsis(results: &Results) -> String {
    paper::markdown::render(&article::synopsis::alone(results))
}

/// The same with published figures beside those of the run.
pub fn synopsis_beside(results: &Results, published: &Published) -> String {
    let mut document = article::synopsis::alone(results);
    document.front.push(article::beside::of(results, published));
    paper::markdown::render(&document)
}

/// The whole report; figures are in the page of HTML alone.
pub fn render(results: &Results) -> String {
    paper::markdown::render(&article::of(results))
}

/// The same with published figures beside those of the run.
pub fn render_beside(results: &Results, published: &Published) -> String {
    paper::markdown::render(&article::with(results, Some(published)))
}
