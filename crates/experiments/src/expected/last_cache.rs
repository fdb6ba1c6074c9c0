//! Whether the last-level cache is as large as declared: of a large one that several guests share, a guest is told the whole
//! size.

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
    let size = |bytes: u64| Found::exact(bytes as f64, Dimension::Of(Unit::Bytes));
    let whose = if known.machine.is_virtual() {
        " Other guests may use the rest."
    } else {
        " Other cores may use the rest."
    };
    let before = caches.iter().rev().nth(1).map(|(_, bytes)| *bytes);
    Some(finding!(
        Question::Caches,
        "Of the {declared} declared of L{level} this core can use at most {from}: from such an array a load takes {load}, over half of \
         the {memory} from {largest}{still}.{whose}",
        still = before.and_then(|before| still_in_it(2 * before, from, curve)).unwrap_or_default(),
        declared = size(bytes).named("last cache, declared"),
        from = size(from).named("half of memory's latency"),
        load = load.named("load, half of memory's latency"),
        largest = declared::size(largest),
        memory = memory.named("load, largest size")
    ))
}

/// What a load takes from an array of this size or the next larger one that was measured, below the size at which the cache ends.
fn still_in_it(size: u64, end: u64, curve: &[(u64, Found)]) -> Option<Statement> {
    let (at, load) = curve.iter().find(|(at, _)| *at >= size).filter(|(at, _)| 2 * at <= end)?;
    Some(statement!(
        ", and {load} from one of {at}",
        load = load.named("load, within the last cache"),
        at = declared::size(*at)
    ))
}

/// The size from which on every load takes more than half of the latency at the largest size, as far as the intervals tell.
fn half_of_the_way(curve: &[(u64, Found)]) -> Option<(u64, Found)> {
    let memory = curve.last()?.1;
    let is_beyond = |load: &Found| {
        load.value * 2.0 > memory.value && load.scaled(2.0).differs_from(&memory) == Some(true)
    };
    curve.iter().rev().take_while(|(_, load)| is_beyond(load)).last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: &[f64]) -> Vec<(u64, Found)> {
        let found = |value| fathom_described::found_within(0.02, value, Dimension::Of(Unit::Nanoseconds));
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
}
