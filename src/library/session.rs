//! Measuring the operations of a program: a run of them, by the loop of every run.

use super::error::Error;
use super::measured::Measured;
use super::operation::FAMILY;
use crate::experiment::Effort;
use crate::plan::Settlement;
use crate::record::Journal;
use crate::run::{Campaign, MeasuringLock, Options, Tick, Watcher};
use crate::sampling::child::is_measured;
use anyhow::anyhow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The time that each operation adds to a budget that nobody has set.
const TIME_EACH: Duration = Duration::from_secs(3);

/// What can measure the operations of this program; [`super::child_main`] makes it.
pub struct Session {
    options: Options,
    run_file: Option<PathBuf>,
    alongside: bool,
}

impl Session {
    /// That of so many operations.
    pub(super) fn of(operations: usize) -> Self {
        let options = Options {
            selection: vec![FAMILY.to_owned()],
            effort: Effort::Standard,
            budget: Some(TIME_EACH * operations as u32),
            precision: None,
            seed: None,
            cpu: None,
            clock: None,
            trial: None,
            folder: std::env::temp_dir(),
            processes: vec![],
            remote: None,
            points: vec![],
            set: None,
            labels: BTreeMap::new(),
        };
        Session { options, run_file: None, alongside: false }
    }

    /// The time that measuring may take in all; three seconds for each operation where nothing is said. An operation for
    /// which it does not suffice is skipped, with what it would take.
    #[must_use]
    pub fn budget(mut self, budget: Duration) -> Self {
        self.options.budget = Some(budget);
        self
    }

    /// The relative half-width of the intervals at which measuring ends; 0.02 where nothing is said.
    #[must_use]
    pub fn precision(mut self, precision: f64) -> Self {
        self.options.precision = Some(precision);
        self
    }

    /// The seed of all that is drawn at random: the order of the trials, and where their stacks begin.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = Some(seed);
        self
    }

    /// The CPU to measure on; one of the fastest kind where nothing is said.
    #[must_use]
    pub fn cpu(mut self, cpu: usize) -> Self {
        self.options.cpu = Some(cpu);
        self
    }

    /// Writes every trial down as it ends, to a new run file; nothing is written where nothing is said.
    #[must_use]
    pub fn run_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.run_file = Some(path.into());
        self
    }

    /// Measures also while another program measures by Fathom on this machine, and disturbs it.
    #[must_use]
    pub fn alongside(mut self) -> Self {
        self.alongside = true;
        self
    }

    /// Measures every operation, until the intervals are as narrow as they should be or the time is up.
    pub fn measure(&self) -> Result<Measured, Error> {
        if is_measured() {
            return Err(
                anyhow!("a measured operation cannot measure: it would start itself without end").into()
            );
        }
        let _lock = if self.alongside { None } else { Some(MeasuringLock::take()?) };
        let journal = || self.run_file.as_deref().map_or_else(|| Ok(Journal::nowhere()), Journal::create);
        let mut campaign = Campaign::written_to(self.options.header(None)?, journal, None)?;
        campaign.measure(&mut Unwatched)?;
        Ok(Measured::of(campaign.into_run()))
    }
}

/// Nobody watches.
struct Unwatched;

impl Watcher for Unwatched {
    fn trial(&mut self, _tick: &Tick) {}

    fn settled(&mut self, _settlement: &Settlement) {}

    fn preparing(&mut self, _doing: &str) {}
}
