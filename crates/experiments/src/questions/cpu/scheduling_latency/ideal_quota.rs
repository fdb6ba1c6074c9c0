//! How late the requests of a series begin under a quota that is kept exactly: what the method itself makes of its requests, whatever the
//! machine.

use super::quota::{PERIOD_US, QUOTA_US, REQUESTS, SHARE};
use super::requests::WORK_NS;
use super::wake::Intervals;
use fathom_core::statistics::median;

const PERIOD_NS: f64 = PERIOD_US as f64 * 1e3;
const QUOTA_NS: f64 = QUOTA_US as f64 * 1e3;

/// Series, each from another moment of the quota's period: near the whole of a quota they differ much.
const SERIES: u64 = 101;

/// The median wait of a request for those before it and for the quota's next period, nanoseconds, where the requests use such a share of the
/// quota on average.
pub fn wait_ns(used_share: f64) -> f64 {
    let waits = (0..SERIES).filter_map(|number| {
        let mut quota = IdealQuota::from(number as f64 / SERIES as f64);
        let mut intervals = Intervals::new(WORK_NS / (used_share * SHARE), number);
        let mut due = 0.0;
        let of_each = (0..REQUESTS).map(|_| {
            due += intervals.independent();
            quota.begin(due) - due
        });
        median(&of_each.collect::<Vec<_>>())
    });
    median(&waits.collect::<Vec<_>>()).unwrap_or(0.0)
}

/// A quota at a moment: what is left of it until the period ends, nanoseconds.
struct IdealQuota {
    now: f64,
    remaining: f64,
    period_ends: f64,
}

impl IdealQuota {
    /// At this part of a period.
    fn from(part: f64) -> Self {
        IdealQuota { now: 0.0, remaining: QUOTA_NS, period_ends: (1.0 - part) * PERIOD_NS }
    }

    /// Performs a request that is due at this moment; returns when its work began.
    fn begin(&mut self, due: f64) -> f64 {
        self.pass(self.now.max(due));
        self.wait_for_some();
        let (began, mut work) = (self.now, WORK_NS);
        while work > 0.0 {
            self.wait_for_some();
            let part = work.min(self.remaining).min(self.period_ends - self.now);
            self.remaining -= part;
            work -= part;
            self.pass(self.now + part);
        }
        began
    }

    fn pass(&mut self, moment: f64) {
        self.now = moment;
        while self.now >= self.period_ends {
            self.remaining = QUOTA_NS;
            self.period_ends += PERIOD_NS;
        }
    }

    fn wait_for_some(&mut self) {
        if self.remaining <= 0.0 {
            self.pass(self.period_ends);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_quota_serves_and_the_next_period_the_rest() {
        let mut quota = IdealQuota::from(0.5);
        let begun: Vec<f64> = (0..101).map(|_| quota.begin(0.0) / WORK_NS).collect();
        assert!((begun[99] - 99.0).abs() < 1e-6, "half a period is as long as the quota: {}", begun[99]);
        let mut quota = IdealQuota::from(0.0);
        let begun: Vec<f64> = (0..101).map(|_| quota.begin(0.0) / WORK_NS).collect();
        assert!((begun[99] - 99.0).abs() < 1e-6 && (begun[100] - 200.0).abs() < 1e-6, "{}", begun[100]);
    }

    #[test]
    fn requests_wait_where_they_use_all_of_a_quota_and_not_where_they_use_half() {
        let [half, most, all, twice] = [0.5, 0.8, 1.0, 2.0].map(wait_ns);
        assert!(half <= 0.0 && most <= 0.0, "{half} {most}");
        assert!((1e3..100e3).contains(&all), "a part of a request's work: {all}");
        // Of 500 requests due within 50 ms the middle one is, at half the pace, as late again as it is due.
        assert!((8e6..25e6).contains(&twice), "{twice}");
    }
}
