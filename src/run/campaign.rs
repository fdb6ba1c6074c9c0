//! The loop of a run: round by round, trial by trial, each written down before the next begins.

use super::header::{now, tool};
use super::interrupt::interrupted;
use super::leftovers;
use super::peering::{Peering, same_peer};
use super::remote_file::RemoteFixture;
use crate::experiment::{Experiment, Found, Known, Placement, Requirement};
use crate::experiments;
use crate::machine::Machine;
use crate::plan::{Cpus, Pace, Progress, Schedule, trial_seed};
use crate::record::{
    Closing, Ending, Header, Journal, Line, PlannedPoint, PredictionLine, Resumed, Run, Trial, TrialOutcome,
};
use crate::results::{self, Headline};
use crate::sampling::child::{self, End};
use crate::sampling::{Answer, Request, Setting, Snapshot};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What somebody who watches a run is told after each trial.
pub struct Tick<'run> {
    /// The point that was visited.
    pub planned: &'run PlannedPoint,
    /// What is known of it now; `None` while nothing was observed.
    pub headline: Option<&'run Headline>,
    /// The round it was visited in.
    pub round: u32,
    /// Time since the run began, or was taken up again.
    pub elapsed: Duration,
    /// Time that it may take.
    pub budget: Duration,
    /// Points whose interval is as narrow as wished.
    pub precise: usize,
    /// Points that are measured.
    pub points: usize,
}

/// Somebody who watches a run.
pub trait Watcher {
    /// Called after every trial, between two measurements.
    fn trial(&mut self, tick: &Tick);

    /// Called while a trial prepares something that takes long, with what that is; nothing is measured meanwhile.
    fn preparing(&mut self, doing: &str);
}

/// A run on its way.
pub struct Campaign {
    run: Run,
    journal: Journal,
    active: Vec<PlannedPoint>,
    progress: Vec<Progress>,
    headlines: Vec<Option<Headline>>,
    began: Instant,
    earlier: Duration,
    budget: Duration,
    trial: Duration,
    cpu_stat: Option<String>,
    peering: Option<Peering>,
    /// Removes what trials have left for one another when the run is over.
    _shared: leftovers::Shared,
    remote: Option<RemoteFixture>,
}

impl Campaign {
    /// Begins a new run: its file is made and its header written before anything is measured.
    pub fn begin(header: Header, path: &Path, peering: Option<Peering>) -> Result<Self> {
        if header.plan.iter().all(|point| point.skip.is_some()) {
            bail!(
                "nothing can be measured: every selected point is skipped (`fathom explain` says what each needs)"
            );
        }
        let mut journal = Journal::create(path)?;
        journal.append(&Line::Header(Box::new(header.clone())))?;
        let budget = Duration::from_secs_f64(header.settings.budget_s);
        Campaign::new(Run::begun(header), journal, budget, peering)
    }

    /// Takes a run up again, on the same machine and by the same program; more rounds are added to a complete one.
    pub fn resume(path: &Path, budget: Option<Duration>, peering: Option<Peering>) -> Result<Self> {
        let run = Run::read(path)?;
        let tool = tool()?;
        same_machine(&run)?;
        same_peer(run.header.peer.as_deref(), peering.as_ref().map(Peering::described))?;
        if tool.binary_sha256 != run.header.tool.binary_sha256 {
            bail!(
                "the run was begun by another build of fathom; figures of two builds do not go into one run: start a new one"
            );
        }
        let mut journal = Journal::resume(path, run.whole_bytes)?;
        let budget = budget.unwrap_or(Duration::from_secs_f64(run.header.settings.budget_s));
        journal.append(&Line::Resumed(Resumed { at: now(), tool, budget_s: budget.as_secs_f64() }))?;
        Campaign::new(run, journal, budget, peering)
    }

