//! The beginning of work that wakes another CPU or adapts: it is repeated until its cost is steady, and only what is steady counts
//! as observed.
//!
//! A host's halt polling, the kernel's idle governor and the frequency of an idle core adapt to how work sleeps and wakes, within
//! some tens of milliseconds. What a trial of 20 ms finds is then the beginning, and what one of 400 ms finds is not.
//!
//! A beginning is cut off from the observations, not made before them: the windows by which it was found to have ended are
//! observations like those that follow, and a trial that has paid for them keeps the last of them.

use super::clock::{Clock, Reading};
use super::observe::Sampler;
use super::occupancy;
use super::sample::{Beginning, SteadyWork};
use crate::experiment::{Failure, ObservedFrom, Shared};
use crate::statistics::{self, settled_from};

/// The length of the windows whose medians are compared, nanoseconds.
const WINDOW_NS: f64 = 2.5e6;

/// Windows that the first work of a process takes at least: of a step after tens of milliseconds, nothing shows before.
const FIRST_WINDOWS: usize = 40;

/// Windows of later work of the same process. Work with a partner process is in no block, because each partner has a beginning of
/// its own, and so has one that is kept: after a pause of milliseconds an idle CPU keeps its tick for as long as RCU has callbacks to
/// run, some 45 ms, and is woken for less meanwhile (docs/method.md).
const LATER_WINDOWS: usize = 8;

/// Windows in a row after each of which the beginning must have ended: the rule is asked after every window, and one answer in the
/// middle of a slow rise may be chance.
const AGREEING_WINDOWS: usize = 4;

/// The last windows of a beginning that count as observed, if they are steady: the half of the first work that the rule cannot cut
/// off. Of a rise that slows down, the last ones hold least.
const OBSERVED_WINDOWS: usize = FIRST_WINDOWS / 2;

/// The observations that these windows hold at most: more of one process add less information than another process.
const MOST_OBSERVED: usize = 1000;

/// The longest beginning of a trial that is not asked to last longer, nanoseconds.
const MOST_NS: f64 = 1e9;

/// A process whose work has once become steady: made once for all points of a block.
struct SteadyProcess;

/// A window under way: where it began, and the times of its repetitions, ticks.
#[derive(Default)]
struct WorkWindow {
    began: Option<Reading>,
    times: Vec<f64>,
}

/// What the beginning means for the observations made so far.
#[derive(Default)]
pub(super) struct BeginningCut {
    /// The first ones that are to be forgotten.
    pub forget: usize,
    /// If it has just been found to have ended: the moment since which the others were made.
    pub since: Option<Reading>,
}

/// The beginning of a trial's work, window by window, until it has ended.
pub(super) struct BeginningWatch<'trial> {
    shared: &'trial Shared,
    ticks_per_second: f64,
    /// The time after which work that is not steady is given up, nanoseconds.
    most_ns: f64,
    /// Windows that it takes at least; none once it has ended, and for work without a beginning.
    fewest: Option<usize>,
    /// The last windows that are observed.
    observed: usize,
    window: WorkWindow,
    /// The medians of all windows, and the moments at which they began and the last one ended, nanoseconds.
    medians: Vec<f64>,
    bounds_ns: Vec<f64>,
    /// The windows whose repetitions are remembered: when each began, and how many it has.
    remembered: Vec<(Reading, usize)>,
    agreeing: usize,
    pub forgotten: u64,
    /// What was found.
    pub beginning: Option<Beginning>,
}

