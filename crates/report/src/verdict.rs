//! How far a run can be trusted: the verdict with its reason and its remedy.

use crate::precision::{Precision, USEFUL};
use crate::run;
use crate::width_causes::{self, CauseCount, WidthCause};
use crate::words::plural;
use fathom_core::experiment::Point;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_engine::record::{Trial, TrialOutcome};
use fathom_engine::results::{Outcome, PointResult, Results, other_work};
use std::collections::BTreeSet;

/// How far a run can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Few of its values are known well, or there are none.
    Low,
    Fair,
    High,
}

impl Trust {
    /// How far a run can be trusted, by its own widths, failures and checks.
    pub fn of(results: &Results) -> Self {
        Precision::of(results).share_useful().map_or(Trust::Low, |share| level(results, share))
    }

    pub fn name(self) -> &'static str {
        match self {
            Trust::Low => "low",
            Trust::Fair => "fair",
            Trust::High => "high",
        }
    }
}

/// The shares of values known to [`USEFUL`] from which trust is fair, and high.
const FAIRLY: f64 = 0.5;
const HIGHLY: f64 = 0.8;

/// The shares from which planned points without time, and trials stopped by a quota, are a reason, and from which the remedy of a cause
/// of wide intervals helps many of them.
const OFTEN: f64 = 0.1;

/// The verdict, its reason and its remedy, from the run's own widths, states of the core and warnings.
pub fn sentence(results: &Results) -> String {
    let precision = Precision::of(results);
    let Some(share) = precision.share_useful() else {
        return "Trust: none, because nothing was measured.".to_owned();
    };
    let known = format!(
        "Trust: {}. {} of {} known to {}",
        level(results, share).name(),
        quantities::percent(share),
        plural(precision.values, "value"),
        quantities::target(USEFUL)
    );
    let level = by_width(share);
    known + &reasons(results, level) + &wrong(results, level) + emulation(results)
}

/// What no width shows: the times of an emulated machine are of no machine.
fn emulation(results: &Results) -> &'static str {
    let warnings = results.run.header.machine.warnings();
    let is_emulated = warnings.iter().any(|warning| warning.id == "emulated");
    if is_emulated { " Its times are those of an emulator, not of a processor." } else { "" }
}

/// The level by the widths of the intervals alone.
fn by_width(share: f64) -> Trust {
    match share {
        share if share >= HIGHLY => Trust::High,
        share if share >= FAIRLY => Trust::Fair,
        _ => Trust::Low,
    }
}

fn level(results: &Results, share: f64) -> Trust {
    let is_doubtful =
        results.failures() > 0 || failing(results) > 0 || other_work::most_lost(&results.known()).is_some();
    if is_doubtful { by_width(share).min(Trust::Fair) } else { by_width(share) }
}

/// The values that fail a check.
fn failing(results: &Results) -> usize {
    results.points.iter().filter(|point| point.is_doubtful()).count()
}

/// A reason, and its remedy, where there is one.
type Reason = (String, Option<String>);

/// The most causes of wide intervals that are named: the others are those of few values.
const MOST_CAUSES: usize = 3;

/// What made intervals wide, and the remedies of the first two reasons: what concerns the run, then each cause with the number of its
/// values. Where most values are known well, only what came from outside is named.
fn reasons(results: &Results, level: Trust) -> String {
    let of_run: Vec<Reason> =
        [limited_by_quota(results), without_time(results)].into_iter().flatten().collect();
    let is_named = |count: &CauseCount| level != Trust::High || count.cause.is_disturbance();
    let counts: Vec<CauseCount> = width_causes::counts(results).into_iter().filter(is_named).collect();
    let wide: usize = counts.iter().map(|count| count.values).sum();
    let reason = |count: &CauseCount| {
        let is_of_many = count.values as f64 >= OFTEN * wide as f64;
        (count.cause.in_words(count.values, count.trials), remedy(results, count).filter(|_| is_of_many))
    };
    let of_values: Vec<Reason> = counts.iter().take(MOST_CAUSES).map(reason).collect();
    let others: usize = counts.iter().skip(MOST_CAUSES).map(|count| count.values).sum();
    let have = if others == 1 { "has" } else { "have" };
    let others = (others > 0).then(|| format!("{} {have} other reasons", quantities::count(others)));
    let mut remedies: Vec<String> =
        of_run.iter().chain(&of_values).filter_map(|(_, remedy)| remedy.clone()).collect();
    remedies.dedup();
    remedies.truncate(MOST_REMEDIES);
    let joined = |reasons: Vec<Reason>, others: Option<String>, between: &str| {
        let texts: Vec<String> = reasons.into_iter().map(|(text, _)| text).chain(others).collect();
        texts.join(between)
    };
    let parts = [joined(of_run, None, "; "), joined(of_values, others, ", ")];
    let [of_run, of_values] = parts.map(|part| Some(part).filter(|part| !part.is_empty()));
    let of_run = of_run.map(|text| format!("; {text}")).unwrap_or_default();
    let of_values = of_values.map(|text| format!(" Of the others {text}.")).unwrap_or_default();
    let remedies: String = remedies.iter().map(|remedy| format!(" {remedy}")).collect();
    format!("{of_run}.{of_values}{remedies}")
}

