//! Sizes of the arrays of a stream: half of each cache, so that they stay in it, and several times the last-level cache, so that
//! they do not.

use fathom_core::prelude::*;

/// Parameter: the level that holds the arrays.
pub const LEVEL: Parameter = Parameter::named(
    "level",
    "the cache that the size fits into, L1 being closest to the core, or memory; it relates rows of machines \
              with different cache sizes",
);

pub const SIZE: Parameter = Parameter::bytes("size", "all arrays of the stream together");

/// The level that holds arrays of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// In the cache of this level, 1 being nearest to the core.
    Cache(u8),
    Memory,
}

impl Level {
    const ALL: [Level; 5] =
        [Level::Cache(1), Level::Cache(2), Level::Cache(3), Level::Cache(4), Level::Memory];

    pub fn name(self) -> &'static str {
        match self {
            Level::Cache(1) => "L1",
            Level::Cache(2) => "L2",
            Level::Cache(3) => "L3",
            Level::Cache(_) => "L4",
            Level::Memory => "memory",
        }
    }

    pub fn of(point: &Point) -> Result<Level, Failure> {
        let named = |level: &Level| level.name() == point.name(&LEVEL);
        let level = Level::ALL.into_iter().find(named);
        level.ok_or_else(|| Failure::no_variant(&LEVEL, point.name(&LEVEL)))
    }
}

/// Cache sizes if none are declared: smaller than those of any current core.
const USUAL: [(u8, u64); 2] = [(1, 32 << 10), (2, 256 << 10)];
/// Size of the last-level cache if none is declared: larger than most cores' share.
const USUAL_LAST: u64 = 32 << 20;

/// Arrays in memory are this many times the last-level cache: at most a quarter of the lines can still be there.
const LEAST_TIMES_LAST_CACHE: u64 = 4;
/// Maximum size of arrays in memory, because they are filled for each trial.
const LARGEST: u64 = 1 << 30;
/// Minimum size of arrays in memory: an undeclared cache may be as large as half of it.
pub const SMALLEST: u64 = 64 << 20;

/// The caches of each level: the smallest size available to a CPU, and the largest declared size.
fn caches(machine: &Machine) -> Vec<(u8, u64, u64)> {
    let of_level = |level| {
        let cpus = machine.allowed_cpus().iter();
        let counted_on = cpus.clone().filter_map(|cpu| machine.data_cache_share_bytes(*cpu, level)).min()?;
        Some((level, counted_on, cpus.filter_map(|cpu| machine.data_cache_bytes(*cpu, level)).max()?))
    };
    let caches_of_levels: Vec<_> = (1..=4).filter_map(of_level).collect();
    if caches_of_levels.is_empty() {
        USUAL.map(|(level, size)| (level, size, size)).into()
    } else {
        caches_of_levels
    }
}

/// The sizes of a sweep with their levels, ascending. A cache hardly larger than the one before has no size: half of it would fit
/// into that one.
pub fn sizes(machine: &Machine) -> Vec<(Level, u64)> {
    let mut sizes = vec![];
    let mut before = 0;
    for (level, least, _) in caches(machine) {
        if least / 2 > before {
            sizes.push((Level::Cache(level), least / 2));
        }
        before = least;
    }
    let memory = memory_bytes(machine);
    sizes.retain(|(_, size)| *size < memory);
    sizes.push((Level::Memory, memory));
    sizes
}

/// The size of arrays in memory, with its level.
pub fn in_memory(machine: &Machine) -> (Level, u64) {
    (Level::Memory, memory_bytes(machine))
}

/// How many times the caches the arrays in memory must be if the memory is limited: every second line may still be in a cache,
/// and machines are compared with machines alike.
const BEYOND_WITHIN: u64 = 2;

/// The size of arrays in memory with at most `most` bytes; `None` if caches of `caches` bytes would hold too much of them.
pub fn memory_bytes_within(most: u64, caches: u64) -> Option<u64> {
    let bytes = most / (6 << 20) * (6 << 20);
    (bytes >= SMALLEST && bytes >= BEYOND_WITHIN.saturating_mul(caches)).then_some(bytes)
}

/// The part of the last-level cache available to one core, bytes.
pub fn last_cache_bytes(machine: &Machine) -> u64 {
    let last = machine.caches.value().and_then(|_| caches(machine).last().copied());
    last.map_or(USUAL_LAST, |(_, counted_on, _)| counted_on)
}

/// The size of arrays in memory: four times the largest last-level cache that one core uses, bytes.
pub fn memory_bytes(machine: &Machine) -> u64 {
    let caches_of_last = machine.caches.value().and_then(|_| caches(machine).last().copied());
    let last = caches_of_last.map_or(USUAL_LAST, |(_, _, most)| most);
    (LEAST_TIMES_LAST_CACHE * last).next_multiple_of(6 << 20).clamp(SMALLEST, LARGEST)
}
