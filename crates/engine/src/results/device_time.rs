//! The commonest time of a direct read of the device in a run.

use crate::record::{Run, Trial};
use fathom_core::sorting;
use fathom_core::statistics::{self, Interval};

/// What a direct read took at the trials of a run that waited for the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceTime {
    /// The time near which most trials found it, its commonest time, nanoseconds: to it they are moved. It need be neither the median nor in
    /// the middle of all: of a device with a quick and a slow time it is the one that scatters less.
    pub usual_ns: f64,
    /// What eight of ten trials lie between, nanoseconds.
    pub most_ns: Interval,
    /// The share of the trials that found it slower than its commonest time by more than a twentieth, 0 to 1.
    pub slower_share: f64,
    /// The trials.
    pub trials: usize,
}

/// The shares of the trials below both ends of what most lie between.
const MOST: [f64; 2] = [0.1, 0.9];

/// The share of the trials that the narrowest range around the commonest time holds: a median over all may lie between two times that a device
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
        let usual_ns = usual(&all)?;
        Some(DeviceTime {
            usual_ns,
            most_ns: Interval { low, high },
            slower_share: slower_share(&all, usual_ns),
            trials: all.len(),
        })
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

/// The factor beyond which a read was slower than the commonest time.
const SLOWER: f64 = 1.05;

fn slower_share(all: &[f64], usual_ns: f64) -> f64 {
    all.iter().filter(|ns| **ns > SLOWER * usual_ns).count() as f64 / all.len() as f64
}

/// What a direct read took at a trial, nanoseconds; `None` of work that does not wait for the device.
fn device_ns(trial: &Trial) -> Option<f64> {
    Some(trial.sample()?.device.as_ref()?.mean_ns())
}

#[cfg(test)]
mod tests {
    use super::usual;

    #[test]
    fn the_commonest_time_is_one_that_the_device_has() {
        // Thirty readings at 39 us, forty spread from 46 to 62: the median of all is 47, which is seldom.
        let quick = (0..30).map(|nth| 38.5 + f64::from(nth) / 30.0);
        let slow = (0..40).map(|nth| 46.0 + 0.4 * f64::from(nth));
        let all: Vec<f64> = quick.chain(slow).collect();
        let usual = usual(&all).expect("some");
        assert!((38.5..39.5).contains(&usual), "{usual}");
        let slower = super::slower_share(&all, usual);
        assert!((slower - 40.0 / 70.0).abs() < 1e-9, "it is the quick one of two times: {slower}");
        assert_eq!(super::usual(&[]), None);
        assert_eq!(super::usual(&[41.0]), Some(41.0));
    }
}
