//! Reading a run file back, also one that a kill has torn.

use super::migration;
use super::{Closing, Header, Line, PredictionLine, Resumed, SCHEMA_VERSION, Settled, Trial};
use crate::sampling::Sample;
use std::path::{Path, PathBuf};

/// A run file, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Everything known before the first trial.
    pub header: Header,
    /// What was expected, in the order in which it was said.
    pub predictions: Vec<PredictionLine>,
    /// Every finished trial, in the order in which they were visited.
    pub trials: Vec<Trial>,
    /// Which points get their trials, as settled last; absent before the end of the pilot round.
    pub settled: Option<Settled>,
    /// When the run was taken up again.
    pub resumed: Vec<Resumed>,
    /// The last orderly end; absent after a crash.
    pub closing: Option<Closing>,
    /// Bytes up to and including the last whole line.
    pub whole_bytes: u64,
    /// Whether a torn line stood behind them.
    pub torn: bool,
}

/// Why a file is not a run file that can be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be opened or is not text.
    #[error("cannot read {path}: {cause}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// Nothing is in it.
    #[error("the run file is empty: a run was started and ended before its first line")]
    Empty,
    /// A newer program wrote it.
    #[error("the run file has schema {found}; this program reads up to {SCHEMA_VERSION}: use a newer fathom")]
    Newer {
        /// The file's version.
        found: u64,
    },
    /// A line is not what it should be.
    #[error("line {number} of the run file is damaged ({cause}); it was edited or the disk failed")]
    Damaged {
        /// The line's number, from 1.
        number: usize,
        /// What is wrong.
        cause: String,
    },
}

impl Run {
    /// A run of which nothing but its header is known.
    pub fn begun(header: Header) -> Self {
        Run {
            header,
            predictions: vec![],
            trials: vec![],
            settled: None,
            resumed: vec![],
            closing: None,
            whole_bytes: 0,
            torn: false,
        }
    }

    /// Reads a run file.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| ReadError::Unreadable { path: path.to_owned(), cause })?;
        Run::parse(&text)
    }

    /// Reads the text of a run file. A last line without its line feed is torn, and left out.
    pub fn parse(text: &str) -> Result<Self, ReadError> {
        let whole_bytes = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole_bytes].lines().enumerate();
        let (_, first) = lines.next().ok_or(ReadError::Empty)?;
        let mut run = Run::begun(header(first)?);
        run.whole_bytes = whole_bytes as u64;
        run.torn = whole_bytes < text.len();
        for (index, line) in lines {
            run.add(parse(line, index + 1, run.header.schema)?, index + 1)?;
        }
        Ok(run)
    }

    /// What every successful trial has found.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.trials.iter().filter_map(Trial::sample)
    }

    fn add(&mut self, line: Line, number: usize) -> Result<(), ReadError> {
        match line {
            Line::Header(_) => {
                return Err(ReadError::Damaged { number, cause: "a second header".to_owned() });
            }
            Line::Prediction(prediction) => self.predictions.push(prediction),
            Line::Trial(trial) => self.trials.push(*trial),
            Line::Settled(settled) => self.settled = Some(settled),
            Line::Resumed(resumed) => {
                self.resumed.push(resumed);
                self.closing = None;
            }
            Line::Closing(closing) => self.closing = Some(closing),
        }
        Ok(())
    }
}

/// The header, after its schema version was looked at by itself: a newer header need not parse.
fn header(line: &str) -> Result<Header, ReadError> {
    let raw: serde_json::Value = serde_json::from_str(line)
        .map_err(|cause| ReadError::Damaged { number: 1, cause: cause.to_string() })?;
    let found = raw.get("schema").and_then(serde_json::Value::as_u64).unwrap_or(1);
    if found > u64::from(SCHEMA_VERSION) {
        return Err(ReadError::Newer { found });
    }
    match parse(line, 1, found as u32)? {
        Line::Header(header) => Ok(*header),
        _ => Err(ReadError::Damaged { number: 1, cause: "it is not a header".to_owned() }),
    }
}

/// A line of a file of some schema, as it would be in one of the newest.
fn parse(line: &str, number: usize, schema: u32) -> Result<Line, ReadError> {
    let mut line = serde_json::from_str(line)
        .map_err(|cause| ReadError::Damaged { number, cause: cause.to_string() })?;
    if schema < 2 {
        migration::from_schema_1(&mut line);
    }
    Ok(line)
}
