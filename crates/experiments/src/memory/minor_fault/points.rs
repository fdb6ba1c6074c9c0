//! Points of `memory/minor_fault`: the pages, and how they are touched.

use fathom_core::experiment::{Parameter, Point, Scale};

/// Name of the experiment, also for other experiments.
pub const NAME: &str = "memory/minor_fault";

/// Parameter: the page, and how it is touched.
pub const ACCESS: Parameter =
    Parameter { name: "access", meaning: "which page is touched, and how", scale: Scale::Name };
/// Parameter: the amount of memory.
pub const BATCH: Parameter = Parameter {
    name: "batch",
    meaning: "memory that is touched page by page between two readings of the clock",
    scale: Scale::Bytes,
};

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

/// The point of clearing a page without a fault, for predictions.
pub fn cleared_point() -> Point {
    point(CLEARED, SMALL)
}

/// The point of a fault on one page in the page cache, for predictions.
pub fn cached_point() -> Point {
    point(CACHED_ALONE, SMALL)
}

/// The point of a fault in the page cache that maps the neighbours too, for predictions.
pub fn with_neighbours_point() -> Point {
    point(CACHED, SMALL)
}

/// The point of the first write to a page of a shared file, for predictions.
pub fn written_shared_point() -> Point {
    point(CACHED_SHARED, SMALL)
}
