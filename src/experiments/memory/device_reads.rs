//! What a device has served: a page that was in memory after all is not read from it.

use super::fault_tally;
use crate::experiment::{Check, Observed};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The kernel's account of this process (`proc_pid_io(5)`), held open so that reading it touches no new memory.
#[derive(Debug)]
pub struct DeviceReads(Option<File>);

const BYTES: &str = "bytes_read_from_the_device";

impl DeviceReads {
    /// Opens the account; kernels built without it, and those who may not read it, have none.
    pub fn open() -> Self {
        DeviceReads(File::open("/proc/self/io").ok())
    }

    /// Bytes that this process has had fetched from a device until now, by name; nothing where nobody counts them.
    pub fn count(&self) -> Option<(&'static str, f64)> {
        let mut text = [0_u8; 512];
        let length = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        read_bytes(std::str::from_utf8(&text[..length]).ok()?).map(|bytes| (BYTES, bytes))
    }

    /// Bytes from the device during the observations; `None` where nobody counted.
    pub fn total(seen: &Observed) -> Option<f64> {
        seen.witness(BYTES)
    }

    /// As many bytes from the device as claimed, per operation; nothing to judge where nobody counted.
    pub fn check(seen: &Observed, claim: &str, low: f64, high: f64) -> Option<Check> {
        let bytes = seen.witness(BYTES)?;
        Some(Check::within(claim, bytes / seen.operations.max(1) as f64, low, high))
    }

    /// Every fault that waited was served by the device, with a page at the least (and what was read with it at the most);
    /// nothing to judge where nobody counted, or nobody waited.
    pub fn per_major_fault(seen: &Observed, page: f64, most: f64) -> Option<Check> {
        let faults = fault_tally::major(seen).filter(|faults| *faults > 0.0)?;
        let claim = "bytes that the device served, per fault that waited: a page at least";
        Some(Check::within(claim, seen.witness(BYTES)? / faults, page, most))
    }
}

fn read_bytes(text: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix("read_bytes:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_that_of_the_device_and_not_that_of_the_calls() {
        let text = "rchar: 100\nwchar: 7\nsyscr: 3\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 0\n";
        assert_eq!(read_bytes(text), Some(4096.0));
        assert_eq!(read_bytes("rchar: 100\n"), None);
    }
}
