//! The planner's input and its answers, and how many trials it promises to a point.

use super::settlement::Settlement;
use super::{TRIALS, pilot};
use crate::record::Ending;
use fathom_core::statistics::MINIMUM_TRIALS;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The shortest useful observation time of a trial: a shorter one has too few observations.
pub const SHORTEST: Duration = Duration::from_millis(4);

/// The settings of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannerSettings {
    /// The seed of the run, from which the order is drawn.
    pub seed: u64,
    /// The time that the run may take, from now on.
    pub budget: Duration,
    /// The target of intervals: how far the farther end may be from the value, as a share of it.
    pub precision: f64,
    /// The observation time of trials, if one was given.
    pub observe: Option<Duration>,
    /// The number of trials of every point, if it was given: no point gets more, and none that is measured fewer.
    pub trials: Option<u32>,
    /// Rounds before the run was resumed; 0 for a new run.
    pub rounds: u32,
}

impl PlannerSettings {
    /// The time of the pilot round.
    pub fn pilot(&self) -> Duration {
        self.budget.mul_f64(pilot::SHARE)
    }

    /// The number of trials that a point should have, and the least number of one that is not left out.
    pub fn goals(&self) -> (usize, usize) {
        self.trials.map_or(TRIALS, |trials| (trials as usize, trials as usize))
    }

    /// The observation time of a trial of the pilot round.
    pub fn pilot_observes(&self) -> Duration {
        self.observe.unwrap_or(SHORTEST)
    }
}

/// The state of the cores on which short work may run, when the next visit is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Unknown: no reading tells the core alone from the core shared (yet).
    Unknown,
    /// All of them are alone.
    Alone,
    /// All of them are shared.
    Shared,
    /// Some are alone and some are shared.
    Either,
}

/// The moment for work on one core, and for work between two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    /// The state of the cores on which work on one CPU may run.
    pub on_one: Moment,
    /// That of the two cores between which other work runs: alone only with both.
    pub between_two: Moment,
}

impl From<Moment> for Moments {
    /// Where two cores are all that is looked at.
    fn from(moment: Moment) -> Self {
        let both = if moment == Moment::Either { Moment::Shared } else { moment };
        Moments { on_one: moment, between_two: both }
    }
}

/// The state of the core with which trials of short work are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreWanted {
    /// Whatever it is, on the run's own CPU.
    Any,
    /// Alone.
    Alone,
    /// Shared.
    Shared,
}

/// The next step of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A visit in one fresh process.
    Visit(Visit),
    /// The settlement is to be recorded and shown: after the pilot round, and again whenever the points left out change.
    Settle(Settlement),
    /// Nothing is measured for this time: the core is shared, and all that is left needs it alone.
    Wait(Duration),
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
    /// Its points to measure, in this order; figures of one trial are adjacent.
    pub points: Vec<usize>,
    /// The observation time of each trial.
    pub observe: Duration,
    /// The state of the core that its trials of short work are wanted with.
    pub core: CoreWanted,
    /// Whether such a trial is put back if it finds the core shared; a costly preparation is not repeated for that.
    pub puts_back: bool,
    /// The time limit of the visit: points that have not begun by then are left for another visit.
    pub limit: Duration,
    /// The time after which the visit is ended even in the middle of a trial, which is then not made.
    pub end: Duration,
    /// The longest time in which a file may be made that later trials read too; a file that takes longer is not written.
    pub making: Duration,
}

/// The number of trials that a point gets if it is not left out: two more than an interval needs
/// ([`MINIMUM_TRIALS`](fathom_core::statistics::MINIMUM_TRIALS)), because Student's t makes that of four trials half as wide again as
/// that of six which scatter as much, and a trial may fail or find its core shared. Of dear trials as many as an interval needs are
/// promised.
pub const PROMISED_TRIALS: usize = 6;

/// The numbers of trials that may be asked for: as many as an interval needs, up to more than any report had.
pub const TRIALS_ASKED: RangeInclusive<u32> = MINIMUM_TRIALS as u32..=10_000;
