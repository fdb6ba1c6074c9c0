//! What a device has served: a page that was in memory after all is not read from it.

use super::tally;
use crate::experiment::{Check, Observed};
use crate::test_file;

const BYTES: &str = "bytes_read_from_the_device";

/// Bytes that this process has had fetched from a device until now, by name; nothing where nobody counts them.
pub fn count() -> Option<(&'static str, f64)> {
    test_file::served().map(named)
}

/// So many of them, by name.
pub fn named(bytes: f64) -> (&'static str, f64) {
    (BYTES, bytes)
}

/// Bytes from the device during the observations; `None` where nobody counted.
pub fn total(seen: &Observed) -> Option<f64> {
    seen.witness(BYTES)
}

/// As many bytes from the device as claimed, per operation; nothing to judge where nobody counted.
pub fn check(seen: &Observed, claim: &str, low: f64, high: f64) -> Option<Check> {
    Some(Check::within(claim, total(seen)? / seen.operations.max(1) as f64, low, high))
}

/// Every fault that waited was served by the device, with a page at the least (and what was read with it at the most);
/// nothing to judge where nobody counted, or nobody waited.
pub fn per_major_fault(seen: &Observed, page: f64, most: f64) -> Option<Check> {
    let faults = tally::major(seen).filter(|faults| *faults > 0.0)?;
    let claim = "bytes that the device delivered, per fault that waited: at least a page";
    Some(Check::within(claim, total(seen)? / faults, page, most))
}
