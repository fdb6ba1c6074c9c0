//! Why a sequential block costs more or less in a larger file (R-FS-18).

use super::points::{COLD, DIRECT, FILE, NAME, RANDOM, SEQUENTIAL, USUAL_BLOCK, WARM, usual};
use fathom_core::prelude::*;
use fathom_core::quantity::declared;
use fathom_core::sorting;

/// One finding for every state of the cache in which files of several sizes were read.
pub fn findings(known: &Known) -> Vec<Finding> {
    let states = [
        (DIRECT, "past the page cache", LARGER_ON_THE_DEVICE),
        (COLD, "through an empty page cache", LARGER_ON_THE_DEVICE),
        (
            WARM,
            "from the page cache",
            "a file that is larger than the processor's caches is copied from memory",
        ),
    ];
    states.into_iter().filter_map(|(state, name, larger)| growth(state, name, larger, known)).collect()
}

const LARGER_ON_THE_DEVICE: &str =
    "a larger file has more metadata to look up; in how many pieces it lies on the device is in its evidence";

/// The smallest file of several blocks compared with the largest.
fn growth(state: &str, name: &str, larger: &str, known: &Known) -> Option<Finding> {
    let mut times = known.found_along(NAME, &usual(state, SEQUENTIAL, 0), &FILE);
    times.retain(|(file, _)| *file > USUAL_BLOCK);
    sorting::by_key(&mut times, |(file, _)| *file);
    let ((small, few), (large, many)) = (*times.first()?, *times.last()?);
    if few.is_mixture || many.is_mixture {
        return None;
    }
    let judged = match many.differs_from(&few)? {
        false => statement!("no difference of the size shows"),
        true if many.value > few.value => larger.into(),
        true => shared((small, few), (large, many), state, known),
    };
    (small < large).then(|| {
        finding!(
            Question::Order,
            "A sequential block of 4 KiB, {name}, takes {few} in a file of {small} and {many} in one of \
             {large}: {judged}.",
            few = few.named(&format!("in sequence, {state}, {}", declared::size(small))),
            small = declared::size(small),
            many = many.named(&format!("in sequence, {state}, {}", declared::size(large))),
            large = declared::size(large),
            judged
        )
        .about(name)
    })
}

/// The cost incurred once per file and shared by its blocks, compared with a random block, which waits as the first one does.
fn shared((small, few): (u64, Found), (large, many): (u64, Found), state: &str, known: &Known) -> Statement {
    let once = few.minus(many).scaled(small as f64 / USUAL_BLOCK as f64);
    let first = known.found(NAME, &usual(state, RANDOM, large));
    let beside = first.map_or_else(Statement::default, |first| {
        statement!(
            " (a block at random takes {first})",
            first = first.named(&format!("at random, {state}, {}", declared::size(large)))
        )
    });
    statement!(
        "what is done once for a file, {once} of the time for the smaller file{beside}, is spread over more \
         blocks",
        once = once.named(&format!("once for a file, {state}")),
        beside
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings for a cold file of 64 KiB and one of 64 MiB with these times per block, each known to one percent.
    fn said_of(small: f64, large: f64) -> String {
        let time = |order, file, ns| (usual(COLD, order, file), ns);
        let times = [
            time(SEQUENTIAL, 64 << 10, small),
            time(SEQUENTIAL, 64 << 20, large),
            time(RANDOM, 64 << 20, 90e3),
        ];
        fathom_described::statements(&super::super::Read, times, findings)
    }

    #[test]
    fn a_first_block_that_many_share_growth_and_neither_are_told_apart() {
        let falls = said_of(10e3, 4e3);
        assert!(
            falls.contains(
                "done once for a file, {96000} of the time for the smaller file (a block at random takes {90000})"
            ),
            "{falls}"
        );
        assert!(said_of(4e3, 10e3).contains("a larger file has more metadata"));
        assert!(said_of(4e3, 4.01e3).contains("no difference of the size shows"));
    }
}
