//! The kernels that stream through arrays: their operations, their methods, and the bytes that must cross the bus for them.
//!
//! All except the compiler's loops and the C library's functions are our own assembly, one function each, without prologue. A
//! test disassembles them, and every trial does so again with the kernel that it runs.

mod description;
pub(crate) mod portable;

pub use crate::arch::stream::KERNELS;
pub use description::{Dest, Kernel, Kind, Maker, Ownership, PER_LINE, Pass, Src};

impl Kernel {
    /// The kernel of this kind and method; `None` on architectures that do not have it.
    pub fn find(kind: &str, method: &str) -> Option<&'static Kernel> {
        KERNELS.iter().find(|kernel| kernel.kind.name() == kind && kernel.method == method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apparatus::listing::{self, Round};

    fn round(kernel: &Kernel) -> Round {
        // SAFETY: an assembly kernel returns within a page and calls nothing.
        unsafe { listing::round(kernel.run as *const u8) }.unwrap_or_else(|| panic!("{kernel:?} has no loop"))
    }

    #[test]
    fn the_disassembled_kernels_load_and_store_each_line_in_the_accesses_that_they_claim() {
        for kernel in KERNELS {
            let Maker::Assembly(width) = kernel.maker else { continue };
            let (round, used) = (round(kernel), kernel.used_of_line());
            let expected = |arrays: u64| (Some(arrays * used / width), Some(arrays * used));
            let name = format!("{} by {}: {round:?}", kernel.kind.name(), kernel.method);
            let of_line = |count, bytes| (round.per_line(count), round.per_line(bytes));
            assert_eq!(of_line(round.loads, round.loaded), expected(kernel.kind.loaded()), "{name}");
            assert_eq!(of_line(round.stores, round.stored), expected(kernel.kind.stored()), "{name}");
            let around = if kernel.is_non_temporal() { round.stores } else { 0 };
            assert_eq!(round.non_temporal, around, "{name}");
            let asked_for = u64::from(kernel.method.ends_with("prefetching"));
            assert_eq!(round.per_line(round.prefetches), Some(asked_for), "{name}");
        }
    }

    #[test]
    fn bus_bytes_follow_from_the_read_for_ownership() {
        let of = |kind, method| Kernel::find(kind, method).map(Kernel::bus_bytes);
        assert_eq!(of("read", PER_LINE), Some((8.0, 8.0)), "64 bytes for 8");
        assert_eq!(of("write", "memset"), Some((1.0, 2.0)), "the library chooses");
        if std::env::consts::ARCH == "aarch64" {
            assert_eq!(of("read", "neon"), Some((1.0, 1.0)));
            assert_eq!(of("write", "neon"), Some((1.0, 2.0)), "the core chooses");
            assert_eq!(of("copy", "neon non-temporal"), Some((1.0, 1.5)), "and may ignore the request");
            return;
        }
        assert_eq!(of("read", "sse"), Some((1.0, 1.0)));
        assert_eq!(of("write", "sse"), Some((2.0, 2.0)), "each line written is also read");
        assert_eq!(of("write", "sse non-temporal"), Some((1.0, 1.0)));
        assert_eq!(of("copy", "sse"), Some((1.5, 1.5)), "three lines move for two");
        assert_eq!(of("triad", "sse"), Some((4.0 / 3.0, 4.0 / 3.0)));
    }
}
