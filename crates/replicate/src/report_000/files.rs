//! The report's test files, the advice that its programs give the kernel about them, and the order in which they are read.

use crate::Stage;
use crate::mapping::MappedFile;
use fathom_core::experiment::{Failure, ensure};
use fathom_equipment::test_file::blocks::below;
use fathom_equipment::test_file::{DiskQuota, new_file, refused, shared_path};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;

/// A file of so many zeros, a multiple of a MiB. It has no name any more, and the kernel removes it when this process ends.
pub(super) fn zeros(stage: &Stage, bytes: u64) -> Result<File, Failure> {
    let path = shared_path(stage.site, &format!("zeros-{}", std::process::id()))?;
    DiskQuota::DEFAULT.check(stage.site, bytes)?;
    let mut zeros = new_file(&path).map_err(|error| refused("made", &path, &error))?;
    std::fs::remove_file(&path).map_err(|error| refused("unlinked", &path, &error))?;
    let piece = vec![0; 1 << 20];
    for _ in 0..bytes >> 20 {
        zeros.write_all(&piece).map_err(|error| refused("filled", &path, &error))?;
    }
    Ok(zeros)
}

/// Advises the kernel not to read ahead.
pub fn advise_random(file: &File) -> Result<(), Failure> {
    // SAFETY: takes no pointers.
    let refused = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
    ensure(refused == 0, "the kernel refused the advice not to read ahead")
}

/// A mapping of so many bytes of a file, with the same advice about both.
pub fn mapped_at_random(file: &File, bytes: u64) -> Result<MappedFile, Failure> {
    let map = MappedFile::readable(file, bytes as usize)?;
    advise_random(file)?;
    map.advise(libc::MADV_RANDOM)?;
    Ok(map)
}

/// Drops the mapping's pages from the process (`MADV_DONTNEED`), the file from the cache (`POSIX_FADV_DONTNEED`), and the mapping
/// itself.
pub fn drop_mapped(map: MappedFile, file: &File) -> Result<(), Failure> {
    map.advise(libc::MADV_DONTNEED)?;
    drop_cached(file);
    drop(map);
    Ok(())
}

/// Asks the kernel to drop a file from the cache, without a check that it did, as the report's programs do.
pub fn drop_cached(file: &File) {
    // SAFETY: takes no pointers; a length of 0 is the whole file.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

pub fn shuffled(count: u64, seed: u64) -> Vec<u64> {
    let mut chance = SplitMix64::seed_from_u64(seed);
    let mut numbers: Vec<u64> = (0..count).collect();
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, below(&mut chance, last as u64) as usize);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_and_none_in_its_own_place() {
        for count in [0, 1, 2, 3, 1000] {
            let numbers = shuffled(count, 5);
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..count));
            assert!(count < 2 || numbers.iter().zip(0..).all(|(number, place)| *number != place));
        }
    }
}
