//! Predictions of a point: from the device's facts, then from the simpler points measured in this run.

use super::points::{
    self, BLOCK, CALL, COLD, DIRECT, FIGURE, FILE, FILES, MMAP, NAME, OFF, ORDER, QUEUE_DEPTH, RANDOM,
    READ_AHEAD, SEEK, SEQUENTIAL, STATE, USUAL_BLOCK, USUAL_FILE, WARM,
};
use crate::apparatus::filesystem::uring::{INTERVAL, LATENCY};

use crate::expected::fault_per_byte::load;
use crate::expected::{device_facts, hierarchy, kernel_service, mode_switch};
use fathom_core::prelude::*;

/// Time to copy a byte from memory that is not in the caches, nanoseconds.
pub fn copied(known: &Known) -> Basis {
    known.assumed_cycles(0.25, "a byte copied from memory to memory: some 4 bytes a cycle, 12 GB/s at 3 GHz")
}

pub fn cost(point: &Point, known: &Known) -> Prediction {
    match (point.name(&STATE), point.name(&CALL)) {
        (DIRECT, _) if point.number(&QUEUE_DEPTH) > 0 => in_flight(point, known),
        (DIRECT, SEEK) => entered(direct(point, known), 1.0, known),
        (DIRECT, _) => direct(point, known),
        (WARM, call) => warm(call, point, known),
        _ => cold(point, known),
    }
}

fn entered(prediction: Prediction, calls: f64, known: &Known) -> Prediction {
    kernel_service::entering(prediction, "system calls, each at least an empty one", calls, known)
}

/// The result at another point of this run, else the figure for the device's kind.
fn found_or(point: &Point, known: &Known, else_from: Basis) -> Basis {
    known.measured(NAME, point).unwrap_or(else_from)
}

fn of_the_device(order: &str, known: &Known) -> Basis {
    if order == RANDOM { device_facts::random_read(known) } else { device_facts::sequential_read(known) }
}

