//! Visiting a block: its points are measured one after the other in one fresh process, and each trial is recorded before the
//! next begins. If the process dies, only its current trial is lost; another process continues with the next one. Short work waits for
//! its core to be alone.

use super::environment::Pace;
use super::interrupt::interrupted;
use super::run_in_progress::RunInProgress;
use super::watcher::Watcher;
use crate::plan::{self, CoreWanted, PROMISED_TRIALS, trial_seed};
use crate::record::{BlockVisit, Line, Trial, TrialOutcome};
use anyhow::{Context, Result};
use fathom_core::experiment::{Experiment, Point, Requirement, registry};
use fathom_core::sampling::child::{End, Process};
use fathom_core::sampling::{CoreWait, Request, Visit, Visited};
use fathom_core::statistics::Levels;
use std::time::{Duration, Instant};

/// A process that measures a block.
struct Measuring {
    process: Process,
    /// Its number in the run, from 1.
    number: u32,
    /// The number of trials requested from it.
    trials: u32,
    /// Whether it has a memory limit of its own.
    is_limited: bool,
}

/// One trial to be made: of a point, or of several points that are its figures.
struct Due<'a> {
    experiment: &'a dyn Experiment,
    points: Vec<usize>,
    round: u32,
    seed: u64,
    limit: Duration,
    /// The time that the plan has for it, and for making a file; both from its beginning.
    planned: (Duration, Duration),
    needs_peer: bool,
    /// Whether it is the last of its visit.
    is_last: bool,
}

impl Due<'_> {
    /// The time limit of the trial, and that of one that makes a file.
    fn limits(&self) -> (Duration, Duration) {
        let (end, making) = self.planned;
        (end.min(self.limit), (end + making).min(self.limit))
    }

    /// The least time that the trial needs if the plan has no time for it; `None` if it was made.
    fn ended(&self, end: &End<Visited>, took: Duration) -> Option<Duration> {
        match end {
            End::Answered(visited) => {
                // Later trials do not make it again, so each bears its part.
                let whole = visited.too_long_s?;
                Some(Duration::from_secs_f64(whole.clamp(0.0, MOST_S)) / PROMISED_TRIALS as u32)
            }
            End::TimedOut => (took < self.limit).then_some(took),
            _ => None,
        }
    }
}

/// The longest time that a preparation is said to take, seconds: a year.
const MOST_S: f64 = 3e7;

enum TrialEnd {
    /// It is recorded, and took this time of its own, and this time to make files that later trials use too.
    Measured(Duration, Duration),
    /// Its core was shared: it is to be made at another moment.
    PutBack,
    /// It takes longer than the plan has time: it was not made, and takes at least this time.
    TooLong(Duration),
    /// The run was interrupted.
    Interrupted,
}

/// The durations of a visit.
pub(super) struct Cost {
    /// The preparation that belongs to no point, with starting and ending the process.
    pub preparation: Duration,
    /// The index and the own duration of each point that was reached.
    pub own: Vec<(usize, Duration)>,
    /// The point whose trial was not made because it takes too long, and how long at least.
    pub ended: Option<(usize, Duration)>,
    /// Points that were not visited because the core was shared.
    pub put_back: Vec<usize>,
}

impl Cost {
    /// Tells the planner what the visit has cost.
    pub fn learn(&self, planner: &mut plan::Planner, block: usize) {
        if !self.own.is_empty() {
            planner.visited(block, self.preparation, &self.own);
        }
        if let Some((point, least)) = self.ended {
            planner.ended(point, least);
        }
        planner.put_back(&self.put_back);
    }
}

/// The duration of a trial, and the process that made it.
struct BlockTimes {
    began: Instant,
    took: Duration,
    /// The part that belongs to no trial.
    shared: Duration,
    /// The process and the trial's place in it.
    place: Option<(u32, u32)>,
}

