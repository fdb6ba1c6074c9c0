//! The machines that figures are published of.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a machine is to its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The one that is measured.
    Measured,
    /// The other end of a network.
    Remote,
    /// One that the source quotes figures of.
    Cited,
}

/// Something that a source says of a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fact {
    /// Yes or no.
    Truth(bool),
    /// A number; its key names the unit (`_bytes`, `_hz`, `_ns`, `_bytes_per_s`, `_bits_per_s`) unless it is a count.
    Number(f64),
    /// A name or a description.
    Text(String),
}

/// A machine that figures are published of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Machine {
    /// Its name for ever.
    pub id: String,
    /// What it is to its source.
    pub role: Role,
    /// The sources that print figures of it: numbers of reports, or `lmbench`.
    pub sources: Vec<String>,
    /// The machine whose other end it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_of: Option<String>,
    /// What is doubtful or missing in what the source says of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What the sources say of it.
    #[serde(flatten)]
    pub facts: BTreeMap<String, Fact>,
}

impl Machine {
    /// A fact that is a text.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.facts.get(key)? {
            Fact::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A fact that is a number, in the unit that its key names.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.facts.get(key)? {
            Fact::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// What it is in a few words: processor and operating system.
    pub fn title(&self) -> String {
        let known = [self.text("cpu").or(self.text("model")), self.text("os")];
        let said: Vec<&str> = known.into_iter().flatten().collect();
        if said.is_empty() { self.id.clone() } else { said.join(", ") }
    }
}
