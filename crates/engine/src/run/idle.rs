//! Waiting before a run until the machine is idle: by the time that its CPUs work now, and by its load average, which the
//! run's report will show and which needs a minute to forget what has ended.

use super::interrupt::interrupted;
use fathom_core::machine::{CpuSet, Machine, is_loaded, load_average};
use fathom_core::sampling::HostCounts;
use std::time::Duration;

/// The time between two readings: the kernel counts CPU time in hundredths of a second.
const STEP: Duration = Duration::from_secs(1);

/// Readings in a row that must be calm: what other programs do often comes once a second.
const CALM_STEPS: usize = 3;

/// The largest share of all CPUs' time that a machine uses which counts as idle. The noise of an idle one is below a hundredth.
const IDLE_SHARE: f64 = 0.05;

/// What a machine did in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Activity {
    /// How long it was looked at, seconds.
    pub lasted_s: f64,
    /// The share of its CPUs' time that was used; `None` where the kernel does not tell.
    pub used: Option<f64>,
    /// The 1-minute load average; `None` where the kernel does not tell.
    pub load: Option<f64>,
}

/// Why waiting has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleEnd {
    /// The machine was idle.
    Idle,
    /// The time was up first.
    Busy,
    /// The user stopped it.
    Interrupted,
}

/// How long was waited, and what was seen last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waited {
    /// Why it has ended.
    pub end: IdleEnd,
    /// Seconds.
    pub seconds: f64,
    /// The last step.
    pub last: Activity,
}

/// Waits until this machine is idle, at most this time; `tell` hears of the first step that was not.
pub fn wait_until_idle(most: Duration, machine: &Machine, tell: impl FnMut(Activity)) -> Waited {
    let (online, cpus) =
        (machine.topology.online.value().map_or(1, CpuSet::len), machine.allowed_cpus().len());
    let mut before = HostCounts::take(None);
    let look = || {
        sleep(STEP);
        let now = HostCounts::take(None);
        let slice = now.since(&before);
        before = now;
        let used = slice.busy_s.map(|busy| (busy - slice.own_s).max(0.0) / (slice.lasted_s * online as f64));
        Activity { lasted_s: slice.lasted_s, used, load: load_average() }
    };
    wait(most, cpus, look, interrupted, tell)
}

/// Sleeps, but not longer than a signal lets it.
fn sleep(time: Duration) {
    const PART: u32 = 10;
    for _ in 0..PART {
        if interrupted() {
            return;
        }
        std::thread::sleep(time / PART);
    }
}

fn wait(
    most: Duration,
    cpus: usize,
    mut look: impl FnMut() -> Activity,
    interrupted: impl Fn() -> bool,
    mut tell: impl FnMut(Activity),
) -> Waited {
    let (mut seconds, mut calm, mut is_known) = (0.0, 0, false);
    loop {
        let last = look();
        seconds += last.lasted_s;
        calm = if is_calm(last, cpus) { calm + 1 } else { 0 };
        let end = match () {
            () if interrupted() => Some(IdleEnd::Interrupted),
            () if calm >= CALM_STEPS => Some(IdleEnd::Idle),
            () if seconds >= most.as_secs_f64() => Some(IdleEnd::Busy),
            () => None,
        };
        if let Some(end) = end {
            return Waited { end, seconds, last };
        }
        if calm == 0 && !std::mem::replace(&mut is_known, true) {
            tell(last);
        }
    }
}

fn is_calm(activity: Activity, cpus: usize) -> bool {
    activity.used.is_none_or(|used| used <= IDLE_SHARE)
        && activity.load.is_none_or(|load| !is_loaded(load, cpus))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits on a machine of two CPUs that does this second by second, and the last for ever.
    fn waited(most: u64, steps: &[(f64, f64)], stopped_after: usize) -> (Waited, usize) {
        let (looks, mut messages) = (std::cell::Cell::new(0), 0);
        let look = || {
            let (used, load) = steps[looks.get().min(steps.len() - 1)];
            looks.set(looks.get() + 1);
            Activity { lasted_s: 1.0, used: Some(used), load: Some(load) }
        };
        let stopped = || looks.get() > stopped_after;
        (wait(Duration::from_secs(most), 2, look, stopped, |_| messages += 1), messages)
    }

    #[test]
    fn an_idle_machine_is_waited_for_no_longer_than_it_takes_to_see() {
        let (waited, messages) = waited(60, &[(0.01, 0.2)], 1000);
        assert_eq!((waited.end, waited.seconds, messages), (IdleEnd::Idle, 3.0, 0));
    }

    #[test]
    fn work_now_and_the_load_of_the_last_minute_are_both_waited_for() {
        let steps = [(0.9, 1.8), (0.0, 1.7), (0.0, 1.5), (0.9, 1.3), (0.0, 1.1), (0.0, 0.9)];
        let (waited, messages) = waited(60, &steps, 1000);
        assert_eq!((waited.end, waited.seconds, messages), (IdleEnd::Idle, 8.0, 1));
    }

    #[test]
    fn a_machine_that_stays_busy_is_waited_for_until_the_time_is_up_and_a_user_sooner() {
        let busy = [(0.4, 0.1)];
        assert_eq!(waited(20, &busy, 1000).0.end, IdleEnd::Busy);
        assert!((waited(20, &busy, 1000).0.seconds - 20.0).abs() < 1e-9);
        let (stopped, _) = waited(20, &busy, 4);
        assert_eq!((stopped.end, stopped.seconds), (IdleEnd::Interrupted, 5.0));
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_not_waited_for() {
        let unknown = Activity { lasted_s: 1.0, used: None, load: None };
        assert!(is_calm(unknown, 2));
    }
}
