//! Where a file is so small that reading it in order is no longer sequential for what stores it (R-FS-15): its end is reached after a few
//! blocks, and reading goes back to the beginning.

use super::points::{COLD, DIRECT, FILE, NAME, RANDOM, SEQUENTIAL, USUAL_BLOCK, usual};
use fathom_core::prelude::*;
use fathom_core::quantity::declared;
use fathom_core::sorting;

/// One finding for each way to the device.
pub fn findings(known: &Known) -> Vec<Finding> {
    let ways = [(DIRECT, "past the page cache"), (COLD, "through an empty page cache")];
    ways.into_iter().filter_map(|(state, name)| finding(state, name, known)).collect()
}

/// A block of a file of one size, in order and at random.
#[derive(Clone, Copy)]
struct BothOrders {
    file: u64,
    sequential: Found,
    random: Found,
}

impl BothOrders {
    /// Whether a block in order costs significantly less.
    fn is_sequential(&self) -> bool {
        self.random.differs_from(&self.sequential) == Some(true) && self.sequential.value < self.random.value
    }

    /// What a block costs at random and in order, and how many times as much the first is, of one value each.
    fn costs(&self, name: &str) -> Statement {
        let named = |what: &str| format!("{what}, {}, {name}", declared::size(self.file));
        let ratio = (!self.random.is_mixture && !self.sequential.is_mixture).then(|| {
            let times = self.random.times_as("much", self.sequential, &named("at random over in order"));
            statement!(": {times}", times)
        });
        statement!(
            "{random} and one in order {sequential}{ratio}",
            random = self.random.named(&named("at random")),
            sequential = self.sequential.named(&named("in order")),
            ratio
        )
    }
}

/// The measured sizes of more than one block, the smallest first.
fn by_size(state: &str, known: &Known) -> Vec<BothOrders> {
    let mut times = known.found_along(NAME, &usual(state, SEQUENTIAL, 0), &FILE);
    times.retain(|(file, _)| *file > USUAL_BLOCK);
    sorting::by_key(&mut times, |(file, _)| *file);
    let both = |(file, sequential)| {
        let random = known.found(NAME, &usual(state, RANDOM, file))?;
        Some(BothOrders { file, sequential, random })
    };
    times.into_iter().filter_map(both).collect()
}

fn finding(state: &str, name: &str, known: &Known) -> Option<Finding> {
    let sizes = by_size(state, known);
    let (smallest, largest) = (sizes.first()?, sizes.last()?);
    if sizes.len() < 2 {
        return None;
    }
    let lead = format!("Where a file read in order, {name}, stops being sequential: ");
    let beginning = sizes.iter().rposition(|size| !size.is_sequential()).map_or(0, |last| last + 1);
    let says = match (beginning.checked_sub(1).map(|last| sizes[last]), sizes.get(beginning)) {
        (None, _) => statement!(
            "in none of the measured sizes, from {smallest} on, where a block at random costs {costs}",
            smallest = declared::size(smallest.file),
            costs = smallest.costs(name)
        ),
        (Some(_), None) => statement!(
            "in all of the measured sizes, up to {largest}: a block in order and one at random do not differ significantly there",
            largest = declared::size(largest.file)
        ),
        (Some(last), Some(first)) => statement!(
            "between {last} and {first}. In the larger a block at random costs {costs}; in the smaller, which ends after \
             {blocks} blocks and begins again, order saves nothing that was significant",
            last = declared::size(last.file),
            first = declared::size(first.file),
            costs = first.costs(name),
            blocks = (last.file / USUAL_BLOCK).to_string()
        ),
    };
    Some(finding!(Question::Order, "{lead}{says}.", lead, says).about(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The finding for direct reads of files with these times in order and at random, each known to one per cent.
    fn said_of(times: &[(u64, f64, f64)]) -> String {
        let of = |order, file, ns| (usual(DIRECT, order, file), ns);
        let both = |(file, ordered, random): &(u64, f64, f64)| {
            [of(SEQUENTIAL, *file, *ordered), of(RANDOM, *file, *random)]
        };
        fathom_described::statements(&super::super::Read, times.iter().flat_map(both), findings)
    }

    #[test]
    fn the_size_below_which_order_saves_nothing_is_told_with_both_of_its_neighbours() {
        let kib = 1 << 10;
        let said = said_of(&[
            (4 * kib, 50e3, 90e3),
            (16 * kib, 80e3, 80e3),
            (64 * kib, 80e3, 80.1e3),
            (128 * kib, 40e3, 80e3),
            (1024 * kib, 20e3, 80e3),
        ]);
        assert!(said.contains("between 64 KiB and 128 KiB"), "{said}");
        assert!(said.contains("after 16 blocks"), "{said}");
        let everywhere = said_of(&[(16 * kib, 20e3, 80e3), (64 * kib, 20e3, 80e3)]);
        assert!(everywhere.contains("in none of the measured sizes, from 16 KiB on"), "{everywhere}");
        let nowhere = said_of(&[(16 * kib, 80e3, 80e3), (64 * kib, 80e3, 80e3)]);
        assert!(nowhere.contains("in all of the measured sizes, up to 64 KiB"), "{nowhere}");
        assert_eq!(said_of(&[(16 * kib, 80e3, 20e3)]), "", "one size tells nothing");
    }

    /// "In none of the measured sizes, … not compared, because the machine was in several states", beside two times that both differ.
    #[test]
    fn a_size_at_which_order_saves_time_in_either_state_is_not_said_to_be_left_uncompared() {
        let one = |ns: f64| fathom_described::found(ns, Unit::Nanoseconds);
        let states = [one(37e3), one(48.6e3)].map(|state| state.measured);
        let random = Found { states: Some(states), is_mixture: true, ..one(37e3) };
        let both = BothOrders { file: 65_536, sequential: one(6.45e3), random };
        let text = both.costs("past the page cache").plain();
        assert!(
            both.is_sequential() && !text.contains("not compared") && text.contains("one in order"),
            "{text}"
        );
        let alike = BothOrders { random: one(37e3), ..both };
        assert!(alike.costs("past the page cache").plain().contains("times as much"));
    }
}
