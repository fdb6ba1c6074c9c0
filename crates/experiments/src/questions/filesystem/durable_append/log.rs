//! A log: a file without a name to which blocks are appended, each durable before the next; and another that a thread fills
//! through the page cache.

use crate::apparatus::filesystem::device_account::DeviceAccount;
use fathom_core::prelude::*;
use fathom_core::sampling::partner;
use fathom_equipment::test_file::{Aligned, DiskQuota, cached, existing, new_file, refused, shared_path};
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Bytes after which a log, or the stream beside it, begins again.
pub const LOG: u64 = 64 << 20;

/// How an append becomes durable.
#[derive(Debug, Clone, Copy)]
pub enum Durability {
    /// A call after it.
    Synced(unsafe extern "C" fn(libc::c_int) -> libc::c_int),
    /// A flag of the open file.
    OfTheFile,
    /// A flag of the call.
    OfTheCall,
}

/// A log and its position.
pub struct AppendLog {
    file: Rc<File>,
    path: PathBuf,
    buffer: Aligned,
    durability: Durability,
    end: u64,
    counts: Rc<LogCounts>,
}

/// What was appended so far.
#[derive(Debug, Default)]
struct LogCounts {
    appends: Cell<f64>,
    /// Bytes of the logs before this one.
    earlier: Cell<f64>,
}

/// Witnesses: appends, bytes by which the log grew, bytes that the device wrote and flushes of its cache meanwhile.
pub const APPENDS: &str = "appends";
pub const GROWN: &str = "log_bytes";
pub const DEVICE_WROTE: &str = "bytes_written_by_the_device";
pub const FLUSHES: &str = "flushes_of_the_device";
/// Witness: bytes of the log that are not yet sent to the device, at the end.
pub const WAITING: &str = "bytes_waiting";
/// Stated: whether the kernel counts those.
pub const COUNTED: &str = "dirty_pages_are_counted";

impl AppendLog {
    /// An empty log of appends of `block` bytes.
    pub fn new(block: u64, durability: Durability, site: &Site) -> Result<Self, Failure> {
        let flags = if matches!(durability, Durability::OfTheFile) { libc::O_DSYNC } else { 0 };
        let (file, path) = nameless("log", flags, site)?;
        let mut buffer = Aligned::new(block as usize)?;
        // Incompressible bytes: consecutive words differ by an odd constant.
        for (number, word) in (1_u64..).zip(buffer.bytes_mut().chunks_exact_mut(8)) {
            word.copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
        }
        Ok(AppendLog { file: Rc::new(file), path, buffer, durability, end: 0, counts: Rc::default() })
    }

    /// Appends a block and returns when it is durable.
    pub fn append(&mut self) -> Result<(), Failure> {
        let block = self.buffer.bytes().len() as u64;
        if self.end + block > LOG {
            self.begin_again()?;
        }
        let written = self.write();
        if written != block as isize {
            return Err(self.refusal(written));
        }
        if let Durability::Synced(call) = self.durability {
            // SAFETY: the calls that come here, fsync and fdatasync, take a descriptor, which is open.
            errno("making an append durable", unsafe { call(self.file.as_raw_fd()) })?;
        }
        self.end += block;
        self.counts.appends.set(self.counts.appends.get() + 1.0);
        Ok(())
    }

    fn write(&self) -> isize {
        let (descriptor, offset) = (self.file.as_raw_fd(), self.end as libc::off_t);
        let (start, bytes) = (self.buffer.start().cast(), self.buffer.bytes().len());
        if self.is_of_the_call() {
            let vector = libc::iovec { iov_base: start, iov_len: bytes };
            // SAFETY: one vector, which is the buffer, alive during the call.
            return unsafe { libc::pwritev2(descriptor, &raw const vector, 1, offset, libc::RWF_DSYNC) };
        }
        // SAFETY: the buffer has that many bytes.
        unsafe { libc::pwrite(descriptor, start, bytes, offset) }
    }

