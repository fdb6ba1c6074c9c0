//! How far a run can be trusted: the verdict with its reason and its remedy.

use crate::run::{self, Precision, USEFUL};
use crate::summary::is_in_table;
use crate::words::plural;
use fathom_core::experiment::{Check, Point};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::statistics;
use fathom_engine::results::{CoreShared, Outcome, PointResult, Results};
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

/// The share of the time from which a shared core is a reason for wide intervals, and that of trials stopped by a quota.
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
    let widths = widths(results, &precision, by_width(share));
    let wrong = wrong(results, by_width(share));
    known + &in_words(by_width(share), &widths) + &wrong + emulation(results)
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
    let is_doubtful = results.failures() > 0 || failing(results) > 0;
    if is_doubtful { by_width(share).min(Trust::Fair) } else { by_width(share) }
}

/// The values that fail a check.
fn failing(results: &Results) -> usize {
    let valued = results.points.iter().filter(|point| is_in_table(point));
    valued.filter(|point| point.evidence.checks().iter().any(Check::fails)).count()
}

/// A reason, and its remedy.
type WidthCause = (String, &'static str);

/// The reasons with the remedies of the first two. A run to be trusted needs no remedy, unless something is named that has one.
fn in_words(level: Trust, causes: &[WidthCause]) -> String {
    let reasons: Vec<&str> = causes.iter().map(|(cause, _)| cause.as_str()).collect();
    let mut remedies: Vec<&str> = causes.iter().map(|(_, remedy)| *remedy).collect();
    remedies.dedup();
    remedies.truncate(MOST_REMEDIES);
    let remedy = remedies.join(" ");
    match level {
        _ if causes.is_empty() => ".".to_owned(),
        Trust::High => format!(". Still, {}. {remedy}", reasons.join("; ")),
        Trust::Fair | Trust::Low => format!(": {}. {remedy}", reasons.join("; ")),
    }
}

/// What widened the intervals.
fn widths(results: &Results, precision: &Precision, level: Trust) -> Vec<WidthCause> {
    let few = (precision.without > 0).then(|| {
        let cause = format!("{} have too few trials for an interval", quantities::count(precision.without));
        (cause, LONGER)
    });
    let all = [limited_by_quota(results), busy(results), shared(results), without_time(results), few];
    let causes: Vec<WidthCause> = all.into_iter().flatten().collect();
    let is_short = causes.is_empty() && level != Trust::High;
    let short = usual_trials(results).filter(|_| is_short);
    let short = short.map(|trials| (format!("few trials ({})", quantities::plain(trials)), LONGER));
    causes.into_iter().chain(short).collect()
}

const LONGER: &str = "Repeat it longer (--budget).";

const QUIETER: &str = "Stop other work here and repeat.";

fn was_busy(results: &Results) -> bool {
    results.run.header.machine.warnings().iter().any(|warning| warning.id == "load")
}

fn busy(results: &Results) -> Option<WidthCause> {
    let is_busy = was_busy(results) && widens(results, |point| point.disturbance.lost_share);
    is_busy.then(|| ("other work took the CPU".to_owned(), QUIETER))
}

/// Planned points that got no time, if they are many. Beside other work everything takes longer, so its end is the remedy there.
fn without_time(results: &Results) -> Option<WidthCause> {
    let planned = planned_points(results);
    let is_left_out = |point: &&&PointResult| matches!(point.outcome, Outcome::Skipped { .. });
    let left_out = planned.iter().filter(is_left_out).count();
    let counts =
        format!("{} of {} got no time", quantities::count(left_out), plural(planned.len(), "planned figure"));
    let is_often = left_out as f64 >= OFTEN * planned.len() as f64 && left_out > 0;
    is_often.then(|| {
        if was_busy(results) {
            (format!("{counts} on a machine that was not idle"), QUIETER)
        } else {
            (counts, LONGER)
        }
    })
}

fn shared(results: &Results) -> Option<WidthCause> {
    let is_often = |core: &&CoreShared| core.share >= OFTEN && core.levels.shared.is_some();
    let core = results.core_shared.as_ref().filter(is_often)?;
    let cause = format!("the core was shared {} of the time", quantities::percent(core.share));
    widens(results, |point| point.core.as_ref()?.shared_share).then(|| (cause, remedy_of_sharing(results)))
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
    let all: Vec<String> = failed.into_iter().chain(failing).collect();
    if by_width != Trust::High || all.is_empty() {
        return String::new();
    }
    format!(" But {}, so it is fair at most. {WRONG}", all.join(", and "))
}

/// A quota of processor time that stopped many trials, and the remedy: it comes first, because what it stops may fail for no other
/// reason.
fn limited_by_quota(results: &Results) -> Option<WidthCause> {
    let quota = results.run.header.machine.cpu_quota()?;
    let stopped = run::trials_with(results, |disturbance| disturbance.trials_throttled)?;
    let trials: usize = results.points.iter().map(|point| point.trials.0).sum();
    let cause = format!(
        "a quota of {} CPUs stopped {} of {}",
        quantities::number(quota),
        quantities::count(stopped),
        plural(trials, "trial")
    );
    (stopped as f64 >= OFTEN * trials as f64).then_some((cause, "Raise the quota (`--cpus` of a container)."))
}

/// Whether values that are not known within [`USEFUL`] had more of a disturbance, a share of their time, than the others: the means
/// differ by more than their 95 % intervals. What is alike in both is no cause of widths.
fn widens(results: &Results, disturbance: impl Fn(&PointResult) -> Option<f64>) -> bool {
    let known = results.points.iter().filter_map(|point| Some((run::reach(point)?, disturbance(point)?)));
    let (wide, narrow): (Vec<_>, Vec<_>) = known.partition(|(reach, _)| *reach > USEFUL);
    let mean = |group: &[(f64, f64)]| {
        let shares: Vec<f64> = group.iter().map(|(_, share)| *share).collect();
        let mean = statistics::mean(&shares)?;
        Some((mean.value, mean.interval?.high - mean.value))
    };
    let (Some((more, error)), Some((less, other))) = (mean(&wide), mean(&narrow)) else { return false };
    more - less > error.hypot(other)
}

/// The remedy of what failed, where nothing else makes the verdict worse.
const WRONG: &str = "What is marked ✗ says what is wrong.";

/// The most remedies named: those of the reasons that come first.
const MOST_REMEDIES: usize = 2;

/// What uses the other threads of a guest's core is not seen from inside, and cannot be stopped there.
fn remedy_of_sharing(results: &Results) -> &'static str {
    if results.run.header.machine.is_virtual() {
        "Another guest on the core cannot be stopped from here: repeat it at another hour, or longer (--budget)."
    } else {
        "Repeat it at another hour, or longer (--budget), so that more trials have the core alone."
    }
}

/// The scale of the verdict.
pub(crate) fn scale() -> String {
    format!(
        "Trust is high if at least {} of the values are known within {}, fair from {} of them on, else low; where a check fails or \
         a measurement failed, it is fair at most.",
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
    let is_planned =
        |point: &&PointResult| planned.contains(&(point.experiment.as_str(), point.point.clone()));
    results.points.iter().filter(is_planned).collect()
}

/// The trials of the median value; `None` if nothing was measured.
pub(crate) fn usual_trials(results: &Results) -> Option<f64> {
    statistics::median(&trials_of_values(results).map(|trials| trials as f64).collect::<Vec<_>>())
}

/// The trials of each value. A point that was left out for want of time had one, and has none.
pub(crate) fn trials_of_values(results: &Results) -> impl Iterator<Item = usize> {
    let valued = results.points.iter().filter(|point| point.estimate().is_some());
    valued.map(|point| point.trials.0).filter(|trials| *trials > 0)
}
