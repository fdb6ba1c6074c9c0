//! Kernels for every architecture: loops made by the compiler, and the C library.

use super::{Dest, Src};

/// The words at a pointer of the calling convention that all kernels share.
unsafe fn words<'a>(from: *const u64, bytes: usize) -> &'a [u64] {
    // SAFETY: callers of a kernel pass arrays of that length.
    unsafe { std::slice::from_raw_parts(from, bytes / 8) }
}

unsafe fn words_mut<'a>(to: *mut u64, bytes: usize) -> &'a mut [u64] {
    // SAFETY: as above, and no two arrays overlap.
    unsafe { std::slice::from_raw_parts_mut(to, bytes / 8) }
}

unsafe fn doubles<'a>(from: *const u64, bytes: usize) -> &'a [f64] {
    // SAFETY: as above; every word is a valid double.
    unsafe { std::slice::from_raw_parts(from.cast(), bytes / 8) }
}

/// Stores consecutive words.
///
/// # Safety
/// There is room for all words from `first` on.
pub unsafe fn fill(first: *mut u64, words: impl Iterator<Item = u64>) {
    for (at, word) in words.enumerate() {
        // SAFETY: as the caller guarantees.
        unsafe { first.add(at).write(word) };
    }
}

pub unsafe extern "C" fn read(_: Dest, from: Src, _: Src, bytes: usize, _: u64) -> u64 {
    // SAFETY: as promised by the caller.
    unsafe { words(from, bytes) }.iter().fold(0, |sum: u64, word| sum.wrapping_add(*word))
}

pub unsafe extern "C" fn write(to: Dest, _: Src, _: Src, bytes: usize, value: u64) -> u64 {
    // SAFETY: as promised by the caller.
    for word in unsafe { words_mut(to, bytes) } {
        *word = value;
    }
    0
}

pub unsafe extern "C" fn scale(to: Dest, from: Src, _: Src, bytes: usize, by: u64) -> u64 {
    let by = f64::from_bits(by);
    // SAFETY: as promised by the caller.
    let (to, from) = unsafe { (words_mut(to, bytes), doubles(from, bytes)) };
    for (to, from) in to.iter_mut().zip(from) {
        *to = (by * from).to_bits();
    }
    0
}

pub unsafe extern "C" fn triad(to: Dest, from: Src, other: Src, bytes: usize, by: u64) -> u64 {
    let by = f64::from_bits(by);
    // SAFETY: as promised by the caller.
    let (to, from, other) = unsafe { (words_mut(to, bytes), doubles(from, bytes), doubles(other, bytes)) };
    for ((to, from), other) in to.iter_mut().zip(from).zip(other) {
        *to = (from + by * other).to_bits();
    }
    0
}

/// `memset` sets bytes: those of the value are all equal.
pub unsafe extern "C" fn library_write(to: Dest, _: Src, _: Src, bytes: usize, value: u64) -> u64 {
    // SAFETY: as promised by the caller.
    unsafe { libc::memset(to.cast(), i32::from(value.to_ne_bytes()[0]), bytes) };
    0
}

pub unsafe extern "C" fn library_copy(to: Dest, from: Src, _: Src, bytes: usize, _: u64) -> u64 {
    // SAFETY: as promised by the caller.
    unsafe { libc::memcpy(to.cast(), from.cast(), bytes) };
    0
}
