//! The tables of the report in LaTeX, for a paper.

use super::{article, paper};
use crate::results::Results;

/// Every table that is not folded, behind comments that say what they are of.
pub fn render(results: &Results) -> String {
    paper::latex::render(&article::of(results))
}
