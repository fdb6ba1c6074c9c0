//! The kernels that stream through arrays where there is no assembly: those of the compiler and the C library.

use crate::apparatus::memory::stream::kernel::Maker::{self, Compiler, Library};
use crate::apparatus::memory::stream::kernel::{
    Dest, Kernel, Kind, Ownership, PER_LINE, Pass, Src, portable,
};

pub use portable::fill;

const fn row(kind: Kind, method: &'static str, maker: Maker, run: Pass) -> Kernel {
    Kernel::new(kind, method, maker, run, Ownership::Read)
}

/// Every kernel, in the order of the tables.
pub static KERNELS: &[Kernel] = &[
    row(Kind::Read, "compiled loop", Compiler, portable::read),
    row(Kind::Read, "8 words unrolled", Compiler, read_unrolled),
    row(Kind::Read, PER_LINE, Compiler, read_per_line),
    row(Kind::Write, "compiled loop", Compiler, portable::write),
    row(Kind::Write, "8 words unrolled", Compiler, write_unrolled),
    row(Kind::Write, "memset", Library, portable::library_write),
    row(Kind::Write, PER_LINE, Compiler, write_per_line),
    row(Kind::Copy, "8 words unrolled", Compiler, copy_unrolled),
    row(Kind::Copy, "memcpy", Library, portable::library_copy),
    row(Kind::Scale, "compiled loop", Compiler, portable::scale),
    row(Kind::Triad, "compiled loop", Compiler, portable::triad),
];

pub unsafe extern "C" fn read_unrolled(_: Dest, from: Src, _: Src, bytes: usize, _: u64) -> u64 {
    let mut sums = [0_u64; 8];
    for at in (0..bytes / 8).step_by(8) {
        for (k, sum) in sums.iter_mut().enumerate() {
            // SAFETY: arrays are whole lines of eight words.
            *sum = sum.wrapping_add(unsafe { from.add(at + k).read_volatile() });
        }
    }
    sums.iter().fold(0, |sum: u64, part| sum.wrapping_add(*part))
}

pub unsafe extern "C" fn write_unrolled(to: Dest, _: Src, _: Src, bytes: usize, value: u64) -> u64 {
    for at in (0..bytes / 8).step_by(8) {
        for k in 0..8 {
            // SAFETY: arrays are whole lines of eight words.
            unsafe { to.add(at + k).write_volatile(value) };
        }
    }
    0
}

pub unsafe extern "C" fn copy_unrolled(to: Dest, from: Src, _: Src, bytes: usize, _: u64) -> u64 {
    for at in (0..bytes / 8).step_by(8) {
        for k in 0..8 {
            // SAFETY: arrays are whole lines of eight words.
            unsafe { to.add(at + k).write_volatile(from.add(at + k).read_volatile()) };
        }
    }
    0
}

pub unsafe extern "C" fn read_per_line(_: Dest, from: Src, _: Src, bytes: usize, _: u64) -> u64 {
    // SAFETY: as promised by the caller; volatile, so that every line is loaded.
    let first = |line: usize| unsafe { from.add(line * 8).read_volatile() };
    (0..bytes / 64).map(first).fold(0, u64::wrapping_add)
}

pub unsafe extern "C" fn write_per_line(to: Dest, _: Src, _: Src, bytes: usize, value: u64) -> u64 {
    for line in 0..bytes / 64 {
        // SAFETY: as promised by the caller; volatile, so that every line is stored to.
        unsafe { to.add(line * 8).write_volatile(value) };
    }
    0
}
