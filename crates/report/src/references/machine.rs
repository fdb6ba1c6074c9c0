//! The machines of published figures.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The role of a machine in its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Measured,
    /// The other end of a network.
    Remote,
    /// A machine whose figures the source quotes.
    Cited,
}

/// A fact about a machine according to a source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fact {
    Truth(bool),
    /// A number; its key names the unit (`_bytes`, `_hz`, `_ns`, `_bytes_per_s`, `_bits_per_s`) unless it is a count.
    Number(f64),
    /// A name or a description.
    Text(String),
}

/// A machine with published figures.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Machine {
    pub id: String,
    pub role: Role,
    /// The sources with its figures: numbers of reports, or `lmbench`.
    pub sources: Vec<String>,
    /// The machine whose other end it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_of: Option<String>,
    /// Doubtful or missing facts in the source's description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The facts according to the sources.
    #[serde(flatten)]
    pub facts: BTreeMap<String, Fact>,
}

impl Machine {
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.facts.get(key)? {
            Fact::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A numeric fact, in the unit that its key names.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.facts.get(key)? {
            Fact::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The machine in a few words: processor and operating system.
    pub fn title(&self) -> String {
        let known = [self.text("cpu").or(self.text("model")), self.text("os")];
        let words: Vec<&str> = known.into_iter().flatten().collect();
        if words.is_empty() { self.id.clone() } else { words.join(", ") }
    }
}
