//! Disturbances of the trials of a point.

use super::core_frequency;
use crate::record::Header;
use fathom_core::sampling::Sample;

/// Disturbances of the trials of a point, summed over them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Disturbance {
    /// Trials in which the hypervisor took time; `None` if it was seen in none and not all could read it.
    pub trials_with_steal: Option<usize>,
    /// Trials throttled by a CPU quota; `None` if it was seen in none and not all could read it.
    pub trials_throttled: Option<usize>,
    /// Observations that ended on another CPU than the previous one.
    pub migrations: u64,
    /// Number of voluntary context switches.
    pub voluntary_switches: u64,
    /// Number of involuntary context switches.
    pub involuntary_switches: u64,
    /// Those of them by which the scheduler preempted the work: not of trials whose operations themselves switch, wait or create
    /// processes.
    pub preemptions: u64,
    /// Share of a spinning loop's time that was lost just before the observations.
    pub lost_share: Option<f64>,
    /// The lowest and the highest frequency of the core in a trial, hertz.
    pub core_hz: Option<(f64, f64)>,
}

/// The number of counts above zero; `None` if there is none and not all were read.
fn trials_with(mut counts: impl Iterator<Item = Option<u64>> + Clone) -> Option<usize> {
    let above_zero = counts.clone().flatten().filter(|count| *count > 0).count();
    (above_zero > 0 || counts.all(|count| count.is_some())).then_some(above_zero)
}

impl Disturbance {
    pub(super) fn of(header: &Header, measured: &[&Sample]) -> Self {
        let conditions = || measured.iter().map(|sample| &sample.conditions);
        let spun: f64 = conditions().map(|trial| trial.spun_ns).sum();
        let lost: f64 = conditions().map(|trial| trial.lost_ns).sum();
        let frequencies: Vec<f64> =
            measured.iter().filter_map(|sample| core_frequency::of_sample(header, sample)).collect();
        let lowest = frequencies.iter().copied().reduce(f64::min);
        Disturbance {
            trials_with_steal: trials_with(conditions().map(|trial| trial.steal_ns)),
            trials_throttled: trials_with(conditions().map(|trial| trial.throttled_periods)),
            migrations: total(conditions().map(|trial| trial.migrations)),
            voluntary_switches: total(measured.iter().map(|sample| sample.counters.voluntary_switches)),
            involuntary_switches: total(measured.iter().map(|sample| sample.counters.involuntary_switches)),
            preemptions: total(
                measured
                    .iter()
                    .filter(|sample| !switches_by_itself(sample))
                    .map(|sample| sample.counters.involuntary_switches),
            ),
            lost_share: (spun > 0.0).then(|| 0.0 + lost / spun),
            core_hz: lowest.zip(frequencies.iter().copied().reduce(f64::max)),
        }
    }

    /// The share of the context switches by which the scheduler took the CPU away, 0 to 1; `None` without any.
    pub fn preempted_share(&self) -> Option<f64> {
        let all = self.voluntary_switches.saturating_add(self.involuntary_switches);
        (all > 0).then(|| self.involuntary_switches as f64 / all as f64)
    }
}

/// The most voluntary switches of a trial whose work never gives up its CPU: a page or a page table that it had to wait for.
const STRAY: u64 = 10;
/// The fewest operations of a trial whose switches are judged per operation: with fewer, each is long enough to be preempted.
const FEW: u64 = 100;
/// A switch in at least every eighth operation is part of them.
const EVERY: u64 = 8;

/// Whether switches are part of the operations, by the trial's own counters: the process gave up its CPU (to hand over, to wait, or
/// for a child), or was made to, as by `sched_yield`, which counts as involuntary.
fn switches_by_itself(sample: &Sample) -> bool {
    let counters = &sample.counters;
    let all = counters.voluntary_switches.saturating_add(counters.involuntary_switches);
    counters.voluntary_switches > STRAY
        || (sample.operations >= FEW && all.saturating_mul(EVERY) > sample.operations)
}

fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}
