//! The ways of reading a block of a file.

use fathom_core::experiment::{Failure, ensure};
use fathom_equipment::test_file::{Aligned, Content};
use std::fs::File;
use std::os::fd::AsRawFd;

/// The call that reads a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// `read`: the file position advances by itself, and is reset when the order begins anew.
    Read,
    /// `pread`: the offset is an argument.
    Pread,
    /// `lseek` and `read`, both for every block.
    SeekAndRead,
    /// Loads from a mapping of the file, one word of every cache line.
    Map,
}

/// Whether the kernel may read more than it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadAhead {
    Usual,
    /// No read-ahead (`POSIX_FADV_RANDOM`, `MADV_RANDOM`).
    Off,
}

/// Minimum size of a cache line on processors that run Linux on servers or laptops.
const LINE: usize = 64;

/// Reads blocks of one file and checks that each is the requested one.
#[derive(Debug)]
pub struct Reader {
    file: File,
    bytes: u64,
    content: Content,
    call: Call,
    read_ahead: ReadAhead,
    buffer: Aligned,
    block: usize,
    position: u64,
    map: Option<Map>,
}

impl Reader {
    /// A reader of blocks of this many bytes.
    pub fn new(
        file: File,
        (bytes, content): (u64, Content),
        block: u64,
        call: Call,
        read_ahead: ReadAhead,
    ) -> Result<Self, Failure> {
        let (buffer, block) = (Aligned::new(block as usize)?, block as usize);
        let mut reader =
            Reader { file, bytes, content, call, read_ahead, buffer, block, position: u64::MAX, map: None };
        reader.open()?;
        Ok(reader)
    }

    /// Whether the kernel may read more than it is asked for.
    pub fn reads_ahead(&self) -> bool {
        self.read_ahead != ReadAhead::Off
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the kernel the advice about read-ahead, and maps the file if necessary; again after [`Reader::close`].
    pub fn open(&mut self) -> Result<(), Failure> {
        if self.read_ahead == ReadAhead::Off {
            // SAFETY: takes no pointers.
            let errno = unsafe { libc::posix_fadvise(self.file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
            ensure(errno == 0, "the kernel refused the advice not to read ahead")?;
        }
        if self.call == Call::Map {
            self.map = Some(Map::of(&self.file, self.bytes, self.read_ahead)?);
        }
        Ok(())
    }

    /// Unmaps the file, because mapped pages cannot be evicted.
    pub fn close(&mut self) {
        self.map = None;
    }

    #[inline]
    pub fn read(&mut self, offset: u64) -> Result<(), Failure> {
        match self.call {
            Call::Map => return self.load(offset),
            Call::Pread => self.pread(offset)?,
            Call::Read if self.position == offset => self.read_on()?,
            Call::Read | Call::SeekAndRead => {
                self.seek(offset)?;
                self.read_on()?;
            }
        }
        self.position = offset + self.block as u64;
        ensure(
            self.content.is_at(self.buffer.bytes(), offset),
            "the block read is not the one requested: its stamp is different",
        )
    }

    fn seek(&self, offset: u64) -> Result<(), Failure> {
        // SAFETY: takes no pointers.
        let place = unsafe { libc::lseek(self.file.as_raw_fd(), offset as libc::off_t, libc::SEEK_SET) };
        if place == offset as libc::off_t { Ok(()) } else { Err(Failure::last("lseek")) }
    }

    fn read_on(&self) -> Result<(), Failure> {
        // SAFETY: the buffer has room for a block.
        let read = unsafe { libc::read(self.file.as_raw_fd(), self.buffer.start().cast(), self.block) };
        self.whole(read, "read")
    }

    fn pread(&self, offset: u64) -> Result<(), Failure> {
        let (descriptor, offset) = (self.file.as_raw_fd(), offset as libc::off_t);
        // SAFETY: the buffer has room for a block.
        let read = unsafe { libc::pread(descriptor, self.buffer.start().cast(), self.block, offset) };
        self.whole(read, "pread")
    }

    fn whole(&self, read: isize, call: &str) -> Result<(), Failure> {
        match read {
            all if all == self.block as isize => Ok(()),
            error if error < 0 => Err(Failure::last(call)),
            part => Err(Failure::Broke(format!("{call} gave {part} of {} bytes", self.block))),
        }
    }

    fn load(&self, offset: u64) -> Result<(), Failure> {
        let Some(map) = &self.map else { return Err(Failure::Broke("the file is not mapped".to_owned())) };
        let block = &map.bytes()[offset as usize..][..self.block];
        let lines = block.chunks(LINE).filter_map(|line| line.first_chunk::<8>());
        std::hint::black_box(lines.fold(0, |sum: u64, word| sum.wrapping_add(u64::from_le_bytes(*word))));
        ensure(
            self.content.is_at(block, offset),
            "a mapped block is not the one requested: its stamp is different",
        )
    }
}

/// A file mapped for reading.
#[derive(Debug)]
struct Map {
    start: *mut libc::c_void,
    bytes: usize,
}

impl Map {
    fn of(file: &File, bytes: u64, read_ahead: ReadAhead) -> Result<Self, Failure> {
        let (length, descriptor) = (bytes as usize, file.as_raw_fd());
        // SAFETY: a new mapping, which nothing else refers to; the advice is about this mapping alone.
        unsafe {
            let start =
                libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, descriptor, 0);
            if start == libc::MAP_FAILED {
                return Err(Failure::last("mmap of the test file"));
            }
            if read_ahead == ReadAhead::Off {
                libc::madvise(start, length, libc::MADV_RANDOM);
            }
            Ok(Map { start, bytes: length })
        }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: mapped for as long as `self` lives. The file belongs to this run, and nobody writes or shortens it while
        // it is read.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.bytes) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `of`, to which there are no borrows left.
        unsafe { libc::munmap(self.start, self.bytes) };
    }
}
