//! Predictions: where a load finds its line, by the levels' sizes, the order of the loads and what prefetchers follow.

use super::{ABOUT, FIXED, cycle_point};
use crate::apparatus::memory::pages::Pages;
use crate::expected::{core_facts, hierarchy};
use fathom_core::prelude::*;

/// A load of the random cycle.
pub fn cycle(known: &Known, pages: Pages, size: u64) -> Prediction {
    let page = match pages {
        Pages::Base => known.machine.page_bytes(),
        Pages::Huge => *known.machine.memory.transparent_huge_pages.page_bytes.value().unwrap_or(&(2 << 20)),
    };
    let huge = cycle_point(Pages::Huge, size);
    let prediction = match known.measured(ABOUT.name, &huge).filter(|_| pages == Pages::Base) {
        // The part that is independent of pages was measured with huge ones.
        Some(latency) => Prediction::new().hardware("the same load from huge pages", 1.0, latency),
        None => hierarchy::answered(Prediction::new(), known, size as f64, page),
    };
    let spanned = (size as f64 / page as f64).ceil();
    hierarchy::translated(prediction, known, spanned, page)
}

/// Prefetchers follow lines in sequence, a pair at a time, and bring them as far as L1: such a chase runs at the rate of L1 or of
/// the lines, whichever is slower. In longer strides lines are found in L2, where the streamer puts them. It restarts on every
/// page, whose first lines come from the level that holds the array.
pub fn stride(known: &Known, order: &str, stride: f64, size: f64) -> Prediction {
    let (line, page) = (known.machine.line_bytes() as f64, known.machine.page_bytes());
    let nearest = known.machine.data_cache_bytes(known.machine.measured_cpu(), 1).unwrap_or(32 << 10) as f64;
    // Lines that are a power of two apart share the fewer sets the farther apart they are: with a fixed stride a cache holds no
    // larger an array than its own size, whatever part of it is visited (Hennessy and Patterson, set-associative caches).
    let visited = if order == FIXED { size } else { size * (line / stride).min(1.0) };
    let missed = 1.0 - hierarchy::retained(nearest, visited);
    let unfollowed = unfollowed(known.machine, order).filter(|_| stride > 2.0 * line);
    let is_followed = unfollowed.is_none();
    let unforeseen = if is_followed {
        missed * (stride.max(line) * FIRST_LINES / page as f64).min(1.0) * (stride / line).min(1.0)
    } else {
        missed
    };
    let where_it_lies = hierarchy::at_a_stride(known, visited, size * (line / stride).min(1.0), page);
    let first = |prediction: Prediction| match (unforeseen, unfollowed) {
        (0.0, _) => prediction,
        (_, None) => prediction.hardware(
            "the first lines of each page, which are not prefetched, from the level that holds the array",
            unforeseen,
            Basis::assumed(where_it_lies, STREAMER),
        ),
        (_, Some(why)) => prediction.hardware(
            "lines that are not prefetched, from the level that holds the array",
            unforeseen,
            Basis::assumed(where_it_lies, why),
        ),
    };
    let near = Prediction::new().hardware(
        "a load that hits L1",
        if stride > 2.0 * line { 1.0 - missed } else { 1.0 },
        hierarchy::levels(known)[0].latency(),
    );
    if stride > 2.0 * line {
        let foreseen = missed - unforeseen;
        let second = hierarchy::levels(known).into_iter().nth(1).filter(|_| foreseen > 0.0);
        let what = "loads that hit L2, where lines were prefetched";
        return first(match second {
            Some(level) => near.hardware(what, foreseen, level.latency()),
            None => near,
        });
    }
    // Of an array in a cache the lines come from there.
    let in_flight = hierarchy::lines_in_flight(known.machine);
    let each = Basis { value: where_it_lies / in_flight, ..hierarchy::of_memory(known) };
    let what = format!(
        "the next line, prefetched: one latency of the level that holds the array for {in_flight} lines in flight (Little's law)"
    );
    let lines = Prediction::new().hardware(&what, (stride / line).min(1.0) * missed, each);
    first(if lines.total() > near.total() { lines } else { near })
}

/// Lines of a page that are loaded before the streamer runs ahead.
const FIRST_LINES: f64 = 3.0;
const STREAMER: &str = "Intel 64 and IA-32 Architectures Optimization Reference Manual: the streamer follows loads in one direction \
                        within a page of 4 KiB; assumed: from the fourth on; the loads of this set as published latencies give them";

const CONSTANT: &str = "assumed: AMD's prefetchers follow lines in sequence and constant strides alone; the loads of this set as published \
                        latencies give them";

const UNROLLED: &str = "Intel 64 and IA-32 Architectures Optimization Reference Manual: prefetchers follow lines in a row, and strides of one \
                        instruction up to 2 KiB; of 64 unrolled loads each is 64 strides from itself; the loads of this set as published \
                        latencies give them";

/// Why lines further apart than a pair are not prefetched in this order, if they are not.
fn unfollowed(machine: &Machine, order: &str) -> Option<&'static str> {
    match machine.processor.vendor.value()?.as_str() {
        "GenuineIntel" => Some(UNROLLED),
        "AuthenticAMD" => (order != FIXED).then_some(CONSTANT),
        _ => None,
    }
}

/// Independent loads at once.
const AT_ONCE: u32 = 10;

/// Independent loads: as many at once as a core has line-fill buffers.
pub fn elements(known: &Known, size: f64) -> Prediction {
    let latency = hierarchy::answered(Prediction::new(), known, size, known.machine.page_bytes()).total();
    let each = core_facts::of_assumed_in_flight(known.machine, latency, AT_ONCE);
    Prediction::new()
        .software("drawing an index", 1.0, known.assumed_cycles(4.0, "four multiplications, one a cycle"))
        .hardware("a load, shared by those in flight", 1.0 / f64::from(AT_ONCE), each)
}
