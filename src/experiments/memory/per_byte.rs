//! A fault against a load from memory, byte for byte: computed with this run's latencies, not with a bandwidth.

use super::pages::{PAGES, Pages};
use crate::experiment::{Known, Parameter, Point, Scale};

const LINE: f64 = 64.0;

/// The parameters of `memory/load_latency` that its memory plateau is looked up by.
const ORDER: Parameter = Parameter { name: "order", meaning: "", scale: Scale::Name };
const SIZE: Parameter = Parameter { name: "size", meaning: "", scale: Scale::Bytes };

/// A dependent load from the largest array that this run has visited in random order, and that array's size, bytes.
fn load(known: &Known) -> Option<(u64, f64)> {
    let group = |pages: Pages| Point::new().named(&ORDER, "random cycle").named(&PAGES, pages.name());
    let curve = |pages| known.along("memory/load_latency", &group(pages), &SIZE);
    let [huge, base] = Pages::ALL.map(|pages| curve(pages).into_iter().max_by_key(|(size, _)| *size));
    huge.into_iter().chain(base).max_by_key(|(size, _)| *size)
}

/// What a byte costs by a fault that brings in one page, against a byte by a load that brings in one line (R-MEM-31).
pub fn finding(fault_ns: f64, known: &Known) -> Option<String> {
    let (size, load_ns) = load(known)?;
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
