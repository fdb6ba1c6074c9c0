//! A run in phases: the same points are measured for some seconds, and again after other work.

use super::interrupt::interrupted;
use super::phase_schedule::{is_due, next, trials};
use super::run_in_progress::RunInProgress;
use super::watcher::Unwatched;
use crate::plan::{self, CoreWanted, Visit};
use crate::record::{Ending, Header, Journal, PlannedPoint, Run};
use anyhow::Result;
use fathom_core::experiment::{Point, registry};
use fathom_core::sampling::Snapshot;
use fathom_core::sorting;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The longest time of one trial, and of making a file.
const LONGEST: Duration = Duration::from_secs(10);

/// How long trials of operations on files observe: these take a hundred times as long as others.
const OBSERVE_FILES: Duration = Duration::from_millis(20);

/// By how much longer than planned a phase may take before its remaining trials are left out.
const OVERRUN: u32 = 3;

/// A phase that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PhaseSpan {
    /// Its first round.
    pub first_round: u32,
    /// Its last round.
    pub last_round: u32,
    /// When it began, seconds after the run.
    pub began_s: f64,
    /// When it ended, seconds after the run.
    pub ended_s: f64,
}

impl PhaseSpan {
    /// Whether a round belongs to it.
    pub fn contains(&self, round: u32) -> bool {
        (self.first_round..=self.last_round).contains(&round)
    }
}

/// A run of a few points, whose phases have work of others between them.
pub struct PhasedRun {
    run: RunInProgress,
    blocks: Vec<Vec<usize>>,
    /// The cost of a trial of each block, seconds; empty before the first phase. At first that of its first trial, and after a phase
    /// the mean in it.
    costs: Vec<f64>,
    /// The time that the trials of each block took in this phase, seconds, and their number.
    times: Vec<(f64, u32)>,
    rounds: u32,
    before: Snapshot,
}

impl PhasedRun {
    /// Begins the run; its file is written to the journal.
    pub fn begin(header: Header, journal: impl FnOnce() -> Result<Journal>) -> Result<Self> {
        let run = RunInProgress::written_to(header, journal, None)?;
        let experiments: Vec<_> = registry::all().collect();
        let blocks = plan::blocks(&experiments, &run.active);
        let before = Snapshot::take(run.environment().cpu_stat());
        let times = vec![(0.0, 0); blocks.len()];
        Ok(PhasedRun { run, blocks, costs: vec![], times, rounds: 0, before })
    }

    /// The points, in the order of their plan.
    pub fn points(&self) -> &[PlannedPoint] {
        &self.run.active
    }

    /// Measures for about this time; `None` if the user ended it.
    pub fn measure(&mut self, length: Duration) -> Result<Option<PhaseSpan>> {
        let began = Instant::now();
        let (began_s, first_round) = (self.run.seconds_to(began), self.rounds + 1);
        let pilot = self.costs.is_empty();
        self.times.fill((0.0, 0));
        if pilot && !self.measure_costs()? {
            return Ok(None);
        }
        let trials = trials(&self.costs, length.as_secs_f64());
        let rounds = trials.iter().copied().max().unwrap_or_default();
        // The first trials of all are those that told the costs.
        let done = u32::from(pilot);
        let rounds = rounds.saturating_sub(done);
        for round in 0..rounds {
            let due = |block: &usize| is_due(trials[*block].saturating_sub(done), rounds, round);
            let order = self.shuffled().into_iter().filter(due).collect::<Vec<_>>();
            self.rounds += 1;
            for block in order {
                if began.elapsed() > OVERRUN * length {
                    break;
                }
                if self.visit(block)?.is_none() {
                    return Ok(None);
                }
            }
        }
        if !self.fill(&trials, began, length)? {
            return Ok(None);
        }
        self.costs = self.means();
        let ended_s = self.run.seconds_to(Instant::now());
        Ok(Some(PhaseSpan { first_round, last_round: self.rounds, began_s, ended_s }))
    }

    /// Further trials while another fits, each in a round of its own: the first trials of all are slower than later ones, so the
    /// numbers that follow from them leave time. False if it was interrupted.
    fn fill(&mut self, trials: &[u32], began: Instant, length: Duration) -> Result<bool> {
        loop {
            // A block that is left out had its first trial alone.
            let done = self.times.iter().zip(trials);
            let done: Vec<u32> =
                done.map(|((_, done), planned)| if *planned > 0 { *done } else { 0 }).collect();
            let rest = length.saturating_sub(began.elapsed()).as_secs_f64();
            let Some(block) = next(&self.means(), &done, rest) else { return Ok(true) };
            self.rounds += 1;
            if self.visit(block)?.is_none() {
                return Ok(false);
            }
        }
    }

    /// The mean cost of a trial of each block in this phase, seconds; of one that had none, as it was known.
    fn means(&self) -> Vec<f64> {
        let known = |block: usize| self.costs.get(block).copied().unwrap_or_default();
        let mean = |(block, (took, trials)): (usize, &(f64, u32))| {
            if *trials > 0 { took / f64::from(*trials) } else { known(block) }
        };
        self.times.iter().enumerate().map(mean).collect()
    }

    /// The first round: what a trial of each block costs; false if it was interrupted.
    fn measure_costs(&mut self) -> Result<bool> {
        self.rounds += 1;
        let mut costs = vec![];
        for block in 0..self.blocks.len() {
            match self.visit(block)? {
                Some(cost) => costs.push(cost.as_secs_f64()),
                None => return Ok(false),
            }
        }
        self.costs = costs;
        Ok(true)
    }

    /// The blocks in an order drawn for this round.
    fn shuffled(&self) -> Vec<usize> {
        let mut blocks: Vec<usize> = (0..self.blocks.len()).collect();
        let seed = self.run.environment().seed();
        let drawn =
            |block: &usize| plan::trial_seed(seed, "order", &Point::new(), self.rounds << 8 | *block as u32);
        sorting::by_key(&mut blocks, drawn);
        blocks
    }

    /// A trial of a block, and its time without files that are made once; `None` if it was interrupted.
    fn visit(&mut self, block: usize) -> Result<Option<Duration>> {
        if interrupted() {
            return Ok(None);
        }
        self.run.look()?;
        let points = self.blocks[block].clone();
        let of_files = self.run.active[points[0]].experiment.starts_with("filesystem/");
        let visit = Visit {
            round: self.rounds,
            block,
            points,
            observe: if of_files { OBSERVE_FILES } else { plan::SHORTEST },
            // The states are distinguished afterwards, so that every phase observes the core as it is, on the same CPU.
            core: CoreWanted::Any,
            puts_back: false,
            limit: LONGEST,
            end: LONGEST,
            making: LONGEST,
        };
        let cost = self.run.visit(&visit, &mut Unwatched)?;
        // What is made once is no part of a trial's cost.
        let cost =
            cost.map(|cost| cost.preparation + cost.own.iter().map(|(_, took)| *took).sum::<Duration>());
        let (took, trials) = &mut self.times[block];
        *took += cost.unwrap_or_default().as_secs_f64();
        *trials += 1;
        Ok(cost)
    }

    /// Ends the run, and gives what it recorded.
    pub fn end(mut self, interrupted: bool) -> Result<Run> {
        let conditions = Snapshot::take(self.run.environment().cpu_stat()).since(&self.before);
        let ending = if interrupted { Ending::Interrupted } else { Ending::Budget };
        self.run.close(ending, conditions)?;
        Ok(self.run.into_run())
    }
}
