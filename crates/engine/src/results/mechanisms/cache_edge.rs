//! Where the last-level cache ends, by each way of asking: loads, reading at full speed and reads of cached files. Each finds two sizes
//! between which a working set no longer fits.

use crate::results::accuracy::{CLOSE, FAIR};
use fathom_core::experiment::At::{Any, Name, Number};
use fathom_core::experiment::{CoreUse, Found, Known, Point, Selector, Statement, statement};
use fathom_core::quantity::declared;

pub(super) const LOADS: Selector = Selector::only(
    "memory/load_latency",
    &[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Any)],
);
pub(super) const FILES: Selector = Selector::only(
    "filesystem/read",
    &[
        ("call", Name("read")),
        ("order", Name("sequential")),
        ("state", Name("warm")),
        ("block", Number(4096)),
        ("file", Any),
    ],
);
pub(super) const READ: Selector = Selector::only(
    "memory/bandwidth",
    &[("kind", Name("read")), ("level", Any), ("method", Any), ("size", Any)],
);

/// The two sizes between which a working set no longer fits into the cache.
pub(super) struct CacheEdge {
    /// The largest that fits for certain.
    pub(super) within: u64,
    /// The least that does not for certain.
    pub(super) beyond: u64,
    /// The state of the core of what is beyond.
    pub(super) core: Option<CoreUse>,
    /// What shows it.
    pub(super) statement: Statement,
}

/// The range in which all edges overlap; if there is none, the range that covers all of them.
pub(super) fn bounds(all: &[CacheEdge]) -> (u64, u64) {
    let least = |of: fn(&CacheEdge) -> u64| all.iter().map(of).min().unwrap_or(0);
    let most = |of: fn(&CacheEdge) -> u64| all.iter().map(of).max().unwrap_or(0);
    let (low, high) = (most(|edge| edge.within), least(|edge| edge.beyond));
    if low <= high { (low, high) } else { (least(|edge| edge.within), most(|edge| edge.beyond)) }
}

/// The largest size up to which every value is below the level for certain, and the least from which on every value is above it for
/// certain: between the two the curve crosses it.
fn crossing(curve: &[(u64, Found)], level: f64) -> Option<(u64, u64)> {
    let ends = |value: &Found| value.ends().unwrap_or((value.value, value.value));
    let below = curve.iter().take_while(|(_, value)| ends(value).1 < level).last()?;
    let above = curve.iter().rev().take_while(|(_, value)| ends(value).0 > level).last()?;
    Some((below.0, above.0))
}

/// By loads: beyond the cache one takes more than half as long as from memory. Between the two sizes their intervals do not tell.
pub(super) fn loads(known: &Known) -> Option<CacheEdge> {
    let curve = LOADS.along("size", known);
    let (size, memory) = curve.last()?;
    let (within, beyond) = crossing(&curve, memory.value / 2.0)?;
    let statement = statement!(
        "Up to {within} a load takes less than half of the {memory} that a load from {size} takes, from {beyond} on more",
        within = declared::size(within),
        beyond = declared::size(beyond),
        memory = memory.named("a load from memory, the largest array"),
        size = declared::size(*size)
    );
    Some(CacheEdge { within, beyond, core: memory.core, statement })
}

/// By cached files: one that fits into the cache is copied faster than one that does not.
pub(super) fn cached_files(known: &Known) -> Option<CacheEdge> {
    let curve: Vec<(u64, Found)> = FILES.along("file", known);
    let quickest = curve.iter().map(|(_, value)| value).min_by(|one, two| one.value.total_cmp(&two.value))?;
    let (_, slowest) = curve.last()?;
    let slower = slowest.value > CLOSE * quickest.value && slowest.differs_from(quickest) == Some(true);
    let level = (quickest.value * slowest.value).sqrt();
    let (within, beyond) = crossing(&curve, level).filter(|_| slower)?;
    let statement = statement!(
        "4 KiB of a cached file take {quickest} of files up to {within} and {slowest} of {beyond} and more",
        quickest = quickest.named("block of a small cached file"),
        within = declared::size(within),
        slowest = slowest.named("block of a large cached file"),
        beyond = declared::size(beyond)
    );
    Some(CacheEdge { within, beyond, core: slowest.core, statement })
}