    fn refusal(&self, written: isize) -> Failure {
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            _ if written >= 0 => Failure::Broke(format!("an append wrote {written} bytes only")),
            Some(libc::EINVAL | libc::ENOSYS | libc::EOPNOTSUPP) if self.is_of_the_call() => {
                Failure::of_newer_call("RWF_DSYNC", "Linux 4.7", &error)
            }
            _ => refused("appended to", &self.path, &error),
        }
    }

    fn is_of_the_call(&self) -> bool {
        matches!(self.durability, Durability::OfTheCall)
    }

    fn begin_again(&mut self) -> Result<(), Failure> {
        self.file.set_len(0).map_err(|error| refused("truncated", &self.path, &error))?;
        self.counts.earlier.set(self.counts.earlier.get() + self.end as f64);
        self.end = 0;
        Ok(())
    }

    /// The account of what was appended, for the evidence: of the work, of the file system, and of the device if it has one.
    pub fn account(&self) -> impl FnMut() -> Vec<(&'static str, f64)> + use<> {
        let (file, counts) = (Rc::clone(&self.file), Rc::clone(&self.counts));
        let device = DeviceAccount::of(&file);
        move || {
            let length = file.metadata().map_or(0, |metadata| metadata.len());
            let own = [(APPENDS, counts.appends.get()), (GROWN, counts.earlier.get() + length as f64)];
            let totals = device.as_ref().and_then(DeviceAccount::totals);
            let wrote = totals.map(|totals| (DEVICE_WROTE, totals.written_bytes));
            let flushes = totals.and_then(|totals| totals.flushes).map(|flushes| (FLUSHES, flushes));
            own.into_iter().chain(wrote).chain(flushes).collect()
        }
    }

    /// The bytes of the log that are not yet sent to the device, read at the end.
    pub fn waiting(&self) -> impl FnMut() -> Vec<(&'static str, f64)> + use<> {
        let file = Rc::clone(&self.file);
        move || {
            let held = cached(&file).ok();
            held.map(|held| (WAITING, held.unwritten as f64)).into_iter().collect()
        }
    }

    /// Whether this kernel counts the dirty pages of a file (cachestat, since 6.5): tried with one byte that is not flushed.
    pub fn counts_dirty_pages(site: &Site) -> Result<bool, Failure> {
        let (file, path) = nameless("probe", 0, site)?;
        file.write_all_at(&[1], 0).map_err(|error| refused("written to", &path, &error))?;
        Ok(cached(&file)?.unwritten > 0)
    }
}

/// An empty file that is gone with this process, and the path that it had.
fn nameless(what: &str, flags: libc::c_int, site: &Site) -> Result<(File, PathBuf), Failure> {
    DiskQuota::DEFAULT.check(site, LOG)?;
    let path = shared_path(site, &format!("{what}-{}", std::process::id()))?;
    let opened = new_file(&path).and_then(|_| existing().custom_flags(libc::O_NOFOLLOW | flags).open(&path));
    let unlinked = opened.and_then(|file| std::fs::remove_file(&path).map(|()| file));
    unlinked.map(|file| (file, path.clone())).map_err(|error| refused("made", &path, &error))
}

/// A thread that writes to another file through the page cache, and flushes nothing. It ends when this is dropped.
pub struct WriteStream {
    shared: Arc<StreamState>,
}

#[derive(Debug, Default)]
struct StreamState {
    bytes: AtomicU64,
    stops: AtomicBool,
    ended: AtomicBool,
}

/// Bytes that it writes at once, and the pause after them: 64 MB a second at most, as when a database compacts.
const PIECE: usize = 64 << 10;
const PAUSE: Duration = Duration::from_millis(1);
/// The most bytes a second of the stream.
pub const MOST_STREAMED: f64 = PIECE as f64 * 1e3;

/// Witness: bytes of the stream.
pub const STREAMED: &str = "bytes_streamed_beside";

impl WriteStream {
    /// Starts it on this CPU, and returns when it writes.
    pub fn start(cpu: Option<usize>, site: &Site) -> Result<Self, Failure> {
        let (file, _) = nameless("stream", 0, site)?;
        let stream = WriteStream { shared: Arc::default() };
        let shared = Arc::clone(&stream.shared);
        partner::thread(cpu, move || {
            let ended = fill(&file, &shared);
            shared.ended.store(true, Ordering::Release);
            ended
        })?;
        while stream.bytes()? == 0 {
            std::thread::sleep(PAUSE);
        }
        Ok(stream)
    }

    /// Bytes written so far; an error if it has ended.
    pub fn bytes(&self) -> Result<u64, Failure> {
        ensure(!self.shared.ended.load(Ordering::Acquire), "the stream beside the log could not be written")?;
        Ok(self.shared.bytes.load(Ordering::Relaxed))
    }
}

impl Drop for WriteStream {
    fn drop(&mut self) {
        self.shared.stops.store(true, Ordering::Release);
        while !self.shared.ended.load(Ordering::Acquire) {
            std::thread::sleep(PAUSE);
        }
    }
}

fn fill(file: &File, shared: &StreamState) -> Result<(), Failure> {
    let (piece, broke) =
        (vec![0xa5; PIECE], |error: io::Error| Failure::Broke(format!("the stream: {error}")));
    let mut written = 0;
    while !shared.stops.load(Ordering::Acquire) {
        if written % LOG == 0 {
            file.set_len(0).map_err(broke)?;
        }
        file.write_all_at(&piece, written % LOG).map_err(broke)?;
        written += PIECE as u64;
        shared.bytes.store(written, Ordering::Relaxed);
        std::thread::sleep(PAUSE);
    }
    Ok(())
}