    fn new(run: Run, journal: Journal, budget: Duration, peering: Option<Peering>) -> Result<Self> {
        let settings = &run.header.settings;
        let folder = PathBuf::from(&settings.folder);
        leftovers::sweep(&folder);
        let active: Vec<PlannedPoint> =
            run.header.plan.iter().filter(|point| point.skip.is_none()).cloned().collect();
        let earlier = run.trials.iter().map(|trial| trial.began_s + trial.took_s).fold(0.0, f64::max);
        let mut campaign = Campaign {
            trial: Duration::from_nanos(settings.trial_ns),
            cpu_stat: run.header.machine.cpu_stat_path(),
            _shared: leftovers::Shared::of_this_run(&folder),
            remote: remote(&run.header.machine, &active),
            progress: vec![Progress::default(); active.len()],
            headlines: vec![None; active.len()],
            began: Instant::now(),
            earlier: Duration::from_secs_f64(earlier),
            active,
            run,
            journal,
            budget,
            peering,
        };
        for index in 0..campaign.active.len() {
            campaign.catch_up(index);
        }
        Ok(campaign)
    }

    /// The machine that is measured.
    pub fn machine(&self) -> &Machine {
        &self.run.header.machine
    }

    /// Measures until everything is as precise as wished, the time is up, or somebody stops it.
    pub fn measure(&mut self, watcher: &mut dyn Watcher) -> Result<()> {
        let settings = &self.run.header.settings;
        let schedule = Schedule::new(settings.seed, settings.precision);
        let before = Snapshot::take(self.cpu_stat.as_deref());
        let mut round = self.whole_rounds();
        let ending = loop {
            round += 1;
            let due = schedule.round(round, &self.progress);
            if due.is_empty() {
                break Ending::Precision;
            }
            let began = Instant::now();
            if let Some(ending) = self.visit_all(&due, round, watcher)? {
                break ending;
            }
            if round == 1 && !self.run.header.settings.trial_fixed {
                self.trial = Pace::new(self.budget).later(self.trial, began.elapsed(), self.active.len());
            }
        };
        let conditions = Snapshot::take(self.cpu_stat.as_deref()).since(&before);
        let took_s = (self.earlier + self.began.elapsed()).as_secs_f64();
        let closing = Closing {
            at: now(),
            took_s,
            rounds: self.whole_rounds(),
            ended: ending,
            conditions,
            peer_lost: self.peering.as_ref().and_then(Peering::lost).map(str::to_owned),
        };
        self.journal.append(&Line::Closing(closing.clone()))?;
        self.journal.sync()?;
        self.run.closing = Some(closing);
        Ok(())
    }

    /// What was found.
    pub fn into_run(self) -> Run {
        self.run
    }

    fn visit_all(&mut self, due: &[usize], round: u32, watcher: &mut dyn Watcher) -> Result<Option<Ending>> {
        let mut visited = false;
        for index in due {
            // Round one is finished even when it takes longer than asked: a table without holes comes first. Later what
            // no longer fits is passed over, and something cheaper may still fit.
            if round > 1 && self.began.elapsed() + self.cost(*index) > self.budget {
                continue;
            }
            if interrupted() || !self.visit(*index, round, watcher)? {
                return Ok(Some(Ending::Interrupted));
            }
            visited = true;
            self.tell(*index, round, watcher);
        }
        Ok((!visited).then_some(Ending::Budget))
    }

    /// Rounds that every point was visited in; points that only break are not counted, for they are given up.
    fn whole_rounds(&self) -> u32 {
        let sound = self.progress.iter().filter(|point| point.barren < point.trials || point.trials == 0);
        sound.map(|point| point.trials).min().unwrap_or(0) as u32
    }

    /// What a further trial of a point is expected to take.
    fn cost(&self, index: usize) -> Duration {
        let progress = &self.progress[index];
        Duration::from_secs_f64(progress.seconds / progress.trials.max(1) as f64)
    }

    fn tell(&self, index: usize, round: u32, watcher: &mut dyn Watcher) {
        let precision = self.run.header.settings.precision;
        let precise = |point: &&Progress| point.half_width.is_some_and(|half_width| half_width <= precision);
        let mut shown = self.active[index].clone();
        if results::virtual_peer::has_one(&self.run) {
            shown.point = results::virtual_peer::shown(&shown.point);
        }
        watcher.trial(&Tick {
            planned: &shown,
            headline: self.headlines[index].as_ref(),
            round,
            elapsed: self.began.elapsed(),
            budget: self.budget,
            precise: self.progress.iter().filter(precise).count(),
            points: self.active.len(),
        });
    }

