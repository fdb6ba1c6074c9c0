//! The kernels of x86-64 that stream through arrays.

mod avx;
mod sse;
mod string;
mod word;

use crate::apparatus::memory::stream::kernel::Maker::{self, Assembly, Compiler, Library};
use crate::apparatus::memory::stream::kernel::{Kernel, Kind, Ownership, PER_LINE, Pass, portable};
use avx::{avx2, avx512};
use core::arch::x86_64::{_mm_sfence, _mm_stream_si64};

/// Stores consecutive words around the caches: no line is read before it is written, so large memory is filled at more than twice
/// the speed, and the caches do not hold the words stored last.
///
/// # Safety
/// There is room for all words from `first` on.
pub unsafe fn fill(first: *mut u64, words: impl Iterator<Item = u64>) {
    for (at, word) in words.enumerate() {
        // SAFETY: as the caller guarantees; every processor of the architecture has the instruction.
        unsafe { _mm_stream_si64(first.add(at).cast(), word as i64) };
    }
    // SAFETY: no operand.
    unsafe { _mm_sfence() };
}

const fn row(kind: Kind, method: &'static str, maker: Maker, run: Pass) -> Kernel {
    Kernel::new(kind, method, maker, run, Ownership::Read)
}

impl Kernel {
    const fn needing(self, needs: &'static str) -> Kernel {
        Kernel { needs: Some(needs), ..self }
    }

    const fn around_caches(self) -> Kernel {
        Kernel { ownership: Ownership::Avoided, ..self }
    }

    /// For repeated string instructions, microcode may write whole lines without reading them first.
    const fn by_microcode(self) -> Kernel {
        Kernel { ownership: Ownership::Unknown, ..self }
    }
}

/// Every kernel, in the order of the tables.
pub static KERNELS: &[Kernel] = &[
    row(Kind::Read, "word loop", Assembly(8), word::read),
    row(Kind::Read, "compiled loop", Compiler, portable::read),
    row(Kind::Read, "8 words unrolled", Assembly(8), word::read_unrolled),
    row(Kind::Read, "sse", Assembly(16), sse::read),
    row(Kind::Read, "avx2", Assembly(32), avx2::read).needing("avx2"),
    row(Kind::Read, "avx2 prefetching", Assembly(32), avx2::read_prefetching).needing("avx2"),
    row(Kind::Read, "avx512", Assembly(64), avx512::read).needing("avx512f"),
    row(Kind::Read, "avx512 prefetching", Assembly(64), avx512::read_prefetching).needing("avx512f"),
    row(Kind::Read, "rep lods", Assembly(8), string::load),
    row(Kind::Read, PER_LINE, Assembly(8), word::read_per_line),
    row(Kind::Write, "word loop", Assembly(8), word::write),
    row(Kind::Write, "compiled loop", Compiler, portable::write),
    row(Kind::Write, "8 words unrolled", Assembly(8), word::write_unrolled),
    row(Kind::Write, "sse", Assembly(16), sse::write),
    row(Kind::Write, "sse non-temporal", Assembly(16), sse::write_non_temporal).around_caches(),
    row(Kind::Write, "avx2", Assembly(32), avx2::write).needing("avx2"),
    row(Kind::Write, "avx2 non-temporal", Assembly(32), avx2::write_non_temporal)
        .needing("avx2")
        .around_caches(),
    row(Kind::Write, "avx512", Assembly(64), avx512::write).needing("avx512f"),
    row(Kind::Write, "avx512 non-temporal", Assembly(64), avx512::write_non_temporal)
        .needing("avx512f")
        .around_caches(),
    row(Kind::Write, "rep stos", Assembly(8), string::store).by_microcode(),
    row(Kind::Write, "memset", Library, portable::library_write),
    row(Kind::Write, PER_LINE, Assembly(8), word::write_per_line),
    row(Kind::Copy, "word loop", Assembly(8), word::copy),
    row(Kind::Copy, "8 words unrolled", Assembly(8), word::copy_unrolled),
    row(Kind::Copy, "sse", Assembly(16), sse::copy),
    row(Kind::Copy, "sse non-temporal", Assembly(16), sse::copy_non_temporal).around_caches(),
    row(Kind::Copy, "avx2", Assembly(32), avx2::copy).needing("avx2"),
    row(Kind::Copy, "avx2 prefetching", Assembly(32), avx2::copy_prefetching).needing("avx2"),
    row(Kind::Copy, "avx2 non-temporal", Assembly(32), avx2::copy_non_temporal)
        .needing("avx2")
        .around_caches(),
    row(Kind::Copy, "avx2 non-temporal, two halves", Assembly(32), avx2::copy_halves_non_temporal)
        .needing("avx2")
        .around_caches(),
    row(Kind::Copy, "avx512", Assembly(64), avx512::copy).needing("avx512f"),
    row(Kind::Copy, "avx512 prefetching", Assembly(64), avx512::copy_prefetching).needing("avx512f"),
    row(Kind::Copy, "avx512 non-temporal", Assembly(64), avx512::copy_non_temporal)
        .needing("avx512f")
        .around_caches(),
    row(Kind::Copy, "avx512 non-temporal, two halves", Assembly(64), avx512::copy_halves_non_temporal)
        .needing("avx512f")
        .around_caches(),
    row(Kind::Copy, "rep movs", Assembly(8), string::transfer).by_microcode(),
    row(Kind::Copy, "memcpy", Library, portable::library_copy),
    row(Kind::Scale, "compiled loop", Compiler, portable::scale),
    row(Kind::Scale, "sse", Assembly(16), sse::scale),
    row(Kind::Scale, "avx2", Assembly(32), avx2::scale).needing("avx2"),
    row(Kind::Scale, "avx2 non-temporal", Assembly(32), avx2::scale_non_temporal)
        .needing("avx2")
        .around_caches(),
    row(Kind::Scale, "avx512", Assembly(64), avx512::scale).needing("avx512f"),
    row(Kind::Scale, "avx512 non-temporal", Assembly(64), avx512::scale_non_temporal)
        .needing("avx512f")
        .around_caches(),
    row(Kind::Triad, "compiled loop", Compiler, portable::triad),
    row(Kind::Triad, "sse", Assembly(16), sse::triad),
    row(Kind::Triad, "avx2", Assembly(32), avx2::triad).needing("avx2"),
    row(Kind::Triad, "avx2 non-temporal", Assembly(32), avx2::triad_non_temporal)
        .needing("avx2")
        .around_caches(),
    row(Kind::Triad, "avx512", Assembly(64), avx512::triad).needing("avx512f"),
    row(Kind::Triad, "avx512 non-temporal", Assembly(64), avx512::triad_non_temporal)
        .needing("avx512f")
        .around_caches(),
];
