//! A run file, read: its lines sorted by kind.

use super::lines::{self, ReadError, Recorded};
use super::migration;
use super::{Closing, Header, Line, Look, PredictionLine, Resumed, SCHEMA_VERSION, Settled, Trial};
use fathom_core::sampling::Sample;
use serde_json::from_str;
use std::path::Path;

/// A run file, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Everything known before the first trial.
    pub header: Header,
    /// The predictions, in their order.
    pub predictions: Vec<PredictionLine>,
    /// Every finished trial, in the order in which they were visited.
    pub trials: Vec<Trial>,
    /// The looks at the cores, in their order; none in files of earlier programs.
    pub looks: Vec<Look>,
    /// The last settlement; absent before the end of the pilot round.
    pub settled: Option<Settled>,
    /// The resumptions of the run.
    pub resumed: Vec<Resumed>,
    /// The last orderly end; absent after a crash.
    pub closing: Option<Closing>,
    /// Bytes up to and including the last whole line.
    pub whole_bytes: u64,
    /// Whether a torn line followed them.
    pub torn: bool,
}

impl Run {
    /// A run with only its header.
    pub fn begun(header: Header) -> Self {
        Run {
            header,
            predictions: vec![],
            trials: vec![],
            looks: vec![],
            settled: None,
            resumed: vec![],
            closing: None,
            whole_bytes: 0,
            torn: false,
        }
    }

    /// Reads a run file.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        Run::parse(&lines::text(path)?).map_err(|error| error.in_file(path))
    }

    /// Reads the text of a run file. A last line without its line feed is torn, and left out.
    pub fn parse(text: &str) -> Result<Self, ReadError> {
        let whole = lines::whole(text).len();
        let run = lines::parse::<Run>(text)?;
        Ok(Run { whole_bytes: whole as u64, torn: whole < text.len(), ..run })
    }

    /// The sample of every successful trial.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.trials.iter().filter_map(Trial::sample)
    }
}

impl Recorded for Run {
    type Line = Line;

    const FILE: &'static str = "run file";
    const SCHEMA_VERSION: u32 = SCHEMA_VERSION;

    fn line(kind: &str, text: &str) -> serde_json::Result<Line> {
        Ok(match kind {
            "header" => Line::Header(from_str(text)?),
            "prediction" => Line::Prediction(from_str(text)?),
            "trial" => Line::Trial(from_str(text)?),
            "look" => Line::Look(from_str(text)?),
            "settled" => Line::Settled(from_str(text)?),
            "resumed" => Line::Resumed(from_str(text)?),
            "closing" => Line::Closing(from_str(text)?),
            other => return Err(lines::unknown(other)),
        })
    }

    fn begun(first: Line) -> Option<Self> {
        if let Line::Header(header) = first { Some(Run::begun(*header)) } else { None }
    }

    fn migrate(line: &mut Line, schema: u32) {
        if schema < 2 {
            migration::from_schema_1(line);
        }
        if let Line::Prediction(prediction) = line {
            migration::name_events(prediction);
        }
    }

    fn add(&mut self, line: Line) -> bool {
        match line {
            Line::Header(_) => return false,
            Line::Prediction(prediction) => self.predictions.push(prediction),
            Line::Trial(trial) => self.trials.push(*trial),
            Line::Look(look) => self.looks.push(look),
            Line::Settled(settled) => self.settled = Some(settled),
            Line::Resumed(resumed) => {
                self.resumed.push(resumed);
                self.closing = None;
            }
            Line::Closing(closing) => self.closing = Some(closing),
        }
        true
    }
}
