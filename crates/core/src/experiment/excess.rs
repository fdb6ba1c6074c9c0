//! What makes results exceed a prediction.

use super::Statement;

/// A probable cause of results that exceed their prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct Excess {
    /// What it is, in words that follow "probably ".
    pub cause: String,
    /// What this run measures of it; `None` if no run can measure how much of a miss it is.
    pub shown: Option<Statement>,
    /// Whether the curve of which the point is part shows it, and nothing besides.
    pub is_of_own_curve: bool,
}

impl Excess {
    /// One of which no run can measure how much of a miss it is.
    pub fn of(cause: impl Into<String>) -> Self {
        Excess { cause: cause.into(), shown: None, is_of_own_curve: false }
    }

    /// One of which the run measures this.
    pub fn shown_by(cause: impl Into<String>, shown: Statement) -> Self {
        Excess { cause: cause.into(), shown: Some(shown), is_of_own_curve: false }
    }

    /// One of which the curve that has the point shows this.
    pub fn in_its_curve(cause: impl Into<String>, shown: Statement) -> Self {
        Excess { is_of_own_curve: true, ..Excess::shown_by(cause, shown) }
    }
}
