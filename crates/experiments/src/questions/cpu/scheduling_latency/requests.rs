//! Requests that are due at moments of their own, each with the same work.

use super::wake::{Intervals, sleep_until};
use crate::apparatus::cpu::busy::steps;
use fathom_core::prelude::*;

/// The work of a request, nanoseconds of a CPU.
pub const WORK_NS: f64 = 100e3;

/// The limit on p99 of a request, from the moment at which it was due to its end, nanoseconds.
pub const WITHIN_NS: f64 = 10e6;

/// Of which one in a hundred may be late.
const LATE: f64 = 0.01;

/// The fewest requests that carry a p99, and the shortest time of a series: long against the limit.
const FEWEST: usize = 300;
const SHORTEST_NS: f64 = 250e6;

/// The shares of a CPU that are tried: in steps of a thirty-second.
const SHARES: u32 = 32;

/// Times that the work is tried before it counts as known: the shortest is without interruption.
const TRIES: usize = 16;

/// The work of a request, as a number of steps.
#[derive(Debug, Clone, Copy)]
pub struct RequestWork {
    steps: u64,
}

impl RequestWork {
    /// As many steps as take [`WORK_NS`] without interruption.
    pub fn new(watch: &dyn Stopwatch) -> Self {
        const FIRST: u64 = 20_000;
        let shortest = (0..TRIES).map(|_| time(FIRST, watch)).fold(f64::INFINITY, f64::min);
        RequestWork { steps: (FIRST as f64 * WORK_NS / shortest).max(1.0) as u64 }
    }

    pub fn perform(self) {
        steps(self.steps, &mut 1);
    }
}

fn time(count: u64, watch: &dyn Stopwatch) -> f64 {
    let began = watch.now_ns();
    steps(count, &mut 1);
    watch.now_ns() - began
}

/// A request: when it was due, when its work began, and when it ended.
#[derive(Debug, Clone, Copy)]
pub struct TimedRequest {
    pub due: f64,
    pub began: f64,
    pub ended: f64,
}

/// A series of requests, due at these intervals whether or not the ones before have ended.
pub fn series(
    count: usize,
    mut interval: impl FnMut() -> f64,
    work: RequestWork,
    watch: &dyn Stopwatch,
) -> Result<Vec<TimedRequest>, Failure> {
    let mut due = watch.now_ns();
    let mut request = || {
        due += interval();
        sleep_until(due, watch)?;
        let began = watch.now_ns();
        work.perform();
        Ok(TimedRequest { due, began, ended: watch.now_ns() })
    };
    (0..count).map(|_| request()).collect()
}

/// The shortest of the tried intervals at which 99 in 100 requests end in time; `None` if there is none.
pub fn shortest_interval(
    work: RequestWork,
    seed: u64,
    watch: &dyn Stopwatch,
) -> Result<Option<f64>, Failure> {
    let keeps = |share: u32| {
        let interval = interval_ns(share);
        let count = ((SHORTEST_NS / interval) as usize).max(FEWEST);
        let mut intervals = Intervals::new(interval, seed ^ u64::from(share));
        let requests = series(count, || intervals.near(), work, watch)?;
        Ok(is_in_time(&requests))
    };
    Ok(highest(keeps)?.map(interval_ns))
}

fn interval_ns(share: u32) -> f64 {
    WORK_NS * f64::from(SHARES) / f64::from(share)
}

fn is_in_time(requests: &[TimedRequest]) -> bool {
    let late = requests.iter().filter(|request| request.ended - request.due > WITHIN_NS).count();
    late as f64 <= LATE * requests.len() as f64
}

/// The largest share that holds, if every smaller one does, by halving; `None` if not even the smallest does.
fn highest(mut holds: impl FnMut(u32) -> Result<bool, Failure>) -> Result<Option<u32>, Failure> {
    let (mut good, mut bad) = (0, SHARES);
    while bad - good > 1 {
        let middle = u32::midpoint(good, bad);
        if holds(middle)? { good = middle } else { bad = middle }
    }
    Ok((good > 0).then_some(good))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_ends_at_the_last_share_that_holds() {
        for limit in 1..SHARES {
            let mut tried = 0;
            let share = highest(|share| {
                tried += 1;
                Ok(share <= limit)
            });
            assert_eq!(share.unwrap(), Some(limit));
            assert!(tried <= 5, "{tried}");
        }
        assert_eq!(highest(|_| Ok(false)).unwrap(), None);
        assert!((interval_ns(16) - 2.0 * WORK_NS).abs() < 1e-6);
    }

    #[test]
    fn a_request_is_late_from_the_moment_at_which_it_was_due() {
        let ended = |after: f64| TimedRequest { due: 1e9, began: 1e9 + after - WORK_NS, ended: 1e9 + after };
        let one_in_100 = [vec![ended(1e6); 99], vec![ended(11e6)]].concat();
        assert!(is_in_time(&one_in_100));
        assert!(!is_in_time(&[one_in_100, vec![ended(11e6)]].concat()), "two in 101");
    }
}
