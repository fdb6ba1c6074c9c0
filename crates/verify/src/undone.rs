//! What a rig has set and could not undo: no further rig is measured under it.

use anyhow::{Result, bail};
use std::sync::Mutex;

/// The first arrangement that could not be undone.
static LEFT: Mutex<Option<String>> = Mutex::new(None);

/// Notes that an arrangement is still there; of several the first counts.
pub fn failed(what: String) {
    LEFT.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(what);
}

/// Fails if an arrangement is still there: everything that follows would be measured under it, or leave it behind unsaid.
pub fn ensure() -> Result<()> {
    match &*LEFT.lock().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(what) => bail!("a rig could not be undone, so the verification ends: {what}"),
        None => Ok(()),
    }
}
