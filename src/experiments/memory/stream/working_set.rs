//! How large the arrays of a stream are: half of each cache, so that they stay in it, and several times the last cache,
//! so that they do not.

use crate::experiment::{Failure, Parameter, Point, Scale};
use crate::machine::Machine;

/// Where the arrays stand.
pub const LEVEL: Parameter = Parameter {
    name: "level",
    meaning: "the cache that the size fits into, L1 being closest to the core, or memory; it relates rows of machines \
              with different cache sizes",
    scale: Scale::Name,
};

/// The bytes of all arrays together.
pub const SIZE: Parameter =
    Parameter { name: "size", meaning: "all arrays of the stream together", scale: Scale::Bytes };

/// Where arrays of a size stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// In the cache of this level, 1 being nearest to the core.
    Cache(u8),
    /// In memory.
    Memory,
}

impl Level {
    const ALL: [Level; 5] =
        [Level::Cache(1), Level::Cache(2), Level::Cache(3), Level::Cache(4), Level::Memory];

    /// The value of [`LEVEL`].
    pub fn name(self) -> &'static str {
        match self {
            Level::Cache(1) => "L1",
            Level::Cache(2) => "L2",
            Level::Cache(3) => "L3",
            Level::Cache(_) => "L4",
            Level::Memory => "memory",
        }
    }

    /// The level that a point names.
    pub fn of(point: &Point) -> Result<Level, Failure> {
        let named = |level: &Level| level.name() == point.name(&LEVEL);
        let found = Level::ALL.into_iter().find(named);
        found.ok_or_else(|| Failure::no_variant(&LEVEL, point.name(&LEVEL)))
    }
}

/// Caches where nobody tells of any: smaller than those of any current core.
const USUAL: [(u8, u64); 2] = [(1, 32 << 10), (2, 256 << 10)];
/// A last cache where nobody tells of any: larger than most cores' share.
const USUAL_LAST: u64 = 32 << 20;

/// Beyond the last cache means this many times its size: a quarter of the lines at most can still be there.
const BEYOND: u64 = 4;
/// But arrays that are zeroed for each trial should not be larger than this.
const LARGEST: u64 = 1 << 30;
/// Nor smaller than this: a cache of which nobody tells may be as large as half of it.
pub const SMALLEST: u64 = 64 << 20;

/// The caches of each level: what the CPU that has the least may count on, and what is declared of the one that has the most.
fn caches(machine: &Machine) -> Vec<(u8, u64, u64)> {
    let of_level = |level| {
        let cpus = machine.allowed_cpus().iter();
        let counted_on = cpus.clone().filter_map(|cpu| machine.data_cache_share_bytes(*cpu, level)).min()?;
        Some((level, counted_on, cpus.filter_map(|cpu| machine.data_cache_bytes(*cpu, level)).max()?))
    };
    let found: Vec<_> = (1..=4).filter_map(of_level).collect();
    if found.is_empty() { USUAL.map(|(level, size)| (level, size, size)).into() } else { found }
}

/// The sizes of a sweep with where their arrays stand, ascending. A cache that is hardly larger than the one before has
/// none: half of it would fit into that.
pub fn sizes(machine: &Machine) -> Vec<(Level, u64)> {
    let mut found = vec![];
    let mut before = 0;
    for (level, least, _) in caches(machine) {
        if least / 2 > before {
            found.push((Level::Cache(level), least / 2));
        }
        before = least;
    }
    let memory = memory_bytes(machine);
    found.retain(|(_, size)| *size < memory);
    found.push((Level::Memory, memory));
    found
}

/// The size that stands in memory, with its level.
pub fn in_memory(machine: &Machine) -> (Level, u64) {
    (Level::Memory, memory_bytes(machine))
}

/// How many times the caches arrays must be that stand in memory where it is asked for little of it: every second line may still
/// be in a cache, and machines are compared with their like.
const BEYOND_WITHIN: u64 = 2;

/// Arrays of at most so many bytes that stand in memory; `None` where caches of so many bytes hold too much of them.
pub fn memory_bytes_within(most: u64, caches: u64) -> Option<u64> {
    let bytes = most / (6 << 20) * (6 << 20);
    (bytes >= SMALLEST && bytes >= BEYOND_WITHIN.saturating_mul(caches)).then_some(bytes)
}

/// What one core can count on of its last cache, bytes.
pub fn last_cache_bytes(machine: &Machine) -> u64 {
    let told = machine.caches.value().and_then(|_| caches(machine).last().copied());
    told.map_or(USUAL_LAST, |(_, counted_on, _)| counted_on)
}

/// Arrays that stand in memory: four times the largest last-level cache that one core uses.
pub fn memory_bytes(machine: &Machine) -> u64 {
    let told = machine.caches.value().and_then(|_| caches(machine).last().copied());
    let last = told.map_or(USUAL_LAST, |(_, _, most)| most);
    (BEYOND * last).next_multiple_of(6 << 20).clamp(SMALLEST, LARGEST)
}
