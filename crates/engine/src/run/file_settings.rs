//! What a run takes from a file: the settings of a run that is resumed, and of a gate's baseline. The file may come from
//! anyone, so its values must be ones that the command line accepts, and its times have limits that only the command line exceeds.
//! Whether anything fits into a budget is told as far as it is known before the first trial.

use super::header::Options;
use crate::plan::{SIZES, Set, TRIALS_ASKED};
use crate::record::{PlannedPoint, Settings};
use crate::results;
use anyhow::{Result, bail, ensure};
use fathom_core::experiment::registry;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// The longest time that a run may have taken or may be given, seconds: a hundred years.
pub(super) const LONGEST_S: f64 = 3e9;

/// The longest budget that a file may set: a longer one is given by `--budget`.
const LONGEST_BUDGET: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest trial that a file may set: nothing ends a trial while it observes.
const LONGEST_TRIAL: Duration = Duration::from_secs(10 * 60);

/// What `--processes` takes.
const PROCESSES: RangeInclusive<u64> = 1..=256;

/// The most names, numbers and labels that a file may set.
const MOST_VALUES: usize = 256;

/// The budget of a run with these settings: the requested one, or theirs. Refuses settings that no run has, and those that
/// only the command line may ask for.
pub fn checked_budget(settings: &Settings, requested: Option<Duration>) -> Result<Duration> {
    ensure_possible(settings)?;
    let trial = Duration::from_nanos(settings.trial_ns);
    if trial > LONGEST_TRIAL {
        bail!(
            "the run's trials observe for {}, and no file may ask for more than {}: start a new run",
            humantime::format_duration(trial),
            humantime::format_duration(LONGEST_TRIAL)
        );
    }
    let budget = requested.unwrap_or(Duration::from_secs_f64(settings.budget_s));
    if requested.is_none() && budget > LONGEST_BUDGET {
        bail!(
            "the run's budget is {} s, and no file may ask for more than {}: give it by `--budget`",
            settings.budget_s,
            humantime::format_duration(LONGEST_BUDGET)
        );
    }
    Ok(budget)
}

fn ensure_possible(settings: &Settings) -> Result<()> {
    let is_budget = (0.0..=LONGEST_S).contains(&settings.budget_s);
    let is_precision = settings.precision.is_finite() && settings.precision > 0.0;
    let lengths =
        [settings.selection.len(), settings.processes.len(), settings.sizes.len(), settings.labels.len()];
    let is_few = lengths.iter().all(|length| *length <= MOST_VALUES);
    let is_size = |bytes: &u64| SIZES.contains(bytes) && *bytes % *SIZES.start() == 0;
    let is_priority = settings.priority.is_none_or(|nice| (-20..=19).contains(&nice));
    if is_budget
        && is_priority
        && settings.sizes.iter().all(is_size)
        && settings.trials.is_none_or(|trials| TRIALS_ASKED.contains(&trials))
        && is_precision
        && is_few
        && settings.processes.iter().all(|number| PROCESSES.contains(number))
    {
        return Ok(());
    }
    bail!("the run's settings have impossible values: its file was edited; start a new run")
}

/// The options of a new run with the settings of another, at this user's usual priority, because a file must not choose before which
/// programs a run goes. The folder is never that of the file, which would choose where
/// this user's files are written.
pub fn options_of(settings: &Settings, budget: Option<Duration>, folder: PathBuf) -> Result<Options> {
    let budget = checked_budget(settings, budget)?;
    let set = settings.set.as_deref().map(|name| match Set::find(name) {
        Some(set) => Ok(set),
        None => bail!("there is no set of the name that the run's file has"),
    });
    Ok(Options {
        effort: settings.effort,
        budget: Some(budget),
        precision: Some(settings.precision),
        cpu: Some(settings.home),
        trial: settings.trial_fixed.then(|| Duration::from_nanos(settings.trial_ns)),
        processes: settings.processes.clone(),
        sizes: settings.sizes.clone(),
        trials: settings.trials,
        set: set.transpose()?,
        ..Options::of(settings.selection.clone(), folder)
    })
}

/// Refuses a budget that is shorter than the observations alone of the trials with which any point is planned.
pub fn ensure_anything_fits(
    plan: &[PlannedPoint],
    budget: Duration,
    (trials, observe): (usize, Duration),
) -> Result<()> {
    let planned = plan.iter().filter(|planned| planned.skip.is_none());
    let Some(least) = planned.map(|planned| least(planned, observe) * trials as u32).min() else {
        return Ok(());
    };
    // With the starts of the processes, and what a pilot round needs besides.
    let enough = Duration::from_secs((least.as_secs_f64() * 1.5).ceil() as u64);
    ensure!(
        least <= budget,
        "nothing fits into a budget of {}: a point is planned with {trials} trials, which take {} at \
         least: `--budget {}` may be enough",
        humantime::format_duration(budget),
        humantime::format_duration(least),
        results::budget(enough)
    );
    Ok(())
}

/// The least time of one trial of a point.
fn least(planned: &PlannedPoint, observe: Duration) -> Duration {
    let own = registry::find(&planned.experiment).map(|experiment| experiment.least_time(&planned.point));
    own.unwrap_or_default().max(observe)
}
