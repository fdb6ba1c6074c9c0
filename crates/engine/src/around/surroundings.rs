//! Measuring around work of others, and what was seen there.

use super::anchors::anchors;
use super::verdict::{HostDimension, Whole};
use super::{causes, judging, levels, meanwhile};
use crate::plan::{Set, SetMember};
use crate::record::{Journal, Run};
use crate::run::{Options, PhaseSpan, PhasedRun};
use anyhow::{Context, Result};
use fathom_core::sampling::{HostSlice, HostWatch};
use std::path::PathBuf;
use std::time::Duration;

/// The length of the phases before and after the work.
const LENGTH: Duration = Duration::from_secs(5);

/// The length of a pause: the work waits for it.
const PAUSE: Duration = Duration::from_millis(2500);

/// How to measure around work.
#[derive(Debug, Clone)]
pub struct AroundSettings {
    /// The length of the phases before and after.
    pub length: Duration,
    /// The length of a phase in a pause of the work.
    pub pause: Duration,
    /// The change up to which a dimension held still; `None` for that of each.
    pub margin: Option<f64>,
    /// The folder whose device is measured.
    pub folder: PathBuf,
    /// The CPU to measure on; by default one of the fastest kind.
    pub cpu: Option<usize>,
    /// The seed of all randomness.
    pub seed: Option<u64>,
    /// The file in which every trial is recorded; by default none.
    pub run_file: Option<PathBuf>,
    /// Points of this program's own that are anchors too.
    pub(crate) own: Vec<SetMember>,
}

impl AroundSettings {
    /// The usual phases, with files in this folder.
    pub fn of(folder: PathBuf) -> Self {
        AroundSettings {
            length: LENGTH,
            pause: PAUSE,
            margin: None,
            folder,
            cpu: None,
            seed: None,
            run_file: None,
            own: vec![],
        }
    }
}

/// Measuring around work that has begun.
pub struct AroundWork {
    settings: AroundSettings,
    set: &'static Set,
    run: PhasedRun,
    watch: HostWatch,
    phases: Vec<PhaseSpan>,
    before: Vec<HostSlice>,
    during: Vec<HostSlice>,
}

impl AroundWork {
    /// Measures the first phase; the work begins when this returns. Fails if nothing can be measured here, or if the user
    /// ends it.
    pub fn begin(settings: AroundSettings) -> Result<Self> {
        let set = anchors(settings.own.clone());
        let options = Options {
            set: Some(set),
            seed: settings.seed,
            cpu: settings.cpu,
            ..Options::of(vec![], settings.folder.clone())
        };
        let file = settings.run_file.clone();
        let journal = || file.as_deref().map_or_else(|| Ok(Journal::nowhere()), Journal::create);
        let run = PhasedRun::begin(options.header(None)?, journal)?;
        let watch = HostWatch::begin().context("a thread that watches could not be started")?;
        let (phases, before, during) = (vec![], vec![], vec![]);
        let mut around = AroundWork { settings, set, run, watch, phases, before, during };
        anyhow::ensure!(around.measure(around.settings.length)?, "interrupted before the work began");
        around.before = around.watch.take();
        Ok(around)
    }

    /// Counts the throttling of this process, which is the work.
    pub fn follow(&self, process: u32) {
        self.watch.follow(Some(process));
    }

    /// Measures a phase while the work waits; false if the user ended it.
    pub fn pause(&mut self) -> Result<bool> {
        self.during.extend(self.watch.take());
        let done = self.measure(self.settings.pause);
        // What the anchors did is no part of the work.
        drop(self.watch.take());
        done
    }

    /// The work has ended: measures the last phase, unless the user ended the work.
    pub fn end(mut self, interrupted: bool) -> Result<Surroundings> {
        self.during.extend(self.watch.take());
        self.watch.follow(None);
        let interrupted = interrupted || !self.measure(self.settings.length)?;
        drop(self.watch);
        Ok(Surroundings {
            run: self.run.end(interrupted)?,
            set: self.set,
            phases: self.phases,
            before: self.before,
            during: self.during,
            margin: self.settings.margin,
            interrupted,
        })
    }

    /// Measures a phase; false if the user ended it.
    fn measure(&mut self, length: Duration) -> Result<bool> {
        let phase = self.run.measure(length)?;
        self.phases.extend(phase);
        Ok(phase.is_some())
    }
}

/// What was seen around work, and while it went on.
pub struct Surroundings {
    /// The trials of the anchors.
    pub run: Run,
    set: &'static Set,
    /// The phases of that run: before the work, in its pauses, and after it.
    pub phases: Vec<PhaseSpan>,
    /// The counters of the first phase.
    pub before: Vec<HostSlice>,
    /// The counters while the work went on.
    pub during: Vec<HostSlice>,
    margin: Option<f64>,
    /// Whether the user ended it.
    pub interrupted: bool,
}

impl Surroundings {
    /// What was recorded earlier: a run of the anchors in these phases, and the counters beside it.
    pub fn of(run: Run, phases: Vec<PhaseSpan>, before: Vec<HostSlice>, during: Vec<HostSlice>) -> Self {
        let set = anchors(vec![]);
        Surroundings { run, set, phases, before, during, margin: None, interrupted: false }
    }

    /// The verdict on every dimension.
    pub fn dimensions(&self) -> Vec<HostDimension> {
        let levels = levels::of(&self.run, self.set, &self.phases);
        let memory = self.run.header.machine.memory.total_bytes.value().copied();
        let watched = meanwhile::judged(&self.before, &self.during, memory);
        causes::attributed(judging::judged(levels, self.margin).into_iter().chain(watched).collect())
    }

    /// The verdict on the host.
    pub fn verdict(&self) -> Whole {
        Whole::of(&self.dimensions())
    }
}
