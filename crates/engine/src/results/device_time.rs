//! The usual time of a direct read of the device in a run.

use crate::record::{Run, Trial};
use fathom_core::sorting;
use fathom_core::statistics::{self, Interval};

/// What a direct read took at the trials of a run that waited for the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceTime {
    /// The median over the trials, nanoseconds: to it figures are moved.
    pub usual_ns: f64,
    /// What eight of ten trials lie between, nanoseconds.
    pub most_ns: Interval,
    /// The trials.
    pub trials: usize,
}

/// The shares of the trials below both ends of what most lie between.
const MOST: [f64; 2] = [0.1, 0.9];

impl DeviceTime {
    /// Over a run; `None` without a trial that read its device.
    pub fn of(run: &Run) -> Option<Self> {
        let mut all: Vec<f64> = run.trials.iter().filter_map(device_ns_of).collect();
        sorting::numbers(&mut all);
        let last = all.len().checked_sub(1)? as f64;
        let [low, high] = MOST.map(|share| all[(share * last).round() as usize]);
        let most_ns = Interval { low, high };
        Some(DeviceTime { usual_ns: statistics::median(&all)?, most_ns, trials: all.len() })
    }
}

/// What a direct read took at a trial, nanoseconds; `None` of work that does not wait for the device.
pub fn device_ns_of(trial: &Trial) -> Option<f64> {
    Some(trial.sample()?.device.as_ref()?.mean_ns())
}
