//! The sampler: calibrate, warm up, observe, stop. It knows a clock and no experiment.

use super::clock::{Clock, Reading, overhead, warm_up};
use super::observations::Observations;
use super::observed_time::ObservedTime;
use super::occupancy::{CoreReadings, CoreWait};
use super::partner_core::PartnerCore;
use super::partner_readings::PartnerReadings;
use super::sample::{Beginning, SteadyWork};
use super::stopwatch::SharedStopwatch;
use crate::experiment::{
    Failure, FigureValue, FirstCall, ObservedFrom, Operation, PartnerTask, Shared, Work, Workload,
};
use std::collections::BTreeMap;

/// Witnessed: visits of all of the work's memory just before it was observed.
const VISITS_BEFORE: &str = "visits_before";

/// Observations after which a trial ends early: more from one process add less information than another process.
const MOST_BATCHES: usize = 200;
const MOST_SINGLES: usize = 600;

/// The results of a trial's sampler.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawSample {
    /// The raw observations.
    pub observations: Observations,
    /// Operations that were timed, and those of the beginning: all that the counts contain.
    pub operations: u64,
    /// Iterations of the baseline that were timed.
    pub baseline_iterations: u64,
    /// Observations that ended on another CPU than the one before.
    pub migrations: u64,
    /// Counts by the work itself during the observations.
    pub witnessed: BTreeMap<String, f64>,
    /// For a trial with several figures, the numbers of each by its name, in the points' units.
    pub figures: BTreeMap<String, Vec<f64>>,
    /// Whether the core also worked for others, around every observation.
    pub core: CoreReadings,
    /// The beginning that was not observed, of work that had to become steady.
    pub beginning: Option<Beginning>,
}

impl RawSample {
    /// With the beginning of the work before its observations.
    fn after(self, settled: SteadyWork) -> Self {
        RawSample { operations: self.operations + settled.operations, beginning: settled.beginning, ..self }
    }
}

/// A call of work that returns its own numbers.
struct Repetition {
    /// The observations kept so far.
    saved: usize,
    /// The operations of this call that came to their end.
    operations: u64,
}

/// A sampler: a clock, and the duration of its observations.
pub struct Sampler<'trial, C: Clock> {
    /// The clock.
    pub clock: &'trial C,
    /// The clock's frequency.
    pub ticks_per_second: f64,
    /// The ticks between two readings of the clock back to back ([`overhead`]), as the trial began.
    pub reading_ticks: f64,
    /// Duration of the observations, nanoseconds.
    pub duration_ns: u64,
    /// The stopwatch for operations that end in another thread or process.
    pub stopwatch: &'trial SharedStopwatch,
    /// How long short work waits for its core to be alone; `None` if it does not wait.
    pub core_wait: Option<CoreWait>,
    /// How many times as long as the shortest the readings of the core are.
    pub reading_times: u32,
    /// The core of the other side, if it has one of its own.
    pub partner_core: Option<PartnerCore>,
    /// The equipment of the process, which remembers that its work has once become steady.
    pub shared: &'trial Shared,
}

