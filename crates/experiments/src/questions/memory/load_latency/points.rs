//! Points of `memory/load_latency`: the array, and the order of the loads.

use crate::apparatus::memory::pages::{PAGES, Pages};
use fathom_core::experiment::{Parameter, Point, Scale};

/// Name of the experiment.
pub const NAME: &str = "memory/load_latency";

/// Parameter: the size of the array.
pub const SIZE: Parameter = Parameter { name: "size", meaning: "the size of the array", scale: Scale::Bytes };
/// Parameter: the order in which the array is visited.
pub const ORDER: Parameter =
    Parameter { name: "order", meaning: "the order in which the array is visited", scale: Scale::Name };
/// Parameter: the distance between elements, if the order has one.
pub const STRIDE: Parameter =
    Parameter { name: "stride", meaning: "bytes from one element to the next", scale: Scale::Bytes };

/// Order: all lines once, none predictable.
pub const CYCLE: &str = "random cycle";
/// Order: window after window, with all lines of each once, none predictable; prefetchers of adjacent lines and TLBs help.
pub const WINDOWED: &str = "random within windows of 256 KiB";
/// Order: a constant distance, as in lmbench.
pub const FIXED: &str = "fixed stride";
/// Order: forward in strides, at a random position within each.
pub const WITHIN: &str = "random within stride";
/// Order: the same, in a loop of one load.
pub const WITHIN_ROLLED: &str = "random within stride, not unrolled";
/// Order: addresses that do not depend on loads.
pub const ELEMENTS: &str = "random elements";
/// The stride within which the random positions are: eight lines.
pub const WIDE_STRIDE: u64 = 512;

/// The point of the main curve, also for other experiments.
pub fn cycle_point(pages: Pages, size: u64) -> Point {
    Point::new().named(&ORDER, CYCLE).named(&PAGES, pages.name()).with(&SIZE, size)
}

/// A point of the naive variants, on base pages.
pub fn naive_point(order: &str, size: u64) -> Point {
    Point::new().named(&ORDER, order).named(&PAGES, Pages::Base.name()).with(&SIZE, size)
}
