//! What the machine's declarations and published figures let us expect of a load: the levels of cache before memory, how
//! much of a set each of them holds, and what translating its address adds.

use crate::experiment::{Basis, Known, Landmark, Parameter, Prediction};
use crate::machine::{Machine, TlbKind};

/// One level that may answer a load.
pub struct Level {
    /// `L1`, `L2`, …, `memory`.
    pub name: String,
    /// What it holds, bytes.
    pub bytes: f64,
    /// What a load takes that it answers.
    latency: Basis,
}

impl Level {
    /// What a load takes that it answers, nanoseconds.
    pub fn latency(&self) -> Basis {
        self.latency.clone()
    }
}

/// The declared caches that data go through, by level: bytes.
pub fn declared(machine: &Machine) -> Vec<(u8, u64)> {
    let cpu = machine.measured_cpu();
    let last = machine.last_level(cpu).unwrap_or(0);
    (1..=last).filter_map(|level| Some((level, machine.data_cache_bytes(cpu, level)?))).collect()
}

/// What a sweep of sizes may show.
pub fn landmarks(machine: &Machine, along: &Parameter) -> Vec<Landmark> {
    let landmark = |(level, bytes): (u8, u64)| Landmark {
        along: along.name,
        at: bytes as f64,
        name: format!("L{level} {}", crate::quantity::declared::size(bytes)),
    };
    declared(machine).into_iter().map(landmark).collect()
}

/// Sizes of a middling core, where the machine does not declare its own.
const USUAL: [(u8, u64); 3] = [(1, 32 << 10), (2, 1 << 20), (3, 16 << 20)];

/// The levels in the order in which a load asks them; the last is memory, which holds everything.
pub fn levels(known: &Known) -> Vec<Level> {
    let declared = declared(known.machine);
    let caches = if declared.is_empty() { USUAL.to_vec() } else { declared };
    let cache = |(level, bytes): (u8, u64)| Level {
        name: format!("L{level}"),
        bytes: bytes as f64,
        latency: cache_latency(known, level),
    };
    let memory = Level { name: "memory".to_owned(), bytes: f64::INFINITY, latency: memory_latency() };
    caches.into_iter().map(cache).chain([memory]).collect()
}

fn cache_latency(known: &Known, level: u8) -> Basis {
    let vendor = known.machine.processor.vendor.value().map(String::as_str);
    let (cycles, citation) = match (vendor, level) {
        (Some("AuthenticAMD"), 1) => (4.0, AMD),
        (Some("AuthenticAMD"), 2) => (14.0, AMD),
        (Some("AuthenticAMD"), 3) => (50.0, AMD),
        (Some("GenuineIntel"), 1) => (5.0, INTEL),
        (Some("GenuineIntel"), 2) => (14.0, INTEL),
        (Some("GenuineIntel"), 3) => (60.0, INTEL),
        (_, 1) => (4.0, MOLKA),
        (_, 2) => (10.0, MOLKA),
        (_, 3) => (38.0, MOLKA),
        _ => (120.0, "a fourth level is assumed to lie half way between the third and memory"),
    };
    known.cycles(cycles, citation)
}

const AMD: &str = "AMD, Software Optimization Guide for the Zen 4 Microarchitecture (57647): 4, 14 and on average 50 cycles";
const INTEL: &str = "Intel 64 and IA-32 Architectures Optimization Reference Manual, Skylake server: 5, 14 and 50 to 70 cycles";
const MOLKA: &str = "Molka et al., PACT 2009: 4, 10 and 38 cycles on Nehalem";

fn memory_latency() -> Basis {
    Basis::published(
        90.0,
        "report 000, table of memory latency: a random chase over 128 MiB takes 110 ns, of which about 20 ns are page walks",
    )
}

