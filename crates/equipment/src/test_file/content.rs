//! The content of a test file: incompressible bytes, with a stamp in each of its smallest blocks that identifies the block.
//! (Reads of empty files and files of zeros may be optimised away, R-FS-08.)

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The smallest block that is read, bytes: each begins with its stamp.
pub const SECTOR: usize = 512;

/// Random bytes before they repeat with other stamps. File systems compress at most this many at once.
const PATTERN: usize = 1 << 20;

/// The content of one file, seeded by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    seed: u64,
}

impl Content {
    /// The content of the file at this path: different in every run, the same in all trials of one.
    pub fn of(path: &Path) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        let bytes = path.iter().rev().take(2).flat_map(std::ffi::OsStr::as_encoded_bytes);
        Content { seed: bytes.fold(0xcbf2_9ce4_8422_2325, step) }
    }

    /// The first eight bytes of a sector. A multiplication spreads the number over all bits: this is computed inside timed loops.
    #[inline]
    pub fn stamp(self, sector: u64) -> u64 {
        (sector + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ self.seed
    }

    /// Whether a block read from this offset begins with the stamp written there.
    #[inline]
    pub fn is_at(self, block: &[u8], offset: u64) -> bool {
        let first = block.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes));
        first == Some(self.stamp(offset / SECTOR as u64))
    }

    /// Writes a file's content in large pieces, and reports after each the number of bytes written.
    /// An error of the listener ends the writing.
    pub fn fill(
        self,
        file: &File,
        bytes: u64,
        mut tell: impl FnMut(u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut piece = self.pattern();
        let mut offset = 0;
        while offset < bytes {
            let length = (bytes - offset).min(PATTERN as u64) as usize;
            self.number(&mut piece[..length], offset);
            file.write_all_at(&piece[..length], offset)?;
            offset += length as u64;
            tell(offset)?;
        }
        Ok(())
    }

    /// The bytes at an offset, both multiples of a sector; at most the length of the repeated pattern.
    pub fn piece(self, offset: u64, bytes: usize) -> Vec<u8> {
        let mut piece = self.pattern();
        piece.truncate(bytes);
        self.number(&mut piece, offset);
        piece
    }

    fn pattern(self) -> Vec<u8> {
        let mut chance = SplitMix64::seed_from_u64(self.seed);
        (0..PATTERN / 8).flat_map(|_| chance.next_u64().to_le_bytes()).collect()
    }

    fn number(self, piece: &mut [u8], offset: u64) {
        let first = offset / SECTOR as u64;
        for (sector, place) in (first..).zip(piece.chunks_mut(SECTOR)) {
            let stamp = self.stamp(sector).to_le_bytes();
            let length = place.len().min(stamp.len());
            place[..length].copy_from_slice(&stamp[..length]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sector_tells_where_it_is_and_whose() {
        let (one, other) = (Content::of(Path::new("/x/one")), Content::of(Path::new("/x/other")));
        let file = tempfile::tempfile().unwrap();
        let bytes = (2 << 20) + 1000;
        one.fill(&file, bytes, |_| Ok(())).unwrap();
        assert_eq!(file.metadata().unwrap().len(), bytes);
        let mut block = [0; SECTOR];
        for offset in [0, 512, 1 << 20, (1 << 20) + 4096, (2 << 20) - 512, 2 << 20] {
            file.read_exact_at(&mut block, offset).unwrap();
            assert!(one.is_at(&block, offset), "at {offset}");
            assert!(!one.is_at(&block, offset + 512) && !other.is_at(&block, offset));
        }
        assert!(!one.is_at(&[], 0));
    }
}
