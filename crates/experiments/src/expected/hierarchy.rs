//! Expected latency of a load, from the machine's declarations and published figures: the cache levels before memory, the share
//! of a set that each of them holds, and the cost of address translation.

use crate::expected::core_facts;
use fathom_core::machine::TlbKind;
use fathom_core::prelude::*;
use std::borrow::Cow;

/// A level that may serve a load.
pub struct Level {
    /// Its name: `L1`, `L2`, …, `memory`.
    pub name: String,
    /// Capacity for this machine's cores, bytes.
    pub bytes: f64,
    /// Associativity, and the distance in bytes at which addresses share a set; `None` if it is not declared, and for a
    /// third-level cache, which distributes addresses by a hash of all their bits.
    ways: Option<(f64, f64)>,
    /// Latency of a load that it serves.
    latency: Basis,
}

impl Level {
    /// Latency of a load that it serves, nanoseconds.
    pub fn latency(&self) -> Basis {
        self.latency.clone()
    }
}

/// The declared data caches by level, bytes.
pub fn declared(machine: &Machine) -> Vec<(u8, u64)> {
    let cpu = machine.measured_cpu();
    let last = machine.last_level(cpu).unwrap_or(0);
    (1..=last).filter_map(|level| Some((level, machine.data_cache_bytes(cpu, level)?))).collect()
}

/// The capacities that a sweep of sizes may show.
pub fn landmarks(machine: &Machine, along: &Parameter) -> Vec<Landmark> {
    let cpu = machine.measured_cpu();
    let landmark = |name: String, bytes: u64, is_share: bool| Landmark {
        along: along.name,
        at: bytes as f64,
        name: format!("{name} {}", fathom_core::quantity::declared::size(bytes)),
        is_share,
    };
    let of_level = |(level, bytes): (u8, u64)| {
        let share = machine.data_cache_share_bytes(cpu, level).filter(|share| *share < bytes);
        let share = share.map(|share| landmark(format!("L{level}, the share of the CPUs here"), share, true));
        share.into_iter().chain([landmark(format!("L{level}"), bytes, false)])
    };
    declared(machine).into_iter().flat_map(of_level).collect()
}

/// Cache sizes of a typical core, if the machine does not declare its own.
const USUAL: [(u8, u64); 3] = [(1, 32 << 10), (2, 1 << 20), (3, 16 << 20)];

/// The levels in the order in which a load looks them up; the last is memory, which holds everything.
pub fn levels(known: &Known) -> Vec<Level> {
    let declared = declared(known.machine);
    let caches = if declared.is_empty() { USUAL.to_vec() } else { declared };
    let cpu = known.machine.measured_cpu();
    let cache = |(level, bytes): (u8, u64)| {
        let share = known.machine.data_cache_share_bytes(cpu, level).unwrap_or(bytes);
        let ways = known.machine.data_cache(cpu, level).and_then(|cache| cache.ways.value().copied());
        let ways = ways.filter(|ways| *ways > 0 && level < 3).map(f64::from);
        Level {
            name: format!("L{level}"),
            bytes: share as f64,
            ways: ways.map(|ways| (ways, bytes as f64 / ways)),
            latency: cache_latency(known, level),
        }
    };
    let latency = memory_latency(known.machine);
    let memory = Level { name: "memory".to_owned(), bytes: f64::INFINITY, ways: None, latency };
    caches.into_iter().map(cache).chain([memory]).collect()
}

fn cache_latency(known: &Known, level: u8) -> Basis {
    let core = core_facts::of(known.machine);
    match level {
        1 | 2 => known.cycles(core.cache_cycles[usize::from(level) - 1], &core.source),
        3 => third_cache_latency(known),
        _ => known
            .assumed_cycles(120.0, "a fourth level is assumed to lie half way between the third and memory"),
    }
}

/// On a mesh the third-level cache has its own clock, and hops add to its latency; if cores share it on a ring or in a cluster,
/// it runs at their clock.
fn third_cache_latency(known: &Known) -> Basis {
    let vendor = known.machine.processor.vendor.value().map(String::as_str);
    match vendor {
        Some("AuthenticAMD") => known.cycles(50.0, AMD),
        Some("GenuineIntel") if core_facts::has_tiles(known.machine) => Basis::published(33.0, TILES),
        Some("GenuineIntel") if known.machine.is_server() => Basis::published(26.0, MESH),
        Some("GenuineIntel") => known.cycles(60.0, INTEL),
        _ if known.machine.is_aarch64() && known.machine.is_server() => Basis::published(30.0, ARM_MESH),
        _ => known.cycles(38.0, "Molka et al., PACT 2009: 38 cycles on Nehalem"),
    }
}