/// By reading at the rate of memory a set that fits into the declared cache.
pub(super) fn full_speed(stated: u64, known: &Known) -> Option<CacheEdge> {
    let all = |level: &'static str| {
        let mine = READ.all(known).into_iter().filter(|(point, _)| point.is("level", level));
        mine.map(|(point, rate)| (size(point), rate))
            .max_by(|(_, one), (_, two)| one.value.total_cmp(&two.value))
    };
    let level = format!("L{}", known.machine.last_level(known.machine.measured_cpu())?);
    let (memory, second) = (all("memory")?, all("L2")?);
    let mine = READ.all(known).into_iter().filter(|(point, _)| point.is("level", &level));
    let (set, rate) = mine
        .map(|(point, rate)| (size(point), rate))
        .max_by(|(_, one), (_, two)| one.value.total_cmp(&two.value))?;
    let as_memory = set < stated && rate.value < CLOSE * memory.1.value && second.0 < set;
    as_memory.then(|| CacheEdge {
        within: second.0,
        beyond: set,
        core: rate.core,
        statement: statement!(
            "{set} are read at {rate}, as memory is ({memory})",
            set = declared::size(set),
            rate = rate.named("read of a set that the last cache should hold"),
            memory = memory.1.named("read of memory")
        ),
    })
}

fn size(point: &Point) -> u64 {
    point.number_of("size").unwrap_or_default()
}

/// Whether a size that one way finds is more than twice one that another does not.
pub(super) fn are_apart(all: &[CacheEdge]) -> bool {
    let most = all.iter().map(|edge| edge.within).max().unwrap_or(0);
    let least = all.iter().map(|edge| edge.beyond).min().unwrap_or(0);
    most as f64 > FAIR * least as f64
}

/// Up to which set beyond this size a load takes less than one from memory for certain, by more than a factor of [`CLOSE`]: some of its lines
/// are found nearer. Less may be of translations and of rows of the memory.
pub(super) fn partly(known: &Known, from: f64) -> Option<Statement> {
    let curve = LOADS.along("size", known);
    let (_, memory) = curve.last()?;
    let (least, _) = memory.ends()?;
    let is_less = |load: &Found| load.ends().is_some_and(|(_, high)| CLOSE * high < least);
    let (size, load) = curve.iter().take_while(|(_, load)| is_less(load)).last()?;
    (*size as f64 > from).then(|| {
        statement!(
            "Beyond it loads are probably found there in part, up to {size} at least: {load}, beside {memory} from memory. ",
            size = declared::size(*size),
            load = load.named("a load from the largest set found in part"),
            memory = memory.named("a load from memory beside it")
        )
    })
}

/// A load from the largest set that is faster than memory for certain, where that is beyond the second level: the cache takes part, though
/// the curve shows no end of it.
pub(super) fn beyond_the_second(known: &Known, within: u64) -> Option<Statement> {
    let second = known.machine.data_cache_bytes(known.machine.measured_cpu(), 2)?;
    let of = |(size, load): (u64, Found)| (size > second && size == within).then_some(load);
    let load = LOADS.along("size", known).into_iter().find_map(of)?;
    Some(statement!(
        "a load from {within} takes {load}, and ",
        within = declared::size(within),
        load = load.named("a load from the largest set faster than memory")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::machine::Fact;
    use serde_json::json;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_size_more_than_twice_another_is_apart_from_it() {
        let edge = |within: u64, beyond: u64| CacheEdge { within, beyond, core: None, statement: "".into() };
        assert!(are_apart(&[edge(16 * MIB, 32 * MIB), edge(MIB, 4 * MIB)]));
        assert!(!are_apart(&[edge(16 * MIB, 32 * MIB), edge(4 * MIB, 8 * MIB)]));
    }

    #[test]
    fn what_lies_between_the_second_level_and_memory_is_told_with_its_time() {
        let mut machine = planted::declaring(480 * MIB);
        let mut caches = machine.caches.value().expect("caches").clone();
        let mut second = caches[0].clone();
        (second.level, second.size_bytes) = (2, Fact::known(2 * MIB, "a test"));
        caches.push(second);
        machine.caches = Fact::known(caches, "a test");
        let mut known = Known::new(&machine, None);
        for (mib, ns) in [(1, 5.0), (4, 40.0), (64, 150.0)] {
            LOADS.plant_at(&mut known, &[("size", json!(mib * MIB))], ns);
        }
        let told = |mib: u64| beyond_the_second(&known, mib * MIB).map(|told| told.plain());
        assert_eq!(told(4).as_deref(), Some("a load from 4 MiB takes {40}, and "));
        assert_eq!(told(1), None, "the second level has it");
    }

    /// Of 7.74 MiB it was said that a core can use them, while loads of 16 MiB took half of the time of memory.
    #[test]
    fn up_to_which_size_loads_are_found_in_part_is_told() {
        let machine = planted::declaring(32 * MIB);
        let mut known = Known::new(&machine, None);
        for (mib, ns) in [(4, 15.0), (8, 22.0), (16, 63.0), (64, 140.0), (1024, 160.0)] {
            LOADS.plant_at(&mut known, &[("size", json!(mib * MIB))], ns);
        }
        let told = |from: u64| partly(&known, (from * MIB) as f64).map(|told| told.plain());
        assert!(told(8).is_some_and(|told| told.contains("up to 16 MiB at least: {63}, beside {160}")));
        assert_eq!(told(16), None, "none beyond");
    }
}
