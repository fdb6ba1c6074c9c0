//! The results of a method: trial values at one or several settings.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The trial values at each setting, in the order in which they were visited.
    pub points: Vec<Trials>,
    /// Sentences on what else was observed: counters that show what happened, counts that were reduced.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "seen")]
    pub notes: Vec<String>,
}

/// The trial values at one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trials {
    /// The variant where one method serves several rows: "read", "write", "sequential"; empty where it serves one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// The value of the swept parameter, in base units: bytes, arguments, processes; 0 where there is none.
    pub at: f64,
    /// The value of each trial, in the row's unit.
    pub values: Vec<f64>,
}

impl Series {
    /// The trials of a method without a swept parameter.
    pub fn of(values: Vec<f64>) -> Self {
        Series::default().and("", 0.0, values)
    }

    /// Adds the trials of one more setting.
    #[must_use]
    pub fn and(mut self, variant: &str, at: f64, values: Vec<f64>) -> Self {
        self.points.push(Trials { variant: variant.to_owned(), at, values });
        self
    }

    /// Adds a sentence on what was observed.
    #[must_use]
    pub fn with_note(mut self, sentence: String) -> Self {
        self.notes.push(sentence);
        self
    }

    /// Adds sentences on what was observed, or the one that there may be.
    #[must_use]
    pub fn with_notes(mut self, sentences: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(sentences);
        self
    }

    pub fn variant<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Trials> + Clone {
        self.points.iter().filter(move |trials| trials.variant == name)
    }
}
