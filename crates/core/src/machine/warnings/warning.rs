//! One possible disturbance, for reporting.

use serde::{Deserialize, Serialize};

/// One possible disturbance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// A short name that does not change (`governor`, `cpu-quota`).
    pub id: String,
    /// The problem, and its effect on results.
    pub problem: String,
    /// The remedy.
    pub remedy: String,
}

pub(super) fn warning(id: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Warning {
    Warning { id: id.to_owned(), problem: problem.into(), remedy: remedy.into() }
}
