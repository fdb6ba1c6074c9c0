//! Writing a run file, or that of a replication: each line is written completely before the next trial begins.

use anyhow::{Context, Result};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// A run file being written.
pub struct Journal {
    /// `None` if the results are not kept.
    file: Option<File>,
}

impl Journal {
    /// A journal that records nothing.
    pub fn nowhere() -> Self {
        Journal { file: None }
    }

    /// Creates a new run file, before anything is measured, so that an unwritable folder is found first. An existing file is
    /// never overwritten.
    pub fn create(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| unwritable(folder))?;
        }
        let file =
            OpenOptions::new().write(true).create_new(true).open(path).with_context(|| unwritable(path))?;
        Ok(Journal { file: Some(file) })
    }

    /// Opens a run file to continue after `whole` bytes; a torn line after them is cut off.
    pub fn resume(path: &Path, whole: u64) -> Result<Self> {
        let mut file = OpenOptions::new().write(true).open(path).with_context(|| unwritable(path))?;
        file.set_len(whole).with_context(|| unwritable(path))?;
        file.seek(SeekFrom::End(0)).with_context(|| unwritable(path))?;
        Ok(Journal { file: Some(file) })
    }

    /// Appends one line in one write, so that a kill leaves it whole or torn but never mixed.
    pub fn append(&mut self, line: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_string(line).context("a line could not be put into JSON")?;
        text.push('\n');
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(text.as_bytes())).context(
            "the run file could not be written; it has the results so far. Free some disk space, and continue with \
             `fathom run --resume`, or start the replication again",
        )
    }

    /// Syncs the whole file to the device.
    pub fn sync(&self) -> Result<()> {
        self.file
            .as_ref()
            .map_or(Ok(()), File::sync_data)
            .context("the run file could not be flushed to its device")
    }
}

fn unwritable(path: &Path) -> String {
    format!("cannot write {}: choose another place with `--output FILE`", path.display())
}
