//! A point: what is loaded from, and in which order.

use crate::experiment::{Parameter, Point, Scale};
use crate::experiments::memory::pages::{PAGES, Pages};

/// The experiment.
pub const NAME: &str = "memory/load_latency";

/// The bytes that loads go to.
pub const SIZE: Parameter = Parameter { name: "size", meaning: "the size of the array", scale: Scale::Bytes };
/// The order in which they are visited.
pub const ORDER: Parameter =
    Parameter { name: "order", meaning: "the order in which the array is visited", scale: Scale::Name };
/// The distance between elements, where the order has one.
pub const STRIDE: Parameter =
    Parameter { name: "stride", meaning: "bytes from one element to the next", scale: Scale::Bytes };

/// All lines once, none foreseeable.
pub const CYCLE: &str = "random cycle";
/// One window after the other, and within each all lines once, none foreseeable: what a prefetcher of adjacent lines and a TLB
/// help with.
pub const WINDOWED: &str = "random within windows of 256 KiB";
/// lmbench's, at a constant distance.
pub const FIXED: &str = "fixed stride";
/// Forward in strides, anywhere within each.
pub const WITHIN: &str = "random within stride";
/// The same in a loop of one load.
pub const WITHIN_ROLLED: &str = "random within stride, not unrolled";
/// Addresses that no load gives.
pub const ELEMENTS: &str = "random elements";
/// The stride that the random ones lie within: eight lines.
pub const WIDE_STRIDE: u64 = 512;

/// The point of the main curve, also for those who build on it.
pub fn cycle_point(pages: Pages, size: u64) -> Point {
    Point::new().named(&ORDER, CYCLE).named(&PAGES, pages.name()).with(&SIZE, size)
}

/// A point of the naive variants, on base pages.
pub fn naive_point(order: &str, size: u64) -> Point {
    Point::new().named(&ORDER, order).named(&PAGES, Pages::Base.name()).with(&SIZE, size)
}
