//! The loop of a run: round by round, trial by trial, each recorded before the next begins.

use super::core_watch::CoreWatch;
use super::environment::{Environment, Pace};
use super::file_settings::ensure_anything_fits;
use super::header::{now, tool};
use super::interrupt::interrupted;
use super::kept_memory::KeptMemory;
use super::peering::{Peering, same_peer};
use super::resuming;
use super::variation::Arrangement;
use super::watcher::{Tick, Watcher, rounds};
use crate::plan::{self, CoreWanted, Moments, Planner, PlannerSettings, Progress, Settlement, Step};
use crate::record::{
    Closing, Ending, Header, Journal, Line, PlannedPoint, PredictionLine, Resumed, Run, Trial, name_events,
};
use crate::results::{
    self, CoreLevels, CpuDistances, Headline, InterimEstimate, KnownStates, UnlikeCpu, cpu_distance,
};
use anyhow::{Result, bail};
use fathom_core::experiment::{Experiment, Known, Learnt, registry};
use fathom_core::sampling::child::{Launch, Process};
use fathom_core::sampling::{Conditions, Snapshot};
use fathom_core::statistics::{Levels, SortedSample};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// A run in progress.
pub struct RunInProgress {
    pub(super) run: Run,
    pub(super) journal: Journal,
    pub(super) active: Vec<PlannedPoint>,
    progress: Vec<Progress>,
    headlines: Vec<Option<Headline>>,
    /// Whether the prediction of each active point was recorded.
    predicted: Vec<bool>,
    /// The basis of predictions: every trial and prediction adds to it, so no trial searches all points.
    learnt: Learnt,
    core_hz: SortedSample,
    precise: usize,
    /// The trials of each active point, as indices into the run's trials.
    trials: Vec<Vec<usize>>,
    pub(super) began: Instant,
    earlier: Duration,
    pub(super) budget: Duration,
    pub(super) pace: Pace,
    /// The readings of the core by the trials so far.
    core: CoreLevels,
    /// The levels in them, as of the last trial.
    pub(super) core_levels: Option<Levels>,
    /// How far the two CPUs are from each other over the time so far, if that changes.
    distances: Option<CpuDistances>,
    /// The cores on which short work may run.
    pub(super) watch: CoreWatch,
    /// The state of the core that the current visit wants.
    pub(super) core_wanted: CoreWanted,
    /// How often in a row the trials of each point were put back.
    pub(super) put_back: Vec<u32>,
    pub(super) environment: Environment,
    /// How measuring processes are started.
    pub(super) launch: Launch,
    /// The process of the next visit, started while the last one was recorded.
    pub(super) ahead: Option<Process>,
    /// Finished processes whose memory the next visits of their blocks get.
    pub(super) memory: KeptMemory<Process>,
    /// The number of processes that measured, including those before the run was resumed.
    pub(super) processes: u32,
}

impl RunInProgress {
    /// Begins a new run: its file is created and its header written before anything is measured.
    pub fn begin(header: Header, path: &Path, peering: Option<Peering>) -> Result<Self> {
        RunInProgress::written_to(header, || Journal::create(path), peering)
    }

    /// The same, written to a journal that is created as soon as there is something to measure.
    pub fn written_to(
        header: Header,
        journal: impl FnOnce() -> Result<Journal>,
        peering: Option<Peering>,
    ) -> Result<Self> {
        if header.plan.iter().all(|point| point.skip.is_some()) {
            bail!(
                "nothing can be measured: every selected point is skipped (`fathom explain EXPERIMENT` says what it \
                 needs)"
            );
        }
        let budget = Duration::from_secs_f64(header.settings.budget_s);
        let trials = header.settings.trials.map_or(plan::PROMISED_TRIALS, |trials| trials as usize);
        ensure_anything_fits(&header.plan, budget, (trials, Duration::from_nanos(header.settings.trial_ns)))?;
        let mut journal = journal()?;
        journal.append(&Line::Header(Box::new(header.clone())))?;
        RunInProgress::new(Run::begun(header), journal, budget, peering)
    }

    /// Resumes a run, on the same machine and by the same program; a complete run gets more rounds. Its peer is contacted
    /// only after everything else was found unchanged, because the file may come from anybody.
    pub fn resume(
        path: &Path,
        budget: Option<Duration>,
        reach: impl FnOnce(&Header) -> Result<Option<Peering>>,
    ) -> Result<Self> {
        let run = Run::read(path)?;
        let (tool, budget) = (tool()?, resuming::ensure_sound(&run, budget)?);
        resuming::ensure_same(&run.header, &tool)?;
        let peering = reach(&run.header)?;
        same_peer(run.header.peer.as_deref(), peering.as_ref().map(Peering::described))?;
        let mut journal = Journal::resume(path, run.whole_bytes)?;
        journal.append(&Line::Resumed(Resumed { at: now(), tool, budget_s: budget.as_secs_f64() }))?;
        RunInProgress::new(run, journal, budget, peering)
    }

