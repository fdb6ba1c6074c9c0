//! How far figures of several experiments agree.

/// How far a check was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// The intervals overlap, or the order is kept.
    Agrees,
    /// The intervals do not overlap; what was measured is within a factor of 1.25.
    Differs,
    /// Further apart, or the order is turned.
    Contradicts,
}

impl Agreement {
    /// The name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Agreement::Agrees => "agrees",
            Agreement::Differs => "differs",
            Agreement::Contradicts => "contradicts",
        }
    }
}
