//! Points of `filesystem/read`, with their effort.

use crate::apparatus::filesystem::uring::{INTERVAL, LATENCY};
use fathom_core::prelude::*;

pub const NAME: &str = "filesystem/read";

pub const STATE: Parameter = Parameter::named(
    "state",
    "where the bytes come from: past the page cache (direct), through it but not in it (cold), or from it \
              (warm)",
);
pub const ORDER: Parameter = Parameter::of("order", "the order of the blocks", &[SEQUENTIAL, RANDOM]);
pub const CALL: Parameter =
    Parameter::of("call", "the call that reads", &[READ, PREAD, SEEK, MMAP, IO_URING]);
pub const BLOCK: Parameter = Parameter::bytes("block", "bytes of one operation");
pub const FILE: Parameter = Parameter::bytes("file", "size of the file");
pub const READ_AHEAD: Parameter =
    Parameter::of("read_ahead", "whether the kernel may read more than is requested", &[OFF]);
pub const QUEUE_DEPTH: Parameter = Parameter::count("queue_depth", "requests in flight");
pub const FIGURE: Parameter = Parameter::named(
    "figure",
    "with several requests in flight: the latency of each, or the time from one completion to the next",
);

/// State: direct I/O, past the page cache.
pub const DIRECT: &str = "direct";
/// State: through the page cache, without cached pages.
pub const COLD: &str = "cold";
/// State: in the page cache.
pub const WARM: &str = "warm";
/// Order: one block after another.
pub const SEQUENTIAL: &str = "sequential";
/// Order: random blocks.
pub const RANDOM: &str = "random";
pub const READ: &str = "read";
pub const PREAD: &str = "pread";
/// Calls: `lseek`, then `read`.
pub const SEEK: &str = "lseek + read";
/// Call: loads from a mapping.
pub const MMAP: &str = "mmap";
/// Call: `io_uring`, with several requests in flight.
pub const IO_URING: &str = "io_uring";
/// Read-ahead: off.
pub const OFF: &str = "off";

/// The block size of the common file systems, and of the reports.
pub const USUAL_BLOCK: u64 = 4096;
/// The size of the file at all points that do not vary it.
pub const USUAL_FILE: u64 = 64 << 20;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// File sizes by factors of 4 to 16, as in the reports (R-FS-09); the largest on request.
pub const FILES: [u64; 8] = [4 * KIB, 64 * KIB, MIB, 16 * MIB, 64 * MIB, 256 * MIB, GIB, 4 * GIB];
/// Sizes about those at which report 002 saw sequential reading end (R-FS-15).
const SMALL: [u64; 3] = [16 * KIB, 32 * KIB, 128 * KIB];
const BLOCKS: [u64; 5] = [512, 16 * KIB, 64 * KIB, 256 * KIB, MIB];
/// Numbers of requests in flight.
pub const QUEUE_DEPTHS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// A point of the sweep over files; all others vary it.
pub fn at(state: &str, order: &str, call: &str, block: u64, file: u64) -> Point {
    let point = Point::new().named(&STATE, state).named(&ORDER, order).named(&CALL, call);
    point.with(&BLOCK, block).with(&FILE, file)
}

pub fn usual_call(order: &str) -> &'static str {
    if order == RANDOM { PREAD } else { READ }
}

/// The point of a block of 4 KiB with the usual call.
pub fn usual(state: &str, order: &str, file: u64) -> Point {
    at(state, order, usual_call(order), USUAL_BLOCK, file)
}

/// Every point, in the order of the table: each may be predicted from those before it.
pub fn all() -> Vec<Point> {
    let mut points = vec![];
    // Direct I/O first: reading through the cache is predicted from the device's time.
    for state in [DIRECT, COLD, WARM] {
        for order in [SEQUENTIAL, RANDOM] {
            points.extend(FILES.map(|file| usual(state, order, file)));
        }
        if state != COLD {
            for order in [SEQUENTIAL, RANDOM] {
                points.extend(BLOCKS.map(|block| at(state, order, usual_call(order), block, USUAL_FILE)));
            }
        }
    }
    points.extend([SEQUENTIAL, RANDOM].iter().flat_map(|order| SMALL.map(|file| usual(DIRECT, order, file))));
    points.extend(other_calls());
    points.extend(mapped_by_size());
    points.extend(
        [LATENCY, INTERVAL].into_iter().flat_map(|figure| QUEUE_DEPTHS.map(|depth| queue(depth, figure))),
    );
    points
}

fn other_calls() -> Vec<Point> {
    let usual = |state, order, call| at(state, order, call, USUAL_BLOCK, USUAL_FILE);
    let without = |point: Point| point.named(&READ_AHEAD, OFF);
    vec![
        usual(DIRECT, RANDOM, SEEK),
        usual(WARM, RANDOM, SEEK),
        usual(WARM, SEQUENTIAL, PREAD),
        usual(WARM, SEQUENTIAL, MMAP),
        usual(WARM, RANDOM, MMAP),
        usual(COLD, SEQUENTIAL, MMAP),
        usual(COLD, RANDOM, MMAP),
        without(usual(COLD, SEQUENTIAL, READ)),
        without(usual(COLD, SEQUENTIAL, MMAP)),
        without(usual(COLD, RANDOM, MMAP)),
    ]
}

/// The sizes of mapped files besides the usual one (R-FS-01).
const MAPPED: [u64; 4] = [MIB, 16 * MIB, 256 * MIB, GIB];

/// Pages at random of mapped files by size: each faulting, and again when all of them are mapped.
fn mapped_by_size() -> impl Iterator<Item = Point> {
    let of = |file| [COLD, WARM].map(|state| at(state, RANDOM, MMAP, USUAL_BLOCK, file));
    MAPPED.into_iter().flat_map(of)
}

/// The point of the largest sequential blocks of a file with direct I/O, which shows the device's rate.
pub fn largest_direct() -> Point {
    at(DIRECT, SEQUENTIAL, READ, MIB, USUAL_FILE)
}

/// The measured queue depths, each with the latency of a request, nanoseconds.
pub fn waits_by_depth(known: &Known) -> Vec<(u64, f64)> {
    let wait = |depth| Some((depth, known.median(NAME, &queue(depth, LATENCY))?));
    QUEUE_DEPTHS.into_iter().filter_map(wait).collect()
}

/// The point of random direct reads with several in flight.
pub fn queue(depth: u64, figure: &str) -> Point {
    at(DIRECT, RANDOM, IO_URING, USUAL_BLOCK, USUAL_FILE).with(&QUEUE_DEPTH, depth).named(&FIGURE, figure)
}

/// The effort from which on a point is measured.
pub fn effort(point: &Point) -> Effort {
    let (file, warm) = (point.number(&FILE), point.name(&STATE) == WARM);
    let sweep = point.get(READ_AHEAD.name).is_none() && point.name(&CALL) == usual_call(point.name(&ORDER));
    match point.number(&QUEUE_DEPTH) {
        _ if SMALL.contains(&file) => Effort::Thorough,
        _ if file > GIB || (warm && file > 256 * MIB) => Effort::Thorough,
        1 | 32 => Effort::Quick,
        0 if sweep
            && [USUAL_BLOCK, MIB].contains(&point.number(&BLOCK))
            && [64 * KIB, USUAL_FILE].contains(&file) =>
        {
            Effort::Quick
        }
        _ => Effort::Standard,
    }
}