impl<C: Clock> Sampler<'_, C> {
    /// Warms up, determines the batch, calls `begin` and observes until the time is over.
    pub fn observe<T>(
        &self,
        workload: &mut Workload,
        begin: impl FnOnce() -> T,
    ) -> Result<(RawSample, T), Failure> {
        let observed = workload.observed;
        let (per_iteration, beyond_ns, each) = (workload.per_iteration, workload.beyond_ns, workload.each);
        let first_call = workload.first_call;
        let partner = self.partner_core.filter(|_| workload.partner == PartnerTask::WorkAndReadings);
        let mut counts = || workload.witness.as_mut().map(|count| count()).unwrap_or_default();
        let (mut before, mut visits) = (vec![], None);
        let begin = || {
            before = counts();
            begin()
        };
        let (mut raw, begun) = match &mut workload.work {
            Work::Recorded(observe) => self.record(observe, (first_call, observed, partner), begin),
            Work::Figures(observe) => self.record_figures(observe, (first_call, observed, partner), begin),
            Work::Marked(operation) => self.marked(operation.as_mut(), (beyond_ns, observed), begin),
            Work::Timed { operation, baseline } => {
                let ready = self.ready(operation.as_mut(), each, workload.visit)?;
                visits = ready.visits;
                let (batch, quickest) = (ready.batch, ready.quickest);
                let most = if each { MOST_SINGLES } else { MOST_BATCHES };
                let wait = self.core_wait;
                let begun = self.warmed(begin);
                let until = Until { most, wait, duration: self.ticks(self.duration_ns as f64) };
                let partner = self.partner_readings(partner);
                let work = (operation.as_mut(), baseline.as_deref_mut(), partner);
                let (mut timed, settled) = self.timed(work, (batch, quickest), (&until, observed))?;
                timed.core.waited_ns = ready.waited_ns;
                let settled = settled.times(per_iteration);
                Ok((self.raw_sample(timed, batch, per_iteration, beyond_ns, each).after(settled), begun))
            }
        }?;
        let grown = counts().into_iter().zip(before).map(|((name, now), (_, then))| (name, now - then));
        let gauges = workload.gauges.as_mut().map(|gauges| gauges()).unwrap_or_default();
        let visits = visits.map(|visits| (VISITS_BEFORE, f64::from(visits)));
        raw.witnessed =
            grown.chain(gauges).chain(visits).map(|(name, value)| (name.to_owned(), value)).collect();
        Ok((raw, begun))
    }

    /// Warms up, and calls `begin` last, just before the observations.
    fn warmed<T>(&self, begin: impl FnOnce() -> T) -> T {
        warm_up(self.clock);
        begin()
    }

    fn partner_readings(&self, of: Option<PartnerCore>) -> PartnerReadings {
        PartnerReadings::new(of, self.ticks(PartnerReadings::BETWEEN_NS))
    }

    pub(super) fn ticks(&self, ns: f64) -> i64 {
        (ns / 1e9 * self.ticks_per_second) as i64
    }

    /// One observation of `n` iterations.
    #[inline]
    pub(super) fn time(
        &self,
        operation: &mut (dyn Operation + '_),
        n: u64,
    ) -> Result<(i64, Reading), Failure> {
        let start = self.clock.start();
        operation.run(n)?;
        let stop = self.clock.stop();
        Ok((stop.since(start).0, stop))
    }

    fn timed(
        &self,
        (operation, mut baseline, mut partner): TimedWork,
        (batch, quickest): (u64, i64),
        (until, observed): (&Until, ObservedFrom),
    ) -> Result<(TimedBatches, SteadyWork), Failure> {
        let mut timed = TimedBatches::with_capacity(2 * MOST_SINGLES, self.reading_times);
        let mut beginning = self.beginning(observed);
        if let Some(baseline) = baseline.as_deref_mut() {
            baseline.run(batch)?;
        }
        partner.read(self.clock, &timed.core, &mut || operation.run(1))?;
        timed.core.take(self.clock);
        let mut time = ObservedTime::new(self.clock.stop(), Some(quickest));
        let (mut cpu, mut alone) = (time.began.cpu, 0);
        loop {
            let (took, mut now) = self.time(operation, batch)?;
            time.add(took);
            timed.operation.push(took);
            timed.migrations += u64::from(now.cpu != cpu);
            cpu = now.cpu;
            let quotient = timed.core.take(self.clock);
            alone += usize::from(until.is_alone(quotient));
            if let Some(baseline) = baseline.as_deref_mut() {
                let elapsed;
                (elapsed, now) = self.time(baseline, batch)?;
                timed.baseline.push(elapsed);
                cpu = now.cpu;
                timed.core.take(self.clock);
            }
            let cut = beginning.saw(took, now)?;
            partner.forget(timed.forget(cut.forget));
            if let Some(since) = cut.since {
                time.restart(since);
                alone = timed.core.quotients().skip(1).filter(|one| until.is_alone(*one)).count();
            }
            let elapsed = time.until(now);
            let is_over = beginning.is_over()
                && until.is_over(timed.operation.len(), alone, elapsed, self.ticks_per_second);
            partner.read_if_due(self.clock, (&timed.core, is_over), &mut || operation.run(1))?;
            if is_over {
                timed.core.partner = partner.readings;
                return Ok((timed, beginning.work(batch).and(partner.turns)));
            }
        }
    }

    fn raw_sample(
        &self,
        timed: TimedBatches,
        batch: u64,
        per_iteration: u64,
        beyond_ns: f64,
        each: bool,
    ) -> RawSample {
        RawSample {
            operations: timed.operation.len() as u64 * batch * per_iteration,
            baseline_iterations: timed.baseline.len() as u64 * batch,
            migrations: timed.migrations,
            witnessed: BTreeMap::new(),
            figures: BTreeMap::new(),
            core: timed.core,
            beginning: None,
            observations: Observations::Ticks {
                operations: batch * per_iteration,
                each,
                overhead_ticks: overhead(self.clock),
                beyond_ns,
                operation: timed.operation,
                baseline: timed.baseline,
            },
        }
    }

    /// Observations that end when the work stamps the mark.
    fn marked<T>(
        &self,
        operation: &mut (dyn Operation + '_),
        (beyond_ns, observed): (f64, ObservedFrom),
        begin: impl FnOnce() -> T,
    ) -> Result<(RawSample, T), Failure> {
        let (quickest, _) = self.time(operation, 1)?;
        let waited_ns = self.wait()?;
        let begun = self.warmed(begin);
        let mut beginning = self.beginning(observed);
        let mut timed = TimedBatches::with_capacity(2 * MOST_SINGLES, self.reading_times);
        timed.core.waited_ns = waited_ns;
        timed.core.take(self.clock);
        let mut time = ObservedTime::new(self.clock.stop(), Some(quickest));
        while !beginning.is_over() || timed.operation.len() < MOST_SINGLES {
            self.stopwatch.clear();
            let start = self.clock.start();
            operation.run(1)?;
            let stamp =
                self.stopwatch.ticks().ok_or_else(|| Failure::Broke("the operation never ended".into()))?;
            let took = stamp.wrapping_sub(start.ticks) as i64;
            timed.operation.push(took);
            timed.core.take(self.clock);
            let now = self.clock.stop();
            time.add(took);
            let cut = beginning.saw(took, now)?;
            timed.forget(cut.forget);
            if let Some(since) = cut.since {
                time.restart(since);
            }
            if beginning.is_over() && time.until(now) >= self.ticks(self.duration_ns as f64) {
                break;
            }
        }
        Ok((self.raw_sample(timed, 1, 1, beyond_ns, true).after(beginning.work(1)), begun))
    }

    /// Numbers that the work returns itself.
    fn record<T>(
        &self,
        observe: &mut (dyn FnMut() -> Result<Option<f64>, Failure> + '_),
        start: (FirstCall, ObservedFrom, Option<PartnerCore>),
        begin: impl FnOnce() -> T,
    ) -> Result<(RawSample, T), Failure> {
        let mut values = Vec::with_capacity(MOST_SINGLES);
        let observe = &mut |keep: bool| {
            let value = observe()?;
            values.extend(value.filter(|_| keep));
            Ok(Repetition { saved: values.len(), operations: u64::from(value.is_some()) })
        };
        let (core, settled, begun) = self.repeated(observe, start, begin)?;
        let operations = values.len() as u64;
        let observations = Observations::Values { values };
        let raw = RawSample { observations, operations, core, ..RawSample::default() };
        Ok((raw.after(settled), begun))
    }

    /// Numbers of several figures that the work returns at once.
    fn record_figures<T>(
        &self,
        observe: &mut (dyn FnMut() -> Result<Vec<FigureValue>, Failure> + '_),
        start: (FirstCall, ObservedFrom, Option<PartnerCore>),
        begin: impl FnOnce() -> T,
    ) -> Result<(RawSample, T), Failure> {
        let mut figures = BTreeMap::<String, Vec<f64>>::new();
        let mut calls = 0;
        let observe = &mut |keep: bool| {
            for (figure, value) in observe()? {
                let values =
                    figures.entry(figure.to_owned()).or_insert_with(|| Vec::with_capacity(MOST_SINGLES));
                values.extend(keep.then_some(value));
            }
            calls += usize::from(keep);
            Ok(Repetition { saved: calls, operations: 1 })
        };
        let (core, settled, begun) = self.repeated(observe, start, begin)?;
        let raw = RawSample { figures, operations: calls as u64, core, ..RawSample::default() };
        Ok((raw.after(settled), begun))
    }

    /// Calls `observe` until the time is over or there are enough observations; the results of a warm-up call are discarded.
    fn repeated<T>(
        &self,
        observe: &mut dyn FnMut(bool) -> Result<Repetition, Failure>,
        (first_call, observed, partner): (FirstCall, ObservedFrom, Option<PartnerCore>),
        begin: impl FnOnce() -> T,
    ) -> Result<(CoreReadings, SteadyWork, T), Failure> {
        let mut quickest = None;
        if first_call == FirstCall::WarmsUp {
            let before = self.clock.stop();
            observe(false)?;
            quickest = Some(self.clock.stop().since(before).0);
        }
        let waited_ns = self.wait()?;
        let begun = self.warmed(begin);
        let settled = self.settle(observed, &mut || observe(false).map(|once| once.operations))?;
        let mut core =
            CoreReadings { waited_ns, ..CoreReadings::with_capacity(MOST_SINGLES + 1, self.reading_times) };
        let mut partner = self.partner_readings(partner);
        partner.read(self.clock, &core, &mut || observe(false).map(drop))?;
        let mut time = ObservedTime::new(self.clock.stop(), quickest);
        core.take_at(self.clock, time.began);
        loop {
            let before = self.clock.stop();
            let observations = observe(true)?.saved;
            time.add(self.clock.stop().since(before).0);
            core.take_at(self.clock, time.began);
            let elapsed = time.until(self.clock.stop());
            let is_over = observations >= MOST_SINGLES || elapsed >= self.ticks(self.duration_ns as f64);
            partner.read_if_due(self.clock, (&core, is_over), &mut || observe(false).map(drop))?;
            if is_over {
                core.partner = partner.readings;
                return Ok((core, settled.and(partner.turns), begun));
            }
        }
    }
}

/// Work that is timed: the operation, its baseline, and what is read of the other side's core between them.
type TimedWork<'work, 'site> =
    (&'work mut (dyn Operation + 'site), Option<&'work mut (dyn Operation + 'site)>, PartnerReadings);

/// The end condition of a trial of timed work.
struct Until {
    most: usize,
    /// The intended duration, ticks.
    duration: i64,
    /// The additional time allowed to wait for a core that is alone.
    wait: Option<CoreWait>,
}

impl Until {
    fn is_alone(&self, quotient: f64) -> bool {
        self.wait.is_none_or(|wait| quotient <= wait.alone_up_to)
    }

    /// Whether the duration or the number of observations is reached, with at least half of them on a core that was alone; or
    /// whether the maximum waiting time has passed.
    fn is_over(&self, observations: usize, alone: usize, elapsed: i64, ticks_per_second: f64) -> bool {
        let enough = elapsed >= self.duration || observations >= self.most;
        let longest = self.wait.map_or(0.0, |wait| wait.most_ns as f64 / 1e9 * ticks_per_second);
        let may_go_on =
            elapsed < self.duration.saturating_add(longest as i64) && observations < 2 * self.most;
        enough && (2 * alone >= observations.min(self.most) || !may_go_on)
    }
}

/// Elapsed ticks, in the order of observation.
struct TimedBatches {
    operation: Vec<i64>,
    baseline: Vec<i64>,
    migrations: u64,
    core: CoreReadings,
}

impl TimedBatches {
    /// Capacity is reserved beforehand: nothing is allocated between observations.
    fn with_capacity(most: usize, reading_times: u32) -> Self {
        TimedBatches {
            operation: Vec::with_capacity(most),
            baseline: Vec::with_capacity(most),
            migrations: 0,
            core: CoreReadings::with_capacity(2 * most + 1, reading_times),
        }
    }

    /// Forgets the first observations of the operation, with what belongs to them; returns the number of readings forgotten.
    fn forget(&mut self, observations: usize) -> usize {
        let readings = observations * if self.baseline.is_empty() { 1 } else { 2 };
        self.operation.drain(..observations);
        self.baseline.drain(..observations.min(self.baseline.len()));
        self.core.forget(readings);
        readings
    }
}
