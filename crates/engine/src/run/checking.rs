//! A run for requirements: rounds of the points about which something is still undecided, until nothing is, or the time is up.
//!
//! The planner of other runs narrows intervals; here their ends matter only where the limit is. So every open point has one trial in
//! each round, in its own order, and a point that is decided costs no more time. Trials of short work are made as the core is: the
//! requirement is about the machine that its user has.

use super::header::Options;
use super::interrupt::interrupted;
use super::run_in_progress::RunInProgress;
use super::watcher::Watcher;
use crate::plan::{self, CoreWanted, SHORTEST, Visit};
use crate::record::{Ending, Header, Peer, Run};
use crate::requirements::{Requirements, Targets, judge};
use anyhow::{Result, anyhow};
use fathom_core::experiment::Effort;
use fathom_core::experiment::registry;
use fathom_core::sampling::Snapshot;
use std::collections::BTreeSet;
use std::time::Duration;

/// The time of a check without a given budget.
const USUAL_BUDGET: Duration = Duration::from_secs(2 * 60);

/// Looks are rarer the more trials there are: after this share of them more.
const BETWEEN_LOOKS: u32 = 20;

/// What a file demands of this machine: the header of a run of the points that it needs, and the targets of its demands among them.
pub struct CheckPlan {
    /// The header, whose plan has these points alone; it may have none.
    pub header: Header,
    /// What the demands are about.
    pub targets: Targets,
}

/// The check of a file on this machine, with the folder, seed, CPU, clock and budget of these options.
pub fn measured_for(
    requirements: &Requirements,
    options: &Options,
    peer: Option<&Peer>,
) -> Result<CheckPlan> {
    // Points are chosen one by one, whatever effort a run of everything would make of them.
    let experiments = requirements.experiments();
    let options = Options {
        selection: if experiments.is_empty() { vec![SHORT.to_owned()] } else { experiments },
        effort: Effort::Thorough,
        budget: Some(options.budget.unwrap_or(USUAL_BUDGET)),
        precision: Some(options.precision.unwrap_or(plan::default_precision(Effort::Quick))),
        ..options.clone()
    };
    let mut header = options.header(peer)?;
    let all = Targets::of(requirements, &header.machine, &header.plan).map_err(|reason| anyhow!(reason))?;
    let points = all.points();
    let targets = all.among(&points);
    header.plan = points.into_iter().map(|index| header.plan[index].clone()).collect();
    header.settings.effort = Effort::Standard;
    Ok(CheckPlan { header, targets })
}

/// What is described where no experiment is needed.
const SHORT: &str = "cpu/arithmetic";

impl RunInProgress {
    /// Measures until every requirement is decided or cannot be, the time is up, or the user stops it.
    pub fn check(
        &mut self,
        requirements: &Requirements,
        targets: &Targets,
        watcher: &mut dyn Watcher,
    ) -> Result<()> {
        let before = Snapshot::take(self.environment.cpu_stat());
        let blocks = plan::blocks(&registry::all().collect::<Vec<_>>(), &self.active);
        let (mut round, mut next_look, mut open) = (0, 1, (0..self.active.len()).collect());
        let mut too_long = BTreeSet::new();
        let ending = loop {
            round += 1;
            if round >= next_look {
                open = self.open(requirements, targets, &too_long);
                next_look = round + 1 + round / BETWEEN_LOOKS;
            }
            if open.is_empty() {
                break Ending::Decided;
            }
            if let Some(ending) = self.check_round(round, &blocks, &open, &mut too_long, watcher)? {
                break ending;
            }
        };
        let conditions = Snapshot::take(self.environment.cpu_stat()).since(&before);
        self.close(ending, conditions)
    }

    /// The points about which more trials may decide something.
    fn open(
        &self,
        requirements: &Requirements,
        targets: &Targets,
        too_long: &BTreeSet<usize>,
    ) -> BTreeSet<usize> {
        let places = plan::places(&self.active);
        let judged = judge(requirements, targets, &self.run);
        let of_plan = targets.open_points(&judged);
        let of_plan = of_plan.into_iter().filter_map(|index| {
            let planned = &self.run.header.plan[index];
            places.get(&(planned.experiment.as_str(), &planned.point)).copied()
        });
        of_plan.filter(|index| !too_long.contains(index) && !self.progress()[*index].is_given_up()).collect()
    }

    /// One trial of every open point; the reason to end the run, if there is one.
    fn check_round(
        &mut self,
        round: u32,
        blocks: &[Vec<usize>],
        open: &BTreeSet<usize>,
        too_long: &mut BTreeSet<usize>,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<Ending>> {
        for (block, members) in blocks.iter().enumerate() {
            let points: Vec<usize> = members.iter().copied().filter(|index| open.contains(index)).collect();
            if points.is_empty() {
                continue;
            }
            let rest = self.budget.saturating_sub(self.began.elapsed());
            if rest.is_zero() {
                return Ok(Some(Ending::Budget));
            }
            self.look()?;
            let visited = if interrupted() {
                None
            } else {
                self.visit(&self.check_visit(round, block, points, rest), watcher)?
            };
            let Some(cost) = visited else { return Ok(Some(Ending::Interrupted)) };
            too_long.extend(cost.ended.map(|(point, _)| point));
        }
        Ok(None)
    }

    fn check_visit(&self, round: u32, block: usize, points: Vec<usize>, rest: Duration) -> Visit {
        let settings = &self.run.header.settings;
        let observe = if settings.trial_fixed { Duration::from_nanos(settings.trial_ns) } else { SHORTEST };
        Visit {
            round,
            block,
            points,
            observe,
            core: CoreWanted::Any,
            puts_back: false,
            limit: rest,
            end: rest,
            making: rest,
        }
    }

    /// The run so far.
    pub fn run(&self) -> &Run {
        &self.run
    }
}
