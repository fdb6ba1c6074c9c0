//! Series of wake-ups and of requests, beside busy processes or under a quota.

use super::quota::UnderQuota;
use super::requests::{RequestWork, shortest_interval};
use super::wake::{WakeUpSource, without_slack};
use super::{BUSY, INTERVAL, LATENESS, MISSES, POLICY, THROTTLING};
use crate::apparatus::cpu::busy::{Busy, LoadPolicy};
use fathom_core::prelude::*;
use std::cell::Cell;
use std::rc::Rc;

/// Wake-ups of a series.
pub const SERIES: usize = 128;
/// The deadline of a wake-up, nanoseconds.
const DEADLINE_NS: f64 = 1e6;

/// Witnesses: series; wake-ups; those for which the thread slept; busy processes that ran during a series, summed over series.
pub const ALL_SERIES: &str = "series";
pub const WAKE_UPS: &str = "wake_ups";
pub const SLEEPS: &str = "sleeps";
pub const RUNNING: &str = "busy_processes_that_ran";

/// The busy processes of a point, if it has any.
pub struct BusyLoad(Option<(Busy, LoadPolicy)>);

impl BusyLoad {
    pub fn start(point: &Point, cpus: &[usize]) -> Result<Self, Failure> {
        let name = point.name(&POLICY);
        let policy = LoadPolicy::ALL.into_iter().find(|policy| policy.name() == name);
        let on_each = point.number(&BUSY) as usize;
        let busy = policy.map(|policy| Ok::<_, Failure>((Busy::start(cpus, on_each, policy)?, policy)));
        busy.transpose().map(BusyLoad)
    }

    pub fn count(&self) -> f64 {
        self.0.as_ref().map_or(0.0, |(busy, _)| busy.count() as f64)
    }

    pub fn under(&self) -> f64 {
        self.0.as_ref().map_or(0.0, |(busy, policy)| busy.under(*policy) as f64)
    }

    fn steps(&self) -> Vec<u64> {
        self.0.as_ref().map(|(busy, _)| busy.steps()).unwrap_or_default()
    }
}

#[derive(Debug, Default)]
struct WakeUpCounts {
    series: Cell<f64>,
    wake_ups: Cell<f64>,
    sleeps: Cell<f64>,
    running: Cell<f64>,
}

fn add(to: &Cell<f64>, count: f64) {
    to.set(to.get() + count);
}

impl WakeUpCounts {
    /// Performs a series, and counts the busy processes that ran meanwhile.
    fn during<T>(&self, load: &BusyLoad, series: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let before = load.steps();
        let result = series()?;
        let ran = load.steps().iter().zip(&before).filter(|(now, before)| now > before).count();
        add(&self.running, ran as f64);
        add(&self.series, 1.0);
        Ok(result)
    }

    fn account(self: &Rc<Self>) -> impl FnMut() -> Vec<(&'static str, f64)> + use<> {
        let counts = Rc::clone(self);
        move || {
            vec![
                (ALL_SERIES, counts.series.get()),
                (WAKE_UPS, counts.wake_ups.get()),
                (SLEEPS, counts.sleeps.get()),
                (RUNNING, counts.running.get()),
            ]
        }
    }
}

/// Another CPU than the one of the thread, if there is one.
pub fn beside(home: Option<usize>, cpus: &[usize]) -> Option<usize> {
    cpus.iter().copied().find(|cpu| Some(*cpu) != home).or(home)
}

/// Series of wake-ups.
pub fn woken<'site, W: WakeUpSource + 'site>(
    mut waking: W,
    begin: impl Fn(&mut W, &dyn Stopwatch) + 'site,
    load: BusyLoad,
    site: &'site Site,
) -> Workload<'site> {
    let counts = Rc::<WakeUpCounts>::default();
    let account = counts.account();
    let observe = move || {
        let late = counts.during(&load, || {
            begin(&mut waking, site.stopwatch);
            (0..SERIES).map(|_| waking.next(site.stopwatch)).collect::<Result<Vec<_>, _>>()
        })?;
        add(&counts.wake_ups, late.len() as f64);
        add(&counts.sleeps, late.iter().filter(|(_, slept)| *slept == Some(true)).count() as f64);
        Ok(figures(late.into_iter().map(|(ns, _)| ns).collect()))
    };
    Workload::figures(observe).cold().about_its_cpu().witnessed(account)
}

/// The lateness of each wake-up, and the share of those that missed the deadline.
fn figures(late: Vec<f64>) -> Vec<FigureValue> {
    let misses = late.iter().filter(|ns| **ns > DEADLINE_NS).count() as f64 / late.len().max(1) as f64;
    late.into_iter().map(|ns| (LATENESS, ns)).chain([(MISSES, 1e6 * misses)]).collect()
}

/// The search for the shortest interval of requests.
pub fn served<'site>(load: BusyLoad, site: &'site Site) -> Result<Workload<'site>, Failure> {
    without_slack()?;
    let (work, counts) = (RequestWork::new(site.stopwatch), Rc::<WakeUpCounts>::default());
    let (account, mut number) = (counts.account(), site.seed);
    let observe = move || {
        number = number.wrapping_add(1);
        let shortest = counts.during(&load, || shortest_interval(work, number, site.stopwatch))?;
        Ok(shortest.into_iter().map(|ns| (INTERVAL, ns)).collect())
    };
    Ok(Workload::figures(observe).cold().about_its_cpu().witnessed(account))
}

/// Series of requests under a quota of which they use such a share.
pub fn limited<'site>(used_share: f64, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let process = UnderQuota::start(site.home, used_share, site)?;
    let account = process.account();
    let observe = move || {
        let series = process.next()?;
        let throttling = (THROTTLING, 1e6 * series.throttled_share);
        Ok(figures(series.late_ns).into_iter().chain([throttling]).collect())
    };
    Ok(Workload::figures(observe).cold().about_its_cpu().witnessed(account))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_is_a_wake_up_after_its_deadline() {
        let late = [vec![5e3; 127], vec![1.2e6]].concat();
        assert_eq!(figures(late).last(), Some(&(MISSES, 1e6 / 128.0)));
    }
}
