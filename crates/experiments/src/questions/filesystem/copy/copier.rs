//! A file that is copied to an empty one, again and again.

use crate::apparatus::filesystem::extents;
use fathom_core::prelude::*;
use fathom_equipment::test_file::{
    Aligned, DiskQuota, TestFile, cached, new_file, refused, shared_path, warm,
};
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::rc::Rc;

/// Bytes of one read and one write, as cp(1) has it.
pub const PIECE: u64 = 128 << 10;

/// How the bytes get from one file to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyWay {
    ReadAndWrite,
    Sendfile,
    CopyFileRange,
    Reflink,
}

impl CopyWay {
    pub const ALL: [CopyWay; 4] =
        [CopyWay::ReadAndWrite, CopyWay::Sendfile, CopyWay::CopyFileRange, CopyWay::Reflink];

    pub const fn name(self) -> &'static str {
        match self {
            CopyWay::ReadAndWrite => "read and write",
            CopyWay::Sendfile => "sendfile",
            CopyWay::CopyFileRange => "copy_file_range",
            CopyWay::Reflink => "reflink",
        }
    }
}

/// Witnesses: copies, bytes of which the file system says that the copies have them, and system calls of the work by its own count.
pub const COPIES: &str = "copies";
pub const LENGTHS: &str = "bytes_of_the_copies";
pub const CALLS: &str = "system_calls_made";
/// Witnesses at the end, of the last copy: bytes that are equal to the source's; bytes of blocks that it has and shares with another
/// file; bytes of it, and of the source, in the page cache.
pub const EQUAL: &str = "bytes_equal";
pub const SHARED: &str = "bytes_shared";
pub const HELD: &str = "copy_in_the_page_cache";
pub const SOURCE_HELD: &str = "source_in_the_page_cache";

#[derive(Debug, Default)]
struct CopyCounts {
    copies: Cell<f64>,
    lengths: Cell<f64>,
    calls: Cell<f64>,
}

fn add(to: &Cell<f64>, count: f64) {
    to.set(to.get() + count);
}

/// Copies one file to another.
pub struct Copier {
    way: CopyWay,
    files: Rc<CopyFiles>,
    buffer: Aligned,
    counts: Rc<CopyCounts>,
}

/// The source, and a file without a name for the copy.
struct CopyFiles {
    source: TestFile,
    copy: File,
    path: PathBuf,
}

impl CopyFiles {
    fn empty_the_copy(&self) -> Result<(), Failure> {
        self.copy.set_len(0).map_err(|error| refused("truncated", &self.path, &error))
    }
}

impl Drop for CopyFiles {
    /// What was never sent to the device need not be.
    fn drop(&mut self) {
        let _ = self.copy.set_len(0);
    }
}

impl Copier {
    /// The source is in the page cache; the copy has no bytes.
    pub fn new(way: CopyWay, bytes: u64, site: &Site) -> Result<Self, Failure> {
        let source = TestFile::named(site, "copied", bytes, DiskQuota::DEFAULT)?;
        DiskQuota::DEFAULT.check(site, bytes)?;
        let path = shared_path(site, &format!("copy-{}", std::process::id()))?;
        let nameless = new_file(&path).and_then(|file| std::fs::remove_file(&path).map(|()| file));
        let copy = nameless.map_err(|error| refused("made", &path, &error))?;
        warm(&source)?;
        let buffer = Aligned::new(PIECE as usize)?;
        Ok(Copier { way, files: Rc::new(CopyFiles { source, copy, path }), buffer, counts: Rc::default() })
    }

    /// Empties the copy, makes it again, and returns how long that took, without the emptying, nanoseconds.
    pub fn copy(&mut self, watch: &dyn Stopwatch) -> Result<f64, Failure> {
        self.files.empty_the_copy()?;
        let began = watch.now_ns();
        let calls = self.transfer()?;
        let took = watch.now_ns() - began;
        let length =
            self.files.copy.metadata().map_err(|error| refused("looked at", &self.files.path, &error))?;
        add(&self.counts.copies, 1.0);
        add(&self.counts.lengths, length.len() as f64);
        add(&self.counts.calls, calls as f64);
        Ok(took)
    }