impl BeginningWatch<'_> {
    /// Whether everything from now on is observed.
    pub(super) fn is_over(&self) -> bool {
        self.fewest.is_none()
    }

    /// Takes in a repetition that took these ticks and ended `now`.
    ///
    /// # Errors
    /// [`Failure::Broke`] if the work is not steady after a second: what would be observed is its beginning.
    pub(super) fn saw(&mut self, ticks: i64, now: Reading) -> Result<BeginningCut, Failure> {
        let Some(fewest) = self.fewest else { return Ok(BeginningCut::default()) };
        let began =
            *self.window.began.get_or_insert(Reading { ticks: now.ticks.wrapping_sub(ticks as u64), ..now });
        self.window.times.push(ticks as f64);
        let took_ns = now.since(began).0 as f64 / self.ticks_per_second * 1e9;
        if took_ns < WINDOW_NS {
            return Ok(BeginningCut::default());
        }
        self.end_window(began, now, took_ns);
        let from = settled_from(&self.medians).filter(|_| self.medians.len() >= fewest);
        self.agreeing = if from.is_some() { self.agreeing + 1 } else { 0 };
        let forget = self.forget_early(from.unwrap_or(0));
        match from.filter(|_| self.agreeing >= AGREEING_WINDOWS) {
            Some(from) => Ok(BeginningCut { forget, since: Some(self.end(from, now)) }),
            None if self.bounds_ns.last().is_some_and(|last| *last >= self.most_ns) => {
                Err(Failure::Broke(format!(
                    "it was not steady after {}: only its beginning could be observed",
                    crate::quantities::duration(self.most_ns / 1e9)
                )))
            }
            None => Ok(BeginningCut { forget, since: None }),
        }
    }

    fn end_window(&mut self, began: Reading, now: Reading, took_ns: f64) {
        let window = std::mem::replace(&mut self.window, WorkWindow { began: Some(now), times: vec![] });
        self.remembered.push((began, window.times.len()));
        self.medians.push(statistics::median(&window.times).unwrap_or_default());
        let last = self.bounds_ns.last().copied().unwrap_or_default();
        self.bounds_ns.push(last + took_ns);
    }

    /// Forgets all but the last windows, none of them before the window `from`; returns the number of repetitions forgotten.
    fn forget_early(&mut self, from: usize) -> usize {
        let most = self.observed.min(self.medians.len() - from);
        let (mut windows, mut repetitions) = (0, 0);
        for (_, count) in self.remembered.iter().rev().take(most) {
            if windows > 0 && repetitions + count > MOST_OBSERVED {
                break;
            }
            (windows, repetitions) = (windows + 1, repetitions + count);
        }
        let forgotten = self.remembered.len() - windows;
        let forget = self.remembered.drain(..forgotten).map(|(_, count)| count).sum();
        self.forgotten += forget as u64;
        forget
    }

    /// Ends the beginning, which lasted until the window `from`; returns the moment since which the work is observed.
    fn end(&mut self, from: usize, now: Reading) -> Reading {
        let repeated_ns = self.bounds_ns[self.medians.len() - self.remembered.len()];
        let steady = statistics::median(&self.medians[from..]);
        let first_cost = steady.map(|steady| self.medians[0] / steady);
        self.beginning = Some(Beginning { lasted_ns: self.bounds_ns[from], repeated_ns, first_cost });
        self.fewest = None;
        self.shared.make_once(SteadyProcess, repeated_ns as u64);
        self.remembered.first().map_or(now, |(began, _)| *began)
    }

    /// The beginning, and the operations that were repeated and are not observed, `batch` at a time.
    pub(super) fn work(&self, batch: u64) -> SteadyWork {
        SteadyWork { beginning: self.beginning, operations: self.forgotten * batch }
    }
}

impl<C: Clock> Sampler<'_, C> {
    /// Watches the beginning of work that adapts. A process does so at length only once.
    pub(super) fn beginning(&self, observed: ObservedFrom) -> BeginningWatch<'_> {
        let fewest = if self.shared.has::<SteadyProcess>() { LATER_WINDOWS } else { FIRST_WINDOWS };
        // A trial that is asked to last longer works as long before its last windows are observed.
        let requested = (self.duration_ns as f64 / WINDOW_NS) as usize;
        let fewest = if requested > FIRST_WINDOWS { requested } else { fewest };
        BeginningWatch {
            shared: self.shared,
            ticks_per_second: self.ticks_per_second,
            most_ns: MOST_NS.max(2.0 * self.duration_ns as f64),
            fewest: (observed != ObservedFrom::ItsBeginning).then_some(fewest),
            observed: OBSERVED_WINDOWS,
            window: WorkWindow::default(),
            medians: vec![],
            bounds_ns: vec![0.0],
            remembered: vec![],
            agreeing: 0,
            forgotten: 0,
            beginning: None,
        }
    }

    /// Repeats work that returns its own numbers until its cost is steady, just before it is observed, and in the same way: a pause
    /// of milliseconds, or another rhythm, may begin it again. `once` does the work once and returns how many operations it were;
    /// their sum comes with the beginning.
    pub(super) fn settle(
        &self,
        observed: ObservedFrom,
        once: &mut dyn FnMut() -> Result<u64, Failure>,
    ) -> Result<SteadyWork, Failure> {
        let mut watch = BeginningWatch { observed: 0, ..self.beginning(observed) };
        let mut operations = 0;
        while !watch.is_over() {
            let start = self.clock.start();
            operations += once()?;
            let end = self.clock.stop();
            occupancy::read(self.clock, self.reading_times);
            watch.saw(end.since(start).0, end)?;
        }
        Ok(SteadyWork { beginning: watch.beginning, operations })
    }
}
