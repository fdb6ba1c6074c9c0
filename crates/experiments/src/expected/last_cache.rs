//! Whether the last-level cache is as large as declared: of a large one that several guests share, a guest is told the whole
//! size.

use super::hierarchy;
use fathom_core::prelude::*;
use fathom_core::quantity::declared;

/// The finding if loads take half of the latency of memory although their set is less than half of the last-level cache. `curve`
/// gives the latency by the size of the set, ascending.
pub fn short_of_declared(known: &Known, curve: &[(u64, Found)]) -> Option<Finding> {
    let (level, bytes) = hierarchy::declared(known.machine).last().copied()?;
    // A cache with random replacement still holds a fifth of a set twice as large.
    let (largest, memory) = curve.last().copied().filter(|(size, _)| *size >= 2 * bytes)?;
    let (from, load) = half_of_the_way(curve).filter(|(from, _)| *from < bytes / 2)?;
    let size = |bytes: u64| Found::exact(bytes as f64, Dimension::Of(Unit::Bytes));
    let whose = if known.machine.is_virtual() {
        " The rest may be used by other guests, or not be available to this one; that is not visible from inside."
    } else {
        " The rest may be used by other cores."
    };
    Some(finding!(
        Question::Caches,
        "L{level} is declared as {declared}, but with an array of {from} a load already takes {load}, over half of \
         the {memory} from {largest}: this core can use at most {from} of L{level}.{whose}",
        declared = size(bytes).named("last cache, declared"),
        from = size(from).named("half of memory's latency"),
        load = load.named("load, half of memory's latency"),
        largest = declared::size(largest),
        memory = memory.named("load, largest size")
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
