//! The verification of the instrument: the results of `fathom verify`, stored for later runs.

use super::door::Door;
use super::regular;
use super::tool::Tool;
use anyhow::{Context, Result};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_core::statistics::Interval;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The verdict on a truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It could not be set here.
    Skipped,
    /// The whole interval lies within the tolerance of what was set.
    Right,
    /// The interval reaches beyond the tolerance, or the instrument observed a disturbance that may explain the figure.
    Inconclusive,
    /// The whole interval lies outside the tolerance, and no disturbance is known that could explain it.
    Wrong,
}

impl Verdict {
    /// The name in tables and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Skipped => "skipped",
            Verdict::Right => "right",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Wrong => "wrong",
        }
    }
}

/// A truth that was set, and the result of measuring it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Truth {
    /// The rig that set it.
    pub rig: String,
    /// The truth, in words.
    pub what: String,
    /// The unit of its numbers; absent for ratios, cycles and other plain numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// The set value, in the unit; absent if it could not be set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<f64>,
    /// The tolerance, in the unit: 2 % of the set value, or the resolution of the clock that set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// The found value, in the unit; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<f64>,
    /// The 95 % interval of the measurement, in the unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, if the verdict is not right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

impl Truth {
    /// The relative error of the found value; `None` if the set value is zero.
    pub fn error(&self) -> Option<f64> {
        let set = self.set.filter(|set| *set != 0.0);
        set.zip(self.found).map(|(set, found)| found / set - 1.0)
    }
}

/// A verification of the instrument: by which build, on which machine, and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// When it ended, RFC 3339, UTC.
    pub at: String,
    /// Seconds that it took.
    pub took_s: f64,
    /// The verified build.
    pub tool: Tool,
    /// The model of the processor; absent where it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<String>,
    /// The kernel's release; absent where it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Every truth of every rig.
    pub truths: Vec<Truth>,
}

impl Verification {
    /// A verification with these truths, by this build on this machine.
    pub fn of(at: String, took_s: f64, tool: Tool, machine: &Machine, truths: Vec<Truth>) -> Self {
        let (processor, kernel) = identity(machine);
        Verification { at, took_s, tool, processor, kernel, truths }
    }

    /// The stored verification; `None` if there is none that can be read.
    pub fn read(path: &Path) -> Option<Self> {
        serde_json::from_str(&regular::read(path).ok()?).ok()
    }

    /// Stores it in place of an earlier one: completely, or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let text = serde_json::to_string_pretty(self)? + "\n";
        let is_earlier = |text: &str| serde_json::from_str::<Verification>(text).is_ok();
        // One by another version of this program may have other fields.
        let is_replaced = |text: &str| is_earlier(text) || text.contains("\"truths\"");
        Door { sources: &[], force: false }.write(path, &text, &is_replaced)
    }

    /// Whether it is a verification of this build on this machine.
    pub fn is_of(&self, tool: &Tool, machine: &Machine) -> bool {
        let here = identity(machine);
        self.tool.binary_sha256 == tool.binary_sha256 && (&self.processor, &self.kernel) == (&here.0, &here.1)
    }

    /// The number of truths with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.truths.iter().filter(|truth| truth.verdict == verdict).count()
    }

    /// The result: the verdict of its worst truth; skipped if none could be set.
    pub fn verdict(&self) -> Verdict {
        self.truths.iter().map(|truth| truth.verdict).max().unwrap_or(Verdict::Skipped)
    }
}

/// The properties that identify a machine, as far as a figure may depend on them.
fn identity(machine: &Machine) -> (Option<String>, Option<String>) {
    (machine.processor.model_name.value().cloned(), machine.kernel.release.value().cloned())
}
