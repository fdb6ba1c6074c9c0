//! What a mechanism has of a figure.

use fathom_core::experiment::{Found, Statement};

/// The part of a figure that a mechanism of its run accounts for.
#[derive(Debug, Clone, PartialEq)]
pub struct InfluencePart {
    /// The name of the mechanism.
    pub mechanism: &'static str,
    /// The part and its share of the figure, in a clause: "entering the kernel takes 131 ns of it, 49.2 %".
    pub statement: Statement,
    /// The share; of a rate, that of what it were without the mechanism.
    pub share: Found,
}
