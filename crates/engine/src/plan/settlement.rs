//! The settlement once costs are known, with its forecast.

use crate::record::{LeftOut, PlannedPoint, Settled};
use std::time::Duration;

/// The points that a run will measure, and the time it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    /// The time of the settlement, since the run began or was resumed.
    pub at: Duration,
    /// The time that the run may take.
    pub budget: Duration,
    /// Number of points that get their trials.
    pub points: usize,
    /// Number of trials still to be made, over all these points.
    pub trials: usize,
    /// The least number of trials of a point.
    pub least_trials: usize,
    /// The most trials promised to a point; the remaining time may bring more.
    pub most_trials: usize,
    /// The observation time of each trial.
    pub observe: Duration,
    /// The expected end of the promised trials, since the run began or was resumed.
    pub end: Duration,
    /// Points that do not fit into the budget.
    pub left_out: Vec<Price>,
    /// A budget with which a new run would measure all points.
    pub enough: Duration,
}

/// The cost of a point that is left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Its index among the jobs.
    pub point: usize,
    /// The duration of the trials that it lacks for an interval, with its share of the preparation of its block.
    pub cost: Duration,
    /// Whether it costs more: its trial was ended before it was made.
    pub more: bool,
    /// Whether it has its interval nevertheless, and lacks only further trials that it was promised.
    pub has_interval: bool,
}

impl Settlement {
    /// The points left out that have no interval: as many as a report says got no time, if nothing changes.
    pub fn without_interval(&self) -> usize {
        self.left_out.iter().filter(|price| !price.has_interval).count()
    }

    /// The record for the run file; `points` are those of the jobs.
    pub fn record(&self, points: &[PlannedPoint]) -> Settled {
        let left_out = |price: &Price| LeftOut {
            experiment: points[price.point].experiment.clone(),
            point: points[price.point].point.clone(),
            cost_s: price.cost.as_secs_f64(),
            more: price.more,
        };
        Settled {
            at_s: self.at.as_secs_f64(),
            budget_s: self.budget.as_secs_f64(),
            points: self.points as u64,
            trials: self.trials as u64,
            least_trials: self.least_trials as u64,
            most_trials: self.most_trials as u64,
            trial_ns: self.observe.as_nanos() as u64,
            end_s: self.end.as_secs_f64(),
            left_out: self.left_out.iter().map(left_out).collect(),
            enough_budget_s: self.enough.as_secs_f64(),
        }
    }
}

/// The next round budget: whole tens of seconds up to two minutes, then whole minutes, from twenty minutes on multiples of
/// five.
pub(super) fn rounded_up(seconds: f64) -> Duration {
    let step = match seconds {
        short if short <= 120.0 => 10.0,
        middle if middle <= 1_200.0 => 60.0,
        _ => 300.0,
    };
    // At most a thousand years, because a Duration would overflow.
    Duration::from_secs_f64(((seconds / step).ceil() * step).clamp(0.0, 3e10))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Just more than ten minutes were "15m" where ten had been enough before.
    #[test]
    fn a_budget_is_rounded_up_by_less_than_it_is() {
        for (seconds, round) in [(83.0, 90), (358.0, 360), (602.0, 660), (1_150.0, 1_200), (1_250.0, 1_500)] {
            assert_eq!(rounded_up(seconds), Duration::from_secs(round));
        }
    }

    /// Of 235 points said to be left out 93 had their intervals, and the report told of 142.
    #[test]
    fn what_has_its_interval_is_not_without_one() {
        let price =
            |point, has_interval| Price { point, cost: Duration::from_secs(1), more: false, has_interval };
        let left_out = (0..235).map(|point| price(point, point < 93)).collect();
        let settlement = Settlement {
            at: Duration::ZERO,
            budget: Duration::from_secs(358),
            points: 940,
            trials: 691,
            least_trials: 4,
            most_trials: 8,
            observe: Duration::from_millis(4),
            end: Duration::from_secs(356),
            left_out,
            enough: Duration::from_secs(660),
        };
        assert_eq!(settlement.without_interval(), 142);
    }
}
