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
    /// What the part is beyond its own prediction, of what the figure is beyond its, in a clause: "entering the kernel takes 131 ns, 84.8
    /// predicted: 45.0 % of the difference". None without both predictions, or where it is not shown to be one.
    pub of_difference: Option<Statement>,
}

/// What a mechanism of the run has of a missed prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct MissMechanism {
    /// The name of the mechanism.
    pub mechanism: &'static str,
    /// What the run measured of it, in a clause.
    pub statement: Statement,
    /// Whether the figure without it is as predicted, within the intervals.
    pub accounts: bool,
}

impl InfluencePart {
    /// Whether the part alone is for certain more than all of a lesser figure, which is this one times `lesser`.
    pub fn is_more_than_all(&self, lesser: f64) -> bool {
        self.share.ends().is_some_and(|(least, _)| lesser < 1.0 && least > lesser)
    }
}
