//! What a replication has found: one file, JSON Lines, appended as it goes: a header, one line a method, a closing line.
//! Fathom's own figures stand in a run file beside it.

use super::Series;
use crate::record::Tool;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The version of these files.
pub const SCHEMA_VERSION: u32 = 1;

/// A replication's header is far shorter, bytes; that of a run may be longer.
const LONGEST_HEADER: u64 = 1 << 16;

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// The first line.
    Replication(Header),
    /// What became of a method.
    Method(MethodLine),
    /// It ended in an orderly way.
    Closing {
        /// Seconds that the methods took.
        took_s: f64,
    },
}

/// What is known before the first method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version; see [`SCHEMA_VERSION`].
    pub schema: u32,
    /// The program.
    pub tool: Tool,
    /// The report's number.
    pub report: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// Whether counts were reduced.
    pub quick: bool,
    /// The run file with Fathom's own figures: its name, in the same folder.
    pub run: String,
}

/// What became of a method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodLine {
    /// Its name.
    pub method: String,
    /// Seconds it took.
    pub took_s: f64,
    /// What it has found, or why not.
    pub outcome: Outcome,
}

/// What a method has found, or why not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It was measured.
    Measured {
        /// The trial values.
        series: Series,
    },
    /// This machine or user cannot do it.
    Skipped {
        /// What is missing.
        reason: String,
    },
    /// It was attempted and broke.
    Failed {
        /// How.
        reason: String,
    },
    /// It did not end in time.
    TimedOut {
        /// The limit, seconds.
        after_s: f64,
    },
}

/// A replication, read or finished.
#[derive(Debug, Clone, PartialEq)]
pub struct Replication {
    /// The first line.
    pub header: Header,
    /// What became of the methods, in the order in which they were measured.
    pub methods: Vec<MethodLine>,
}

impl Replication {
    /// What became of a method; `None` where it was not reached.
    pub fn of(&self, method: &str) -> Option<&MethodLine> {
        self.methods.iter().find(|line| line.method == method)
    }

    /// Whether the file at a path begins as a replication does.
    pub fn is_at(path: &Path) -> bool {
        let mut first = String::new();
        let read =
            File::open(path).and_then(|file| BufReader::new(file.take(LONGEST_HEADER)).read_line(&mut first));
        let line: Option<serde_json::Value> = read.ok().and_then(|_| serde_json::from_str(&first).ok());
        line.is_some_and(|line| line.get("line").and_then(serde_json::Value::as_str) == Some("replication"))
    }

    /// Reads the text of such a file; a last line without its line feed is torn, and left out.
    pub fn parse(text: &str) -> Result<Self, String> {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = whole.lines().enumerate();
        let (_, first) = lines.next().ok_or("the file of the replication is empty")?;
        let mut replication = Replication { header: header(first)?, methods: vec![] };
        for (index, text) in lines {
            match serde_json::from_str(text) {
                Ok(Line::Method(line)) => replication.methods.push(line),
                Ok(Line::Closing { .. }) => {}
                Ok(Line::Replication(_)) => return Err(damaged(index, "a second header")),
                Err(error) => return Err(damaged(index, &error.to_string())),
            }
        }
        Ok(replication)
    }

    /// Reads such a file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Replication::parse(&text)
    }
}

fn header(line: &str) -> Result<Header, String> {
    let raw: serde_json::Value =
        serde_json::from_str(line).map_err(|error| damaged(0, &error.to_string()))?;
    let schema = raw.get("schema").and_then(serde_json::Value::as_u64);
    if let Some(newer) = schema.filter(|schema| *schema > u64::from(SCHEMA_VERSION)) {
        return Err(format!(
            "the replication has schema {newer}; this program reads up to {SCHEMA_VERSION}: use a newer fathom"
        ));
    }
    match serde_json::from_value(raw) {
        Ok(Line::Replication(header)) => Ok(header),
        Ok(_) => Err(damaged(0, "it is not a header")),
        Err(error) => Err(damaged(0, &error.to_string())),
    }
}

fn damaged(index: usize, cause: &str) -> String {
    format!("line {} of the replication is damaged ({cause}); it was edited or the disk failed", index + 1)
}
