//! Whether anything got worse: a first finding is a suspect, and only a confirmed one is a regression.

use super::{Comparison, NotCompared, Obstacle, PooledFamily, Row, Verdict};

/// The decision of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// No regression was found, and one of the size of the margin would have been in every family.
    Passed,
    /// A suspect could neither be confirmed nor cleared, a point that had a value has failed, nothing could be compared, or the
    /// runs could not see a change of the size of the margin.
    Inconclusive,
    /// Something got worse by more than its margin.
    Regressed,
}

impl Decision {
    /// The name in every form.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Passed => "passed",
            Decision::Inconclusive => "inconclusive",
            Decision::Regressed => "regressed",
        }
    }
}

/// The decision for a comparison with a baseline.
pub fn decide(comparison: &Comparison) -> Decision {
    if comparison.rows.iter().any(|row| row.verdict == Verdict::Worse)
        || comparison.families.iter().any(PooledFamily::regressed)
    {
        Decision::Regressed
    } else if comparison.rows.is_empty()
        || comparison.of_itself
        || comparison.families.iter().any(PooledFamily::is_unseen)
        || comparison.rows.iter().any(Row::is_suspect)
        || has_broken(comparison)
    {
        Decision::Inconclusive
    } else {
        Decision::Passed
    }
}

/// Whether a point with a value in the baseline failed.
fn has_broken(comparison: &Comparison) -> bool {
    let broken = |point: &NotCompared| matches!(point.because, Obstacle::NoValueAfter { failed: true, .. });
    comparison.not_compared.iter().any(broken)
}
