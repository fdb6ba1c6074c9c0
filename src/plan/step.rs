//! What a planner is asked, and what it answers.

use super::pilot;
use super::settlement::Settlement;
use crate::record::Ending;
use std::time::Duration;

/// A trial that observes for less sees too few observations.
pub const SHORTEST: Duration = Duration::from_millis(4);

/// What a plan is made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannerSettings {
    /// The seed of the run, which the order is drawn from.
    pub seed: u64,
    /// The time that the run may take, from now on.
    pub budget: Duration,
    /// The target relative half-width of intervals.
    pub precision: f64,
    /// How long trials observe, where somebody has asked for that.
    pub observe: Option<Duration>,
    /// Rounds that the run has had before it was taken up again; 0 for a new one.
    pub rounds: u32,
}

impl PlannerSettings {
    /// What the pilot round may take.
    pub fn pilot(&self) -> Duration {
        self.budget.mul_f64(pilot::SHARE)
    }

    /// How long a trial of the pilot round observes.
    pub fn pilot_observes(&self) -> Duration {
        self.observe.unwrap_or(SHORTEST)
    }
}

/// What is to be done next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// One fresh process.
    Visit(Visit),
    /// To be written down and shown: after the pilot round, and again whenever other points are left out than before.
    Settle(Settlement),
    /// The end of the run.
    Done(Ending),
}

/// A visit of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    /// The round, from 1.
    pub round: u32,
    /// The block.
    pub block: usize,
    /// Its points that are measured, in this order; figures of one trial stand together.
    pub points: Vec<usize>,
    /// How long each trial observes.
    pub observe: Duration,
    /// Points that have not begun when the visit has taken so long are better left for another.
    pub limit: Duration,
}
