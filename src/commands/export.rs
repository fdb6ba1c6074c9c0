//! A run in the formats of other tools.

use super::streams::written;
use crate::cli;
use crate::export;
use crate::record::{Run, store};
use crate::results::Results;
use anyhow::{Result, anyhow};

/// Prints a run in a format, or writes it to a file.
pub(super) fn export(asked: &cli::Export) -> Result<()> {
    let latest = || {
        let folder = store::folder();
        store::latest(&folder)
            .ok_or_else(|| anyhow!("there is no run in {} yet: `fathom run` makes one", folder.display()))
    };
    let path = asked.run.clone().map_or_else(latest, Ok)?;
    let run = Run::read(&path)?;
    let text = export::render_run(&Results::of(&run), asked.format);
    written(&text, asked.output.as_deref(), &[path])
}