    /// This run, to be continued for the budget.
    pub fn new(run: Run, journal: Journal, budget: Duration, peering: Option<Peering>) -> Result<Self> {
        let active: Vec<PlannedPoint> =
            run.header.plan.iter().filter(|point| point.skip.is_none()).cloned().collect();
        let earlier = run.trials.iter().map(|trial| trial.began_s + trial.took_s).fold(0.0, f64::max);
        let environment = Environment::new(&run.header, &active, peering);
        let mut run_in_progress = RunInProgress {
            pace: environment.first_pace(),
            core: CoreLevels::so_far(&run),
            core_levels: None,
            distances: CpuDistances::of(&run),
            watch: CoreWatch::of(&run.header),
            core_wanted: CoreWanted::Any,
            put_back: vec![0; active.len()],
            memory: KeptMemory::on(environment.machine()),
            environment,
            launch: Launch { priority: run.header.settings.priority, ..Launch::default() },
            ahead: None,
            processes: run
                .trials
                .iter()
                .filter_map(|trial| Some(trial.block.as_ref()?.process))
                .max()
                .unwrap_or(0),
            progress: vec![Progress::default(); active.len()],
            headlines: vec![None; active.len()],
            predicted: predicted(&active, &run),
            learnt: Learnt::default(),
            core_hz: SortedSample::default(),
            precise: 0,
            trials: trials_of(&active, &run),
            began: Instant::now(),
            earlier: Duration::from_secs_f64(earlier),
            active,
            run,
            journal,
            budget,
        };
        for trial in &run_in_progress.run.trials {
            run_in_progress.core_hz.extend(results::core_hz_of(&run_in_progress.run.header, trial));
        }
        run_in_progress.core_levels = run_in_progress.core.levels();
        (0..run_in_progress.active.len()).for_each(|index| run_in_progress.catch_up(index));
        Ok(run_in_progress)
    }

    /// The settings and resources of the run's measuring processes.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Changes how measuring processes are started, as a setting requires.
    pub(super) fn set_launch(&mut self, arrangement: &Arrangement) {
        self.launch = Launch {
            prefix: arrangement.prefix.clone(),
            environment: arrangement.environment.clone(),
            priority: self.run.header.settings.priority,
        };
    }

    pub(super) fn progress(&self) -> &[Progress] {
        &self.progress
    }

    /// Measures until everything is as precise as requested, the time is up, or the user stops it.
    pub fn measure(&mut self, watcher: &mut dyn Watcher) -> Result<()> {
        let before = Snapshot::take(self.environment.cpu_stat());
        let mut planner = self.planner();
        let ending = loop {
            let moment = self.look()?;
            match planner.next(self.began.elapsed(), moment, &self.progress) {
                Step::Settle(settlement) => self.settle(&settlement, watcher)?,
                Step::Visit(visit) => {
                    let visited = if interrupted() { None } else { self.visit(&visit, watcher)? };
                    let Some(cost) = visited else { break Ending::Interrupted };
                    cost.learn(&mut planner, visit.block);
                }
                Step::Wait(pause) => std::thread::sleep(pause),
                Step::Done(ending) => break ending,
            }
        };
        let conditions = Snapshot::take(self.environment.cpu_stat()).since(&before);
        self.close(ending, conditions)
    }

    /// Looks at the cores on which short work may run, and records it.
    pub(super) fn look(&mut self) -> Result<Moments> {
        let (moments, look) = self.watch.look(self.seconds_to(Instant::now()), self.alone_up_to());
        if let Some(look) = look {
            self.journal.append(&Line::Look(look.clone()))?;
            self.run.looks.push(look);
        }
        Ok(moments)
    }

    /// Looks at how far the CPUs of work on two are from each other, and records it: before each trial of such work and after the last,
    /// because a host moves them within a visit.
    pub(super) fn look_at_distance(&mut self, points: &[usize]) -> Result<()> {
        if !self.are_of_both(points) {
            return Ok(());
        }
        if let Some(look) = self.watch.look_at_distance(self.seconds_to(Instant::now())) {
            self.journal.append(&Line::Look(look.clone()))?;
            self.run.looks.push(look);
        }
        Ok(())
    }

