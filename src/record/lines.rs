//! Reading a file of JSON Lines back, also one that a kill has torn: a header, then lines appended as something went on.

use rayon::prelude::*;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// What such a file tells.
pub trait Recorded: Sized {
    /// One line of it.
    type Line: DeserializeOwned + Send;

    /// What the file is called where it is refused.
    const FILE: &'static str;

    /// The newest schema that this program reads.
    const SCHEMA_VERSION: u32;

    /// What the first line tells; `None` where it is no header.
    fn begun(first: Self::Line) -> Option<Self>;

    /// Turns a line of a file of an earlier schema into what it would be in one of the newest.
    fn migrate(_: &mut Self::Line, _: u32) {}

    /// Adds what a later line tells; false where it is a header.
    fn add(&mut self, line: Self::Line) -> bool;
}

/// Why a file is not one that can be read.
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
    /// Nothing is in it, whatever it is called.
    #[error("the {0} is empty: writing it ended before its first line")]
    Empty(&'static str),
    /// It is of something else.
    #[error("it is not a {0} of fathom: its first line is not a header")]
    Foreign(&'static str),
    /// What is wrong with a file of this name.
    #[error("{path}: {cause}")]
    In {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: Box<ReadError>,
    },
    /// A newer program wrote it.
    #[error("the {file} has schema {found}; this program reads up to {known}: use a newer fathom")]
    Newer {
        /// What the file is called.
        file: &'static str,
        /// The file's version.
        found: u64,
        /// The newest version that this program reads.
        known: u32,
    },
    /// A line is not what it should be.
    #[error("line {number} of the {file} is damaged ({cause}); it was edited or the disk failed")]
    Damaged {
        /// What the file is called.
        file: &'static str,
        /// The line's number, from 1.
        number: usize,
        /// What is wrong.
        cause: String,
    },
}

impl ReadError {
    /// The same with the file's name, where it does not tell that already.
    pub(super) fn in_file(self, path: &Path) -> Self {
        match self {
            ReadError::Unreadable { .. } | ReadError::In { .. } => self,
            cause => ReadError::In { path: path.to_owned(), cause: Box::new(cause) },
        }
    }
}

/// The text of a file.
pub fn text(path: &Path) -> Result<String, ReadError> {
    std::fs::read_to_string(path).map_err(|cause| ReadError::Unreadable { path: path.to_owned(), cause })
}

/// The whole lines of a text. A last line without its line feed is torn, and left out.
pub fn whole(text: &str) -> &str {
    text.rfind('\n').map_or("", |end| &text[..=end])
}

/// What the whole lines of a text tell.
pub fn parse<F: Recorded>(text: &str) -> Result<F, ReadError> {
    let lines: Vec<&str> = whole(text).lines().collect();
    let (first, later) = lines.split_first().ok_or(ReadError::Empty(F::FILE))?;
    let schema = schema::<F>(first)?;
    let header = decode::<F>(0, first, schema)?;
    let mut found = F::begun(header).ok_or_else(|| damaged::<F>(0, "it is not a header"))?;
    let decoded = later.par_iter().enumerate().map(|(index, text)| decode::<F>(index + 1, text, schema));
    for (index, line) in (1..).zip(decoded.collect::<Vec<_>>()) {
        if !found.add(line?) {
            return Err(damaged::<F>(index, "a second header"));
        }
    }
    Ok(found)
}

/// What one line tells, in the words of the newest schema.
fn decode<F: Recorded>(index: usize, text: &str, schema: u32) -> Result<F::Line, ReadError> {
    let mut line = json::<F, F::Line>(index, text)?;
    F::migrate(&mut line, schema);
    Ok(line)
}

/// The schema version of a header, looked at by itself: a newer header need not parse.
fn schema<F: Recorded>(header: &str) -> Result<u32, ReadError> {
    let raw: serde_json::Value = serde_json::from_str(header).map_err(|_| ReadError::Foreign(F::FILE))?;
    let found = raw.get("schema").and_then(serde_json::Value::as_u64).unwrap_or(1);
    if found > u64::from(F::SCHEMA_VERSION) {
        return Err(ReadError::Newer { file: F::FILE, found, known: F::SCHEMA_VERSION });
    }
    Ok(found as u32)
}

fn json<F: Recorded, L: DeserializeOwned>(index: usize, text: &str) -> Result<L, ReadError> {
    serde_json::from_str(text).map_err(|cause| damaged::<F>(index, &cause.to_string()))
}

fn damaged<F: Recorded>(index: usize, cause: &str) -> ReadError {
    ReadError::Damaged { file: F::FILE, number: index + 1, cause: cause.to_owned() }
}
