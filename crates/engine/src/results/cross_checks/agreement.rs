//! Degrees of agreement between figures of several experiments.

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// The intervals overlap, or the order holds.
    Agrees,
    /// The intervals do not overlap; the figures are within a factor of 1.25.
    Differs,
    /// The figures are further apart, or the order is reversed.
    Contradicts,
}

impl Agreement {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Agreement::Agrees => "agrees",
            Agreement::Differs => "differs",
            Agreement::Contradicts => "contradicts",
        }
    }
}
