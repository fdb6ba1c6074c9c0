//! Every kernel, in the order of the tables.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::description::Maker::Assembly;
use super::description::Maker::{Compiler, Library};
use super::description::{Kernel, Kind, Maker, Ownership, PER_LINE, Run};
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::portable;
#[cfg(target_arch = "x86_64")]
use super::{
    avx::{avx2, avx512},
    sse, string, word,
};

const fn row(kind: Kind, method: &'static str, maker: Maker, run: Run) -> Kernel {
    let ownership = match maker {
        Library => Ownership::Unknown,
        // Arm cores that see whole lines written one after the other do not read them first ("write streaming"; Neoverse N1 TRM,
        // 6.4).
        _ if cfg!(target_arch = "aarch64") => Ownership::Streamed,
        _ => Ownership::Read,
    };
    Kernel { kind, method, needs: None, maker, ownership, run }
}

impl Kernel {
    /// The kernel of this kind and method; `None` on architectures that do not have it.
    pub fn find(kind: &str, method: &str) -> Option<&'static Kernel> {
        KERNELS.iter().find(|kernel| kernel.kind.name() == kind && kernel.method == method)
    }

    #[cfg(target_arch = "x86_64")]
    const fn needing(self, needs: &'static str) -> Kernel {
        Kernel { needs: Some(needs), ..self }
    }

    #[cfg(target_arch = "x86_64")]
    const fn around_caches(self) -> Kernel {
        Kernel { ownership: Ownership::Avoided, ..self }
    }

    /// For repeated string instructions, microcode may write whole lines without reading them first.
    #[cfg(target_arch = "x86_64")]
    const fn by_microcode(self) -> Kernel {
        Kernel { ownership: Ownership::Unknown, ..self }
    }
}

/// Every kernel of this architecture.
#[cfg(target_arch = "x86_64")]
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

/// Every kernel of this architecture.
#[cfg(target_arch = "aarch64")]
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

/// Every kernel of this architecture: those of the compiler and the C library.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub static KERNELS: &[Kernel] = &[
    row(Kind::Read, "compiled loop", Compiler, portable::read),
    row(Kind::Read, "8 words unrolled", Compiler, portable::read_unrolled),
    row(Kind::Read, PER_LINE, Compiler, portable::read_per_line),
    row(Kind::Write, "compiled loop", Compiler, portable::write),
    row(Kind::Write, "8 words unrolled", Compiler, portable::write_unrolled),
    row(Kind::Write, "memset", Library, portable::library_write),
    row(Kind::Write, PER_LINE, Compiler, portable::write_per_line),
    row(Kind::Copy, "8 words unrolled", Compiler, portable::copy_unrolled),
    row(Kind::Copy, "memcpy", Library, portable::library_copy),
    row(Kind::Scale, "compiled loop", Compiler, portable::scale),
    row(Kind::Triad, "compiled loop", Compiler, portable::triad),
];
