//! Predictions: an operation of one thread, and the lines that change from one core to another between two operations.

use super::points::{
    ADD, FIGURE, FUTEX, LINES, MUTEX, NAME, OBJECT, OWN, PADDED, QUEUE, SWAP, THREADS, TICKET, UNFAIRNESS,
    alone,
};
use crate::expected::kernel_service;
use crate::questions::cpu::core_to_core;
use fathom_core::prelude::*;

const LOCKED: &str = "an instruction with a lock prefix takes 18 to 20 cycles on Intel's cores since Skylake (Fog, Instruction tables)";

pub fn predicted(point: &Point, known: &Known) -> Prediction {
    let (object, threads) = (point.name(&OBJECT), point.number(&THREADS) as f64);
    if point.name(&FIGURE) == UNFAIRNESS {
        let random = Basis::published(
            1e4,
            "one over the square root of the number of operations (Poisson), some ten thousand in a round",
        );
        return Prediction::new().software("one standard deviation of random variation", 1.0, random);
    }
    if threads <= 1.0 {
        let what = "instructions that lock the line, or wait until they have it";
        return Prediction::new().hardware(what, locking(object), known.cycles(19.0, LOCKED));
    }
    let expected = locking(object) * known.cycles(19.0, LOCKED).value;
    let one = known.measured_or_assumed(NAME, &alone(object), expected, "as predicted for one thread");
    if point.name(&LINES) == PADDED {
        return Prediction::new().hardware("an operation of one thread, all at once", 1.0 / threads, one);
    }
    let times = if point.name(&FIGURE) == OWN { threads } else { 1.0 };
    let contended = Prediction::new().hardware("an operation of one thread", times, one).hardware(
        "lines handed from core to core between two operations",
        times * lines(object),
        core_to_core::between_cores(known),
    );
    if [FUTEX, MUTEX].contains(&object) {
        let entry = kernel_service::entry(known);
        let what = "a wait and a wake-up in the kernel for every second operation (assumed)";
        return contended.software(what, times, entry).being(TermEvent::KernelEntry);
    }
    contended
}

/// Instructions of an operation that lock the line.
fn locking(object: &str) -> f64 {
    if [ADD, SWAP, TICKET].contains(&object) { 1.0 } else { 2.0 }
}

/// Lines that the next thread has to fetch. An exchange fetches the line to read it and again to write it; of a ticket lock the next
/// thread fetches the line to see its number, and again to write; in a queue there is the word at which it waits, and the lock.
fn lines(object: &str) -> f64 {
    match object {
        SWAP | TICKET | QUEUE | FUTEX | MUTEX => 2.0,
        _ => 1.0,
    }
}
