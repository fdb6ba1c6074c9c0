//! What is expected of a point: the device's facts, then what this run has found of the simpler points.

use super::points::{self, FILES};
use super::{
    ABOUT, BLOCK, COLD, COUNTED, DEPTH, DIRECT, FILE, INTERVAL, MMAP, OFF, ORDER, RANDOM, READ_AHEAD, SEEK,
    SEQUENTIAL, STATE, USUAL_BLOCK, USUAL_FILE, WARM, WAY,
};
use crate::experiment::{Basis, Bound, Known, Point, Prediction};
use crate::experiments::cpu::null_write;
use crate::experiments::device_facts;

/// Copying a byte out of memory that is not in the caches, nanoseconds.
fn copied(known: &Known) -> Basis {
    known
        .cycles(0.25, "a byte copied from memory to memory: some 4 bytes a cycle, 12 GB/s at 3 GHz (assumed)")
}

/// The derivation.
pub fn cost(point: &Point, known: &Known) -> Prediction {
    match (point.name(&STATE), point.name(&WAY)) {
        (DIRECT, _) if point.number(&DEPTH) > 0 => in_flight(point, known),
        (DIRECT, SEEK) => entered(direct(point, known), 1.0, known),
        (DIRECT, _) => direct(point, known),
        (WARM, way) => warm(way, point, known),
        _ => cold(point, known),
    }
}

fn entered(prediction: Prediction, calls: f64, known: &Known) -> Prediction {
    prediction.software("system calls, each a bare entry at least", calls, null_write::entry(known))
}

/// What this run has found at another point, or what the device's kind suggests.
fn found_or(point: &Point, known: &Known, else_from: Basis) -> Basis {
    match known.median(ABOUT.name, point) {
        Some(_) => known.measured_or(ABOUT.name, point, 0.0, ""),
        None => else_from,
    }
}

fn of_the_device(order: &str, known: &Known) -> Basis {
    if order == RANDOM { device_facts::random_read(known) } else { device_facts::sequential_read(known) }
}

/// The device's time for a block of 4 KiB of a smaller file, and what more bytes take.
fn direct(point: &Point, known: &Known) -> Prediction {
    let (order, block, file) = (point.name(&ORDER), point.number(&BLOCK), point.number(&FILE));
    let (simpler, what) = if block == USUAL_BLOCK && point.name(&WAY) == points::way(order) {
        let smaller = FILES.into_iter().filter(|size| *size < file);
        let measured = |size: &u64| known.median(ABOUT.name, &points::usual(DIRECT, order, *size)).is_some();
        let size = smaller.rev().find(measured).unwrap_or(0);
        (
            points::usual(DIRECT, order, size),
            "the device's time for 4 KiB, of a smaller file where there is one",
        )
    } else {
        (points::usual(DIRECT, order, USUAL_FILE), "the device's time for 4 KiB")
    };
    let more = block as f64 - USUAL_BLOCK as f64;
    let basis = found_or(&simpler, known, of_the_device(order, known));
    let prediction = Prediction::new().hardware(what, 1.0, basis);
    if more > 0.0 {
        return prediction.hardware(
            "the bytes beyond, at the device's rate",
            more,
            device_facts::byte(known),
        );
    }
    entered(prediction, 1.0, known)
}

/// Requests in flight overlap: up to a queue's worth the device is assumed to serve them all at once.
fn in_flight(point: &Point, known: &Known) -> Prediction {
    const AT_ONCE: f64 = 8.0;
    let depth = point.number(&DEPTH) as f64;
    let one = found_or(&points::usual(DIRECT, RANDOM, USUAL_FILE), known, device_facts::random_read(known));
    let prediction = Prediction::new();
    if point.name(&COUNTED) == INTERVAL {
        let shared = 1.0 / depth.min(AT_ONCE);
        return prediction.hardware(
            "the time of one request, shared by those in flight, of which a device serves 8 at once (assumed)",
            shared,
            one,
        );
    }
    let waits = (depth / AT_ONCE).max(1.0);
    prediction.hardware(
        "the time of one request, as often as 8 at once (assumed) must pass before it",
        waits,
        one,
    )
}

/// A block in memory: the way into the kernel and the copy, or the loads alone.
fn warm(way: &str, point: &Point, known: &Known) -> Prediction {
    let block = point.number(&BLOCK) as f64;
    if way == MMAP {
        let line = known
            .cycles(10.0, "a line that a prefetcher fetches from the last cache or from memory (assumed)");
        return Prediction::new().hardware("a load from every line of the block", block / 64.0, line);
    }
    let calls = if way == SEEK { 2.0 } else { 1.0 };
    let prediction =
        entered(Prediction::new().hardware("the copy of the block", block, copied(known)), calls, known);
    null_write::assumed(
        prediction,
        "finding the pages in the cache",
        100.0 * (block / 4096.0).max(1.0),
        known,
    )
}

/// Through the cache: the device's time, a page made for it, and the copy. In sequence the kernel reads ahead, and the
/// device's rate decides, or the copy where that is slower.
fn cold(point: &Point, known: &Known) -> Prediction {
    let (order, block) = (point.name(&ORDER), point.number(&BLOCK) as f64);
    let read_ahead = order == SEQUENTIAL && point.name(&READ_AHEAD) != OFF;
    let prediction = if read_ahead && point.number(&FILE) > USUAL_BLOCK {
        let once = block / point.number(&FILE) as f64;
        let first = found_or(
            &points::usual(DIRECT, RANDOM, point.number(&FILE)),
            known,
            device_facts::random_read(known),
        );
        Prediction::new()
            .hardware("the bytes, at the device's rate", block, device_facts::byte(known))
            .hardware("the first wait, spread over the file", once, first)
    } else {
        let simpler = points::usual(DIRECT, order, point.number(&FILE));
        Prediction::new().hardware(
            "the device's time for the block, as past the cache",
            1.0,
            found_or(&simpler, known, of_the_device(order, known)),
        )
    };
    let paged =
        null_write::assumed(prediction, "a page taken, filed in the cache and woken for", 1000.0, known);
    let way = if point.name(&WAY) == MMAP { MMAP } else { COLD };
    if way == MMAP { paged } else { entered(paged, 1.0, known).hardware("the copy", block, copied(known)) }
}

/// No block can be had faster.
pub fn bound(point: &Point, known: &Known) -> Option<Bound> {
    let waits = point.name(&STATE) != WARM;
    let single = point.number(&DEPTH) <= 1;
    let one_by_one = waits && single && !(point.name(&STATE) == COLD && point.name(&ORDER) == SEQUENTIAL);
    let mapped = point.name(&WAY) == MMAP;
    match device_facts::soonest_answer(known) {
        Some((limit, because)) if one_by_one && !mapped => Some(Bound { limit, because: because.to_owned() }),
        _ if mapped || !single => None,
        _ => Some(Bound {
            limit: 40.0 * known.shortest_cycle(),
            because: "every block enters the kernel, which takes some forty cycles on every core".to_owned(),
        }),
    }
}