const AMD: &str =
    "AMD, Software Optimization Guide for the Zen 4 Microarchitecture (57647): 50 cycles on average";
const INTEL: &str = "Intel 64 and IA-32 Architectures Optimization Reference Manual: 50 to 70 cycles";
const TILES: &str =
    "Chips and Cheese, A Peek at Sapphire Rapids (2023): 33 ns across the mesh of a package of tiles";
const MESH: &str = "AnandTech, Skylake-EP against EPYC 7000 (2017): 25 to 27 ns across Intel's mesh";
const ARM_MESH: &str = "AnandTech, Amazon's Graviton2 (2020): 30 ns across Arm's mesh";

fn memory_latency(machine: &Machine) -> Basis {
    if machine.is_server() {
        let servers = "idle memory of servers: 89 to 98 ns on Skylake-SP and EPYC 7601, 113 to 134 ns on EPYC 7742 (AnandTech, 2017 \
                       and 2019); their geometric mean";
        return Basis::published(110.0, servers);
    }
    Basis::published(
        90.0,
        "report 000, table of memory latency: a random chase over 128 MiB takes 110 ns, of which about 20 ns are page walks",
    )
}

/// Lines that one core keeps in flight to memory with the prefetches of its second-level cache: 48 on Intel's since Sunny Cove,
/// 64 on AMD's since Zen 3, by their vendors' presentations.
pub fn lines_in_flight(machine: &Machine) -> f64 {
    match machine.processor.vendor.value().map(String::as_str) {
        Some("AuthenticAMD") => 64.0,
        _ => 48.0,
    }
}

/// The latency of memory for dependent loads: the last of [`levels`], for calculations of lines in flight.
pub fn of_memory(known: &Known) -> Basis {
    memory_latency(known.machine)
}

/// The share of a set that a cache with random replacement still holds when the set is read cyclically; a set that fits is held
/// completely. Set and capacity in the same unit.
///
/// Every load that misses evicts one of `capacity` entries at random. Between two visits of an element `set` × (1 - h) loads
/// miss, so it survives with probability h = exp(-(1 - h) set / capacity), whose smallest solution is the share. (With exact
/// least-recently-used replacement it would be 0, and with as many sets by chance as lines a little more.)
pub fn retained(capacity: f64, set: f64) -> f64 {
    if set <= capacity {
        return 1.0;
    }
    // The iteration is monotone; far from the capacity it converges in a few steps.
    let mut share: f64 = 0.0;
    for _ in 0..500 {
        let next = (-(1.0 - share) * set / capacity).exp();
        if next - share < 1e-13 {
            return next;
        }
        share = next;
    }
    share
}

/// The same for a set in physical frames of `frame` bytes at random positions: the number of frames that share a colour of the
/// cache varies around its associativity (Kessler and Hill, Page placement algorithms for large real-indexed caches, 1992). A
/// line's own colour has its own frame and a Poisson number of others.
fn kept_of_frames(level: &Level, set: f64, frame: f64) -> f64 {
    let share = kept_at_random(level, set, frame);
    // First-level caches replace nearly the oldest line (a tree of bits, pseudo-LRU: Abel and Reineke, Measurement-based modeling of the
    // cache replacement policy, RTAS 2013). The oldest would leave nothing of a set that is too large, a random one leaves this; the
    // tree is between them.
    if level.name == "L1" && share < 1.0 { share / 2.0 } else { share }
}

fn kept_at_random(level: &Level, set: f64, frame: f64) -> f64 {
    let Some((ways, apart)) = level.ways.filter(|(_, apart)| *apart > frame) else {
        return retained(level.bytes, set);
    };
    let others = set / apart;
    let most = others + 10.0 * others.sqrt() + 10.0;
    let mut chance = (-others).exp();
    let mut share: f64 = 0.0;
    for number in 0..most as u32 {
        share += chance * retained(ways, f64::from(number) + 1.0);
        chance *= others / (f64::from(number) + 1.0);
    }
    // If the set is many times the cache, there is nothing to sum.
    share.min(1.0)
}

/// The bytes known to be contiguous in physical memory: at most a base page in a guest, because its host may map the guest's huge
/// pages by base pages.
fn frame(machine: &Machine, page: u64) -> f64 {
    if machine.is_virtual() { machine.page_bytes() as f64 } else { page as f64 }
}

/// Shares below this are left out of a derivation.
const NEGLIGIBLE: f64 = 5e-4;