    /// The transfer alone, by calls until all bytes are there; returns their number.
    fn transfer(&mut self) -> Result<u64, Failure> {
        let files = Rc::clone(&self.files);
        let (from, to, bytes) = (files.source.file.as_raw_fd(), files.copy.as_raw_fd(), files.source.bytes);
        match self.way {
            CopyWay::Reflink => reflink(from, to).map(|()| 1),
            CopyWay::ReadAndWrite => through_a_buffer((from, to), bytes, &mut self.buffer),
            CopyWay::Sendfile => until_complete(bytes, |done, rest| sendfile((from, to), done, rest)),
            CopyWay::CopyFileRange => {
                until_complete(bytes, |done, rest| copy_file_range((from, to), done, rest))
            }
        }
    }

    /// The system calls of one copy, counted by a tracer, as facts for the evidence.
    pub fn traced(&mut self) -> Result<Vec<(&'static str, f64)>, Failure> {
        // Also tells, in the words of its failure, whether there is this way here.
        self.transfer()?;
        self.files.empty_the_copy()?;
        fathom_core::sampling::tracer::stated(1, || self.transfer().map(drop))
    }

    pub fn account(&self) -> impl FnMut() -> Vec<(&'static str, f64)> + use<> {
        let counts = Rc::clone(&self.counts);
        move || {
            vec![(COPIES, counts.copies.get()), (LENGTHS, counts.lengths.get()), (CALLS, counts.calls.get())]
        }
    }

    /// What the last copy is, by looking at it.
    pub fn inspected(&self) -> impl FnMut() -> Vec<(&'static str, f64)> + use<> {
        let files = Rc::clone(&self.files);
        move || {
            let held = [(HELD, cached(&files.copy)), (SOURCE_HELD, cached(&files.source.file))];
            let held = held.into_iter().filter_map(|(name, held)| Some((name, held.ok()?.bytes as f64)));
            let shared = extents::shared_bytes(&files.copy).map(|bytes| (SHARED, bytes as f64));
            let held: Vec<_> = held.chain(shared).collect();
            let equal = equal_bytes(&files.source.file, &files.copy).ok().map(|bytes| (EQUAL, bytes as f64));
            held.into_iter().chain(equal).collect()
        }
    }
}

/// Calls until all bytes are moved; `call` gets those that are and those that are not, and returns how many it moved.
fn until_complete(
    bytes: u64,
    mut call: impl FnMut(u64, u64) -> Result<u64, Failure>,
) -> Result<u64, Failure> {
    let (mut done, mut calls) = (0, 0);
    while done < bytes {
        let moved = call(done, bytes - done)?;
        ensure(moved > 0, "a copy ended before its source")?;
        done += moved;
        calls += 1;
    }
    Ok(calls)
}

fn through_a_buffer(
    (from, to): (libc::c_int, libc::c_int),
    bytes: u64,
    buffer: &mut Aligned,
) -> Result<u64, Failure> {
    let start = buffer.start().cast();
    let pieces = until_complete(bytes, |done, rest| {
        let (piece, at) = (rest.min(PIECE) as usize, done as libc::off_t);
        // SAFETY: the buffer has room for a piece.
        let read = errno("pread of the source", unsafe { libc::pread(from, start, piece, at) })?;
        // SAFETY: as many bytes of it as were read.
        let written = errno("pwrite of the copy", unsafe { libc::pwrite(to, start, read as usize, at) })?;
        ensure(written == read, "a write took less than it was given")?;
        Ok(written as u64)
    })?;
    Ok(2 * pieces)
}

fn sendfile((from, to): (libc::c_int, libc::c_int), done: u64, rest: u64) -> Result<u64, Failure> {
    let mut offset = done as libc::off_t;
    if done == 0 {
        // The call writes at the copy's own position.
        // SAFETY: takes no pointers.
        errno("lseek of the copy", unsafe { libc::lseek(to, 0, libc::SEEK_SET) })?;
    }
    // SAFETY: the offset is alive during the call.
    let moved = unsafe { libc::sendfile(to, from, &raw mut offset, rest as usize) };
    if moved < 0 {
        return Err(Failure::of_newer_call(
            "sendfile between files",
            "Linux 2.6.33",
            &io::Error::last_os_error(),
        ));
    }
    Ok(moved as u64)
}

