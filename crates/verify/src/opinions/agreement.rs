//! Whether two figures of one operation agree.

use fathom_core::statistics::{Estimate, Measured, Ratio, ratio};
use serde::Serialize;

/// The relative distance within which two figures of one operation agree.
pub const NEAR: f64 = 0.05;

/// The agreement of two figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// The whole interval of their ratio is within 5 % of one.
    Agree,
    /// The whole interval is outside of that range.
    Differ,
    /// The interval is partly outside of that range.
    Open,
    /// One of the figures is missing.
    Skipped,
}

impl Agreement {
    pub fn name(self) -> &'static str {
        match self {
            Agreement::Agree => "agree",
            Agreement::Differ => "differ",
            Agreement::Open => "open",
            Agreement::Skipped => "skipped",
        }
    }
}

/// The ratio of Fathom's figure to the tool's, and the agreement.
pub(super) fn compare(fathom: &Estimate, tool: &Estimate) -> (Option<Ratio>, Agreement) {
    judged(fathom.measured(), tool.measured())
}

/// The same of values alone.
pub(super) fn judged(fathom: Measured, tool: Measured) -> (Option<Ratio>, Agreement) {
    let quotient = ratio(fathom, tool);
    let interval = quotient.and_then(|quotient| quotient.interval);
    let agreement = match interval {
        Some(ends) if 1.0 - NEAR <= ends.low && ends.high <= 1.0 + NEAR => Agreement::Agree,
        Some(ends) if ends.high < 1.0 - NEAR || 1.0 + NEAR < ends.low => Agreement::Differ,
        _ => Agreement::Open,
    };
    (quotient.map(Ratio::from), agreement)
}
