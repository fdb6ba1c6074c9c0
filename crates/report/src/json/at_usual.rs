//! Figures at the usual frequency of the core, or at the commonest time of the device, in JSON.

use super::with_interval::WithInterval;
use fathom_engine::results::{AtUsual, DeviceTime, PointAtDevice};
use serde::Serialize;

/// The share of a cost that follows what its trials were moved to the usual value of.
#[derive(Serialize)]
struct FollowedShare {
    share: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    share_low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share_high: Option<f64>,
}

impl FollowedShare {
    fn of(moved: &AtUsual) -> Self {
        FollowedShare {
            share: moved.share,
            share_low: moved.share_interval.map(|ends| ends.low),
            share_high: moved.share_interval.map(|ends| ends.high),
        }
    }
}

#[derive(Serialize)]
pub(super) struct AtFrequencyReport {
    hz: f64,
    trials_hz_low: f64,
    trials_hz_high: f64,
    #[serde(flatten)]
    followed: FollowedShare,
    as_observed: Option<WithInterval>,
}

pub(super) fn at_frequency(moved: &AtUsual) -> AtFrequencyReport {
    let [trials_hz_low, trials_hz_high] = moved.trials;
    AtFrequencyReport {
        hz: moved.usual,
        trials_hz_low,
        trials_hz_high,
        followed: FollowedShare::of(moved),
        as_observed: moved.as_observed.as_ref().map(WithInterval::of),
    }
}

#[derive(Serialize)]
pub(super) struct AtDeviceReport {
    read_ns: f64,
    trials_read_ns_low: f64,
    trials_read_ns_high: f64,
    #[serde(flatten)]
    followed: FollowedShare,
    value: WithInterval,
}

pub(super) fn at_device(at: &PointAtDevice) -> AtDeviceReport {
    let [trials_read_ns_low, trials_read_ns_high] = at.moved.trials;
    AtDeviceReport {
        read_ns: at.moved.usual,
        trials_read_ns_low,
        trials_read_ns_high,
        followed: FollowedShare::of(&at.moved),
        value: WithInterval::of(&at.estimate),
    }
}

/// What a direct read of the device took in a run.
#[derive(Serialize)]
pub(super) struct DeviceTimeReport {
    read_ns: f64,
    low_ns: f64,
    high_ns: f64,
    slower_share: f64,
    trials: usize,
}

pub(super) fn device_time(device: &DeviceTime) -> DeviceTimeReport {
    let (low_ns, high_ns) = (device.most_ns.low, device.most_ns.high);
    let DeviceTime { usual_ns: read_ns, slower_share, trials, .. } = *device;
    DeviceTimeReport { read_ns, low_ns, high_ns, slower_share, trials }
}