/// The share of loads served by each level, in the order of the levels, of which each holds this share of the set.
fn shares(levels: &[Level], share_at: impl Fn(&Level) -> f64) -> Vec<f64> {
    let mut held = 0.0;
    let share = |level: &Level| {
        let now = share_at(level).max(held);
        let share = now - held;
        held = now;
        share
    };
    levels.iter().map(share).collect()
}

/// Adds the latency from caches and memory for a load from a set of `set` bytes on pages of `page` bytes, visited in random
/// cycles.
pub fn answered(mut prediction: Prediction, known: &Known, set: f64, page: u64) -> Prediction {
    let levels = levels(known);
    let frame = frame(known.machine, page);
    for (level, share) in levels.iter().zip(shares(&levels, |level| kept_of_frames(level, set, frame))) {
        if share > NEGLIGIBLE {
            let what = format!("loads that hit {}, of an array visited in a cycle", level.name);
            prediction = prediction.hardware(&what, share, level.latency.clone());
        }
    }
    prediction
}

/// The mean time of a load, nanoseconds, from an array of `span` bytes of which every so many bytes one line is visited, `visited` bytes of
/// lines in all. Lines a power of two apart share the fewer sets the farther apart they are, so that the first two levels hold no more of
/// them than of the whole array; a third level spreads them over all its sets by a hash of their addresses (Maurice et al., Reverse
/// engineering Intel last-level cache complex addressing using performance counters, RAID 2015).
pub fn at_a_stride(known: &Known, span: f64, visited: f64, page: u64) -> f64 {
    let (levels, frame) = (levels(known), frame(known.machine, page));
    let share_at = |level: &Level| {
        let is_indexed = ["L1", "L2"].contains(&level.name.as_str());
        kept_of_frames(level, if is_indexed { span } else { visited }, frame)
    };
    levels.iter().zip(shares(&levels, share_at)).map(|(level, share)| share * level.latency.value).sum()
}

/// Entries of the data TLBs, first and second level, for pages of this size; typical ones if nothing is declared.
pub fn tlb_entries(machine: &Machine, page: u64) -> [Option<u64>; 2] {
    let tlbs = machine.processor.tlbs.value().map_or(&[][..], Vec::as_slice);
    let of_level = |level| {
        let fitting = tlbs.iter().filter(|tlb| {
            tlb.level == level
                && matches!(tlb.kind, TlbKind::Data | TlbKind::Unified | TlbKind::Load)
                && tlb.page_bytes.contains(&page)
        });
        fitting.map(|tlb| u64::from(tlb.entries)).max()
    };
    [of_level(1), of_level(2)]
}

const USUAL_ENTRIES: [u64; 2] = [64, 1536];

/// Entries of the data TLBs for base pages if the processor declares none: those published for its design, with the source.
pub fn published_tlb_entries(machine: &Machine) -> Option<([u64; 2], Cow<'static, str>)> {
    let core = core_facts::of(machine);
    core.tlb_entries.map(|entries| (entries, core.source))
}

/// Adds the cost of address translation beyond the first-level TLB, for accesses to this many pages.
pub fn translated(mut prediction: Prediction, known: &Known, pages: f64, page: u64) -> Prediction {
    let entries = tlb_entries(known.machine, page);
    let published = published_tlb_entries(known.machine).map_or(USUAL_ENTRIES, |(entries, _)| entries);
    let reach = |level: usize| entries[level].unwrap_or(published[level]) as f64;
    // The first level replaces the oldest entry or nearly so: of more pages than it has entries, visited in a cycle, it has none when they
    // are met again. (Measured on Zen 3, Zen 4 and Emerald Rapids: all loads miss from the first size beyond it.)
    let first = if pages <= reach(0) { 1.0 } else { 0.0 };
    let second = retained(reach(1).max(reach(0)), pages).max(first);
    if second - first > NEGLIGIBLE {
        let citation = "Intel optimization manual: a load whose translation the second-level TLB has takes 7 cycles more";
        let basis = core_facts::as_on_intels(7.0, citation, known);
        prediction = prediction.hardware("translations from the second-level TLB", second - first, basis);
    }
    if 1.0 - second > NEGLIGIBLE {
        // A walk's upper levels are cached; it loads the last entry, 8 bytes of a table whose length grows with the number of
        // pages; in a virtual machine also the host's entry (two-dimensional walk: Bhargava et al., ASPLOS 2008).
        let loads = if known.machine.is_virtual() { 2.0 } else { 1.0 };
        let levels = levels(known);
        let entry = |index: usize| levels[index].latency.value;
        // A line of the table has eight entries, so it is used again after an eighth of the loads. In between lines of the tables and
        // one line of data for each load come into the caches: as much again as one table.
        let between = 8.0 * pages * (1.0 + loads);
        let frame = known.machine.page_bytes() as f64;
        let each: f64 = shares(&levels, |level| kept_of_frames(level, between, frame))
            .iter()
            .enumerate()
            .map(|(index, share)| share * entry(index))
            .sum();
        let basis = Basis::published(
            each,
            "a page-table entry fetched like data, through the same levels of cache (Intel SDM volume 3, 4.10)",
        );
        prediction = prediction.hardware("page-table entries loaded", (1.0 - second) * loads, basis);
        if known.machine.is_virtual() {
            let above = (WALK_IN_TWO_DIMENSIONS * loads).sqrt() - loads;
            let basis = Basis::published(entry(0), TWO_DIMENSIONS);
            prediction = prediction.hardware(
                "entries of the tables above them, from the first-level cache",
                (1.0 - second) * above,
                basis,
            );
        }
    }
    prediction
}

