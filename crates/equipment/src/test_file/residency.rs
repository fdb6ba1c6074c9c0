//! The part of a file in the page cache, and how to evict or load all of it. The effect is verified: the advice to drop pages is
//! only advice.

use super::TestFile;
use fathom_core::experiment::Failure;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// `cachestat(2)`, since Linux 6.5; the number is the same on every architecture.
const SYS_CACHESTAT: libc::c_long = 451;

/// Pages of a file in the page cache, as the kernel counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cached {
    /// Bytes in the page cache.
    pub bytes: u64,
    /// Those of them not yet written to the device; 0 if the kernel does not tell (before 6.5).
    pub unwritten: u64,
    /// Whether pages that are still being read from the device are counted.
    pub with_requested: bool,
}

/// Advises the kernel to drop a file from the page cache.
pub fn forget(file: &File) {
    // SAFETY: takes no pointers; length 0 is the whole file.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// Waits until the device has what was written, and drops it from the page cache.
pub(super) fn pass_on(file: &File) -> io::Result<()> {
    file.sync_data()?;
    forget(file);
    Ok(())
}

/// Size of a page, bytes.
pub fn page_bytes() -> u64 {
    // SAFETY: sysconf reads a constant.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(512) as u64
}

/// The part of a file that is in the page cache.
pub fn cached(file: &File) -> Result<Cached, Failure> {
    let length = file.metadata().map_err(|error| Failure::Broke(format!("fstat: {error}")))?.len();
    cached_within(file, 0, length)
}

/// The part of a stretch of a file that is in the page cache; the stretch begins at a page.
pub fn cached_within(file: &File, offset: u64, bytes: u64) -> Result<Cached, Failure> {
    if bytes == 0 {
        return Ok(Cached::default());
    }
    match by_cachestat(file, offset, bytes) {
        Some(counted) if counted.bytes > 0 => Ok(counted),
        // A count of zero proves nothing: pages of a file on an overlay, as in containers, belong to the file of the layer below,
        // of which `cachestat` counts none (Linux 6.18: 0 of 512 pages just read), while a mapping shows them.
        _ => by_mincore(file, offset, bytes),
    }
}

/// The kernel's count; `None` if it has none (before 6.5).
fn by_cachestat(file: &File, offset: u64, bytes: u64) -> Option<Cached> {
    let range = [offset, bytes];
    let mut counts = [0_u64; 5];
    // SAFETY: both point to the arrays in the call's manual: offset and length; five counts, which it fills.
    let code =
        unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), range.as_ptr(), counts.as_mut_ptr(), 0_u32) };
    let [resident, dirty, writeback, ..] = counts;
    let (bytes, unwritten) = (resident * page_bytes(), (dirty + writeback) * page_bytes());
    (code == 0).then_some(Cached { bytes, unwritten, with_requested: true })
}

/// The older way: maps the file and queries which of its pages are in memory.
pub fn by_mincore(file: &File, offset: u64, bytes: u64) -> Result<Cached, Failure> {
    let mut pages = vec![0_u8; bytes.div_ceil(page_bytes()) as usize];
    // SAFETY: a new read-only mapping, of which no page is touched, with one byte of answer per page; unmapped at once.
    let code = unsafe {
        let (length, descriptor) = (bytes as usize, file.as_raw_fd());
        let start = libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ,
            libc::MAP_SHARED,
            descriptor,
            offset as libc::off_t,
        );
        if start == libc::MAP_FAILED {
            return Err(Failure::last("mmap to ask for residency"));
        }
        let code = libc::mincore(start, length, pages.as_mut_ptr());
        libc::munmap(start, length);
        code
    };
    if code != 0 {
        return Err(Failure::last("mincore"));
    }
    let resident = pages.iter().filter(|page| **page & 1 == 1).count() as u64;
    Ok(Cached { bytes: resident * page_bytes(), unwritten: 0, with_requested: false })
}

/// A file that is evicted when this is dropped: with a memory limit shared by trials, its cached pages would reduce what the next
/// trial finds.
#[derive(Debug)]
pub struct Passing(pub TestFile);

impl Drop for Passing {
    fn drop(&mut self) {
        forget(&self.0.file);
    }
}