    /// One trial: predicted if it is the point's first, run, written down. False where it was interrupted.
    fn visit(&mut self, index: usize, round: u32, watcher: &mut dyn Watcher) -> Result<bool> {
        let planned = self.active[index].clone();
        let experiment = experiments::find(&planned.experiment)
            .with_context(|| format!("this program does not know {}", planned.experiment))?;
        self.predict(experiment, &planned)?;
        let request = self.request(experiment, &planned, round);
        let began = Instant::now();
        let limit = experiment.time_limit(&planned.point) + self.trial;
        let Some(outcome) = self.outcome_of(&request, limit, watcher)? else { return Ok(false) };
        let trial = Trial {
            experiment: planned.experiment,
            point: planned.point,
            round,
            seed: request.setting.seed,
            began_s: (self.earlier + began.duration_since(self.began)).as_secs_f64(),
            took_s: began.elapsed().as_secs_f64(),
            outcome,
        };
        self.journal.append(&Line::Trial(Box::new(trial.clone())))?;
        self.run.trials.push(trial);
        self.catch_up(index);
        Ok(true)
    }

    /// Runs a trial; what became of it, or `None` where it was interrupted. Without its peer it is not even begun.
    fn outcome_of(
        &mut self,
        request: &Request,
        limit: Duration,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<TrialOutcome>> {
        let remote = request.setting.peer.is_some();
        if let Some(reason) = self.lost_peer(false).filter(|_| remote) {
            return Ok(Some(TrialOutcome::Failed { reason }));
        }
        let end =
            child::run("trial", request, request.setting.seed, limit, &mut |doing| watcher.preparing(doing))
                .context("a measuring process could not be started")?;
        let outcome = outcome(end, limit);
        if remote && !matches!(outcome, None | Some(TrialOutcome::Measured { .. })) {
            // If it was the peer, that is the reason, and the next trial need not find out.
            if let Some(reason) = self.lost_peer(true) {
                return Ok(Some(TrialOutcome::Failed { reason }));
            }
        }
        Ok(outcome)
    }

    /// Why the run has lost its peer; `None` while it has it, or never had one.
    fn lost_peer(&mut self, at_once: bool) -> Option<String> {
        let peering = self.peering.as_mut()?;
        peering.look(at_once);
        peering.lost().map(|reason| format!("the peer was lost: {reason}"))
    }

    fn request(&self, experiment: &dyn Experiment, planned: &PlannedPoint, round: u32) -> Request {
        let settings = &self.run.header.settings;
        let seed = trial_seed(settings.seed, &planned.experiment, &planned.point, round);
        let needs = experiment.requires(&planned.point);
        let cpus = self.cpus().of(experiment, &planned.point);
        let setting = self.setting(seed, planned.point.placement(), cpus, &needs);
        Request { experiment: planned.experiment.clone(), point: planned.point.clone(), setting }
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.run.header.settings.seed
    }

    /// Whether the run has a second host.
    pub fn has_peer(&self) -> bool {
        self.peering.is_some()
    }

    /// The CPUs of the run.
    pub fn cpus(&self) -> Cpus {
        let settings = &self.run.header.settings;
        Cpus { home: settings.home, partner: settings.partner }
    }

    /// Where a process of this run measures: with the run's clock and folder, and with what it needs of peer and remote file.
    pub fn setting(
        &self,
        seed: u64,
        placement: Placement,
        (home, partner): (Option<usize>, Option<usize>),
        needs: &[Requirement],
    ) -> Setting {
        let header = &self.run.header;
        let needs = |what: Requirement| needs.contains(&what);
        let peering = self.peering.as_ref().filter(|_| needs(Requirement::Peer));
        let remote = self.remote.as_ref().filter(|_| needs(Requirement::Remote));
        Setting {
            seed,
            clock: header.clock.kind,
            ticks_per_second: header.clock.ticks_per_second,
            duration_ns: self.trial.as_nanos() as u64,
            spread: placement == Placement::Spread,
            home,
            partner,
            cpu_stat: self.cpu_stat.clone(),
            folder: PathBuf::from(&header.settings.folder),
            remote: remote.map(RemoteFixture::file),
            peer: peering.map(|peering| peering.address().clone()),
            parent: std::process::id(),
        }
    }

    /// Says what is expected of a point, once, before its first trial, from the machine and earlier results alone.
    fn predict(&mut self, experiment: &dyn Experiment, planned: &PlannedPoint) -> Result<()> {
        let said =
            |line: &PredictionLine| line.experiment == planned.experiment && line.point == planned.point;
        if self.run.predictions.iter().any(said) {
            return Ok(());
        }
        let line = {
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
        self.journal.append(&Line::Prediction(line.clone()))?;
        self.run.predictions.push(line);
        Ok(())
    }

    fn known(&self) -> Known<'_> {
        let mut known = Known::new(&self.run.header.machine, results::core_hz(&self.run));
        known.virtual_peer = results::virtual_peer::has_one(&self.run);
        for (planned, headline) in self.active.iter().zip(&self.headlines) {
            if let Some(headline) = headline {
                known.learn(&planned.experiment, &planned.point, Found::of(&headline.estimate, planned.unit));
            }
        }
        known
    }

    /// Brings what is known of a point up to its last trial.
    fn catch_up(&mut self, index: usize) {
        let planned = &self.active[index];
        let trials = results::trials_of(&self.run, planned);
        let headline = Headline::of(&self.run, planned.unit, &trials);
        let precision = self.run.header.settings.precision;
        self.progress[index] = Progress {
            trials: trials.len(),
            barren: trials.iter().rev().take_while(|trial| !trial.observed()).count(),
            half_width: headline.as_ref().and_then(Headline::half_width),
            exhausted: headline.as_ref().is_some_and(|headline| headline.is_lost(precision)),
            seconds: trials.iter().map(|trial| trial.took_s).sum(),
        };
        self.headlines[index] = headline;
    }
}

fn needs_remote(experiment: &dyn Experiment, planned: &PlannedPoint) -> bool {
    experiment.requires(&planned.point).contains(&Requirement::Remote)
}

/// What is read over a network, found or made where a point wants it.
fn remote(machine: &Machine, active: &[PlannedPoint]) -> Option<RemoteFixture> {
    let wants = |planned: &PlannedPoint| {
        experiments::find(&planned.experiment).is_some_and(|experiment| needs_remote(experiment, planned))
    };
    machine.storage.remote.as_ref().filter(|_| active.iter().any(wants)).map(RemoteFixture::new)
}

/// What became of a trial, from how its process ended; `None` where it was interrupted.
fn outcome(end: End<Answer>, limit: Duration) -> Option<TrialOutcome> {
    Some(match end {
        End::Answered(Answer::Measured(sample)) => TrialOutcome::Measured { sample },
        End::Answered(Answer::Unsupported(reason)) => TrialOutcome::Skipped { reason },
        End::Answered(Answer::Broke(reason)) | End::Died(reason) => TrialOutcome::Failed { reason },
        End::TimedOut => TrialOutcome::TimedOut { after_s: limit.as_secs_f64() },
        End::Interrupted => return None,
    })
}

/// A run goes on only where it began: same processor, same kernel.
fn same_machine(run: &Run) -> Result<()> {
    let here = Machine::describe(Path::new(&run.header.settings.folder));
    let there = &run.header.machine;
    let same = here.processor.model_name.value() == there.processor.model_name.value()
        && here.kernel.version.value() == there.kernel.version.value()
        && here.allowed_cpus() == there.allowed_cpus();
    if same {
        return Ok(());
    }
    bail!(
        "the run was begun on another machine, kernel or set of CPUs, and cannot go on here: start a new one"
    )
}
