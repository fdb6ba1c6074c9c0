//! Whether loads find the last-level cache as large as declared: of a large one that several guests share, a guest is told the whole
//! size. What a chase finds is less than what can be used, if others use the cache before it comes back.

use super::hierarchy;
use fathom_core::prelude::*;
use fathom_core::quantity::declared;

/// The finding if loads take half of the latency of memory although their set is less than half of the last-level cache. `curve`
/// gives the latency by the size of the set, ascending.
pub fn short_of_declared(known: &Known, curve: &[(u64, Found)]) -> Option<Finding> {
    let caches = hierarchy::declared(known.machine);
    let (level, bytes) = caches.last().copied()?;
    // A cache with random replacement still holds a fifth of a set twice as large.
    let (largest, memory) = curve.last().copied().filter(|(size, _)| *size >= 2 * bytes)?;
    let (from, load) = half_of_the_way(curve).filter(|(from, _)| *from < bytes / 2)?;
    let size = |bytes: u64| Found::exact(bytes as f64, Unit::Bytes);
    let whose = if known.machine.is_virtual() {
        " Other guests may use the rest."
    } else {
        " Other cores may use the rest."
    };
    let before = caches.iter().rev().nth(1).map(|(_, bytes)| *bytes);
    Some(finding!(
        Question::Caches,
        "A chase of loads finds less than the {declared} declared of L{level} when it comes back: from arrays of {from} and more a load \
         takes, for certain, over half of the {memory} from {largest} (from the first {load}){still}.{whose}",
        still = before.and_then(|before| still_in_it(2 * before, from, curve)),
        declared = size(bytes).named("last cache, declared"),
        from = size(from).named("half of memory's latency"),
        load = load.named("load, half of memory's latency"),
        largest = declared::size(largest),
        memory = memory.named("load, largest size")
    ))
}

/// What a load takes from the smallest array of at least this size, below that at which the cache ends, of which a load takes less than
/// half of the latency of memory for certain.
fn still_in_it(size: u64, end: u64, curve: &[(u64, Found)]) -> Option<Statement> {
    let memory = curve.last()?.1;
    let is_within =
        |(at, load): &&(u64, Found)| *at >= size && 2 * at <= end && is_on_side(load, &memory, false);
    let (at, load) = curve.iter().find(is_within)?;
    Some(statement!(
        ", and {load} from one of {at}",
        load = load.named("load, within the last cache"),
        at = declared::size(*at)
    ))
}

/// The size from which on every load takes more than half of the latency at the largest size, as far as the intervals tell.
fn half_of_the_way(curve: &[(u64, Found)]) -> Option<(u64, Found)> {
    let memory = curve.last()?.1;
    curve.iter().rev().take_while(|(_, load)| is_on_side(load, &memory, true)).last().copied()
}

/// Whether a load takes more, or less, than half of the latency of memory, as far as the intervals tell.
fn is_on_side(load: &Found, memory: &Found, more: bool) -> bool {
    (load.value * 2.0 > memory.value) == more && load.scaled(2.0).differs_from(memory) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: &[f64]) -> Vec<(u64, Found)> {
        let found = |value| fathom_described::found_within(0.02, value, Unit::Nanoseconds);
        values.iter().enumerate().map(|(index, value)| (1 << index, found(*value))).collect()
    }

    #[test]
    fn half_of_the_way_is_where_the_curve_stays_above_half_of_its_end() {
        let from = |values: &[f64]| half_of_the_way(&curve(values)).map(|(size, _)| size);
        assert_eq!(from(&[2.0, 30.0, 60.0, 90.0, 100.0]), Some(4));
        assert_eq!(from(&[2.0, 60.0, 40.0, 90.0, 100.0]), Some(8), "once above it is not enough");
        assert_eq!(
            from(&[2.0, 30.0, 50.5, 90.0, 100.0]),
            Some(8),
            "what intervals do not tell apart is not above"
        );
        assert_eq!(from(&[]), None);
    }

    #[test]
    fn a_load_is_still_in_the_cache_only_where_its_interval_says_so() {
        let mut curve = curve(&[2.0, 20.0, 21.0, 30.0, 90.0, 95.0, 100.0]);
        let still = |curve: &[(u64, Found)]| Some(still_in_it(2, 16, curve)?.plain());
        assert_eq!(still(&curve).as_deref(), Some(", and {20} from one of 2 B"));
        curve[1].1 = fathom_described::found_within(5.0, 20.0, Unit::Nanoseconds);
        assert_eq!(still(&curve).as_deref(), Some(", and {21} from one of 4 B"), "it may take 100 as well");
        assert_eq!(still_in_it(8, 15, &curve), None, "too near to the end");
    }
}
