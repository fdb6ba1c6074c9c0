//! Reading a file of JSON Lines, which may end in a torn line: a header, then lines appended during a run.

use super::regular;
use crate::parallel;
use serde::Deserialize;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The contents of such a file.
pub trait Recorded: Sized {
    /// One line of it.
    type Line: Send;

    /// The name of the kind of file in error messages.
    const FILE: &'static str;

    /// The newest schema that this program reads.
    const SCHEMA_VERSION: u32;

    /// Reads a line of a kind, which its text names in `line`.
    fn line(kind: &str, text: &str) -> serde_json::Result<Self::Line>;

    /// The contents after the first line; `None` if it is no header.
    fn begun(first: Self::Line) -> Option<Self>;

    /// Converts a line of an earlier schema to the newest one.
    fn migrate(_: &mut Self::Line, _: u32) {}

    /// Adds a later line; false if it is a header.
    fn add(&mut self, line: Self::Line) -> bool;
}

/// The reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be opened or is not text.
    #[error("cannot read {path}: {cause}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// It is empty.
    #[error("the {0} is empty: writing it ended before its first line")]
    Empty(&'static str),
    /// It is a file of another kind.
    #[error("it is not a {0} of fathom: its first line is not a header")]
    Foreign(&'static str),
    /// An error with the file's path.
    #[error("{path}: {cause}")]
    In {
        /// The file.
        path: PathBuf,
        /// The error.
        cause: Box<ReadError>,
    },
    /// A newer program wrote it.
    #[error("the {file} has schema {found}; this program reads up to {known}: use a newer fathom")]
    Newer {
        /// The kind of file.
        file: &'static str,
        /// The file's version.
        found: u64,
        /// The newest version that this program reads.
        known: u32,
    },
    /// A line is invalid.
    #[error("line {number} of the {file} is damaged ({cause}); it was edited or the disk failed")]
    Damaged {
        /// The kind of file.
        file: &'static str,
        /// The line's number, from 1.
        number: usize,
        /// The error.
        cause: String,
    },
}

impl ReadError {
    /// The error with the file's path, unless it has one already.
    pub(super) fn in_file(self, path: &Path) -> Self {
        match self {
            ReadError::Unreadable { .. } | ReadError::In { .. } => self,
            cause => ReadError::In { path: path.to_owned(), cause: Box::new(cause) },
        }
    }
}

/// The text of a file.
pub fn text(path: &Path) -> Result<String, ReadError> {
    regular::read(path).map_err(|cause| ReadError::Unreadable { path: path.to_owned(), cause })
}

/// The whole lines of a text. A last line without its line feed is torn, and left out.
pub fn whole(text: &str) -> &str {
    text.rfind('\n').map_or("", |end| &text[..=end])
}

/// Parses the whole lines of a text.
pub fn parse<F: Recorded>(text: &str) -> Result<F, ReadError> {
    let lines: Vec<&str> = whole(text).lines().collect();
    let (first, later) = lines.split_first().ok_or(ReadError::Empty(F::FILE))?;
    let schema = schema::<F>(first)?;
    let header = decode::<F>(0, first, schema)?;
    let mut file = F::begun(header).ok_or_else(|| damaged::<F>(0, "it is not a header"))?;
    let decoded = parallel::map(later, |index, text| decode::<F>(index + 1, text, schema));
    for (index, line) in (1..).zip(decoded) {
        if !file.add(line?) {
            return Err(damaged::<F>(index, "a second header"));
        }
    }
    Ok(file)
}

/// The kind of a line. It is read before the rest, because serde, which would read both at once, would keep a copy of
/// everything until it has met the kind.
#[derive(Deserialize)]
struct LineKind<'text> {
    #[serde(borrow)]
    line: Cow<'text, str>,
}

/// Reads one line, of whichever schema. Where it begins with its kind, as every line that this program writes, it is read once.
pub fn line<F: Recorded>(text: &str) -> serde_json::Result<F::Line> {
    let named = text.strip_prefix(r#"{"line":""#).and_then(|rest| rest.split_once('"'));
    if let Some(line) = named.and_then(|(kind, _)| F::line(kind, text).ok()) {
        return Ok(line);
    }
    F::line(&serde_json::from_str::<LineKind>(text)?.line, text)
}

/// Decodes one line, converted to the newest schema.
fn decode<F: Recorded>(index: usize, text: &str, schema: u32) -> Result<F::Line, ReadError> {
    let mut line = line::<F>(text).map_err(|cause| damaged::<F>(index, &cause.to_string()))?;
    F::migrate(&mut line, schema);
    Ok(line)
}

/// The schema version of a header, read separately, because a newer header may not parse.
fn schema<F: Recorded>(header: &str) -> Result<u32, ReadError> {
    let raw: serde_json::Value = serde_json::from_str(header).map_err(|_| ReadError::Foreign(F::FILE))?;
    let found = raw.get("schema").and_then(serde_json::Value::as_u64).unwrap_or(1);
    if found > u64::from(F::SCHEMA_VERSION) {
        return Err(ReadError::Newer { file: F::FILE, found, known: F::SCHEMA_VERSION });
    }
    Ok(found as u32)
}

/// The error of a line of an unknown kind.
pub fn unknown(kind: &str) -> serde_json::Error {
    serde::de::Error::custom(format_args!("unknown kind of line `{kind}`"))
}

fn damaged<F: Recorded>(index: usize, cause: &str) -> ReadError {
    ReadError::Damaged { file: F::FILE, number: index + 1, cause: cause.to_owned() }
}
