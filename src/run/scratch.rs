//! A file that the trials of a run share, without a name and without a trace: it lives as long as the run's process.

use crate::sampling::unnamed_file;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// An open file without a name, empty until a trial fills it.
#[derive(Debug)]
pub struct Scratch(File);

impl Scratch {
    /// Makes it in a folder; `None` where that takes no files, which whoever needs one will say.
    pub fn new(folder: &Path) -> Option<Self> {
        unnamed_file(folder).ok().map(Scratch)
    }

    /// The path under which another process of the same user opens it, for as long as this process lives.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_writes_the_other_reads_until_the_holder_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(folder.path()).unwrap();
        let path = scratch.path();
        std::fs::write(&path, "content").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "content");
        drop(scratch);
        assert!(std::fs::read_to_string(&path).is_err());
    }
}
