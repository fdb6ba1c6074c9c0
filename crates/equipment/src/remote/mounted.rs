//! A file on a mount: read like any file, with the page cache of this machine between it and the server.

use super::client::{Client, EntryKind, Ticket};
use crate::test_file;
use fathom_core::experiment::Failure;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

/// Maximum bytes per read; larger reads gain nothing.
const MOST: usize = 1 << 20;

/// An open file of a mount, or of a local file system.
#[derive(Default)]
pub struct Mounted {
    file: Option<File>,
    requests: u64,
}

impl Mounted {
    /// Without an open file.
    pub fn new() -> Self {
        Mounted::default()
    }

    pub fn holding(file: File) -> Self {
        Mounted { file: Some(file), requests: 0 }
    }

    fn file(&self) -> Result<&File, Failure> {
        self.file.as_ref().ok_or_else(|| Failure::Broke("no file is open".to_owned()))
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
        self.file = Some(File::open(path).map_err(named(path))?);
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

    /// Requests the file's attributes from the server, past the cache.
    fn exchange(&mut self) -> Result<(), Failure> {
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
