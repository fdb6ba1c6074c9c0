//! A fault compared with a load from memory, per byte: computed with this run's latencies, not with a bandwidth or with another
//! day's figure (R-FIX-40).

use crate::apparatus::memory::pages::Pages;
use crate::questions::memory::load_latency::{NAME as LATENCY, SIZE, cycle_point};
use fathom_core::prelude::*;
use fathom_core::quantity::declared;

const LINE: f64 = 64.0;

/// The point of the largest array that this run visited in random order, and its size, bytes.
fn memory(known: &Known) -> Option<(Point, u64)> {
    let largest = |pages: Pages| {
        let sizes = known.along(LATENCY, &cycle_point(pages, 0), &SIZE).into_iter().map(|(size, _)| size);
        sizes.max().map(|size| (cycle_point(pages, size), size))
    };
    Pages::ALL.into_iter().filter_map(largest).max_by_key(|(_, size)| *size)
}

/// The latency of a dependent load from that array.
pub fn load(known: &Known) -> Basis {
    const REASON: &str = "a load from memory takes about 100 ns";
    match memory(known) {
        Some((point, _)) => known.measured_or_assumed(LATENCY, &point, 100.0, REASON),
        None => Basis::assumed(100.0, REASON),
    }
}

/// The cost per byte of a fault of this kind that brings in one page, compared with that of a load that brings in one line
/// (R-MEM-31).
pub fn finding(kind: &str, fault: Found, known: &Known) -> Option<Finding> {
    let (point, size) = memory(known)?;
    let load = known.found(LATENCY, &point)?;
    let (by_fault, by_load) = (fault.scaled(1.0 / Pages::Base.bytes() as f64), load.scaled(1.0 / LINE));
    Some(finding!(
        Question::Fault,
        "Per byte a {kind} fault costs {by_fault} and a dependent load from {size} {by_load}: {ratio}; per access \
         {fault} and {load}, {each} times as much.",
        fault = fault.named(&format!("{kind} fault")),
        load = load.named("load from memory"),
        by_fault = by_fault.named(&format!("byte by a {kind} fault")),
        size = declared::size(size),
        by_load = by_load.named("byte by a load from memory"),
        ratio = by_fault.times_as("much", by_load, &format!("{kind} fault over load, per byte")),
        each = fault.over(load).named(&format!("{kind} fault over load, per access"))
    ).about(kind))
}
