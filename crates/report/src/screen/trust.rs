//! How far to trust a run: a line for each reason.

use crate::occupancy;
use crate::paper::Sign;
use crate::run::{self, Precision, USEFUL};
use crate::text::Style;
use crate::text::clipped;
use crate::verification;
use crate::words::plural;
use fathom_core::experiment::{Check, Point};
use fathom_core::quantities;
use fathom_core::statistics;
use fathom_engine::results::{Disturbance, FAIR, Outcome, PointResult, Results};
use std::collections::BTreeSet;

pub(crate) fn lines(results: &Results) -> Vec<(&'static str, String)> {
    let lines = [
        (VALUES, Some(values(results))),
        ("intervals", Some(Precision::of(results).sentence())),
        ("trials", trials(results)),
        (CHECKS, evidence(results)),
        ("prediction", predictions(results)),
        ("disturbed", Some(disturbed(results))),
        (CORE, core(results)),
        (CPUS, unlike_cpus(results)),
        ("warnings", warnings(results)),
        ("self-test", Some(verification::of_build(&results.run.header))),
    ];
    lines.into_iter().filter_map(|(name, sentence)| Some((name, sentence?))).collect()
}

/// Which of the lines are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustLines {
    /// All of them, each to its end.
    Whole,
    /// All of them, each in two lines at most.
    All,
    /// Those of a usual screen.
    Screen,
    /// Those of a screen that has no room for more.
    Few,
}

impl TrustLines {
    fn has(self, name: &str) -> bool {
        match self {
            TrustLines::Whole | TrustLines::All => true,
            TrustLines::Screen => [VALUES, CHECKS, CORE, CPUS].contains(&name),
            TrustLines::Few => [VALUES, CHECKS].contains(&name),
        }
    }
}

const VALUES: &str = "values";
const CHECKS: &str = "checks";
const CORE: &str = "core";
const CPUS: &str = "CPUs";

/// The lines under their title.
pub(crate) fn text(results: &Results, shown: TrustLines, style: Style) -> String {
    let mut lines = lines(results);
    lines.retain(|(name, _)| shown.has(name));
    if !matches!(shown, TrustLines::Whole | TrustLines::All) {
        // What was seen of the core; how many figures that concerns and its frequency are with the other lines.
        for (name, sentence) in &mut lines {
            if let Some(time) = occupancy::brief(results).filter(|_| *name == CORE) {
                *sentence = time;
            }
        }
    }
    let room = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, sentence): &(&str, String)| {
        let lead = format!("  {name:room$}  ");
        if shown == TrustLines::Whole {
            style.wrapped(&lead, sentence)
        } else {
            clipped(&lead, sentence, style)
        }
    };
    style.title(TITLE) + "\n" + &lines.iter().map(line).collect::<String>()
}

pub(crate) const TITLE: &str = "Can you trust this run?";

/// How far a run can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Trust {
    Low,
    Fair,
    High,
}

/// The shares of values known to [`USEFUL`] from which trust is fair, and high.
const FAIRLY: f64 = 0.5;
const HIGHLY: f64 = 0.8;

/// The share of the time from which a shared core is a reason for wide intervals, and that of trials stopped by a quota.
const OFTEN: f64 = 0.1;

/// The verdict, its reason and its remedy, from the run's own widths, states of the core and warnings.
pub(crate) fn sentence(results: &Results) -> String {
    let precision = Precision::of(results);
    let Some(share) = precision.share_useful() else {
        return "Trust: none, because nothing was measured.".to_owned();
    };
    let (level, word) = match level(results, share) {
        Trust::High => (Trust::High, "high"),
        Trust::Fair => (Trust::Fair, "fair"),
        Trust::Low => (Trust::Low, "low"),
    };
    let known = format!(
        "{} of {} are known within {}",
        quantities::percent(share),
        plural(precision.values, "value"),
        quantities::target(USEFUL)
    );
    let (reasons, remedy) = causes(results, &precision);
    let because = match level {
        _ if reasons.is_empty() => String::new(),
        Trust::High => format!(" Still, {}.", reasons.join("; ")),
        Trust::Fair | Trust::Low => format!(" Why: {}.", reasons.join("; ")),
    };
    // A run to be trusted needs no remedy, unless something is named that has one.
    let is_needed = level != Trust::High || !reasons.is_empty();
    let remedy = if is_needed { format!(" {remedy}") } else { String::new() };
    format!("Trust: {word}. {known}.{because}{remedy}")
}

fn level(results: &Results, share: f64) -> Trust {
    let doubtful = results.failures() > 0
        || results.points.iter().any(|point| point.evidence.checks().iter().any(Check::fails));
    let by_width = match share {
        share if share >= HIGHLY => Trust::High,
        share if share >= FAIRLY => Trust::Fair,
        _ => Trust::Low,
    };
    if doubtful { by_width.min(Trust::Fair) } else { by_width }
}