    /// Tells the distances apart again after a visit of these points: only the look after it shows whether its last trial was moved.
    pub(super) fn tell_distances_apart(&mut self, points: &[usize]) {
        if !self.are_of_both(points) {
            return;
        }
        let before = std::mem::replace(&mut self.distances, CpuDistances::of(&self.run));
        let is_as_before = CpuDistances::have_one_usual(before.as_ref(), self.distances.as_ref());
        let are_several = self.distances.as_ref().is_some_and(CpuDistances::are_several);
        for index in (0..self.active.len()).filter(|_| are_several || !is_as_before) {
            if points.contains(&index) || !is_as_before && self.are_of_both(&[index]) {
                let (planned, estimate) = (&self.active[index], self.interim(index));
                self.learnt.learn(&planned.experiment, &planned.point, estimate.basis(planned.unit));
            }
        }
    }

    /// Whether any of these points is work on both CPUs.
    fn are_of_both(&self, points: &[usize]) -> bool {
        let header = &self.run.header;
        points.iter().any(|index| cpu_distance::is_of_both(header, &self.active[*index].point))
    }

    /// A planner that knows the costs and results of this run from before it was resumed.
    pub(super) fn planner(&self) -> Planner {
        let settings = &self.run.header.settings;
        let experiments: Vec<_> = registry::all().collect();
        let jobs = plan::jobs(&experiments, self.environment.machine(), &self.active);
        let mut planner = Planner::new(
            PlannerSettings {
                seed: settings.seed,
                budget: self.budget,
                precision: settings.precision,
                observe: settings.trial_fixed.then_some(Duration::from_nanos(settings.trial_ns)),
                trials: settings.trials,
                rounds: self.run.trials.iter().map(|trial| trial.round).max().unwrap_or(0),
            },
            &jobs,
        );
        planner.remember_run(&self.run, &self.active, &jobs);
        planner
    }

    /// Records which points get their trials, and the cost of the others.
    pub(super) fn settle(&mut self, settlement: &Settlement, watcher: &mut dyn Watcher) -> Result<()> {
        let settled = settlement.record(&self.active);
        self.journal.append(&Line::Settled(settled.clone()))?;
        self.run.settled = Some(settled);
        watcher.settled(settlement);
        Ok(())
    }

    pub(super) fn close(&mut self, ended: Ending, conditions: Conditions) -> Result<()> {
        self.memory.give_back();
        let closing = Closing {
            at: now(),
            took_s: (self.earlier + self.began.elapsed()).as_secs_f64(),
            rounds: self.whole_rounds(),
            ended,
            conditions,
            peer_lost: self.environment.peer_lost().map(str::to_owned),
        };
        self.journal.append(&Line::Closing(closing.clone()))?;
        self.journal.sync()?;
        self.run.closing = Some(closing);
        Ok(())
    }

    /// The run with its results.
    pub fn into_run(self) -> Run {
        self.run
    }

    /// Seconds from the start of the run to a moment of this session.
    pub(super) fn seconds_to(&self, moment: Instant) -> f64 {
        (self.earlier + moment.duration_since(self.began)).as_secs_f64()
    }

    /// The number of trials that every point has, except points left out and points given up because they always fail.
    fn whole_rounds(&self) -> u32 {
        let settled = self.run.settled.iter().flat_map(|settled| &settled.left_out);
        let out: BTreeSet<_> = settled.map(|out| (out.experiment.as_str(), &out.point)).collect();
        let left_out = |planned: &PlannedPoint| out.contains(&(planned.experiment.as_str(), &planned.point));
        let sound = self.progress.iter().zip(&self.active).filter(|(progress, planned)| {
            (progress.failed_in_a_row < progress.trials || progress.trials == 0) && !left_out(planned)
        });
        sound.map(|(progress, _)| progress.trials).min().unwrap_or(0) as u32
    }

    pub(super) fn report_progress(&self, index: usize, watcher: &mut dyn Watcher) {
        let mut named = self.active[index].clone();
        if results::virtual_peer::has_one(&self.run) {
            named.point = results::virtual_peer::shown(&named.point);
        }
        let (round, rounds) = rounds(&self.trials, self.run.settled.as_ref());
        watcher.trial(&Tick {
            planned: &named,
            headline: self.headlines[index].as_ref(),
            round,
            rounds,
            elapsed: self.began.elapsed(),
            budget: self.budget,
            precise: self.precise,
            precision: self.run.header.settings.precision,
            points: self.active.len(),
        });
    }