impl RunInProgress {
    /// Visits points of one block, those of one trial together, and returns the durations; `None` if it was interrupted.
    /// Points that are not reached in the visit's time are left for another visit.
    pub(super) fn visit(&mut self, visit: &plan::Visit, watcher: &mut dyn Watcher) -> Result<Option<Cost>> {
        let name = self.active[visit.points[0]].experiment.clone();
        let experiment =
            registry::find(&name).with_context(|| format!("this program does not have {name}"))?;
        self.pace = self.pace_of(visit);
        self.core_wanted = visit.core;
        let (began, mut measuring, mut own, mut ended) = (Instant::now(), None, vec![], None);
        let needs: Vec<Requirement> =
            visit.points.iter().flat_map(|index| experiment.requires(&self.active[*index].point)).collect();
        self.memory.give_back_for(visit.block, &needs, self.environment.machine());
        let (mut elsewhere, mut put_back) = (Duration::ZERO, vec![]);
        let trials = self.trials(experiment, &visit.points);
        let last = trials.last().cloned();
        for points in trials {
            if !own.is_empty() && began.elapsed() >= visit.limit {
                break;
            }
            if !put_back.is_empty() {
                put_back.extend(points);
                continue;
            }
            points.iter().try_for_each(|index| self.predict(experiment, *index))?;
            let is_last = last.as_ref() == Some(&points);
            let due = Due { is_last, ..self.due(experiment, points, visit, began) };
            if interrupted() {
                return Ok(None);
            }
            self.look_at_distance(&due.points)?;
            let begun = Instant::now();
            let took = match self.measure_one(&due, &mut measuring, watcher)? {
                TrialEnd::Measured(took, preparing_file) => {
                    elsewhere += preparing_file;
                    took
                }
                TrialEnd::PutBack => {
                    elsewhere += begun.elapsed();
                    due.points.iter().for_each(|index| self.put_back[*index] += 1);
                    put_back.extend(due.points);
                    continue;
                }
                TrialEnd::TooLong(least) => {
                    elsewhere += begun.elapsed();
                    ended = Some((due.points[0], least));
                    break;
                }
                TrialEnd::Interrupted => return Ok(None),
            };
            let figures = due.points.len() as u32;
            own.extend(due.points.iter().map(|index| (*index, took / figures)));
            due.points.iter().for_each(|index| self.report_progress(*index, watcher));
        }
        if let Some(measuring) = measuring.filter(|measuring| !measuring.is_limited) {
            self.memory.keep(visit.block, &needs, measuring.process);
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.wait_until_ready()?;
        }
        self.look_at_distance(&visit.points)?;
        self.tell_distances_apart(&visit.points);
        let of_points: Duration = own.iter().map(|(_, took)| *took).sum();
        let preparation = began.elapsed().saturating_sub(of_points + elsewhere);
        Ok(Some(Cost { preparation, own, ended, put_back }))
    }

    /// The points of a block by trial, in their order: points that are figures of one trial together.
    fn trials(&self, experiment: &dyn Experiment, block: &[usize]) -> Vec<Vec<usize>> {
        let Some(figure) = experiment.figure() else {
            return block.iter().map(|index| vec![*index]).collect();
        };
        let mut trials: Vec<Vec<usize>> = vec![];
        for index in block {
            let bare = |index: usize| self.active[index].point.without(figure.name);
            match trials.iter_mut().find(|trial| bare(trial[0]) == bare(*index)) {
                Some(trial) => trial.push(*index),
                None => trials.push(vec![*index]),
            }
        }
        trials
    }

