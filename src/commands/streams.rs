//! Standard input and output.

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use std::io::Write;

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