/// The device's time for a block of 4 KiB of a smaller file, plus that of additional bytes.
fn direct(point: &Point, known: &Known) -> Prediction {
    let (order, block, file) = (point.name(&ORDER), point.number(&BLOCK), point.number(&FILE));
    let (simpler, what) = if block == USUAL_BLOCK && point.name(&CALL) == points::usual_call(order) {
        let smaller = FILES.into_iter().filter(|size| *size < file);
        let measured = |size: &u64| known.median(NAME, &points::usual(DIRECT, order, *size)).is_some();
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
    let range = device_facts::usual_random_read(known).filter(|_| order == RANDOM);
    let prediction = Prediction::new().hardware(what, 1.0, basis).within(range);
    if more > 0.0 {
        return prediction.hardware(
            "the remaining bytes, at the device's rate",
            more,
            device_facts::byte(known),
        );
    }
    entered(prediction, 1.0, known)
}

/// Requests in flight overlap, and wait for each other if the device cannot serve all at once: each wait is as long as measured
/// in this run with fewer in flight. Before any was measured, the device completes as many a second as its data sheet says, or is assumed
/// to serve 8 at once.
fn in_flight(point: &Point, known: &Known) -> Prediction {
    const AT_ONCE: f64 = 8.0;
    let depth = point.number(&QUEUE_DEPTH);
    let alone = points::usual(DIRECT, RANDOM, USUAL_FILE);
    let one = found_or(&alone, known, device_facts::random_read(known));
    // The interval between completions is the time of each request, divided by their number.
    let shared = if point.name(&FIGURE) == INTERVAL { 1.0 / depth as f64 } else { 1.0 };
    let fewer = points::waits_by_depth(known).into_iter().rfind(|(fewer, _)| (2..depth).contains(fewer));
    let Some((fewer, wait)) = fewer else {
        // Each waits for all in flight where the device is busy without a pause.
        let queued =
            device_facts::read_in_a_queue(known).filter(|each| depth as f64 * each.value > one.value);
        if let Some(each) = queued {
            return Prediction::new().hardware("each of the requests in flight", depth as f64 * shared, each);
        }
        let lines = (depth as f64 / AT_ONCE).max(1.0);
        let what = "the time of one request, times the batches of 8 (assumed) that must complete before it";
        return Prediction::new().hardware(what, lines * shared, one);
    };
    let behind = (wait - one.value) / (fewer - 1) as f64;
    let prediction = Prediction::new().hardware("the time of one request alone", shared, one);
    if behind <= 0.0 {
        return prediction;
    }
    let behind = Basis::measured(behind, NAME, points::queue(fewer, LATENCY));
    let what = format!("waiting for each of the others, as with {fewer} requests in flight");
    prediction.hardware(&what, (depth - 1) as f64 * shared, behind)
}

/// The time that a random block waits for others, nanoseconds, with this many in flight: interpolated between the depths measured
/// in this run, and in proportion beyond the deepest. `None` if it was not measured, or there is no wait.
pub fn waiting(in_flight: u64, known: &Known) -> Option<Basis> {
    let waits = points::waits_by_depth(known);
    let alone = waits.first().filter(|(depth, _)| *depth == 1)?.1;
    let below = *waits.iter().rfind(|(depth, _)| *depth <= in_flight)?;
    let above = waits.iter().find(|(depth, _)| *depth >= in_flight).copied();
    let (from, to, n) = (below.0 as f64, above.map_or(0.0, |above| above.0 as f64), in_flight as f64);
    let (value, nearer) = match above {
        Some(above) if above.0 > below.0 => {
            let share = (n - from) / (to - from);
            let value = below.1 + (above.1 - below.1) * share;
            (value, if share < 0.5 && below.0 > 1 { below.0 } else { above.0 })
        }
        Some(_) => (below.1, below.0),
        None => (below.1 * n / from, below.0),
    };
    (value > alone).then(|| Basis::measured(value - alone, NAME, points::queue(nearer, LATENCY)))
}

/// Time of a byte at the device's rate, nanoseconds: as measured with large direct reads, else by its kind.
fn byte(known: &Known) -> Basis {
    let large = points::largest_direct();
    let block = known.measured(NAME, &large);
    let byte = block.map(|block| Basis { value: block.value / large.number(&BLOCK) as f64, ..block });
    byte.unwrap_or_else(|| device_facts::byte(known))
}

/// A cached block: the kernel entry and the copy, or the loads alone.
fn warm(call: &str, point: &Point, known: &Known) -> Prediction {
    let block = point.number(&BLOCK) as f64;
    if call == MMAP {
        let line = if in_second_cache(point, known.machine) {
            known.assumed_cycles(2.0, "a line from the second-level cache, at 32 bytes a cycle")
        } else {
            known.assumed_cycles(10.0, "a line that a prefetcher fetches from the last cache or from memory")
        };
        let lines = Prediction::new().hardware("a load from every line of the block", block / 64.0, line);
        if point.name(&ORDER) == SEQUENTIAL {
            return lines;
        }
        if in_caches(point, known.machine) {
            let held =
                hierarchy::answered(Prediction::new(), known, point.number(&FILE) as f64, block as u64);
            let what = "the first load of a page, not prefetched, from the caches that hold the file";
            let source = "the published latencies of the levels, each for its share of a file of this size";
            return lines.hardware(what, 1.0, Basis::published(held.total(), source));
        }
        let what = "the first load of a page, not prefetched, from memory";
        return lines.hardware(what, 1.0, load(known));
    }
    let calls = if call == SEEK { 2.0 } else { 1.0 };
    let byte = if in_second_cache(point, known.machine) {
        known.assumed_cycles(
            1.0 / 16.0,
            "a byte copied from the second-level cache: 16 bytes a cycle, half of what its lines come at",
        )
    } else {
        copied(known)
    };
    let prediction = entered(Prediction::new().hardware("the copy of the block", block, byte), calls, known);
    let batches = (block / 4096.0 / PAGES_AT_ONCE).max(1.0);
    kernel_service::assumed(prediction, "finding the pages in the cache, 15 at once", 100.0 * batches, known)
}

/// Whether a file that is read again and again is in the second-level cache.
fn in_second_cache(point: &Point, machine: &Machine) -> bool {
    fits(point, machine, 2)
}

/// Whether such a file is in the caches of this machine's CPUs.
fn in_caches(point: &Point, machine: &Machine) -> bool {
    machine.last_level(machine.measured_cpu()).is_some_and(|level| fits(point, machine, level))
}

fn fits(point: &Point, machine: &Machine, level: u8) -> bool {
    let cache = machine.data_cache_bytes(machine.measured_cpu(), level);
    cache.is_some_and(|bytes| point.number(&FILE) <= bytes)
}

/// Pages that a read looks up together (`struct folio_batch` in mm/filemap.c, up to Linux 6.9; 31 since).
pub const PAGES_AT_ONCE: f64 = 15.0;

/// A block through the cache: the device's time, the allocation of a page, and the copy.
fn cold(point: &Point, known: &Known) -> Prediction {
    let read_ahead = point.name(&READ_AHEAD) != OFF;
    match (point.name(&ORDER), point.name(&CALL)) {
        (SEQUENTIAL, _) if read_ahead && point.number(&FILE) > USUAL_BLOCK => read_ahead_of(point, known),
        (RANDOM, MMAP) if read_ahead => read_around(point, known),
        (order, _) => {
            let simpler = points::usual(DIRECT, order, point.number(&FILE));
            let device = found_or(&simpler, known, of_the_device(order, known));
            let what = "the device's time for the block, as past the cache";
            served(Prediction::new().hardware(what, 1.0, device), point, known)
        }
    }
}

/// The kernel's work for a block that has come from the device.
fn served(prediction: Prediction, point: &Point, known: &Known) -> Prediction {
    let paged = kernel_service::assumed(
        prediction,
        "a page allocated, added to the cache, and the reader woken",
        1000.0,
        known,
    )
    .being(TermEvent::WakeUp);
    if point.name(&CALL) == MMAP {
        return paged;
    }
    entered(paged, 1.0, known).hardware("the copy", point.number(&BLOCK) as f64, copied(known))
}

/// In sequence the kernel reads ahead while the reader copies: the slower of the two determines the time.
fn read_ahead_of(point: &Point, known: &Known) -> Prediction {
    let (block, file) = (point.number(&BLOCK) as f64, point.number(&FILE));
    let first = found_or(&points::usual(DIRECT, RANDOM, file), known, device_facts::random_read(known));
    let device = Prediction::new()
        .hardware(
            "the bytes, at the device's rate, while the reader processes the previous ones",
            block,
            byte(known),
        )
        .hardware("the first wait, spread over the file", block / file as f64, first);
    let reader = served(Prediction::new(), point, known);
    if device.total() < reader.total() { reader } else { device }
}

/// A fault in random order makes the kernel read around its page (`do_sync_mmap_readahead` in mm/filemap.c), and the next fault
/// waits for its end.
fn read_around(point: &Point, known: &Known) -> Prediction {
    let window = device_facts::read_ahead(known.machine);
    let bytes = window.value.min(point.number(&FILE) as f64);
    let device = found_or(
        &points::usual(DIRECT, RANDOM, point.number(&FILE)),
        known,
        device_facts::random_read(known),
    );
    let prediction = Prediction::new().hardware("the device's first answer", 1.0, device).hardware(
        "the bytes that the kernel reads around the page, up to its read-ahead window",
        bytes,
        byte(known),
    );
    served(prediction, point, known)
}

/// The lower bound of the time per block.
pub fn bound(point: &Point, known: &Known) -> Option<Bound> {
    let waits = point.name(&STATE) != WARM;
    // Requests overlap, but each takes its own time.
    let single = point.number(&QUEUE_DEPTH) <= 1 || point.name(&FIGURE) == LATENCY;
    let one_by_one = waits && single && !(point.name(&STATE) == COLD && point.name(&ORDER) == SEQUENTIAL);
    let mapped = point.name(&CALL) == MMAP;
    match device_facts::soonest_answer(known) {
        Some(bound) if one_by_one && !mapped => Some(bound),
        _ if mapped || !single => None,
        _ => Some(mode_switch::bound(1.0, "every block enters", known)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::machine::RatedDisk;

    #[test]
    fn reads_in_flight_are_predicted_from_the_data_sheet_s_requests_a_second() {
        let mut machine = fathom_described::machine();
        let total = |machine: &Machine, depth, figure| {
            in_flight(&points::queue(depth, figure), &Known::new(machine, None)).total()
        };
        let assumed = total(&machine, 32, INTERVAL);
        machine.storage.rated =
            Some(RatedDisk { seek_ns: Some(80e3), reads_per_second: Some(200e3), ..RatedDisk::default() });
        assert!(
            (total(&machine, 32, INTERVAL) - 5e3).abs() < 1.0 && (assumed - 5e3).abs() > 1e3,
            "{assumed}"
        );
        assert!((total(&machine, 32, LATENCY) - 160e3).abs() < 1.0, "each of 32 waits for all");
        // Two requests do not keep it busy.
        assert!((total(&machine, 2, LATENCY) - 80e3).abs() < 1.0);
    }
}
