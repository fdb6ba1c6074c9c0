//! Whether a run can be trusted: a line for each thing to know about it.

use crate::paper::Sign;
use crate::precision::{Precision, trials_of_values, usual_trials};
use crate::run;
use crate::summary::is_in_table;
use crate::text::Style;
use crate::verdict::{planned_points, scale};
use crate::verification;
use crate::words::plural;
use crate::{cpu_distance, lost, occupancy, warned};
use fathom_core::experiment::Ground;
use fathom_core::quantities;
use fathom_engine::results::{Disturbance, FAIR, Outcome, PointResult, Results};

pub(crate) fn lines(results: &Results) -> Vec<(&'static str, String)> {
    let lines = [
        ("values", Some(values(results))),
        ("intervals", Some(Precision::of(results).sentence())),
        ("trials", trials(results)),
        ("checks", evidence(results)),
        ("prediction", predictions(results)),
        ("disturbed", Some(disturbed(results))),
        ("core", core(results)),
        ("CPUs", unlike_cpus(results)),
        ("warnings", warnings(results)),
        ("self-test", Some(verification::of_build(&results.run.header))),
    ];
    lines.into_iter().filter_map(|(name, sentence)| Some((name, sentence?))).collect()
}

/// The lines under their title, and the scale of the verdict.
pub(crate) fn text(results: &Results, style: Style) -> String {
    let lines = lines(results);
    let room = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, sentence): &(&str, String)| style.wrapped(&format!("  {name:room$}  "), sentence);
    style.title(TITLE) + "\n" + &lines.iter().map(line).collect::<String>() + &style.wrapped("  ", &scale())
}

/// What was measured of what the run meant to measure, and whether it was what it is called.
pub(super) fn complete(results: &Results) -> String {
    let planned = planned(results);
    let checks = evidence(results).map(|sentence| format!(" {sentence}")).unwrap_or_default();
    format!("Measured: {planned}.{checks}{}", not_idle(results))
}

/// That other work ran when the run began, whether or not its values show it.
fn not_idle(results: &Results) -> String {
    let machine = &results.run.header.machine;
    let is_busy = machine.warnings().iter().any(|warning| warning.id == "load");
    match machine.conditions.load_average.value().filter(|_| is_busy) {
        Some([load, ..]) => format!(
            " Not idle: load {} on {} when it began.",
            quantities::number(*load),
            plural(machine.allowed_cpus().len(), "CPU")
        ),
        None => String::new(),
    }
}

pub(crate) const TITLE: &str = "Can you trust this run?";

/// The planned points with those that this run did not mean to measure.
fn values(results: &Results) -> String {
    let others = results.points.len() - planned_points(results).len();
    let others = (others > 0).then(|| {
        format!("; {} more need a longer run, another machine or a second host", quantities::count(others))
    });
    format!("{}{}.", planned(results), others.unwrap_or_default())
}

/// How many of the planned points were measured, and what became of the others.
fn planned(results: &Results) -> String {
    let points = planned_points(results);
    let count = |of: &dyn Fn(&Outcome) -> bool| points.iter().filter(|point| of(&point.outcome)).count();
    let is_measured =
        |outcome: &Outcome| matches!(outcome, Outcome::Value(_) | Outcome::BelowResolution { .. });
    let is_skipped = |outcome: &Outcome| matches!(outcome, Outcome::Skipped { .. });
    let is_below = |outcome: &Outcome| matches!(outcome, Outcome::BelowResolution { .. });
    let is_disturbed =
        |outcome: &Outcome| !is_measured(outcome) && !is_skipped(outcome) && !outcome.is_failure();
    let below = count(&is_below);
    let below = (below > 0).then(|| format!(" ({} of them below resolution)", quantities::count(below)));
    let mut counts = vec![format!(
        "{} of {} planned{}",
        quantities::count(count(&is_measured)),
        quantities::count(points.len()),
        below.unwrap_or_default()
    )];
    for (number, what) in [
        (count(&is_skipped), "without time"),
        (results.failures(), "failed"),
        (count(&is_disturbed), "disturbed"),
    ] {
        counts.extend((number > 0).then(|| format!("{} {what}", quantities::count(number))));
    }
    counts.join(", ")
}

/// The number of trials, in total and per point; `None` if nothing was measured.
fn trials(results: &Results) -> Option<String> {
    let each: Vec<usize> = trials_of_values(results).collect();
    let (least, most) = (each.iter().min()?, each.iter().max()?);
    let median = usual_trials(results)?;
    let left_out: usize = results.points.iter().map(|point| point.left_out).sum();
    let mut text = format!(
        "{} behind the values, a median of {} per point ({least} to {most}); one that gives several figures counts for each",
        quantities::count(each.iter().sum()),
        quantities::plain(median)
    );
    // The lines on disturbances count all of them.
    let all: usize = results.points.iter().map(|point| point.trials.0).sum();
    let others = all.saturating_sub(each.iter().sum());
    if others > 0 {
        text += &format!("; {} more of points without a value", quantities::count(others));
    }
    if left_out > 0 {
        text += &format!("; {} more discarded by their own checks", quantities::count(left_out));
    }
    Some(text + ".")
}

fn evidence(results: &Results) -> Option<String> {
    // What was left out for want of time has no figure that could be of another operation.
    let is_judged = |point: &&PointResult| is_in_table(point) && !point.evidence.checks().is_empty();
    let judged = || results.points.iter().filter(is_judged);
    let failing = judged().filter(|point| point.is_doubtful()).count();
    let other = not_judged(results);
    let holds = (judged().count() > 0).then(|| {
        let (all, rest) = (judged().count(), if other.is_some() { "," } else { "." });
        match failing {
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
    let of_this_run = match results.accuracy.on(Ground::ThisRun) {
        Some(tally) => format!(
            "; {} of the predictions use other measurements of this run",
            quantities::count(tally.judged)
        ),
        None => String::new(),
    };
    let in_one_state = match total.fair_in_one_state {
        0 => String::new(),
        number => format!(" ({number} more in one state of the machine only)"),
    };
    Some(format!(
        "{} of {} are within a factor of {FAIR} of the prediction written before their first trial{in_one_state}{of_this_run}.",
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
    let mut present: Vec<String> = lost::counted(results).into_iter().collect();
    let (mut none, mut unread) = (vec![], vec![]);
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
    let sentences: Vec<String> = occupancy::sentences(results)
        .into_iter()
        .chain(cpu_distance::sentence(results))
        .chain(run::frequencies(results))
        .collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The CPUs of the run's kind that are unlike its own; `None` if all are alike, or were not needed.
fn unlike_cpus(results: &Results) -> Option<String> {
    let sentences = occupancy::unlike_cpus(results);
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The conditions known beforehand to disturb a run, by name.
fn warnings(results: &Results) -> Option<String> {
    let warnings = warned::of(results);
    let (neighbour, of_machine): (Vec<_>, Vec<_>) =
        warnings.iter().map(|warning| warning.id.as_str()).partition(|id| *id == warned::NEIGHBOUR);
    let of_machine = (!of_machine.is_empty())
        .then(|| format!("{} (`fathom machine` says what to do)", of_machine.join(", ")));
    let all: Vec<String> = neighbour.into_iter().map(str::to_owned).chain(of_machine).collect();
    (!all.is_empty()).then(|| all.join(", ") + ".")
}
