//! The kernels of aarch64 that stream through arrays.

use super::neon;
use crate::apparatus::memory::stream::kernel::Maker::{self, Assembly, Compiler, Library};
use crate::apparatus::memory::stream::kernel::{Kernel, Kind, Ownership, PER_LINE, Pass, portable};

pub use portable::fill;

/// Arm cores that see whole lines written one after the other do not read them first ("write streaming"; Neoverse N1 TRM, 6.4).
const fn row(kind: Kind, method: &'static str, maker: Maker, run: Pass) -> Kernel {
    Kernel::new(kind, method, maker, run, Ownership::Streamed)
}

/// Every kernel, in the order of the tables.
pub static KERNELS: &[Kernel] = &[
    row(Kind::Read, "word loop", Assembly(8), neon::read_words),
    row(Kind::Read, "compiled loop", Compiler, portable::read),
    row(Kind::Read, "8 words unrolled", Assembly(8), neon::read_unrolled),
    row(Kind::Read, "neon", Assembly(32), neon::read),
    row(Kind::Read, "neon prefetching", Assembly(32), neon::read_prefetching),
    row(Kind::Read, PER_LINE, Assembly(8), neon::read_per_line),
    row(Kind::Write, "word loop", Assembly(8), neon::write_words),
    row(Kind::Write, "compiled loop", Compiler, portable::write),
    row(Kind::Write, "8 words unrolled", Assembly(8), neon::write_unrolled),
    row(Kind::Write, "neon", Assembly(32), neon::write),
    row(Kind::Write, "neon non-temporal", Assembly(32), neon::write_non_temporal),
    row(Kind::Write, "memset", Library, portable::library_write),
    row(Kind::Write, PER_LINE, Assembly(8), neon::write_per_line),
    row(Kind::Copy, "word loop", Assembly(8), neon::copy_words),
    row(Kind::Copy, "8 words unrolled", Assembly(8), neon::copy_unrolled),
    row(Kind::Copy, "neon", Assembly(32), neon::copy),
    row(Kind::Copy, "neon prefetching", Assembly(32), neon::copy_prefetching),
    row(Kind::Copy, "neon non-temporal", Assembly(32), neon::copy_non_temporal),
    row(Kind::Copy, "memcpy", Library, portable::library_copy),
    row(Kind::Scale, "compiled loop", Compiler, portable::scale),
    row(Kind::Scale, "neon", Assembly(32), neon::scale),
    row(Kind::Scale, "neon non-temporal", Assembly(32), neon::scale_non_temporal),
    row(Kind::Triad, "compiled loop", Compiler, portable::triad),
    row(Kind::Triad, "neon", Assembly(32), neon::triad),
    row(Kind::Triad, "neon non-temporal", Assembly(32), neon::triad_non_temporal),
];
