//! How soon the device answers just now: the same few bytes read directly, before and after the observations of work that waits for it.
//!
//! A device is shared as a core is: by other guests, other programs, and its own housekeeping. The same request then takes half as long
//! again for milliseconds or seconds, and all work that waits for it follows. What a trial found it at is known only if it is read in
//! that trial.

use super::clock::Clock;
use super::own_folder;
use crate::statistics;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// The bytes of a reading: the least that devices and file systems read directly.
const BYTES: usize = 4096;

/// The reads of a reading, of which the median counts, after one that wakes what has gone idle.
const READS: usize = 7;

/// The reads after which a reading ends if it has taken longer than [`LONG_NS`]: of a device that answers in milliseconds.
const FEWEST_READS: usize = 3;
const LONG_NS: f64 = 5e6;

/// What a direct read took before and after the observations of a trial, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceReadings {
    /// Just before the observations, median of several.
    pub before_ns: f64,
    /// Just after them.
    pub after_ns: f64,
}

impl DeviceReadings {
    /// The geometric mean of both.
    pub fn mean_ns(&self) -> f64 {
        (self.before_ns * self.after_ns).sqrt()
    }
}

/// A file of the run whose bytes are read from the device.
pub(super) struct DeviceReader {
    file: File,
    room: Vec<u8>,
}

impl DeviceReader {
    /// Opens the file in the run's own folder, which is made by the first trial that needs it. `None` where that is impossible, as
    /// where the file system has no direct reads: then nothing is known of the device.
    pub(super) fn open(own_folder: &Path) -> Option<Self> {
        let path = own_folder::path(own_folder, "device-reading").ok()?;
        if let Ok(file) = own_folder::new_file(&path) {
            // Not of zeros, which a device may keep without storing them.
            let content: Vec<u8> = (0..BYTES).map(|place| (place * 167 + place / 251) as u8).collect();
            file.write_all_at(&content, 0).and_then(|()| file.sync_all()).ok()?;
        }
        let mut options = own_folder::existing();
        let file = options.custom_flags(libc::O_DIRECT | libc::O_NOFOLLOW).open(&path).ok()?;
        Some(DeviceReader { file, room: vec![0; 2 * BYTES] })
    }

    /// One direct read; `None` if it fails.
    fn once(&mut self) -> Option<()> {
        let to_page = self.room.as_ptr().align_offset(BYTES);
        let room = self.room.get_mut(to_page..to_page + BYTES)?;
        // SAFETY: the buffer has room for the bytes.
        let read = unsafe { libc::pread(self.file.as_raw_fd(), room.as_mut_ptr().cast(), BYTES, 0) };
        (read == BYTES as isize).then_some(())
    }

    /// What a direct read takes now, nanoseconds; `None` if one fails.
    pub(super) fn read<C: Clock>(&mut self, clock: &C, ticks_per_second: f64) -> Option<f64> {
        let (mut times, mut took) = (vec![], 0.0);
        self.once()?;
        while times.len() < READS && (times.len() < FEWEST_READS || took < LONG_NS) {
            let start = clock.start();
            self.once()?;
            let ns = clock.stop().since(start).0 as f64 / ticks_per_second * 1e9;
            times.push(ns);
            took += ns;
        }
        statistics::median(&times).filter(|ns| *ns > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::clock::MonotonicRaw;

    #[test]
    fn a_device_is_read_again_and_again_and_where_there_is_none_nothing_is_known() {
        let place = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder beside the sources");
        let own = place.path().join("own");
        // In memory there are no direct reads; wherever the sources lie, either all readings are there or none.
        let readings: Vec<Option<f64>> = (0..3)
            .map(|_| DeviceReader::open(&own).and_then(|mut reader| reader.read(&MonotonicRaw, 1e9)))
            .collect();
        assert!(readings.iter().all(|reading| reading.is_some() == readings[0].is_some()), "{readings:?}");
        assert!(readings.iter().flatten().all(|ns| *ns > 100.0), "{readings:?}");
        let file = place.path().join("in the way");
        std::fs::write(&file, "not a folder").expect("written");
        assert!(DeviceReader::open(&file).is_none());
    }

    #[test]
    fn a_trial_is_at_the_mean_of_both_its_readings() {
        let mean = DeviceReadings { before_ns: 4e4, after_ns: 9e4 }.mean_ns();
        assert!((mean - 6e4).abs() < 1e-6, "{mean}");
    }
}
