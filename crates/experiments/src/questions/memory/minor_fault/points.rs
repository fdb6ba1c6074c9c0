//! Points of `memory/minor_fault`: the pages, and how they are touched; and what other questions expect from them.

use crate::apparatus::memory::stream::kernel::{Kernel, Kind};
use crate::apparatus::memory::stream::working_set;
use crate::questions::memory::bandwidth;
use fathom_core::prelude::*;

/// Name of the experiment, also for other experiments.
pub const NAME: &str = "memory/minor_fault";

pub const ACCESS: Parameter = Parameter::named("access", "which page is touched, and how");
pub const BATCH: Parameter =
    Parameter::bytes("batch", "memory that is touched page by page between two readings of the clock");

/// Touch: a page written completely by the program, without a fault.
pub const CLEARED: &str = "no fault: cleared by the program";
/// Touch: anonymous memory, read.
pub const FIRST_READ: &str = "anonymous, first read";
/// Touch: anonymous memory, written.
pub const FIRST_WRITE: &str = "anonymous, first write";
/// Touch: anonymous pages populated by one system call.
pub const POPULATED: &str = "anonymous, populated by one call";
/// Touch: a huge page, written.
pub const HUGE: &str = "anonymous huge page, first write";
/// Touch: a page in the page cache, with its neighbours mapped.
pub const CACHED: &str = "cached file, read with neighbours";
/// Touch: a page in the page cache, alone.
pub const CACHED_ALONE: &str = "cached file, read, page by page";
/// Touch: a page of a file written through a shared mapping.
pub const CACHED_SHARED: &str = "cached file, written, shared";
/// Touch: the same through a private mapping.
pub const CACHED_PRIVATE: &str = "cached file, written, private copy";
/// Touch: a page shared after fork, written by the child.
pub const CHILD: &str = "after fork, written by the child";
/// Touch: the same, written by the parent.
pub const PARENT: &str = "after fork, written by the parent";
/// Touch: the same, when it is no longer shared.
pub const SURVIVOR: &str = "after fork, written when the child is gone";

/// The usual batch, bytes: about the size of a second-level cache, with five hundred faults between two readings.
pub const SMALL: u64 = 2 << 20;
/// A batch larger than one core's share of most last-level caches, bytes.
pub const LARGE: u64 = 64 << 20;
/// Four huge pages of the usual size, bytes.
pub const HUGE_STRETCH: u64 = 8 << 20;

/// Every point, in the order of the table.
pub fn all() -> Vec<Point> {
    let small = [
        CLEARED,
        FIRST_READ,
        FIRST_WRITE,
        POPULATED,
        CACHED,
        CACHED_ALONE,
        CACHED_SHARED,
        CACHED_PRIVATE,
        CHILD,
        PARENT,
        SURVIVOR,
    ];
    let mut points: Vec<Point> = small.map(|access| point(access, SMALL)).into();
    points.insert(3, point(FIRST_WRITE, LARGE));
    points.insert(4, point(HUGE, HUGE_STRETCH));
    points
}

/// The point of a way to touch the pages of a stretch of memory.
pub fn point(access: &str, batch: u64) -> Point {
    Point::new().named(&ACCESS, access).with(&BATCH, batch)
}

/// The point of a fault on one page in the page cache, for predictions.
pub fn cached_point() -> Point {
    point(CACHED_ALONE, SMALL)
}

/// The cost of clearing a page without a fault, as measured in this run, else at an assumed bandwidth.
pub fn page_cleared(known: &Known, page_bytes: f64) -> Basis {
    known.measured_or(
        NAME,
        &point(CLEARED, SMALL),
        page_bytes / 10.0,
        "a base page cleared at 10 GB/s, which one core of most machines reaches",
    )
}

/// The cost of clearing a page of a batch: of one that is larger than what was cleared without a fault, and than the cache near the core, its
/// bytes go to memory, at the rate of a kernel's own instruction for it as measured in this run.
pub fn page_of_batch_cleared(known: &Known, page_bytes: f64, batch: u64) -> Basis {
    let machine = known.machine;
    let near = machine.data_cache_bytes(machine.measured_cpu(), 2).unwrap_or(SMALL);
    if batch <= near.max(SMALL) {
        return page_cleared(known, page_bytes);
    }
    let written = |method: &&str| {
        let kernel = Kernel::find(Kind::Write.name(), method)?;
        let point = bandwidth::point(kernel, working_set::in_memory(machine));
        Some((known.median("memory/bandwidth", &point)?, point))
    };
    let rate = STORED_BY.iter().find_map(written);
    match rate {
        Some((bytes_per_second, point)) => {
            Basis::measured(page_bytes * 1e9 / bytes_per_second, "memory/bandwidth", point)
        }
        None => Basis::assumed(page_bytes / 10.0, "a base page cleared in memory at 10 GB/s"),
    }
}

/// How kernels clear pages, of what the architecture has: on x86-64 by one instruction. A run that did not measure the first has the
/// other, which libraries do alike.
const STORED_BY: [&str; 2] = ["rep stos", "memset"];

/// The cost of a fault on a page in the page cache, as measured in this run, else assumed.
pub fn minor(known: &Known) -> Basis {
    known.measured_or_assumed(
        NAME,
        &cached_point(),
        800.0,
        "a minor fault on a page of a file in about 0.8 µs",
    )
}

/// The cost of a fault on a page in the page cache whose neighbours are mapped with it.
pub fn minor_with_neighbours(known: &Known) -> Basis {
    let (point, citation) = (point(CACHED, SMALL), "a minor fault on a page of a file in about 0.8 µs");
    known.measured_or(NAME, &point, 800.0, citation)
}

/// The cost of the first write to a page of a shared file, as measured in this run; else that of any fault.
pub fn made_writable(known: &Known) -> Basis {
    let written = known.measured(NAME, &point(CACHED_SHARED, SMALL));
    written.unwrap_or_else(|| minor(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pages of a huge page were predicted at 32 GB/s, the rate of a cache, where memory is written at 8.
    #[test]
    fn a_batch_beyond_the_cache_near_the_core_is_cleared_at_the_rate_of_memory() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        let cleared = |known: &Known, batch| page_of_batch_cleared(known, 4096.0, batch).value;
        known.learn(NAME, &point(CLEARED, SMALL), fathom_described::found(128.0, Unit::Nanoseconds));
        let near = |value: f64, other: f64| (value / other - 1.0).abs() < 1e-9;
        assert!(near(cleared(&known, SMALL), 128.0));
        assert!(near(cleared(&known, HUGE_STRETCH), 409.6), "no rate of memory is known");
        let written = |kernel: &Kernel| bandwidth::point(kernel, working_set::in_memory(&machine));
        let of_architecture = STORED_BY.iter().filter_map(|method| Kernel::find(Kind::Write.name(), method));
        // A quick run measures the last of them alone.
        for (kernel, gb_per_second) in of_architecture.rev().zip([10.24, 8.0]) {
            let rate = 1e9 * gb_per_second;
            fathom_described::plant(&mut known, &bandwidth::Bandwidth, [(written(kernel), rate)]);
            assert!(near(cleared(&known, HUGE_STRETCH), 4096.0 / gb_per_second));
        }
        assert!(near(cleared(&known, SMALL), 128.0), "as many bytes as were cleared without a fault");
    }
}
