//! Points of `filesystem/contention`.

use fathom_core::prelude::*;

pub const NAME: &str = "filesystem/contention";

pub const PATTERN: Parameter = Parameter::of("pattern", "the order in which the processes read", &PATTERNS);
pub const FIGURE: Parameter = Parameter::named(
    "figure",
    "the time of a process for a block, the total rate, or how far the slowest process is behind the mean",
);
pub const FILE: Parameter = Parameter::bytes("file", "size of each process's file");
pub const PROCESSES: Parameter = Parameter::count("processes", "processes that read at the same time");

/// Pattern: all processes read sequentially.
pub const ALL_SEQUENTIAL: &str = "all sequential";
/// Pattern: all processes read in random order.
pub const ALL_RANDOM: &str = "all random";
/// Pattern: the sequential readers of a mixture.
pub const SEQUENTIAL_AMONG: &str = "sequential among mixed";
/// Pattern: the random readers of a mixture.
pub const RANDOM_AMONG: &str = "random among mixed";
pub const PATTERNS: [&str; 4] = [ALL_SEQUENTIAL, ALL_RANDOM, SEQUENTIAL_AMONG, RANDOM_AMONG];
/// Figure: the time per block.
pub const EACH: &str = "each process";
/// Figure: the total rate.
pub const TOGETHER: &str = "all together";
/// Figure: how far the slowest process falls behind.
pub const UNFAIRNESS: &str = "slowest behind the mean";

/// Size of a block, bytes.
pub const BLOCK: u64 = 4096;
/// The usual size of a file, bytes: a thousand blocks, as in report 000.
pub const USUAL_FILE: u64 = 1000 * BLOCK;
/// Other sizes, the second only for a thorough run: whether the knee moves with them (R-FS-33).
pub const OTHER_FILES: [u64; 2] = [1 << 20, 64 << 20];
/// Number of processes with files of other sizes in a default run.
pub const OTHER_FILE_COUNT: u64 = 8;
/// Numbers of processes for files of the usual size: each up to ten, as in report 001 (R-FS-27), and up to the fifty of report 000.
pub const COUNTS: [u64; 13] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 32, 50];
/// Numbers of processes in a quick run.
pub const QUICK_COUNTS: [u64; 2] = [1, 8];
/// Numbers of processes for files of other sizes.
pub const FEW_COUNTS: [u64; 5] = [1, 2, 4, 8, 16];

pub fn point(pattern: &str, figure: &str, file: u64, processes: u64) -> Point {
    let point = Point::at(Placement::Free).named(&PATTERN, pattern).named(&FIGURE, figure);
    point.with(&FILE, file).with(&PROCESSES, processes)
}