/// The share of a set that a cache of random replacement still holds when the set is read in circles; a set that fits is
/// held whole. Set and capacity in the same unit.
///
/// Every load that misses drives out one of `capacity` entries by chance. Between two visits of an element `set` × (1 - h)
/// loads miss, so it survives with the probability h = exp(-(1 - h) set / capacity), whose smallest solution is the share.
/// (Under exact least-recently-used replacement it would be 0, and with as many sets by chance as lines a little more.)
pub fn kept(capacity: f64, set: f64) -> f64 {
    if set <= capacity {
        return 1.0;
    }
    (0..500).fold(0.0, |share: f64, _| (-(1.0 - share) * set / capacity).exp())
}

/// Shares below this are left out of a derivation.
const NEGLIGIBLE: f64 = 5e-4;

/// The share of loads from a set that each level answers, in the order of the levels.
fn shares(levels: &[Level], set: f64) -> Vec<f64> {
    let mut held = 0.0;
    let share = |level: &Level| {
        let now = kept(level.bytes, set).max(held);
        let share = now - held;
        held = now;
        share
    };
    levels.iter().map(share).collect()
}

/// Adds the caches' and memory's share of a load from a set of so many bytes, visited in random circles.
pub fn answered(mut prediction: Prediction, known: &Known, set: f64) -> Prediction {
    let levels = levels(known);
    for (level, share) in levels.iter().zip(shares(&levels, set)) {
        if share > NEGLIGIBLE {
            let what = format!("loads that {} answers, of a set visited in circles", level.name);
            prediction = prediction.hardware(&what, share, level.latency.clone());
        }
    }
    prediction
}

/// Entries of the TLBs for data, first and second level, for pages of this size; usual ones where nothing is declared.
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

/// Adds what translating addresses on so many pages takes beyond the first-level TLB.
pub fn translated(mut prediction: Prediction, known: &Known, pages: f64, page: u64) -> Prediction {
    let entries = tlb_entries(known.machine, page);
    let reach = |level: usize| entries[level].unwrap_or(USUAL_ENTRIES[level]) as f64;
    let first = kept(reach(0), pages);
    let second = kept(reach(1).max(reach(0)), pages).max(first);
    if second - first > NEGLIGIBLE {
        let citation = "Intel optimization manual: a load whose translation the second-level TLB has takes 7 cycles more";
        let basis = known.cycles(7.0, citation);
        prediction = prediction.hardware("translations from the second-level TLB", second - first, basis);
    }
    if 1.0 - second > NEGLIGIBLE {
        // A walk's upper levels are cached; what it loads is the last entry, 8 bytes of a table as long as the pages are
        // many; in a virtual machine the host's entry as well (two-dimensional walk: Bhargava et al., ASPLOS 2008).
        let loads = if known.machine.is_virtual() { 2.0 } else { 1.0 };
        let levels = levels(known);
        let entry = |index: usize| levels[index].latency.value;
        let each: f64 =
            shares(&levels, 8.0 * pages).iter().enumerate().map(|(index, share)| share * entry(index)).sum();
        let basis = Basis::published(
            each,
            "a page-table entry fetched like data, through the same levels of cache (Intel SDM volume 3, 4.10)",
        );
        prediction = prediction.hardware("page-table entries loaded", (1.0 - second) * loads, basis);
    }
    prediction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_kept_whole_until_it_no_longer_fits_and_then_less_and_less() {
        assert!((kept(100.0, 100.0) - 1.0).abs() < 1e-12);
        // h = exp(-2 (1 - h)) has the solution 0.2032.
        assert!((kept(100.0, 200.0) - 0.2032).abs() < 1e-3);
        assert!(kept(100.0, 400.0) < 0.021);
    }

    #[test]
    fn the_shares_of_all_levels_are_the_whole() {
        let machine =
            Machine::from_root(&crate::machine::Root::new("/nowhere"), &Nobody, std::path::Path::new("/"));
        let known = Known::new(&machine, Some(3e9));
        for set in [1e3, 1e5, 3e6, 1e9] {
            let sum: f64 = shares(&levels(&known), set).iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{set}: {sum}");
        }
    }

    struct Nobody;
    impl crate::machine::Host for Nobody {
        fn affinity(&self) -> Result<Vec<usize>, String> {
            Ok(vec![0])
        }
    }
}
