//! Bytes served by a device: a page that was in memory after all is not read from it.

use super::tally;
use fathom_core::experiment::{Check, Observed};
use fathom_equipment::test_file;

const BYTES: &str = "bytes_read_from_the_device";

/// Bytes that this process has read from a device until now, with their name; `None` if the kernel does not count them.
pub fn count() -> Option<(&'static str, f64)> {
    test_file::served().map(named)
}

/// The name and number of these bytes.
pub fn named(bytes: f64) -> (&'static str, f64) {
    (BYTES, bytes)
}

/// Bytes from the device during the observations; `None` if they were not counted.
pub fn total(observed: &Observed) -> Option<f64> {
    observed.witness(BYTES)
}

/// Checks that the device served as many bytes per operation as claimed; `None` if they were not counted.
pub fn check(observed: &Observed, claim: &str, low: f64, high: f64) -> Option<Check> {
    Some(Check::within(claim, total(observed)? / observed.operations.max(1) as f64, low, high))
}

/// Checks that the device served every major fault, with one page at least and the read-ahead at most; `None` if nothing was
/// counted, or there was no major fault.
pub fn per_major_fault(observed: &Observed, page: f64, most: f64) -> Option<Check> {
    let faults = tally::major(observed).filter(|faults| *faults > 0.0)?;
    let claim = "bytes that the device delivered, per fault that waited: at least a page";
    Some(Check::within(claim, total(observed)? / faults, page, most))
}