    /// Records the prediction of a point, once, before its first trial, from the machine and earlier results alone.
    pub fn predict(&mut self, experiment: &dyn Experiment, index: usize) -> Result<()> {
        if std::mem::replace(&mut self.predicted[index], true) {
            return Ok(());
        }
        let planned = self.active[index].clone();
        let mut line = {
            let known = self.known();
            let expected = experiment.predict(&planned.point, &known);
            let bound = experiment.bound(&planned.point, &known);
            let (prediction, unpredicted) = match expected {
                Ok(prediction) => (Some(prediction), None),
                Err(reason) => (None, Some(reason)),
            };
            let (experiment, point) = (planned.experiment.clone(), planned.point.clone());
            PredictionLine { experiment, point, prediction, unpredicted, bound }
        };
        // As it is when the file is read again, so that the report of the run is that of its file.
        name_events(&mut line);
        self.journal.append(&Line::Prediction(line.clone()))?;
        self.run.predictions.push(line);
        Ok(())
    }

    fn known(&self) -> Known<'_> {
        let machine = &self.run.header.machine;
        let core_hz = self.core_hz.median().or_else(|| machine.processor.observed_hz.value().copied());
        let mut known = Known::of(machine, core_hz, &self.learnt);
        known.virtual_peer = results::virtual_peer::has_one(&self.run);
        known
    }

    /// Keeps a recorded trial, and learns from it.
    pub fn record_trial(&mut self, index: usize, trial: Trial) {
        self.core.add(&self.run.header, &trial, self.core_levels.as_ref());
        self.core_levels = self.core.levels();
        self.core_hz.extend(results::core_hz_of(&self.run.header, &trial));
        self.trials[index].push(self.run.trials.len());
        let is_due = self.watch.is_comparison_due(trial.sample());
        self.run.trials.push(trial);
        if is_due {
            self.compare_cpus();
        }
        self.catch_up(index);
    }

    /// Compares the CPUs of the run's kind: what an unlike one measured counts no more.
    fn compare_cpus(&mut self) {
        let unlike = UnlikeCpu::all(&self.run, self.core_levels.as_ref());
        for trials in &mut self.trials {
            trials.retain(|place| !results::is_on_unlike(&unlike, &self.run, &self.run.trials[*place]));
        }
        self.watch.leave_out(&unlike);
    }

    /// The states of the machine that are known so far.
    fn states(&self) -> KnownStates<'_> {
        let moves = results::moves_to_one_frequency(&self.run.header);
        KnownStates {
            core: self.core_levels.as_ref(),
            distances: self.distances.as_ref(),
            usual_hz: self.core_hz.median().filter(|_| moves),
            usual_device_ns: None,
        }
    }

    fn trials_so_far(&self, index: usize) -> Vec<&Trial> {
        self.trials[index].iter().map(|place| &self.run.trials[*place]).collect()
    }

    fn interim(&self, index: usize) -> InterimEstimate {
        InterimEstimate::of(&self.run, &self.active[index], &self.trials_so_far(index), self.states())
    }

    /// Updates the progress of a point to its last trial.
    pub(super) fn catch_up(&mut self, index: usize) {
        let (planned, estimate) = (&self.active[index], self.interim(index));
        self.learnt.learn(&planned.experiment, &planned.point, estimate.basis(planned.unit));
        let InterimEstimate { headline, valid, further, core, is_elsewhere, .. } = estimate;
        let precision = self.run.header.settings.precision;
        self.precise -= usize::from(self.progress[index].is_precise(precision));
        let trials = self.trials_so_far(index);
        self.progress[index] = Progress {
            trials: trials.len(),
            // Trials that do not count are replaced by others.
            observed: valid,
            failed_in_a_row: trials.iter().rev().take_while(|trial| !trial.observed()).count(),
            further,
            core,
            exhausted: headline.as_ref().is_some_and(|headline| headline.is_lost(precision)),
            ..self.progress[index]
        };
        let reach = headline.as_ref().and_then(Headline::reach).filter(|_| !is_elsewhere);
        self.progress[index].look(reach, precision);
        self.precise += usize::from(self.progress[index].is_precise(precision));
        self.headlines[index] = headline;
    }
}

/// Whether each active point has its prediction in the run.
fn predicted(active: &[PlannedPoint], run: &Run) -> Vec<bool> {
    let indices = plan::places(active);
    let mut is_predicted = vec![false; active.len()];
    for line in &run.predictions {
        if let Some(index) = indices.get(&(line.experiment.as_str(), &line.point)) {
            is_predicted[*index] = true;
        }
    }
    is_predicted
}

/// The indices of each point's trials in a run that is resumed.
fn trials_of(active: &[PlannedPoint], run: &Run) -> Vec<Vec<usize>> {
    let indices = plan::places(active);
    let mut trials = vec![vec![]; active.len()];
    for (place, trial) in run.trials.iter().enumerate() {
        if let Some(index) = indices.get(&(trial.experiment.as_str(), &trial.point)) {
            trials[*index].push(place);
        }
    }
    trials
}
