//! A folder of the run whose directories lie apart on the device.

use fathom_core::prelude::*;
use fathom_equipment::test_file::shared_path;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The folder of all directories of a run.
pub fn directories(site: &Site) -> Result<PathBuf, Failure> {
    let path = shared_path(site, "directories")?;
    if !path.exists() {
        // Another trial may have made it meanwhile; whether it is there the next call tells.
        drop(std::fs::create_dir(&path));
        set_apart(&path);
    }
    Ok(path)
}

/// `FS_TOPDIR_FL` (`linux/fs.h`): directories in this one have nothing to do with each other, and are spread over the device.
const TOP: libc::c_int = 0x0002_0000;

/// Lets the file system spread the directories below over the device (chattr(1), `T`), so that none lies where another has just been
/// removed: ext4 without a journal passes over every inode freed within the last minutes, so that a create is 30 times as long
/// after ten thousand removals. File systems that have no such places refuse.
fn set_apart(path: &Path) {
    let Ok(folder) = std::fs::File::open(path) else { return };
    let (file, mut flags) = (folder.as_raw_fd(), 0 as libc::c_int);
    // SAFETY: both calls take a pointer to an int, whatever their names encode, alive during the call (ioctl_iflags(2)).
    unsafe {
        if libc::ioctl(file, libc::FS_IOC_GETFLAGS, &raw mut flags) == 0 {
            flags |= TOP;
            libc::ioctl(file, libc::FS_IOC_SETFLAGS, &raw const flags);
        }
    }
}
