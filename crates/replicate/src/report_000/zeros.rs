//! The report's test file, as `dd if=/dev/zero` writes it.

use crate::Stage;
use fathom_core::experiment::Failure;
use fathom_equipment::test_file::{DiskQuota, new_file, refused, shared_path};
use std::fs::File;
use std::io::Write;

/// A file of so many zeros, a multiple of a MiB. It has no name any more, and the kernel removes it when this process ends.
pub fn file(stage: &Stage, bytes: u64) -> Result<File, Failure> {
    let path = shared_path(stage.site, &format!("zeros-{}", std::process::id()))?;
    DiskQuota::DEFAULT.check(stage.site, bytes)?;
    let mut file = new_file(&path).map_err(|error| refused("made", &path, &error))?;
    std::fs::remove_file(&path).map_err(|error| refused("unlinked", &path, &error))?;
    let piece = vec![0; 1 << 20];
    for _ in 0..bytes >> 20 {
        file.write_all(&piece).map_err(|error| refused("filled", &path, &error))?;
    }
    Ok(file)
}
