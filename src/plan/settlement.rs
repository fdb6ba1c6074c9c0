//! What is settled once costs are known, and its forecast.

use crate::record::{LeftOut, PlannedPoint, Settled};
use std::time::Duration;

/// Which points a run will measure, and until when.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    /// When it was settled, since the run began or was taken up again.
    pub at: Duration,
    /// The time that the run may take.
    pub budget: Duration,
    /// Points that get their trials.
    pub points: usize,
    /// Trials that are still to be made for that, of all of them together.
    pub trials: usize,
    /// The least number of trials that one of them gets.
    pub least_trials: usize,
    /// The most that one of them is promised; the time that is left may bring more.
    pub most_trials: usize,
    /// How long each trial observes.
    pub observe: Duration,
    /// When the promised trials are expected to be done, since the run began or was taken up again.
    pub end: Duration,
    /// Points that do not fit into the budget.
    pub left_out: Vec<Price>,
    /// A budget that is enough for a new run with all points.
    pub enough: Duration,
}

/// What a point would cost that is left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Its place among the jobs.
    pub point: usize,
    /// What the trials that it lacks for an interval would take, with its share of the preparation of its block.
    pub cost: Duration,
}

impl Settlement {
    /// What all points that are left out would cost together.
    pub fn cost(&self) -> Duration {
        self.left_out.iter().map(|price| price.cost).sum()
    }

    /// As the run file keeps it; `points` are those that the jobs were made of.
    pub fn record(&self, points: &[PlannedPoint]) -> Settled {
        let left_out = |price: &Price| LeftOut {
            experiment: points[price.point].experiment.clone(),
            point: points[price.point].point.clone(),
            cost_s: price.cost.as_secs_f64(),
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

/// The next budget that somebody would ask for: whole tens of seconds up to two minutes, then whole minutes, from ten of them on
/// fives.
pub(super) fn rounded_up(seconds: f64) -> Duration {
    let step = match seconds {
        short if short <= 120.0 => 10.0,
        middle if middle <= 600.0 => 60.0,
        _ => 300.0,
    };
    // Beyond a thousand years nobody asks, and a Duration would overflow.
    Duration::from_secs_f64(((seconds / step).ceil() * step).clamp(0.0, 3e10))
}