    fn due<'a>(
        &self,
        experiment: &'a dyn Experiment,
        points: Vec<usize>,
        visit: &plan::Visit,
        began: Instant,
    ) -> Due<'a> {
        let (point, round) = (&self.active[points[0]].point, visit.round);
        Due {
            planned: (visit.end.saturating_sub(began.elapsed()), visit.making),
            seed: trial_seed(self.environment.seed(), experiment.about().name, point, round),
            limit: experiment.time_limit(point) + self.pace.longest(),
            needs_peer: experiment.requires(point).contains(&Requirement::Peer),
            is_last: false,
            experiment,
            points,
            round,
        }
    }

    fn measure_one(
        &mut self,
        due: &Due,
        measuring: &mut Option<Measuring>,
        watcher: &mut dyn Watcher,
    ) -> Result<TrialEnd> {
        let began = Instant::now();
        let end = self.ask(due, measuring, watcher)?;
        let took = began.elapsed();
        if due.is_last {
            self.start_ahead();
        }
        if let Some(least) = due.ended(&end, took) {
            measuring.take().into_iter().for_each(|measuring| measuring.process.end());
            return Ok(TrialEnd::TooLong(least));
        }
        if matches!(&end, End::Answered(visited) if visited.put_back) {
            return Ok(TrialEnd::PutBack);
        }
        due.points.iter().for_each(|index| self.put_back[*index] = 0);
        let (own, preparing_file) = match &end {
            End::Answered(visited) => {
                let own = visited.took_s - visited.shared_s - visited.kept_s;
                (Duration::from_secs_f64(own.max(0.0)), Duration::from_secs_f64(visited.kept_s))
            }
            _ => (took, Duration::ZERO),
        };
        let place = measuring.as_ref().map(|measuring| (measuring.number, measuring.trials));
        if !matches!(end, End::Answered(_)) {
            *measuring = None;
        }
        let hung = matches!(end, End::TimedOut);
        let Some(outcomes) = outcomes(end, due) else { return Ok(TrialEnd::Interrupted) };
        self.write_down(due, &BlockTimes { began, took, shared: took.saturating_sub(own), place }, outcomes)?;
        // What a trial that hung has taken is no cost of the next.
        Ok(if hung {
            TrialEnd::Measured(Duration::ZERO, own)
        } else {
            TrialEnd::Measured(own, preparing_file)
        })
    }

    /// Requests a trial from the current process, or from a fresh one. If the peer is lost, no trial is begun.
    fn ask(
        &mut self,
        due: &Due,
        measuring: &mut Option<Measuring>,
        watcher: &mut dyn Watcher,
    ) -> Result<End<Visited>> {
        if let Some(reason) = self.environment.lost_peer(false).filter(|_| due.needs_peer) {
            return Ok(End::Died(reason));
        }
        let measuring = match measuring {
            Some(measuring) => measuring,
            None => measuring.insert(self.start(due).context("a measuring process could not be started")?),
        };
        measuring.trials += 1;
        let points = due.points.iter().map(|index| self.active[*index].point.clone()).collect();
        let core_wait = self.core_wait(&due.points);
        let visit = Visit { points, seed: due.seed, making_s: Some(due.planned.1.as_secs_f64()), core_wait };
        let mut listener = |doing: &str| watcher.preparing(doing);
        Ok(measuring.process.ask_unless_preparing(&visit, due.limits(), &mut listener)?)
    }

    fn start(&mut self, due: &Due) -> std::io::Result<Measuring> {
        let point = &self.active[due.points[0]].point;
        let needs = due.experiment.requires(point);
        let usual = self.environment.cpus().of(due.experiment, point);
        let cpus = self.watch.cpus(self.core_wanted, due.experiment, point, usual);
        let setting = self.environment.setting(due.seed, point.placement(), cpus, &needs, self.pace);
        let is_limited = setting.limit().is_some();
        let ahead = self.ahead.take_if(|_| !is_limited);
        let mut process = match ahead {
            Some(process) => process,
            None => Process::start("trial", self.process_seed(), setting.limit(), &self.launch)?,
        };
        process.tell(&Request { experiment: due.experiment.about().name.to_owned(), setting })?;
        self.processes += 1;
        Ok(Measuring { process, number: self.processes, trials: 0, is_limited })
    }

    /// Starts the process of the next visit while this one is recorded and its process ends; it reads no clock and waits for its
    /// request. If it cannot be started, the next visit says so.
    fn start_ahead(&mut self) {
        if self.ahead.is_none() {
            self.ahead = Process::start("trial", self.process_seed(), None, &self.launch).ok();
        }
    }

    /// The seed of the next process's environment.
    fn process_seed(&self) -> u64 {
        trial_seed(self.environment.seed(), "process", &Point::new(), self.processes)
    }

    /// Records a trial, one line for each of its points.
    fn write_down(&mut self, due: &Due, times: &BlockTimes, outcomes: Vec<TrialOutcome>) -> Result<()> {
        let figures = due.points.len() as f64;
        let block = times.place.map(|(process, place)| BlockVisit {
            process,
            place,
            shared_s: times.shared.as_secs_f64() / figures,
        });
        for (index, outcome) in due.points.iter().zip(outcomes) {
            let trial = Trial {
                experiment: self.active[*index].experiment.clone(),
                point: self.active[*index].point.clone(),
                round: due.round,
                seed: due.seed,
                began_s: self.seconds_to(times.began),
                took_s: times.took.as_secs_f64() / figures,
                block: block.clone(),
                outcome: self.attribute_to_peer(due, outcome),
            };
            self.journal.append(&Line::Trial(Box::new(trial.clone())))?;
            self.record_trial(*index, trial);
        }
        Ok(())
    }

    /// If a trial failed because the peer is lost, makes that the reason, so that the next one need not detect it again.
    fn attribute_to_peer(&mut self, due: &Due, outcome: TrialOutcome) -> TrialOutcome {
        if !due.needs_peer || matches!(outcome, TrialOutcome::Measured { .. }) {
            return outcome;
        }
        self.environment.lost_peer(true).map_or(outcome, |reason| TrialOutcome::Failed { reason })
    }
}

