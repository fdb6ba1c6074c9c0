//! Whether a run can be resumed here. Its file may have been edited or come from anybody: all of it is checked before
//! anything that it requests is done.

use crate::machine::Machine;
use crate::record::{Header, Run, Tool};
use anyhow::{Result, bail};
use std::path::Path;
use std::time::Duration;

/// The longest time that a run may have taken or may be given, seconds: a hundred years.
const LONGEST_S: f64 = 3e9;

/// The most rounds and processes that a run may have had; no run reaches a billion.
const MOST: u32 = 1_000_000_000;

/// Refuses figures that no run can have, and returns the run's budget.
pub(super) fn ensure_sound(run: &Run) -> Result<Duration> {
    let settings = &run.header.settings;
    let is_time = |seconds: f64| (0.0..=LONGEST_S).contains(&seconds);
    let is_positive = |number: f64| number.is_finite() && number > 0.0;
    let times = [settings.budget_s, settings.trial_ns as f64 / 1e9];
    let figures = [settings.precision, run.header.clock.ticks_per_second];
    if !(times.into_iter().all(is_time) && figures.into_iter().all(is_positive)) {
        bail!("the run's settings have impossible values: its file was edited; start a new run");
    }
    for (place, trial) in run.trials.iter().enumerate() {
        let process = trial.block.as_ref().map_or(0, |block| block.process);
        if !is_time(trial.began_s) || !is_time(trial.took_s) || trial.round.max(process) > MOST {
            bail!(
                "trial {} of the run has impossible values: its file was edited; start a new run",
                place + 1
            );
        }
    }
    Ok(Duration::from_secs_f64(settings.budget_s))
}

/// A run is resumed only on the machine where it began and by the same program: same processor, kernel, CPUs and build.
pub(super) fn ensure_same(begun: &Header, tool: &Tool) -> Result<()> {
    let here = Machine::describe(Path::new(&begun.settings.folder));
    let there = &begun.machine;
    let same = here.processor.model_name.value() == there.processor.model_name.value()
        && here.kernel.version.value() == there.kernel.version.value()
        && here.allowed_cpus() == there.allowed_cpus();
    if !same {
        bail!(
            "the run was begun on another machine, kernel or set of CPUs, and cannot continue here: start a new run"
        );
    }
    if tool.binary_sha256 != begun.tool.binary_sha256 {
        bail!(
            "the run was begun by another build of fathom, and a run cannot mix two builds: start a new run"
        );
    }
    Ok(())
}
