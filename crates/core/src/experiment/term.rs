//! The terms of predictions, each with its source.

use super::Point;
use serde::{Deserialize, Serialize};

/// The column of the summary table to which a term belongs (R-PRE-10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The cost of the bare machine.
    Hardware,
    /// The cost that the operating system and the libraries add.
    Software,
}

/// The source of a term's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Source {
    /// A fact of this machine.
    Machine {
        /// The fact, in words.
        fact: String,
    },
    /// A published figure.
    Published {
        /// The publication.
        citation: String,
    },
    /// An assumed value, if no source has one: an order of magnitude, or counted from the work to be done.
    Assumed {
        /// The reason for the value.
        reason: String,
    },
    /// An earlier measurement of the same run.
    Measured {
        /// The experiment that measured it.
        experiment: String,
        /// Its point.
        point: Point,
    },
}

/// A value for predictions, with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    /// The value, in the unit of the prediction (nanoseconds for times).
    pub value: f64,
    /// Its source.
    pub source: Source,
}

impl Basis {
    /// A published figure.
    pub fn published(value: f64, citation: &str) -> Self {
        Basis { value, source: Source::Published { citation: citation.to_owned() } }
    }

    /// A value assumed for want of a source.
    pub fn assumed(value: f64, reason: &str) -> Self {
        Basis { value, source: Source::Assumed { reason: reason.to_owned() } }
    }

    /// A fact of this machine.
    pub fn fact(value: f64, fact: &str) -> Self {
        Basis { value, source: Source::Machine { fact: fact.to_owned() } }
    }
}

/// What happens in a term, if reports conclude something from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TermEvent {
    /// The guest is left for its hypervisor, and entered again.
    VmExit,
    /// A sleeping CPU is woken.
    WakeUp,
    /// The kernel is entered and left.
    KernelEntry,
}

/// One term of a prediction: `times` × `each`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Term {
    /// Hardware or software.
    pub part: Part,
    /// The meaning of the term.
    pub what: String,
    /// The factor with which it enters.
    pub times: f64,
    /// Its value each time, in the point's unit.
    pub each: f64,
    /// The source of the value.
    pub source: Source,
    /// What happens in it; absent if reports conclude nothing from it, and in files of earlier programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<TermEvent>,
    /// The published machine whose ratio of two figures is its factor; absent where no other machine's proportions are assumed, and
    /// in files of earlier programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaled_from: Option<String>,
    /// The least and the greatest of the published values of which `each` is the geometric mean; absent where it is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_range: Option<[f64; 2]>,
}

impl Term {
    /// The contribution of the term, in the point's unit.
    pub fn value(&self) -> f64 {
        self.times * self.each
    }

    /// Whether it assumes the proportions of a published machine. Earlier programs said so in words alone.
    pub fn is_scaled(&self) -> bool {
        self.scaled_from.is_some() || SCALED_IN_WORDS.iter().any(|words| self.what.contains(words))
    }
}

/// How programs of schema 2 and before named a term that is scaled from report 000's machine.
const SCALED_IN_WORDS: [&str; 2] = ["in null writes as in report 000", "where a null write takes"];