/// The outcome of each point of a trial, from how it ended; `None` if it was interrupted.
fn outcomes(end: End<Visited>, due: &Due) -> Option<Vec<TrialOutcome>> {
    let outcome = match TrialOutcome::answer(end, due.limit)? {
        Ok(Visited { outcomes, .. }) if outcomes.len() == due.points.len() => return Some(outcomes),
        Ok(_) => TrialOutcome::Failed { reason: "answers are missing".to_owned() },
        Err(unanswered) => unanswered,
    };
    Some(vec![outcome; due.points.len()])
}

/// The longest time that a trial of short work waits for its core to be alone before it is put back, nanoseconds: less than
/// starting another one takes.
const CORE_WAIT_NS: u64 = 2_000_000;

/// The same for a trial that is not put back: the time slice that hosts give a guest (some ten milliseconds).
const LONG_CORE_WAIT_NS: u64 = 20_000_000;

/// How often in a row a point's trials may be put back.
const MOST_PUT_BACK: u32 = 3;

impl RunInProgress {
    /// The greatest quotient of the core alone; `None` while the states of the core cannot be told apart.
    pub(super) fn alone_up_to(&self) -> Option<f64> {
        self.core_levels.as_ref().and_then(Levels::alone_up_to)
    }

    /// The duration of observation of a visit's trials, and the longest wait of short work for its core to be alone.
    pub(super) fn pace_of(&self, visit: &plan::Visit) -> Pace {
        let most_ns = if visit.puts_back { CORE_WAIT_NS } else { LONG_CORE_WAIT_NS };
        let wait = |alone_up_to| CoreWait { alone_up_to, most_ns, puts_back: visit.puts_back };
        Pace {
            observe: visit.observe,
            core_wait: self.alone_up_to().filter(|_| visit.core == CoreWanted::Alone).map(wait),
        }
    }

    /// The demand of a trial of these points that its core be alone: after some trials in vain it is made as the core is.
    pub(super) fn core_wait(&self, points: &[usize]) -> Option<CoreWait> {
        let often = points.iter().any(|point| self.put_back[*point] >= MOST_PUT_BACK);
        self.pace.core_wait.map(|wait| CoreWait { puts_back: wait.puts_back && !often, ..wait })
    }
}