fn copy_file_range((from, to): (libc::c_int, libc::c_int), done: u64, rest: u64) -> Result<u64, Failure> {
    let (mut at, mut into) = (done as libc::off64_t, done as libc::off64_t);
    // SAFETY: both offsets are alive during the call.
    let moved = unsafe { libc::copy_file_range(from, &raw mut at, to, &raw mut into, rest as usize, 0) };
    if moved < 0 {
        return Err(Failure::of_newer_call("copy_file_range", "Linux 4.5", &io::Error::last_os_error()));
    }
    Ok(moved as u64)
}

fn reflink(from: libc::c_int, to: libc::c_int) -> Result<(), Failure> {
    // SAFETY: takes a descriptor as its argument (ioctl_ficlone(2)).
    if unsafe { libc::ioctl(to, libc::FICLONE, from) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::ENOTTY | libc::EINVAL | libc::ENOSYS) => {
            Err(Failure::Unsupported(format!(
                "this file system cannot share blocks between files (FICLONE: {error}): Btrfs, XFS and bcachefs can; choose a \
             folder on one of them with `--dir`"
            )))
        }
        _ => Err(Failure::of("FICLONE", &error)),
    }
}

/// The bytes from the beginning up to the first that differs, or to the end of the shorter file.
fn equal_bytes(one: &File, other: &File) -> io::Result<u64> {
    let length = one.metadata()?.size().min(other.metadata()?.size());
    let (mut of_one, mut of_other) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    let mut offset = 0;
    while offset < length {
        let piece = (length - offset).min(of_one.len() as u64) as usize;
        one.read_exact_at(&mut of_one[..piece], offset)?;
        other.read_exact_at(&mut of_other[..piece], offset)?;
        if of_one[..piece] != of_other[..piece] {
            let same = of_one.iter().zip(&of_other).take_while(|(one, other)| one == other).count();
            return Ok(offset + same as u64);
        }
        offset += piece as u64;
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(bytes: &[u8]) -> (File, File) {
        let (source, copy) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        source.write_all_at(bytes, 0).unwrap();
        (source, copy)
    }

    #[test]
    fn every_way_that_moves_bytes_moves_all_of_them_in_as_many_calls_as_it_says() {
        let bytes: Vec<u8> = (0..300_001_u32).map(|number| (number % 251) as u8).collect();
        let length = bytes.len() as u64;
        let (source, copy) = files(&bytes);
        let both = (source.as_raw_fd(), copy.as_raw_fd());
        let mut buffer = Aligned::new(PIECE as usize).unwrap();
        let calls = through_a_buffer(both, length, &mut buffer).unwrap();
        assert_eq!((calls, equal_bytes(&source, &copy).unwrap()), (6, length));
        for way in [sendfile, copy_file_range] {
            copy.set_len(0).unwrap();
            let calls = match until_complete(length, |done, rest| way(both, done, rest)) {
                Ok(calls) => calls,
                // An old kernel.
                Err(Failure::Unsupported(_)) => continue,
                Err(other) => panic!("{other}"),
            };
            assert!(calls >= 1);
            assert_eq!(equal_bytes(&source, &copy).unwrap(), length);
        }
    }

    #[test]
    fn what_differs_or_is_missing_is_not_equal() {
        let (source, copy) = files(&[7; 5000]);
        copy.write_all_at(&[7; 4000], 0).unwrap();
        assert_eq!(equal_bytes(&source, &copy).unwrap(), 4000, "it is shorter");
        copy.write_all_at(&[7; 5000], 0).unwrap();
        copy.write_all_at(&[8], 4500).unwrap();
        assert_eq!(equal_bytes(&source, &copy).unwrap(), 4500, "a byte differs");
        assert!(until_complete(10, |_, _| Ok(0)).is_err(), "a call that moves nothing ends");
    }
}
