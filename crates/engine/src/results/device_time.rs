//! The usual time of a direct read of the device in a run.

use crate::record::{Run, Trial};
use fathom_core::sorting;
use fathom_core::statistics::{self, Interval};

/// What a direct read took at the trials of a run that waited for the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceTime {
    /// The time that most trials found it near, nanoseconds: to it they are moved.
    pub usual_ns: f64,
    /// What eight of ten trials lie between, nanoseconds.
    pub most_ns: Interval,
    /// The trials.
    pub trials: usize,
}

/// The shares of the trials below both ends of what most lie between.
const MOST: [f64; 2] = [0.1, 0.9];

/// The share of the trials that the narrowest range around the usual time holds: a median over all may lie between two times that a device
/// has, and be seldom.
const AROUND: f64 = 0.25;

impl DeviceTime {
    /// Over a run; `None` without a trial that read its device.
    pub fn of(run: &Run) -> Option<Self> {
        let mut trials: Vec<(f64, f64)> =
            run.trials.iter().filter_map(|trial| Some((trial.began_s, device_ns(trial)?))).collect();
        // Several figures of one trial were read once.
        trials.dedup_by(|one, other| one.0.to_bits() == other.0.to_bits());
        let mut all: Vec<f64> = trials.into_iter().map(|(_, ns)| ns).collect();
        sorting::numbers(&mut all);
        let last = all.len().checked_sub(1)? as f64;
        let [low, high] = MOST.map(|share| all[(share * last).round() as usize]);
        Some(DeviceTime { usual_ns: usual(&all)?, most_ns: Interval { low, high }, trials: all.len() })
    }
}

/// The median of the narrowest range that holds a quarter of these ascending times.
fn usual(ascending: &[f64]) -> Option<f64> {
    let count = (AROUND * ascending.len() as f64).ceil() as usize;
    let width = |range: &&[f64]| range[count - 1] / range[0];
    let narrowest =
        ascending.windows(count.max(1)).min_by(|one, other| width(one).total_cmp(&width(other)))?;
    statistics::median(narrowest)
}

/// What a direct read took at a trial, nanoseconds; `None` of work that does not wait for the device.
fn device_ns(trial: &Trial) -> Option<f64> {
    Some(trial.sample()?.device.as_ref()?.mean_ns())
}

#[cfg(test)]
mod tests {
    use super::usual;

    #[test]
    fn the_usual_time_is_one_that_the_device_has() {
        // Thirty readings at 39 us, forty spread from 46 to 62: the median of all is 47, which is seldom.
        let quick = (0..30).map(|nth| 38.5 + f64::from(nth) / 30.0);
        let slow = (0..40).map(|nth| 46.0 + 0.4 * f64::from(nth));
        let all: Vec<f64> = quick.chain(slow).collect();
        let usual = usual(&all).expect("some");
        assert!((38.5..39.5).contains(&usual), "{usual}");
        assert_eq!(super::usual(&[]), None);
        assert_eq!(super::usual(&[41.0]), Some(41.0));
    }
}
