//! Who follows a run: told of every trial, of what was settled, and of long preparations.

use crate::plan::Settlement;
use crate::record::PlannedPoint;
use crate::results::Headline;
use std::time::Duration;

/// The state of a run after each trial, for its watcher.
pub struct Tick<'run> {
    /// The point that was visited.
    pub planned: &'run PlannedPoint,
    /// Its estimate so far; `None` while nothing was observed.
    pub headline: Option<&'run Headline>,
    /// The round that is going on, by the trials that every point has in the mean.
    pub round: u32,
    /// How many are promised; `None` before that is settled.
    pub rounds: Option<u32>,
    /// Time since the run began or was resumed.
    pub elapsed: Duration,
    /// The time that the run may take.
    pub budget: Duration,
    /// Points whose interval is as narrow as the target.
    pub precise: usize,
    /// The target: the distance of an interval's farther end from its value, as a share of it.
    pub precision: f64,
    /// Points that are measured.
    pub points: usize,
}

/// An observer of a run, such as a progress display.
pub trait Watcher {
    /// Called after every trial, between two measurements.
    fn trial(&mut self, tick: &Tick);

    /// Called when the planner has settled which points get their trials, and until when.
    fn settled(&mut self, settlement: &Settlement);

    /// Called while a trial prepares something that takes long, with its description; nothing is measured meanwhile.
    fn preparing(&mut self, doing: &str);
}

/// A watcher that shows nothing.
pub(crate) struct Unwatched;

impl Watcher for Unwatched {
    fn trial(&mut self, _: &Tick) {}

    fn settled(&mut self, _: &Settlement) {}

    fn preparing(&mut self, _: &str) {}
}
