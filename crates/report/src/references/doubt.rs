//! The reasons for doubting a published figure.

use serde::{Deserialize, Serialize};

/// The reason why a figure is doubted: a closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// The unit is wrong or missing.
    Unit,
    /// The source contradicts itself.
    Contradiction,
    /// A digit is misprinted.
    Typo,
    /// It is printed in the wrong place.
    CopyError,
    /// It was converted with a clock that the source had abandoned.
    StaleClock,
    /// It is impossible on any such machine.
    Implausible,
    NotMeasured,
    /// The mean, the deviation or the choice of trials is wrong or biased.
    Statistic,
    /// Its method measures something else.
    Method,
    /// Its name or caption is wrong.
    Label,
}

impl Doubt {
    pub const ALL: [Doubt; 10] = [
        Doubt::Unit,
        Doubt::Contradiction,
        Doubt::Typo,
        Doubt::CopyError,
        Doubt::StaleClock,
        Doubt::Implausible,
        Doubt::NotMeasured,
        Doubt::Statistic,
        Doubt::Method,
        Doubt::Label,
    ];

    /// The name in the data, in JSON and next to a figure.
    pub fn name(self) -> &'static str {
        match self {
            Doubt::Unit => "unit",
            Doubt::Contradiction => "contradiction",
            Doubt::Typo => "typo",
            Doubt::CopyError => "copy-error",
            Doubt::StaleClock => "stale-clock",
            Doubt::Implausible => "implausible",
            Doubt::NotMeasured => "not-measured",
            Doubt::Statistic => "statistic",
            Doubt::Method => "method",
            Doubt::Label => "label",
        }
    }

    pub fn sentence(self) -> &'static str {
        match self {
            Doubt::Unit => "The printed unit is wrong, or does not say what is meant.",
            Doubt::Contradiction => "Another figure or statement of the same source contradicts it.",
            Doubt::Typo => "A digit or a decimal point is misprinted.",
            Doubt::CopyError => "It was copied from another place, where it belongs to something else.",
            Doubt::StaleClock => "It was converted with an older clock rate than the source's other figures.",
            Doubt::Implausible => "It is impossible for a machine of this kind.",
            Doubt::NotMeasured => "It is printed as a result, but was quoted, guessed or inferred.",
            Doubt::Statistic => "The mean, the deviation or the choice of trials is wrong or biased.",
            Doubt::Method => "The method measures something other than the name says, or more than that.",
            Doubt::Label => "Its name or caption is wrong.",
        }
    }

    /// Whether the printed figure must not be used in calculations, because it is not one of this operation.
    pub(crate) fn excluded_from_ratios(self) -> bool {
        matches!(self, Doubt::Implausible | Doubt::NotMeasured)
    }
}
