//! The tables of the report in LaTeX, for a paper.

use super::beside::Published;
use super::{article, paper};
use crate::results::Results;

/// Every table that is not folded, behind comments that say what they are of.
pub fn render(results: &Results) -> String {
    paper::latex::render(&article::of(results))
}

/// The same with published figures beside those of the run.
pub fn render_beside(results: &Results, published: &Published) -> String {
    paper::latex::render(&article::with(results, Some(published)))
}