/// What widened the intervals, and what to do about the first two of it.
fn causes(results: &Results, precision: &Precision) -> (Vec<String>, String) {
    let shared =
        results.core_shared.as_ref().filter(|core| core.share >= OFTEN && core.levels.shared.is_some());
    let shared = shared.filter(|_| widens(results, |point| point.core.as_ref()?.shared_share));
    let shared = shared.map(|core| {
        let cause = format!("the core was shared {} of the time", quantities::percent(core.share));
        (cause, remedy_of_sharing(results))
    });
    let warned = results.run.header.machine.warnings();
    let busy = warned.iter().any(|warning| warning.id == "load")
        && widens(results, |point| point.disturbance.lost_share);
    let busy = busy
        .then(|| ("other work took the CPU".to_owned(), "Stop other work on this machine and repeat it."));
    let limited = limited_by_quota(results);
    let few = (precision.without > 0).then(|| {
        let cause = format!("{} have too few trials for an interval", quantities::count(precision.without));
        (cause, "Repeat it longer (--budget).")
    });
    let failed =
        (results.failures() > 0).then(|| (format!("{} failed", plural(results.failures(), "point")), WRONG));
    let doubtful =
        results.points.iter().filter(|point| point.evidence.checks().iter().any(Check::fails)).count();
    let doubtful = (doubtful > 0).then(|| {
        let cause =
            format!("by its checks, {} may be of another operation than named", plural(doubtful, "value"));
        (cause, WRONG)
    });
    let all: Vec<(String, &'static str)> =
        limited.into_iter().chain(failed).chain(doubtful).chain(busy).chain(shared).chain(few).collect();
    let mut remedies: Vec<&str> = all.iter().map(|(_, remedy)| *remedy).collect();
    remedies.dedup();
    remedies.truncate(MOST_REMEDIES);
    let remedy = if all.is_empty() { "Repeat it longer (--budget).".to_owned() } else { remedies.join(" ") };
    (all.into_iter().map(|(cause, _)| cause).collect(), remedy)
}

/// A quota of processor time that stopped many trials, and the remedy: it comes first, because what it stops may fail for no other
/// reason.
fn limited_by_quota(results: &Results) -> Option<(String, &'static str)> {
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

/// The remedy of what failed.
const WRONG: &str = "What stands out says what is wrong.";

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

/// The planned points are those that this run meant to measure; the others are of another tier, or need what is not here.
fn values(results: &Results) -> String {
    let plan = results.run.header.plan.iter().filter(|planned| planned.skip.is_none());
    let planned: BTreeSet<(&str, Point)> =
        plan.map(|planned| (planned.experiment.as_str(), results.shown(&planned.point))).collect();
    let is_planned =
        |point: &&PointResult| planned.contains(&(point.experiment.as_str(), point.point.clone()));
    let count = |of: &dyn Fn(&Outcome) -> bool| {
        results.points.iter().filter(is_planned).filter(|point| of(&point.outcome)).count()
    };
    let measured = |outcome: &Outcome| matches!(outcome, Outcome::Value(_) | Outcome::BelowResolution { .. });
    let all = count(&|_| true);
    let mut counts =
        vec![format!("{} of {} planned", quantities::count(count(&measured)), quantities::count(all))];
    for (number, what) in [
        (count(&|outcome| matches!(outcome, Outcome::BelowResolution { .. })), "below resolution"),
        (count(&|outcome| matches!(outcome, Outcome::Skipped { .. })), "without time"),
        (results.failures(), "failed"),
        (
            count(&|outcome| {
                !measured(outcome) && !matches!(outcome, Outcome::Skipped { .. }) && !outcome.is_failure()
            }),
            "disturbed",
        ),
    ] {
        counts.extend((number > 0).then(|| format!("{} {what}", quantities::count(number))));
    }
    let others = results.points.len() - all;
    let others =
        (others > 0).then(|| format!("; {} more are of other tiers or machines", quantities::count(others)));
    format!("{}{}.", counts.join(", "), others.unwrap_or_default())
}

/// The number of trials, in total and per point; `None` if nothing was measured.
fn trials(results: &Results) -> Option<String> {
    let each: Vec<usize> =
        results.points.iter().map(|point| point.trials.0).filter(|trials| *trials > 0).collect();
    let (least, most) = (each.iter().min()?, each.iter().max()?);
    let median = statistics::median(&each.iter().map(|trials| *trials as f64).collect::<Vec<_>>())?;
    let left_out: usize = results.points.iter().map(|point| point.left_out).sum();
    let mut text = format!(
        "{} behind the values, a median of {} per point ({least} to {most}); one that gives several figures counts for each",
        quantities::count(each.iter().sum()),
        quantities::plain(median)
    );
    if left_out > 0 {
        text += &format!("; {} more discarded by their own checks", quantities::count(left_out));
    }
    Some(text + ".")
}

fn evidence(results: &Results) -> Option<String> {
    let judged = || results.points.iter().filter(|point| !point.evidence.checks().is_empty());
    let holding = judged().filter(|point| point.evidence_holds()).count();
    let other = not_judged(results);
    let holds = (judged().count() > 0).then(|| {
        let (all, rest) = (judged().count(), if other.is_some() { "," } else { "." });
        match all - holding {
            0 => format!(
                "{} operation checked for {}: it was the one named{rest}",
                Sign::Holds.mark(),
                plural(all, "point")
            ),
            failing => format!(
                "{} {} of {} may be of another operation{rest}",
                Sign::Fails.mark(),
                quantities::count(failing),
                plural(all, "checked point")
            ),
        }
    });
    let unasked = || results.points.iter().flat_map(|point| point.evidence.unasked());
    let unasked = unasked()
        .next()
        .map(|first| format!("Not available for {}: {}.", plural(unasked().count(), "claim"), first.seen));
    let sentences: Vec<String> = holds.into_iter().chain(other).chain(unasked).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The number of points whose evidence is not judged, and why, in a clause; the versions are with the evidence.
fn not_judged(results: &Results) -> Option<String> {
    let others = || results.points.iter().filter_map(|point| point.evidence.not_judged());
    let reason = match others().count() {
        0 => return None,
        _ if others().all(|other| other.here.is_none()) => "this program does not have their experiments",
        _ => "measured by other versions of the method (repeat the run)",
    };
    Some(format!("{} not judged: {reason}.", quantities::count(others().count())))
}

fn predictions(results: &Results) -> Option<String> {
    let total = results.accuracy.total.as_ref()?;
    Some(format!(
        "{} of {} are within a factor of {FAIR} of the prediction made before measuring.",
        quantities::percent(total.fair.share),
        plural(total.judged, "value")
    ))
}

/// The time taken by the hypervisor or a quota. Time taken by the scheduler is often part of the operation itself.
fn disturbed(results: &Results) -> String {
    let sum = |of: fn(&Disturbance) -> u64| {
        let all = results.points.iter().map(|point| of(&point.disturbance)).fold(0, u64::saturating_add);
        Some(usize::try_from(all).unwrap_or(usize::MAX))
    };
    let all = [
        (
            run::trials_with(results, |disturbance| disturbance.trials_with_steal),
            "steal",
            "the hypervisor took CPU time (steal) in",
            "trial",
        ),
        (
            run::trials_with(results, |disturbance| disturbance.trials_throttled),
            "throttling",
            "throttled by a quota in",
            "trial",
        ),
        (sum(|of| of.migrations), "migration", "migrated to another CPU in", "observation"),
        (sum(|of| of.preemptions), "preemption", "the scheduler preempted the measured work", "time"),
    ];
    let trials: usize = results.points.iter().map(|point| point.trials.0).sum();
    let (mut present, mut none, mut unread) = (vec![], vec![], vec![]);
    for (count, name, verb, of) in all {
        match count {
            Some(0) => none.push(format!("no {name}")),
            Some(count) if of == "trial" => {
                present.push(format!("{verb} {} of {}", quantities::count(count), plural(trials, of)));
            }
            Some(count) => present.push(format!("{verb} {}", plural(count, of))),
            None => unread.push(name),
        }
    }
    let unread = if unread.is_empty() { String::new() } else { format!(" Not read: {}.", unread.join(", ")) };
    if present.is_empty() {
        return format!("nothing seen: {}.{unread}", none.join(", "));
    }
    format!("{}.{unread}", present.join("; "))
}

/// The core that the work ran on: whether another hardware thread used it, and at which frequency it ran.
fn core(results: &Results) -> Option<String> {
    let sentences: Vec<String> =
        occupancy::sentences(results).into_iter().chain(run::frequencies(results)).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The CPUs of the run's kind that are unlike its own; `None` if all are alike, or were not needed.
fn unlike_cpus(results: &Results) -> Option<String> {
    let sentences = occupancy::unlike_cpus(results);
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The conditions known beforehand to disturb a run, by name.
fn warnings(results: &Results) -> Option<String> {
    let warnings = results.run.header.machine.warnings();
    let names: Vec<&str> = warnings.iter().map(|warning| warning.id.as_str()).collect();
    (!names.is_empty()).then(|| format!("{} (`fathom machine` says what to do).", names.join(", ")))
}