/// Entries that a walk in a virtual machine loads if nothing of it is cached: four levels of its own tables, each found through
/// four of the host's, and the four of the address found.
const WALK_IN_TWO_DIMENSIONS: f64 = 24.0;
const TWO_DIMENSIONS: &str = "a walk in two dimensions loads 24 entries, and two if the levels above are cached as translations \
                              (Bhargava et al., ASPLOS 2008); geometric mean";

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::machine::Fact;

    #[test]
    fn a_set_is_kept_whole_until_it_no_longer_fits_and_then_less_and_less() {
        assert!((retained(100.0, 100.0) - 1.0).abs() < 1e-12);
        // h = exp(-2 (1 - h)) has the solution 0.2032.
        assert!((retained(100.0, 200.0) - 0.2032).abs() < 1e-3);
        assert!(retained(100.0, 400.0) < 0.021);
    }

    #[test]
    fn lines_at_a_stride_lie_in_the_third_level_though_their_array_does_not_fit() {
        let machine = fathom_described::machine();
        let known = Known::new(&machine, Some(3e9));
        let all = levels(&known);
        let third = all[2].bytes;
        // An eighth of the lines of four times the cache: half of it, if they spread over all of its sets.
        let spread = at_a_stride(&known, 4.0 * third, third / 2.0, 4096);
        let whole = at_a_stride(&known, 4.0 * third, 4.0 * third, 4096);
        let latency = all[2].latency().value;
        assert!((spread - latency).abs() < 0.1 * latency, "{spread} of {latency}");
        assert!(whole > 1.5 * latency, "{whole} of {latency}");
    }

    #[test]
    fn frames_that_lie_anywhere_fill_a_cache_unevenly() {
        let latency = Basis::assumed(4.0, "a test");
        let level = Level { name: "L2".to_owned(), bytes: 2048.0, ways: Some((16.0, 128.0)), latency };
        let (full, quarter) = (kept_at_random(&level, 2048.0, 4.0), kept_of_frames(&level, 512.0, 4.0));
        assert!(
            full > 0.7 && full < 0.9,
            "16 frames of a place's 16 lines on average, now more, now fewer: {full}"
        );
        assert!(quarter > 0.999, "four of 16: {quarter}");
        assert!((kept_at_random(&level, 2048.0, 2048.0) - 1.0).abs() < 1e-12, "one frame fills it evenly");
        assert!(kept_at_random(&level, 1e6, 4.0) < 1e-3);
    }

    #[test]
    fn the_shares_of_all_levels_are_the_whole() {
        let machine = fathom_described::machine();
        let known = Known::new(&machine, Some(3e9));
        for set in [1e3, 1e5, 3e6, 1e9] {
            let sum: f64 = shares(&levels(&known), |level| kept_of_frames(level, set, 4096.0)).iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{set}: {sum}");
        }
    }

    #[test]
    fn a_walk_in_a_virtual_machine_loads_between_two_entries_and_all() {
        let mut machine = fathom_described::machine();
        let loads = |machine: &Machine| {
            let known = Known::new(machine, Some(3e9));
            let walk = translated(Prediction::new(), &known, 1e6, 4096);
            walk.terms.iter().filter(|term| term.what.contains("entries")).map(|term| term.times).sum::<f64>()
        };
        machine.virtualization.hypervisor = Fact::known(None, "a test");
        let native = loads(&machine);
        machine.virtualization.hypervisor = Fact::known(Some("KVM".to_owned()), "a test");
        assert!((native - 1.0).abs() < 0.01, "{native}: almost every load needs a walk of one entry");
        assert!((loads(&machine) - 48_f64.sqrt()).abs() < 0.07, "{}", loads(&machine));
    }
}