/// What helps against a cause, if anything does.
fn remedy(results: &Results, count: &CauseCount) -> Option<String> {
    let remedy = match count.cause {
        WidthCause::Scatter => return count.more_trials.map(more_trials),
        WidthCause::NoInterval => LONGER,
        WidthCause::OtherWork => QUIETER,
        WidthCause::Sharing => remedy_of_sharing(results),
        WidthCause::Drift => "Repeat it at another hour.",
        WidthCause::Levels | WidthCause::ClockStep | WidthCause::Zero => return None,
    };
    Some(remedy.to_owned())
}

/// A longer run measures more points, not each of them more often: what scatters needs trials.
fn more_trials(times: f64) -> String {
    format!(
        "For half of those that scatter {} times as many trials would do: run the experiments that matter, by name.",
        quantities::plain(times.ceil())
    )
}

const LONGER: &str = "Repeat it longer (--budget).";

const QUIETER: &str = "Stop other work here and repeat.";

/// Planned points that got no time, if they are many. Where other work took much of a CPU meanwhile its end is the remedy.
fn without_time(results: &Results) -> Option<Reason> {
    let planned = planned_points(results);
    let is_left_out = |point: &&&PointResult| matches!(point.outcome, Outcome::Skipped { .. });
    let left_out = planned.iter().filter(is_left_out).count();
    let counts =
        format!("{} of {} got no time", quantities::count(left_out), plural(planned.len(), "planned figure"));
    let is_often = left_out as f64 >= OFTEN * planned.len() as f64 && left_out > 0;
    is_often.then(|| {
        let is_busy = other_work::most_lost(&results.known()).is_some();
        (counts, Some(if is_busy { QUIETER } else { LONGER }.to_owned()))
    })
}

/// What failed, and what may be of another operation, where the widths alone would give a better verdict. Elsewhere the line on what was
/// measured has it.
fn wrong(results: &Results, by_width: Trust) -> String {
    let failed = match results.failures() {
        0 => None,
        failures => Some(format!("{} failed", plural(failures, "measurement"))),
    };
    let failing = match failing(results) {
        0 => None,
        failing => Some(format!("{} may be of another operation than named", plural(failing, "value"))),
    };
    if by_width != Trust::High {
        return String::new();
    }
    let all: Vec<String> = failed.into_iter().chain(failing).collect();
    match other_work::most_lost(&results.known()).filter(|_| all.is_empty()) {
        Some((cpu, lost)) => {
            let lost = quantities::percent(lost.value);
            format!(" But other work took {lost} of CPU {cpu}, so it is fair at most. {QUIETER}")
        }
        None if all.is_empty() => String::new(),
        None => format!(" But {}, so it is fair at most. {WRONG}", all.join(", and ")),
    }
}

/// A quota of processor time that stopped many trials, and the remedy: it comes first, because what it stops may fail for no other
/// reason.
fn limited_by_quota(results: &Results) -> Option<Reason> {
    let quota = results.run.header.machine.cpu_quota()?;
    let stopped = run::trials_with(results, |disturbance| disturbance.trials_throttled)?;
    let trials: usize = results.points.iter().map(|point| point.trials.0).sum();
    let cause = format!(
        "a quota of {} CPUs stopped {} of {}",
        quantities::number(quota),
        quantities::count(stopped),
        plural(trials, "trial")
    );
    (stopped as f64 >= OFTEN * trials as f64)
        .then_some((cause, Some("Raise the quota (`--cpus` of a container).".to_owned())))
}

/// The remedy of what failed, where nothing else makes the verdict worse.
const WRONG: &str = "What is marked ✗ says what is wrong.";

/// The most remedies named: those of the reasons that come first.
const MOST_REMEDIES: usize = 2;

/// What uses the other threads of a guest's core is not seen from inside, and cannot be stopped there.
fn remedy_of_sharing(results: &Results) -> &'static str {
    if results.run.header.machine.is_virtual() {
        "Another guest on the core cannot be stopped: repeat it at another hour, or longer (--budget)."
    } else {
        "Repeat it at another hour, or longer (--budget), so that more trials have the core alone."
    }
}

/// The scale of the verdict.
pub(crate) fn scale() -> String {
    format!(
        "Trust is high if at least {} of the values are known within {}, fair from {} of them on, else low; where a check fails, \
         a measurement failed or other work took much of a CPU, it is fair at most.",
        quantities::tick(Unit::PartsPerMillion, HIGHLY * 1e6),
        quantities::target(USEFUL),
        quantities::tick(Unit::PartsPerMillion, FAIRLY * 1e6)
    )
}

/// The points that this run meant to measure; the others are of a longer run, or need what is not here.
pub(crate) fn planned_points<'run>(results: &'run Results) -> Vec<&'run PointResult> {
    let plan = results.run.header.plan.iter().filter(|planned| planned.skip.is_none());
    let planned: BTreeSet<(&str, Point)> =
        plan.map(|planned| (planned.experiment.as_str(), results.shown(&planned.point))).collect();
    // Only its trial shows of some work that this machine cannot do it.
    let is_absent = |trial: &&Trial| matches!(trial.outcome, TrialOutcome::Skipped { .. });
    let absent: BTreeSet<(&str, Point)> = results
        .run
        .trials
        .iter()
        .filter(is_absent)
        .map(|trial| (trial.experiment.as_str(), results.shown(&trial.point)))
        .collect();
    let is_planned = |point: &&PointResult| {
        let own = (point.experiment.as_str(), point.point.clone());
        planned.contains(&own) && !absent.contains(&own)
    };
    results.points.iter().filter(is_planned).collect()
}