/// Drops a file from the page cache and verifies that none of it is left there.
pub fn evict(file: &File) -> Result<(), Failure> {
    let mut remaining = Cached::default();
    // A page that is still in use, such as by a read-ahead that has just ended, is dropped at the second attempt.
    for _ in 0..5 {
        forget(file);
        remaining = cached(file)?;
        if remaining.bytes == 0 {
            return Ok(());
        }
        file.sync_data().map_err(|error| Failure::Broke(format!("fdatasync before eviction: {error}")))?;
    }
    Err(Failure::Unsupported(format!(
        "{} KiB of the test file stay in the page cache although the kernel was asked to drop them: the file system \
         keeps its files in memory, or something else reads them",
        remaining.bytes >> 10
    )))
}

/// Drops a file from the page cache, although a read-ahead may still be fetching pages of it: these cannot be dropped, so it waits
/// for them.
pub fn evict_after_reads(file: &File) -> Result<(), Failure> {
    evict_until(file, || Ok(true))
}

/// Drops a file from the page cache until nothing of it is left there and the test is passed; gives up after a fifth of a second
/// without progress.
pub fn evict_until(file: &File, mut passes: impl FnMut() -> Result<bool, Failure>) -> Result<(), Failure> {
    const IDLE_ATTEMPTS: usize = 200;
    let (mut last, mut remaining, mut idle) = (Ok(()), u64::MAX, 0);
    while idle < IDLE_ATTEMPTS {
        last = evict(file);
        if last.is_ok() && passes()? {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(1));
        let still = cached(file)?.bytes;
        idle = if still < remaining { 0 } else { idle + 1 };
        remaining = still;
    }
    last?;
    Err(Failure::Broke(format!("mincore finds {remaining} bytes of an evicted file in memory")))
}

/// Writes the file's content again, page by page: so the page cache holds it in pages. What is written or read ahead in larger pieces, file
/// systems with large folios (ext4 since Linux 6.16, XFS since 5.18) cache in those.
pub fn cached_in_pages(test: &TestFile) -> Result<(), Failure> {
    let again = || -> io::Result<()> {
        let mut content = vec![0; test.bytes as usize];
        test.file.read_exact_at(&mut content, 0)?;
        test.file.set_len(0)?;
        for (number, page) in content.chunks(page_bytes() as usize).enumerate() {
            test.file.write_all_at(page, number as u64 * page_bytes())?;
        }
        test.file.sync_all()
    };
    again().map_err(|error| Failure::Broke(format!("writing the test file page by page: {error}")))
}

/// Reads a file until the page cache holds all of it.
pub fn warm(test: &TestFile) -> Result<(), Failure> {
    let whole = test.bytes.next_multiple_of(page_bytes());
    let mut piece = vec![0; 1 << 20];
    for _ in 0..3 {
        if cached(&test.file)?.bytes >= whole {
            return Ok(());
        }
        let mut offset = 0;
        while offset < test.bytes {
            let read = test.file.read_at(&mut piece, offset);
            match read.map_err(|error| Failure::Broke(format!("reading the test file: {error}")))? {
                0 => return Err(Failure::Broke("the test file ends early".to_owned())),
                some => offset += some as u64,
            }
        }
    }
    let held = cached(&test.file)?.bytes;
    if held >= whole {
        return Ok(());
    }
    Err(Failure::Unsupported(format!(
        "the page cache holds {} of {} MiB of the test file after three readings: memory, or the limit of the control \
         group, is too small for it",
        held >> 20,
        test.bytes >> 20
    )))
}
/// What the kernel is told to drop (`drop_caches`, proc(5)).
#[derive(Debug, Clone, Copy)]
pub enum Dropped {
    /// The contents of files.
    Contents = 1,
    /// Contents, names and attributes.
    All = 3,
}

/// Makes this machine drop what it has cached of all files, after writing dirty pages to their devices.
pub fn drop_caches(what: Dropped) -> Result<(), Failure> {
    // SAFETY: takes no arguments and cannot fail.
    unsafe { libc::sync() };
    std::fs::write("/proc/sys/vm/drop_caches", (what as u8).to_string()).map_err(|error| {
        Failure::Unsupported(format!(
            "only root can empty this machine's caches of files (/proc/sys/vm/drop_caches: {error})"
        ))
    })
}
