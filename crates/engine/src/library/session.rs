//! Measuring the operations of a program: a run of them, with the loop of every run.

use super::error::Error;
use super::measured::Measured;
use super::operation::FAMILY;
use crate::record::Journal;
use crate::run::{MeasuringLock, Options, RunInProgress, Unwatched};
use anyhow::anyhow;
use fathom_core::sampling::child::is_measured;
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
