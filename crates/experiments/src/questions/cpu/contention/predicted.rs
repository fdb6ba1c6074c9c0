//! Predictions: an operation of one thread, and the lines that change from one core to another between two operations.

use super::{
    ADD, FIGURE, FUTEX, LINES, MUTEX, NAME, OBJECT, OWN, PADDED, QUEUE, SWAP, THREADS, TICKET, UNFAIRNESS,
    alone,
};
use crate::expected::core_facts;
use crate::questions::cpu::core_to_core;
use fathom_core::prelude::*;

const LOCKED: &str = "an instruction with a lock prefix takes 18 to 20 cycles on Intel's cores since Skylake (Fog, Instruction tables)";
const FROM_LOAD_TO_LOCKED: &str = "between a load from the first-level cache with an addition, and the 18 to 20 cycles of Intel's cores since \
                                   Skylake (Fog, Instruction tables); geometric mean, for want of a figure of this design";

/// An instruction that locks the line, which the core has, and the ends of what it may take where no figure of the design is known.
fn locked(known: &Known) -> (Basis, Option<[f64; 2]>) {
    if core_facts::is_intels(known.machine) {
        return (known.cycles(19.0, LOCKED), None);
    }
    let least = core_facts::of(known.machine).cache_cycles[0] + 1.0;
    let ends = [least, 19.0].map(|cycles| known.cycles(cycles, LOCKED).value);
    (known.assumed_cycles((least * 19.0).sqrt(), FROM_LOAD_TO_LOCKED), Some(ends))
}

pub fn predicted(point: &Point, known: &Known) -> Prediction {
    let (object, threads) = (point.name(&OBJECT), point.number(&THREADS) as f64);
    if point.name(&FIGURE) == UNFAIRNESS && !in_turn(object) {
        let barging = Basis::assumed(
            1e5,
            "between random variation of 1 % and a thread that gets nothing, as the thread that has the line or releases the lock may go on; \
             geometric mean",
        );
        let what = "an operation repeated by the thread that still has the line";
        return Prediction::new().software(what, 1.0, barging).within(Some([1e4, 1e6]));
    }
    if point.name(&FIGURE) == UNFAIRNESS {
        let random = Basis::published(
            1e4,
            "one over the square root of the number of operations (Poisson), some ten thousand in a round",
        );
        return Prediction::new().software("one standard deviation of random variation", 1.0, random);
    }
    if threads <= 1.0 {
        let what = "instructions that lock the line, or wait until they have it";
        let (each, ends) = locked(known);
        let range = ends.map(|ends| ends.map(|end| locking(object) * end));
        return Prediction::new().hardware(what, locking(object), each).within(range);
    }
    let expected = locking(object) * locked(known).0.value;
    let one = known.measured_or_assumed(NAME, &alone(object), expected, "as predicted for one thread");
    if point.name(&LINES) == PADDED {
        return Prediction::new().hardware("an operation of one thread, all at once", 1.0 / threads, one);
    }
    let hand_over = core_to_core::between_cores(known);
    let times = if point.name(&FIGURE) == OWN { threads } else { 1.0 };
    if !in_turn(object) {
        let meanwhile = 1.0 + hand_over.value / 2.0 / one.value;
        let what = "lines handed from core to core, while whose request travels their owner continues with operations";
        return Prediction::new().hardware(what, times * lines(object) / meanwhile, hand_over);
    }
    Prediction::new().hardware("an operation of one thread", times, one).hardware(
        "lines handed from core to core between two operations",
        times * lines(object),
        hand_over,
    )
}

/// Whether an object passes from thread to thread in turn. Of the others the core that has the line goes on until the request of
/// another has reached it: half of the time of a hand-over, the other half being the line's way back.
fn in_turn(object: &str) -> bool {
    [TICKET, QUEUE].contains(&object)
}

/// Instructions of an operation that lock the line.
fn locking(object: &str) -> f64 {
    if [ADD, SWAP, TICKET].contains(&object) { 1.0 } else { 2.0 }
}

/// Lines that the next thread has to fetch. An exchange that fails fetches the line once more; of a ticket lock number, counter and
/// next ticket are in one line, which a hand-over brings to be read and written (`cpu/core_to_core`); in a queue there is the word
/// at which it waits, and the lock.
fn lines(object: &str) -> f64 {
    match object {
        SWAP | QUEUE | FUTEX | MUTEX => 2.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::machine::Fact;

    #[test]
    fn intels_figure_is_one_of_two_ends_on_a_core_of_another_vendor() {
        let mut machine = fathom_described::machine();
        let alone = |machine: &Machine| predicted(&alone(ADD), &Known::new(machine, Some(1e9)));
        machine.processor.vendor = Fact::known("GenuineIntel".to_owned(), "a test");
        assert!((alone(&machine).total() - 19.0).abs() < 1e-9);
        machine.processor.vendor = Fact::known("AuthenticAMD".to_owned(), "a test");
        let (low, high) = alone(&machine).range().expect("no figure of the design is known");
        assert!(low < 8.0 && (high - 19.0).abs() < 1e-9, "{low} to {high}");
    }
}
