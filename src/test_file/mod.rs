//! Test files: of random bytes, created once in a run, reused by its later trials, and removed with the run.
//!
//! A trial is a process of its own, so a file that several trials read must have a name. It is in the folder of the run, which
//! removes it at its end; after a kill the next run does (`sampling/own_folder.rs`, `sampling/owner.rs`).

mod aligned;
pub mod blocks;
mod content;
mod device;
pub mod residency;
mod room;

pub use aligned::Aligned;
pub use content::{Content, SECTOR};
pub use device::{direct, ensure_accounted, served, served_to};
pub use residency::{Passing, cached, cached_within, evict, forget, page_bytes, warm};
pub use room::Room;

use crate::experiment::{Failure, Site};
pub use crate::sampling::own_folder::{existing, new_file, refused};
use crate::sampling::{own_folder, preparing};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A file of random bytes.
#[derive(Debug)]
pub struct TestFile {
    /// Open for reading and writing, through the page cache.
    pub file: File,
    /// Its path.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// The content of its blocks.
    pub content: Content,
}

impl TestFile {
    /// The file that this run keeps under a name, created now if no trial has created it before. It is on the device when this
    /// returns: no dirty pages are left.
    pub fn kept(site: &Site, what: &str, bytes: u64, room: Room) -> Result<Self, Failure> {
        let path = shared_path(site, &format!("{what}-{bytes}"))?;
        let content = Content::of(&path);
        let file = match existing().open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                room.check(site, bytes)?;
                made(&path, bytes, content)?
            }
            Err(error) => return Err(refused("opened", &path, &error)),
        };
        Ok(TestFile { file, path, bytes, content })
    }

    /// An unnamed file, which the kernel removes when this process ends in any way.
    pub fn nameless(site: &Site, bytes: u64, room: Room) -> Result<Self, Failure> {
        room.check(site, bytes)?;
        let path = shared_path(site, &format!("nameless-{}", std::process::id()))?;
        let content = Content::of(&path);
        let file = made(&path, bytes, content)?;
        std::fs::remove_file(&path).map_err(|error| refused("unlinked", &path, &error))?;
        Ok(TestFile { file, path, bytes, content })
    }
}

/// A path in the folder of the run, which is created if it does not exist.
pub fn shared_path(site: &Site, what: &str) -> Result<PathBuf, Failure> {
    own_folder::path(&site.own_folder, what)
}

/// Bytes between progress messages while a file is written: a fraction of a second on most disks.
const SAID_EVERY: u64 = 16 << 20;

fn say(written: u64, bytes: u64) {
    if written.is_multiple_of(SAID_EVERY) {
        let waits = if written == bytes { ", and waiting for the device to have it" } else { "" };
        preparing::say(&format!("writing a test file: {} of {} MiB{waits}", written >> 20, bytes >> 20));
    }
}

/// Writes a whole file before it gets its name: a trial that is killed meanwhile leaves no partial file for later trials.
fn made(path: &Path, bytes: u64, content: Content) -> Result<File, Failure> {
    let unfinished = path.with_extension("unfinished");
    // The partial file of a killed trial.
    let _ = std::fs::remove_file(&unfinished);
    let file = new_file(&unfinished).map_err(|error| refused("made", &unfinished, &error))?;
    let filled = content.fill(&file, bytes, |written| say(written, bytes)).and_then(|()| file.sync_all());
    let finished = filled.and_then(|()| std::fs::rename(&unfinished, path));
    finished.map(|()| file).map_err(|error| {
        // The written bytes are freed: the most likely cause is a full disk.
        let _ = std::fs::remove_file(&unfinished);
        refused(&format!("filled with {} MiB", bytes >> 20), path, &error)
    })
}
