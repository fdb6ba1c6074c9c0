//! Standard input and output.

use super::page;
use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes a text and ends its line.
pub(super) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

/// What a process that measures is asked on its standard input.
pub(super) fn request<R: DeserializeOwned>(command: &str, by: &str) -> Result<R> {
    let mut text = String::new();
    std::io::stdin().read_line(&mut text)?;
    serde_json::from_str(&text).with_context(|| {
        format!("`fathom {command}` is what `fathom {by}` starts; it wants a request on standard input")
    })
}

/// Prints a report, or writes it to a file that is none of those it was made from.
pub(super) fn written(text: &str, output: Option<&Path>, sources: &[PathBuf]) -> Result<()> {
    match output {
        None => print(text),
        Some(output) if sources.iter().any(|source| page::is_same_file(output, source)) => {
            bail!("the report would overwrite the run file")
        }
        Some(output) => {
            std::fs::write(output, text).with_context(|| format!("cannot write {}", output.display()))
        }
    }
}
