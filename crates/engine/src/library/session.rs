//! Measuring the operations of a program, with the loop of every run, or around its work: did the host hold still while it ran?

use super::operation::{FAMILY, named};
use crate::around::{AroundSettings, AroundWork, Surroundings};
use crate::plan::SetMember;
use crate::record::{Journal, Run};
use crate::results::{PointResult, Results};
use crate::run::{MeasuringLock, Options, RunInProgress, Unwatched};
use anyhow::anyhow;
use fathom_core::experiment::{Experiment, Selector, registry};
use fathom_core::sampling::child::is_measured;
use fathom_core::{quantities, statistics};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The default budget of each operation.
const TIME_EACH: Duration = Duration::from_secs(3);

/// A session that can measure the operations of this program; [`super::child_main`] returns it.
pub struct Session {
    pub(super) options: Options,
    pub(super) run_file: Option<PathBuf>,
    pub(super) alongside: bool,
}

impl Session {
    /// A session with this number of operations.
    pub(super) fn of(operations: usize) -> Self {
        let options = Options {
            budget: Some(TIME_EACH * operations as u32),
            ..Options::of(vec![FAMILY.to_owned()], std::env::temp_dir())
        };
        Session { options, run_file: None, alongside: false }
    }

    /// The total time for measuring; three seconds per operation by default. An operation for which it does not suffice is
    /// skipped, with its cost.
    #[must_use]
    pub fn budget(mut self, budget: Duration) -> Self {
        self.options.budget = Some(budget);
        self
    }

    /// Within what share of them values are known, by the farther end of their intervals, when measuring ends; 0.02 by default.
    #[must_use]
    pub fn precision(mut self, precision: f64) -> Self {
        self.options.precision = Some(precision);
        self
    }

    /// The seed of all random numbers: the order of the trials, and the offset of their stacks.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = Some(seed);
        self
    }

    /// The CPU to measure on; by default one of the fastest kind.
    #[must_use]
    pub fn cpu(mut self, cpu: usize) -> Self {
        self.options.cpu = Some(cpu);
        self
    }

    /// Records every trial as it ends in a new run file; by default nothing is recorded.
    #[must_use]
    pub fn run_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.run_file = Some(path.into());
        self
    }

    /// The folder in which experiments may make files, and whose device [`around`](Self::around) measures; by default the folder
    /// for temporary files.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.folder = folder.into();
        self
    }

    /// Measures even while another program measures with Fathom on this machine, which disturbs both.
    #[must_use]
    pub fn alongside(mut self) -> Self {
        self.alongside = true;
        self
    }

    /// Measures every operation, until the intervals are as narrow as requested or the time is up.
    pub fn measure(&self) -> Result<Measured, Error> {
        let _lock = self.lock()?;
        let journal = || self.run_file.as_deref().map_or_else(|| Ok(Journal::nowhere()), Journal::create);
        let mut in_progress = RunInProgress::written_to(self.options.header(None)?, journal, None)?;
        in_progress.measure(&mut Unwatched)?;
        Ok(Measured::of(in_progress.into_run()))
    }

    /// One measurement at a time, and none by what is measured.
    pub(super) fn lock(&self) -> Result<Option<MeasuringLock>, Error> {
        if is_measured() {
            let reason = "a measured operation cannot measure: it would start itself without end";
            return Err(anyhow!(reason).into());
        }
        Ok(if self.alongside { None } else { Some(MeasuringLock::take()?) })
    }
}

/// The reason why nothing could be measured, in words. Failures of single operations are in their results.
#[derive(Debug)]
pub struct Error(anyhow::Error);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl std::error::Error for Error {}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        Error(error)
    }
}

/// The results of every operation. It is displayed with a line for each: the median with its 95 % interval, or its outcome
/// instead.
pub struct Measured {
    run: Run,
    results: Vec<PointResult>,
}

impl Measured {
    pub(super) fn of(run: Run) -> Self {
        let results = Results::of(&run).points;
        Measured { run, results }
    }

    /// The result of each operation, in their order.
    pub fn results(&self) -> &[PointResult] {
        &self.results
    }

    /// The result of an operation; `None` if none has this name.
    pub fn result(&self, name: &str) -> Option<&PointResult> {
        self.results.iter().find(|result| named(&result.experiment) == name)
    }

    /// The time of one operation over that of another, with its interval; `None` unless both have a value.
    pub fn ratio(&self, operation: &str, other: &str) -> Option<statistics::Measured> {
        let time = |name| Some(self.result(name)?.estimate()?.measured());
        statistics::ratio(time(operation)?, time(other)?)
    }

    /// The complete record: the machine, the clock, every trial with its observations and conditions.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for result in &self.results {
            let name = named(&result.experiment);
            match result.estimate() {
                Some(estimate) => {
                    writeln!(f, "{name}: {}", quantities::with_interval(result.unit, estimate))?;
                }
                None => writeln!(f, "{name}: {}", result.outcome.reason().unwrap_or_default())?,
            }
        }
        Ok(())
    }
}

impl Session {
    /// Does the work once, between two measurements of the host of some five seconds each, and returns its result with what
    /// was seen: the verdict on each dimension and on the host.
    ///
    /// The operations of this program are anchors, and every experiment that it has registered before
    /// [`child_main`](super::child_main): with `fathom::experiments::register()` the dozen of `fathom around`, from system calls to
    /// `fsync` in the [folder](Self::folder). Without any the frequency of the core, whether it was shared, and the counters of
    /// the kernel remain.
    ///
    /// Fails if nothing can be measured, or if another program measures with Fathom; the work is then not done.
    pub fn around<T>(&self, work: impl FnOnce() -> T) -> Result<(T, Surroundings), Error> {
        let lock = self.lock()?;
        let around = AroundWork::begin(self.settings())?;
        let result = work();
        let surroundings = around.end(false)?;
        drop(lock);
        Ok((result, surroundings))
    }

    /// The same for work in parts, such as the iterations of a benchmark: the host is measured between two of them as well.
    /// Each pause takes some three seconds.
    pub fn around_parts<T>(
        &self,
        parts: impl IntoIterator<Item = T>,
        mut work: impl FnMut(T),
    ) -> Result<Surroundings, Error> {
        let lock = self.lock()?;
        let mut around = AroundWork::begin(self.settings())?;
        for (place, part) in parts.into_iter().enumerate() {
            if place > 0 && !around.pause()? {
                break;
            }
            work(part);
        }
        let surroundings = around.end(false)?;
        drop(lock);
        Ok(surroundings)
    }

    fn settings(&self) -> AroundSettings {
        let mut settings = AroundSettings::of(self.options.folder.clone());
        settings.cpu = self.options.cpu;
        settings.seed = self.options.seed;
        settings.run_file.clone_from(&self.run_file);
        settings.own = own();
        settings
    }
}

/// The operations of this program as anchors.
fn own() -> Vec<SetMember> {
    let name = |experiment: &'static dyn Experiment| experiment.about().name;
    let mine = registry::all().map(name).filter(|name| name.starts_with(FAMILY));
    let named =
        |name: &'static str| Some((name.strip_prefix(FAMILY)?.strip_prefix('/')?, Selector::of(name, &[])));
    mine.filter_map(named).collect()
}
