//! Two settings of one machine, measured alternately: every visit that one planner requests is made under both, one directly
//! after the other, in an order drawn for each visit. Variations of the machine from minute to minute then affect both.

use super::interrupt::interrupted;
use super::restoring::Guard;
use super::run_in_progress::RunInProgress;
use super::variation::{Arrangement, Originals};
use super::visiting::Cost;
use super::watcher::{Unwatched, Watcher};
use crate::plan::{self, Step};
use crate::record::Ending;
use anyhow::{Result, ensure};
use fathom_core::sampling::Snapshot;
use std::time::{Duration, Instant};

/// Two runs of the same points in progress.
pub struct Alternation {
    halves: [Box<RunInProgress>; 2],
    arrangements: [Arrangement; 2],
    originals: Originals,
    /// Restores the settings at the end, or when it is dropped.
    guard: Guard,
}

impl Alternation {
    /// For two runs of the same plan; every setting is tried once, and the machine is left as it was.
    pub fn of(mut halves: [Box<RunInProgress>; 2], arrangements: [Arrangement; 2]) -> Result<Self> {
        let points = |half: &RunInProgress| {
            half.active.iter().map(|point| (point.experiment.clone(), point.point.clone())).collect()
        };
        let (one, other): (Vec<_>, Vec<_>) = (points(&halves[0]), points(&halves[1]));
        ensure!(
            one == other,
            "the two settings have different points on this machine: name experiments that have the same points under \
             both"
        );
        let originals = Originals::of([&arrangements[0], &arrangements[1]])?;
        let guard = Guard::over(&originals, [&arrangements[0], &arrangements[1]])?;
        arrangements.iter().try_for_each(|arrangement| arrangement.attempt(&originals))?;
        originals.restore()?;
        for (half, arrangement) in halves.iter_mut().zip(&arrangements) {
            half.set_launch(arrangement);
        }
        Ok(Alternation { halves, arrangements, originals, guard })
    }

    /// Measures both until everything is as precise as requested under both, the time is up, or the user stops it.
    pub fn measure(&mut self, watcher: &mut dyn Watcher) -> Result<()> {
        let before = Snapshot::take(self.halves[0].environment.cpu_stat());
        let mut planner = self.halves[0].planner();
        let began = Instant::now();
        let ending = loop {
            match planner.next(began.elapsed(), plan::Moment::Unknown, &self.progress()) {
                Step::Settle(settlement) => {
                    self.halves[0].settle(&settlement, watcher)?;
                    self.halves[1].settle(&settlement, &mut Unwatched)?;
                }
                Step::Visit(visit) => {
                    let visited = if interrupted() { None } else { self.visit(&visit, watcher)? };
                    let Some(cost) = visited else { break Ending::Interrupted };
                    cost.learn(&mut planner, visit.block);
                }
                Step::Wait(pause) => std::thread::sleep(pause),
                Step::Done(ending) => break ending,
            }
        };
        // The runs are complete whether or not this succeeds; the command fails if it does not.
        let restored = self.guard.end();
        let conditions = Snapshot::take(self.halves[0].environment.cpu_stat()).since(&before);
        self.halves.iter_mut().try_for_each(|half| half.close(ending, conditions.clone()))?;
        restored
    }

    /// The same visit under both settings, in an order drawn from the seed, with the sum of both costs; `None` if it was
    /// interrupted.
    fn visit(&mut self, visit: &plan::Visit, watcher: &mut dyn Watcher) -> Result<Option<Cost>> {
        let first = &self.halves[0].active[visit.points[0]];
        let drawn =
            plan::trial_seed(self.halves[0].environment.seed(), &first.experiment, &first.point, visit.round);
        let order = if drawn % 2 == 0 { [0, 1] } else { [1, 0] };
        // A trial under one setting is nothing without that under the other, so none is put back.
        let visit = &plan::Visit { core: plan::CoreWanted::Alone, puts_back: false, ..visit.clone() };
        let mut both: Option<Cost> = None;
        for half in order {
            self.arrangements[half].set(&self.originals)?;
            let Some(cost) = self.halves[half].visit(visit, watcher)? else { return Ok(None) };
            both = Some(match both {
                None => cost,
                Some(earlier) => together(&earlier, &cost),
            });
        }
        Ok(both)
    }

    /// The progress of each point under the setting with less progress.
    fn progress(&self) -> Vec<plan::Progress> {
        let [one, other] = self.halves.each_ref().map(|half| half.progress());
        one.iter().zip(other).map(|(one, other)| one.behind(other).clone()).collect()
    }

    /// The two runs, one per setting.
    pub fn into_halves(self) -> [Box<RunInProgress>; 2] {
        self.halves
    }
}

/// The cost of a visit under both settings; points that only one has reached are left to another visit.
fn together(one: &Cost, other: &Cost) -> Cost {
    let both = |(index, took): &(usize, Duration)| {
        let (_, again) = other.own.iter().find(|(reached, _)| reached == index)?;
        Some((*index, *took + *again))
    };
    Cost {
        preparation: one.preparation + other.preparation,
        own: one.own.iter().filter_map(both).collect(),
        ended: one.ended.or(other.ended),
        put_back: vec![],
    }
}
