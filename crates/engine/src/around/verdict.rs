//! The verdict on a dimension, and on the host.

use fathom_core::quantities;
use fathom_core::quantity::Unit;
use serde::{Deserialize, Serialize};

/// Whether a dimension held still.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// No change beyond the margin: the whole interval of the change lies within it.
    HeldStill {
        /// The largest change that the interval allows, a share of one; of a share of time, in points.
        within: f64,
    },
    /// It changed by certainly more than half of the margin, and the change is not shown to be within the whole of it.
    Moved {
        /// The change, a share of one: 0.2 for 20 % more; of a share of time, in points.
        by: f64,
        /// The lower end of the change: of anchors that of its 95 % interval; of what was watched meanwhile the change from the
        /// second before with the highest rate; absent where one reading was compared.
        low: Option<f64>,
        /// Its upper end.
        high: Option<f64>,
    },
    /// Neither is shown.
    CannotSay {
        /// The reason, in words.
        reason: String,
    },
}

/// How a change is expressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeScale {
    /// As a share of the first value.
    Ratio,
    /// As the difference of two shares.
    Points,
}

impl ChangeScale {
    /// The size of a change, in either direction, as text.
    pub fn amount(self, change: f64) -> String {
        match self {
            ChangeScale::Ratio => quantities::percent(change),
            ChangeScale::Points => format!("{} points", quantities::number(change * 100.0)),
        }
    }
}

/// What a dimension was known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Trials before and after the work, and in its pauses.
    Anchors,
    /// Counters of the kernel and a sleeping thread while the work went on, compared with before.
    Meanwhile,
}

/// The value of a dimension at one time, in its unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DimensionReading {
    /// The value.
    pub value: f64,
    /// The lower end of its 95 % interval; absent where there is none.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// A dimension of the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostDimension {
    /// Its name.
    pub name: String,
    /// What it was known from.
    pub source: Source,
    /// How its change is expressed.
    pub scale: ChangeScale,
    /// The unit of its readings; absent for shares and for quantities without one, which are hertz or bytes by name.
    pub unit: Option<Unit>,
    /// Its readings: of anchors one for each phase; meanwhile one before and one during the work. Absent where there was none.
    pub readings: Vec<Option<DimensionReading>>,
    /// The change up to which it held still.
    pub margin: f64,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The dimension that moved as well and can have moved this one; absent where none can, or this one did not move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
}

/// The verdict on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whole {
    /// Every dimension held still.
    HeldStill,
    /// None moved, and of some it cannot be said.
    CannotSay,
    /// Some dimension moved.
    Moved,
}

impl Whole {
    /// The verdict on all dimensions together.
    pub fn of(dimensions: &[HostDimension]) -> Self {
        let each = dimensions.iter().map(|dimension| match dimension.verdict {
            Verdict::HeldStill { .. } => Whole::HeldStill,
            Verdict::CannotSay { .. } => Whole::CannotSay,
            Verdict::Moved { .. } => Whole::Moved,
        });
        each.max().unwrap_or(Whole::CannotSay)
    }
}

impl HostDimension {
    /// Whether it moved.
    pub fn moved(&self) -> bool {
        matches!(self.verdict, Verdict::Moved { .. })
    }
}
