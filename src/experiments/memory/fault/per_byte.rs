//! A fault against a load from memory, byte for byte: computed with this run's latencies, not with a
//! bandwidth or with another day's figure (R-FIX-40).

use crate::experiment::{Basis, Known, Parameter, Point, Scale};
use crate::experiments::memory::pages::{PAGES, Pages};

const LINE: f64 = 64.0;

/// The parameters of `memory/load_latency` that its memory plateau is looked up by.
const ORDER: Parameter = Parameter { name: "order", meaning: "", scale: Scale::Name };
const SIZE: Parameter = Parameter { name: "size", meaning: "", scale: Scale::Bytes };

const LATENCY: &str = "memory/load_latency";

/// The largest array that this run has visited in random order, and its size, bytes.
fn memory(known: &Known) -> Option<(Point, u64)> {
    let largest = |pages: Pages| {
        let group = Point::new().named(&ORDER, "random cycle").named(&PAGES, pages.name());
        let sizes = known.along(LATENCY, &group, &SIZE).into_iter().map(|(size, _)| size);
        sizes.max().map(|size| (group.with(&SIZE, size), size))
    };
    Pages::ALL.into_iter().filter_map(largest).max_by_key(|(_, size)| *size)
}

/// A dependent load from there.
pub fn load(known: &Known) -> Basis {
    const CITATION: &str = "a load from memory takes about 100 ns";
    match memory(known) {
        Some((point, _)) => known.measured_or(LATENCY, &point, 100.0, CITATION),
        None => Basis::published(100.0, CITATION),
    }
}

/// What a byte costs by a fault that brings in one page, against a byte by a load that brings in one line (R-MEM-31).
pub fn finding(fault_ns: f64, known: &Known) -> Option<String> {
    let (point, size) = memory(known)?;
    let load_ns = known.median(LATENCY, &point)?;
    let by_fault = fault_ns / Pages::Base.bytes() as f64;
    let by_load = load_ns / LINE;
    Some(format!(
        "Per byte brought in, such a fault costs {by_fault:.2} ns ({fault_ns:.0} ns for a page), a dependent load {by_load:.2} \
         ns ({load_ns:.1} ns for a line, from {} MiB): {:.1} times as much; per access {:.0} times.",
        size >> 20,
        by_fault / by_load,
        fault_ns / load_ns
    ))
}
