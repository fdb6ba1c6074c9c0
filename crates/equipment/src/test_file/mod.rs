//! Test files: of random bytes, created once in a run, reused by its later trials, and removed with the run.
//!
//! A trial is a process of its own, so a file that several trials read must have a name. It is in the folder of the run, which
//! removes it at its end; after a kill the next run does (`sampling/own_folder.rs` and `sampling/owner.rs` of `fathom-core`).

mod aligned;
pub mod blocks;
mod content;
mod device;
pub mod residency;
mod disk_quota;

pub use aligned::Aligned;
pub use content::{Content, SECTOR};
pub(crate) use device::is_served_by_a_daemon;
pub use device::{direct, ensure_accounted, served, served_to};
pub use disk_quota::{DiskQuota, ensure_on_a_device};
use residency::pass_on;
pub use residency::{Dropped, drop_caches};
pub use residency::{
    Passing, cached, cached_in_pages, cached_within, evict, evict_after_reads, evict_until, forget,
    page_bytes, warm,
};

use fathom_core::experiment::{Failure, Requirement, Site};
pub use fathom_core::sampling::own_folder::{existing, new_file, refused};
use fathom_core::sampling::{own_folder, preparing};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A file of random bytes.
#[derive(Debug)]
pub struct TestFile {
    /// Open for reading and writing, through the page cache.
    pub file: File,
    pub path: PathBuf,
    pub bytes: u64,
    pub content: Content,
}

impl TestFile {
    /// The file that this run keeps under a name, created now if no trial has created it before. It is on the device when this
    /// returns: no dirty pages are left.
    pub fn named(site: &Site, what: &str, bytes: u64, quota: DiskQuota) -> Result<Self, Failure> {
        let path = shared_path(site, &format!("{what}-{bytes}"))?;
        let content = Content::of(&path);
        let file = match existing().open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                quota.check(site, bytes)?;
                let began = site.shared.now_ns();
                let file = create(site, &path, bytes, content)?;
                site.shared.spent_on_kept(site.shared.now_ns().saturating_sub(began));
                file
            }
            Err(error) => return Err(refused("opened", &path, &error)),
        };
        Ok(TestFile { file, path, bytes, content })
    }

    /// An unnamed file, which the kernel removes when this process ends in any way.
    pub fn nameless(site: &Site, bytes: u64, quota: DiskQuota) -> Result<Self, Failure> {
        quota.check(site, bytes)?;
        let path = shared_path(site, &format!("nameless-{}", std::process::id()))?;
        let content = Content::of(&path);
        let file = create(site, &path, bytes, content)?;
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
    if written % SAID_EVERY == 0 {
        let waits = if written == bytes { ", and waiting for the device to have it" } else { "" };
        preparing::say(&format!("writing a test file: {} of {} MiB{waits}", written >> 20, bytes >> 20));
    }
}

/// A file of more bytes is not left in the page cache when it is written: what does not fit there would drop the files of others
/// from it.
const IN_THE_CACHE: u64 = Requirement::CACHED_BYTES;
/// Bytes of such a file that are written before they are passed on to the device.
const BEHIND: u64 = 64 << 20;

/// How much of a file is on the device when the time of the whole is estimated, bytes, and how much longer than allowed that
/// estimate may be: the wait for the device weighs most in a short piece.
const ESTIMATES: [(u64, f64); 4] = [(1 << 20, 4.0), (4 << 20, 2.0), (16 << 20, 1.0), (64 << 20, 1.0)];

/// The time that a file will take, seconds, if it is longer than allowed.
fn too_long(
    site: &Site,
    began_ns: u64,
    file: &File,
    (written, bytes): (u64, u64),
) -> io::Result<Option<f64>> {
    let Some((_, lenience)) = ESTIMATES.iter().find(|(at, _)| *at == written && written < bytes) else {
        return Ok(None);
    };
    file.sync_data()?;
    let took = site.shared.now_ns().saturating_sub(began_ns) as f64 / 1e9;
    let whole = took * bytes as f64 / written as f64;
    Ok((whole > lenience * site.shared.making_s()).then_some(whole))
}

/// Writes a whole file before it gets its name: a trial that is killed meanwhile leaves no partial file for later trials. A file
/// for which the plan has no time is not written to its end.
fn create(site: &Site, path: &Path, bytes: u64, content: Content) -> Result<File, Failure> {
    let unfinished = path.with_extension("unfinished");
    // The partial file of a killed trial.
    let _ = std::fs::remove_file(&unfinished);
    let file = new_file(&unfinished).map_err(|error| refused("made", &unfinished, &error))?;
    let (began, mut whole) = (site.shared.now_ns(), None);
    let filled = content.fill(&file, bytes, |written| {
        say(written, bytes);
        whole = too_long(site, began, &file, (written, bytes))?;
        match whole {
            Some(_) => Err(io::ErrorKind::TimedOut.into()),
            None if bytes > IN_THE_CACHE && written % BEHIND == 0 => pass_on(&file),
            None => Ok(()),
        }
    });
    let finished = filled.and_then(|()| file.sync_all()).and_then(|()| std::fs::rename(&unfinished, path));
    finished.map(|()| file).map_err(|error| {
        // The written bytes are freed: the most likely cause is a full disk.
        let _ = std::fs::remove_file(&unfinished);
        whole.map_or_else(
            || refused(&format!("filled with {} MiB", bytes >> 20), path, &error),
            Failure::TooLong,
        )
    })
}
