//! The record of a replication: one file of JSON Lines, appended as it runs: a header, one line per method, a closing line.
//! Fathom's own figures are in a run file in the same folder.

use super::Series;
use anyhow::Context;
use fathom_engine::record::lines::{self, Recorded};
use fathom_engine::record::{ReadError, Run, Tool, TrialOutcome, regular};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};

/// The version of these files; in the first one, the sample of a method was called its series.
pub const SCHEMA_VERSION: u32 = 2;

/// The largest header, bytes. A replication's header is far shorter; that of a run may be longer.
const LONGEST_HEADER: u64 = 1 << 16;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    Replication(Header),
    Method(MethodLine),
    Closing(ReplicationEnd),
}

/// The replication ended normally.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplicationEnd {
    /// Seconds that the methods took.
    pub took_s: f64,
}

/// The settings that are known before the first method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version; see [`SCHEMA_VERSION`].
    pub schema: u32,
    pub tool: Tool,
    pub report: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// Whether counts were reduced (`--quick`).
    pub quick: bool,
    /// Whether every setting of the report was measured (`--thorough`); absent in files of earlier programs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thorough: bool,
    /// The methods that were asked for; all of the report's where none was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The run file with Fathom's own figures: its name, in the same folder.
    pub run: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodLine {
    pub method: String,
    pub took_s: f64,
    /// Its results, or why it has none.
    pub outcome: TrialOutcome<Series>,
}

/// A replication, read from a file or just finished.
#[derive(Debug, Clone, PartialEq)]
pub struct Replication {
    pub header: Header,
    /// The outcomes of the methods, in the order in which they were measured.
    pub methods: Vec<MethodLine>,
}

impl Replication {
    /// The outcome of a method; `None` where it was not reached.
    pub fn of(&self, method: &str) -> Option<&MethodLine> {
        self.methods.iter().find(|line| line.method == method)
    }

    /// Whether a method is one of those that were asked for.
    pub fn has_asked_for(&self, method: &str) -> bool {
        self.header.only.is_empty() || self.header.only.iter().any(|name| name == method)
    }

    /// Reads the run with Fathom's own figures: a file of a plain name in the folder of the replication's, no link and nothing
    /// else, because the replication's file may come from anybody. Its path, too.
    pub fn run(&self, at: &Path) -> anyhow::Result<(PathBuf, Run)> {
        let mut parts = Path::new(&self.header.run).components();
        let is_plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        if !is_plain || self.header.run.contains('/') {
            anyhow::bail!(
                "the replication names `{}` as its run, which is no name of a file beside it: it was edited",
                self.header.run
            );
        }
        let path = at.with_file_name(&self.header.run);
        let text = regular::open_unlinked(&path).and_then(regular::text);
        let text = text.map_err(|cause| ReadError::Unreadable { path: path.clone(), cause });
        let run = text.and_then(|text| Run::parse(&text));
        let run = run.with_context(|| format!("the run of the replication, {}", path.display()))?;
        Ok((path, run))
    }

    /// Whether the file at a path begins as a replication does.
    pub fn is_at(path: &Path) -> bool {
        let mut first = String::new();
        let read = regular::open(path)
            .and_then(regular::content)
            .and_then(|file| BufReader::new(file.take(LONGEST_HEADER)).read_line(&mut first));
        let line: Option<serde_json::Value> = read.ok().and_then(|_| serde_json::from_str(&first).ok());
        line.is_some_and(|line| line.get("line").and_then(serde_json::Value::as_str) == Some("replication"))
    }

    /// Reads the text of such a file. A last line without its line feed was not written completely, and is left out.
    pub fn parse(text: &str) -> Result<Self, ReadError> {
        lines::parse(text)
    }

    pub fn read(path: &Path) -> Result<Self, ReadError> {
        lines::parse(&lines::text(path)?)
    }
}

impl Recorded for Replication {
    type Line = Line;

    const FILE: &'static str = "file of the replication";
    const SCHEMA_VERSION: u32 = SCHEMA_VERSION;

    fn line(kind: &str, text: &str) -> serde_json::Result<Line> {
        Ok(match kind {
            "replication" => Line::Replication(serde_json::from_str(text)?),
            "method" => Line::Method(serde_json::from_str(text)?),
            "closing" => Line::Closing(serde_json::from_str(text)?),
            other => return Err(lines::unknown(other)),
        })
    }

    fn begun(first: Line) -> Option<Self> {
        if let Line::Replication(header) = first {
            Some(Replication { header, methods: vec![] })
        } else {
            None
        }
    }

    fn add(&mut self, line: Line) -> bool {
        if let Line::Method(line) = line {
            self.methods.push(line);
            return true;
        }
        matches!(line, Line::Closing(_))
    }
}
