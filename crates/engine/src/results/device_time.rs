//! The commonest time of a direct read of the device in a run.

use super::distinct_modes::distinct_modes;
use crate::record::{Run, Trial};
use fathom_core::sorting;
use fathom_core::statistics::{self, Interval, ModeList};

/// What direct reads took at the trials of a run that waited for the device: a reading before and one after the observations of each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceTime {
    /// The time near which most readings are, its commonest time, nanoseconds: to it trials are moved. It need be neither the median nor in
    /// the middle of all: of a device with a quick and a slow time it is the one that scatters less.
    pub usual_ns: f64,
    /// What eight of ten readings lie between, nanoseconds.
    pub most_ns: Interval,
    /// The share of the readings that are slower than its commonest time by more than a twentieth, 0 to 1.
    pub slower_share: f64,
    /// The times around which the readings cluster, where they are several.
    pub modes: ModeList,
    /// The trials.
    pub trials: usize,
}

/// The shares of the readings below both ends of what most lie between.
const MOST: [f64; 2] = [0.1, 0.9];

/// The share of the readings that the narrowest range around the commonest time holds: a median over all may lie between two times that a device
/// has, and be seldom.
const AROUND: f64 = 0.25;

impl DeviceTime {
    /// Over a run; `None` without a trial that read its device.
    pub fn of(run: &Run) -> Option<Self> {
        let mut trials: Vec<(f64, [f64; 2])> =
            run.trials.iter().filter_map(|trial| Some((trial.began_s, readings(trial)?))).collect();
        // Several figures of one trial were read once.
        trials.dedup_by(|one, other| one.0.to_bits() == other.0.to_bits());
        DeviceTime::of_readings(&trials.into_iter().map(|(_, readings)| readings).collect::<Vec<_>>())
    }

    /// Of the readings themselves: the mean of a quick one before and of a slow one after lies where the device hardly ever is.
    fn of_readings(trials: &[[f64; 2]]) -> Option<Self> {
        let mut all = trials.concat();
        sorting::numbers(&mut all);
        let last = all.len().checked_sub(1)? as f64;
        let [low, high] = MOST.map(|share| all[(share * last).round() as usize]);
        let usual_ns = usual(&all)?;
        Some(DeviceTime {
            usual_ns,
            most_ns: Interval { low, high },
            slower_share: slower_share(&all, usual_ns),
            modes: ModeList::of(&distinct_modes(&all)),
            trials: trials.len(),
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

/// What direct reads took before and after the observations of a trial, nanoseconds; `None` of work that does not wait for the device.
fn readings(trial: &Trial) -> Option<[f64; 2]> {
    let device = trial.sample()?.device.as_ref()?;
    Some([device.before_ns, device.after_ns])
}

#[cfg(test)]
mod tests {
    use super::{DeviceTime, usual};

    /// Readings were of 37 to 41.5 or of 59 to 67.5 µs; of most trials one of each, whose mean of 50 was the "commonest" of all.
    #[test]
    fn the_commonest_time_is_one_of_readings_and_not_of_means_of_two() {
        let trial = |nth: u32| {
            let spread = 1.0 + 0.002 * f64::from(nth % 20);
            let [quick, slow] = [38.5e3 * spread, 62e3 * (1.02 - 0.5 * (spread - 1.0))];
            [[quick, slow], [slow, quick], [quick, quick]][nth as usize % 3]
        };
        let of = DeviceTime::of_readings(&(0..90).map(trial).collect::<Vec<_>>()).expect("readings");
        assert!((38e3..41e3).contains(&of.usual_ns), "{of:?}");
        assert_eq!((of.modes.modes().len(), of.trials), (2, 90));
    }

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
