//! Files read block by block past the page cache: by direct reads, as in reports 000 and 001, or by having each block dropped, as
//! in report 002.

use crate::operations::broke;
use crate::{Series, Stage};
use fathom_core::experiment::Failure;
use fathom_equipment::test_file::{Aligned, DiskQuota, TestFile};
use std::fs::{File, OpenOptions};
use std::io::Error;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

/// Opens a test file once more with flags that ask for its blocks from the device: `O_DIRECT`, or that and `O_SYNC`. This also
/// works where the file no longer has a name.
pub fn opened(test: &TestFile, flags: libc::c_int) -> Result<File, Failure> {
    let again = format!("/proc/self/fd/{}", test.file.as_raw_fd());
    OpenOptions::new().read(true).custom_flags(flags).open(again).map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL) => Failure::Unsupported(
            "this file system has no direct reads (O_DIRECT), like file systems in memory; choose a folder on a disk with `--dir`".to_owned(),
        ),
        _ => broke("a test file, opened for direct reads")(error),
    })
}

/// Reads a beginning of a file of each of these sizes twice, the largest last: `again` gives the time of a block in the second
/// reading, nanoseconds, from the file, its blocks, the size and the nanoseconds of a tick.
pub fn second_readings(
    stage: &Stage,
    sizes: &[u64],
    block: usize,
    mut again: impl FnMut(&TestFile, &mut Blocks, u64, f64) -> Result<f64, Failure>,
) -> Result<Series, Failure> {
    let tick_ns = stage.ns_per_tick()?;
    let test = TestFile::nameless(stage.site, sizes.last().copied().unwrap_or_default(), DiskQuota::DEFAULT)?;
    let mut blocks = Blocks::of(opened(&test, 0)?, block)?;
    let mut series = Series::default();
    for size in sizes {
        let time = again(&test, &mut blocks, *size, tick_ns)?;
        series = series.and("", *size as f64, vec![time]);
    }
    Ok(series)
}

/// Reads blocks of one file into memory that is suitable for direct reads.
pub struct Blocks {
    file: File,
    memory: Aligned,
    block: usize,
}

impl Blocks {
    /// Blocks of so many bytes.
    pub fn of(file: File, block: usize) -> Result<Self, Failure> {
        Ok(Blocks { file, memory: Aligned::new(block)?, block })
    }

    #[inline]
    pub fn read(&mut self, offset: u64) -> Result<(), Failure> {
        let read = self.file.read_at(&mut self.memory.bytes_mut()[..self.block], offset);
        self.whole(read)
    }

    /// Reads the next block, from where the previous read ended.
    #[inline]
    pub fn read_next(&mut self) -> Result<(), Failure> {
        use std::io::Read;
        let read = self.file.read(&mut self.memory.bytes_mut()[..self.block]);
        self.whole(read)
    }

    /// Sets the offset of the next read (`lseek`).
    pub fn seek(&mut self, offset: u64) -> Result<(), Failure> {
        use std::io::{Seek, SeekFrom};
        let moved = self.file.seek(SeekFrom::Start(offset));
        moved.map(drop).map_err(broke("lseek"))
    }

    /// Asks the kernel to drop a block from the page cache (`posix_fadvise` with `POSIX_FADV_DONTNEED`).
    pub fn evict(&self, offset: u64) {
        // SAFETY: takes no pointers; it is advice, which may be ignored.
        unsafe {
            libc::posix_fadvise(
                self.file.as_raw_fd(),
                offset as libc::off_t,
                self.block as libc::off_t,
                libc::POSIX_FADV_DONTNEED,
            );
        }
    }

    fn whole(&self, read: Result<usize, Error>) -> Result<(), Failure> {
        match read {
            Ok(bytes) if bytes == self.block => Ok(()),
            Ok(bytes) => Err(Failure::Broke(format!("a read of {} bytes returned {bytes}", self.block))),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Err(Failure::Unsupported(format!(
                "the device or its file system cannot read {} bytes directly: its own blocks are larger",
                self.block
            ))),
            Err(error) => Err(broke("reading a test file")(error)),
        }
    }

    pub fn last(&self) -> &[u8] {
        &self.memory.bytes()[..self.block]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn blocks_come_from_where_they_are_asked_for_and_a_torn_one_is_an_error() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[[1; 8], [2; 8], [3; 8]].concat()).unwrap();
        file.write_all(&[4; 5]).unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        let mut blocks = Blocks::of(file, 8).unwrap();
        blocks.read(16).unwrap();
        assert_eq!(blocks.last(), [3; 8]);
        blocks.read_next().unwrap();
        assert_eq!(blocks.last(), [1; 8], "reads at an offset do not move the next one");
        blocks.seek(8).unwrap();
        blocks.read_next().unwrap();
        assert_eq!(blocks.last(), [2; 8]);
        blocks.evict(8);
        assert!(blocks.read(24).is_err());
    }
}
