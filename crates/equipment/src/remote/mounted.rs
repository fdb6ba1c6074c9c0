//! A file on a mount: read like any file, with the page cache of this machine between it and the server.

use super::client::{Client, EntryKind, Ticket};
use crate::test_file;
use fathom_core::experiment::Failure;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Maximum bytes per read; larger reads gain nothing.
const MOST: usize = 1 << 20;

/// An open file of a mount, or of a local file system.
#[derive(Default)]
pub struct Mounted {
    file: Option<File>,
    /// Names in the folder of the file that nobody has asked for yet, if a daemon serves the mount.
    fresh: Option<FreshNames>,
    requests: u64,
}

impl Mounted {
    /// Without an open file.
    pub fn new() -> Self {
        Mounted::default()
    }

    pub fn holding(file: File) -> Self {
        Mounted { file: Some(file), ..Mounted::default() }
    }

    fn file(&self) -> Result<&File, Failure> {
        self.file.as_ref().ok_or_else(|| Failure::Broke("no file is open".to_owned()))
    }
}

/// Names of no file, each asked for once: the kernel and a daemon (FUSE) cache what they know, but what was never asked for must be
/// looked up by the daemon, and by it on its server.
struct FreshNames {
    folder: PathBuf,
    begins: String,
    number: u64,
}

impl FreshNames {
    fn beside(path: &Path) -> Self {
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        FreshNames { folder, begins: format!(".fathom-{}-{}", std::process::id(), now.as_nanos()), number: 0 }
    }

    /// Asks for the next name, which must not be there.
    fn look_up(&mut self) -> Result<(), Failure> {
        self.number += 1;
        let path = self.folder.join(format!("{}-{}", self.begins, self.number));
        match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => {
                Err(Failure::Unsupported(format!("a name is looked up in the folder of the file: {error}")))
            }
            Ok(_) => Err(Failure::Broke("a file has a name that was drawn for no file".to_owned())),
        }
    }
}

fn named(path: &str) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::Broke(format!("{path}: {error}"))
}

/// statx(2) with `AT_STATX_FORCE_SYNC`: attributes cached by this machine are not used.
fn attributes_from_the_server(file: RawFd) -> std::io::Result<()> {
    /// The size of `struct statx`, which does not change (linux/stat.h).
    const BYTES: usize = 256;
    const AT_STATX_FORCE_SYNC: libc::c_int = 0x2000;
    const STATX_BASIC_STATS: libc::c_uint = 0x7ff;
    let mut answer = [0_u64; BYTES / 8];
    // SAFETY: the path is an empty text that ends with zero, and the answer has room for a struct statx, aligned as one.
    let done = unsafe {
        libc::syscall(
            libc::SYS_statx,
            file,
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | AT_STATX_FORCE_SYNC,
            STATX_BASIC_STATS,
            answer.as_mut_ptr(),
        )
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

impl Client for Mounted {
    fn kind(&mut self, path: &str) -> Result<EntryKind, Failure> {
        let metadata = std::fs::metadata(path).map_err(named(path))?;
        Ok(if metadata.is_dir() { EntryKind::Folder } else { EntryKind::File(metadata.len()) })
    }

    fn open(&mut self, path: &str) -> Result<(), Failure> {
        let file = File::open(path).map_err(named(path))?;
        self.fresh = test_file::is_served_by_a_daemon(&file).then(|| FreshNames::beside(Path::new(path)));
        self.file = Some(file);
        Ok(())
    }

    fn create(&mut self, path: &str) -> Result<(), Failure> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path);
        self.file = Some(file.map_err(named(path))?);
        Ok(())
    }

    fn write(&mut self, offset: u64, block: &[u8]) -> Result<(), Failure> {
        self.file()?.write_all_at(block, offset).map_err(named("a write"))
    }

    fn close(&mut self) -> Result<(), Failure> {
        let file = self.file.take();
        file.map_or(Ok(()), |file| file.sync_all()).map_err(named("closing"))
    }

    fn remove(&mut self, path: &str) -> Result<(), Failure> {
        std::fs::remove_file(path).map_err(named(path))
    }

    /// Requests the file's attributes from the server, past the cache; through a daemon, which has a cache of its own, looks up a name
    /// that was never asked for.
    fn exchange(&mut self) -> Result<(), Failure> {
        if let Some(fresh) = &mut self.fresh {
            fresh.look_up()?;
            self.requests += 1;
            return Ok(());
        }
        let file = self.file()?.as_raw_fd();
        attributes_from_the_server(file).map_err(|error| {
            Failure::Unsupported(format!("statx(2), which has a mount ask its server: {error}"))
        })?;
        self.requests += 1;
        Ok(())
    }

    /// Nothing is sent before the wait for the answer: the ticket is the offset.
    fn ask(&mut self, offset: u64, _: usize) -> Result<Ticket, Failure> {
        self.requests += 1;
        Ok(Ticket(offset))
    }

    #[inline]
    fn answer(&mut self, ticket: Ticket, into: &mut [u8]) -> Result<usize, Failure> {
        self.file()?.read_at(into, ticket.0).map_err(named("a read"))
    }

    fn most(&self) -> usize {
        MOST
    }

    fn requests(&self) -> u64 {
        self.requests
    }

    fn forget(&mut self) -> Result<(), Failure> {
        test_file::evict(self.file()?)
    }

    fn resident(&self, start: u64, bytes: u64) -> Result<u64, Failure> {
        Ok(test_file::cached_within(self.file()?, start, bytes)?.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_asked_for_twice_and_one_that_is_there_is_no_exchange() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut fresh = FreshNames::beside(&path);
        fresh.look_up().unwrap();
        fresh.look_up().unwrap();
        assert_eq!(fresh.number, 2);
        std::fs::write(folder.path().join(format!("{}-3", fresh.begins)), "x").unwrap();
        assert!(matches!(fresh.look_up(), Err(Failure::Broke(_))));
        assert_ne!(FreshNames::beside(&path).begins, fresh.begins);
    }
}
