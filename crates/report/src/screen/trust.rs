//! How far to trust a run: a line for each reason.

use crate::occupancy;
use crate::run::{self, Precision};
use crate::text::Style;
use crate::text::clipped;
use crate::verification;
use crate::words::plural;
use fathom_core::quantities;
use fathom_core::statistics;
use fathom_engine::results::{FAIR, Outcome, Results};

pub(crate) fn lines(results: &Results) -> Vec<(&'static str, String)> {
    let lines = [
        ("values", Some(values(results))),
        ("intervals", Some(Precision::of(results).sentence())),
        ("trials", trials(results)),
        ("evidence", evidence(results)),
        ("prediction", predictions(results)),
        ("disturbed", Some(disturbed(results))),
        ("core", core(results)),
        ("warnings", warnings(results)),
        ("verified", Some(verification::told(&results.run.header))),
    ];
    lines.into_iter().filter_map(|(name, said)| Some((name, said?))).collect()
}

pub(super) fn text(results: &Results, style: Style) -> String {
    let lines = lines(results);
    let room = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, said): &(&str, String)| clipped(&format!("  {name:room$}  "), said, style);
    style.title(TITLE) + "\n" + &lines.iter().map(line).collect::<String>()
}

pub(crate) const TITLE: &str = "How far to trust it";

fn values(results: &Results) -> String {
    let count =
        |of: &dyn Fn(&Outcome) -> bool| results.points.iter().filter(|point| of(&point.outcome)).count();
    format!(
        "{} of {}; {} below resolution, {} skipped, {} failed.",
        quantities::count(count(&|outcome| matches!(outcome, Outcome::Value(_)))),
        plural(results.points.len(), "point"),
        count(&|outcome| matches!(outcome, Outcome::BelowResolution { .. })),
        count(&|outcome| matches!(outcome, Outcome::Skipped { .. })),
        results.failures()
    )
}

/// The number of trials, in total and per point; `None` if nothing was measured.
fn trials(results: &Results) -> Option<String> {
    let each: Vec<usize> =
        results.points.iter().map(|point| point.trials.0).filter(|trials| *trials > 0).collect();
    let (least, most) = (each.iter().min()?, each.iter().max()?);
    let median = statistics::median(&each.iter().map(|trials| *trials as f64).collect::<Vec<_>>())?;
    let left_out: usize = results.points.iter().map(|point| point.left_out).sum();
    let mut said = format!(
        "{} in fresh processes, a median of {} per point ({least} to {most})",
        quantities::count(each.iter().sum()),
        quantities::plain(median)
    );
    if left_out > 0 {
        said += &format!("; {left_out} left out because their own evidence failed");
    }
    Some(said + ".")
}

fn evidence(results: &Results) -> Option<String> {
    let judged = || results.points.iter().filter(|point| !point.evidence.checks().is_empty());
    let holding = judged().filter(|point| point.evidence_holds()).count();
    let not_judged = results.points.iter().filter(|point| point.evidence.not_judged().is_some()).count();
    let other = (not_judged > 0).then(|| {
        format!(
            "{} not judged, because this program does not have the method that measured them.",
            quantities::count(not_judged)
        )
    });
    let holds = (judged().count() > 0).then(|| {
        format!(
            "holds for {holding} of {}{}",
            plural(judged().count(), "point"),
            if other.is_some() { "," } else { ": the operation measured was the one named." }
        )
    });
    let unasked = || results.points.iter().flat_map(|point| point.evidence.unasked());
    let unasked = unasked()
        .next()
        .map(|first| format!("Not available for {}: {}.", plural(unasked().count(), "claim"), first.seen));
    let said: Vec<String> = holds.into_iter().chain(other).chain(unasked).collect();
    (!said.is_empty()).then(|| said.join(" "))
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
    let moved = results.points.iter().map(|point| point.disturbance.migrations);
    let moved = usize::try_from(moved.fold(0, u64::saturating_add)).unwrap_or(usize::MAX);
    let all = [
        (run::trials_with(results, |seen| seen.trials_with_steal), "steal", "steal in", "trial"),
        (
            run::trials_with(results, |seen| seen.trials_throttled),
            "throttling",
            "throttled by a quota in",
            "trial",
        ),
        (Some(moved), "migration", "migrated to another CPU in", "observation"),
    ];
    let (mut seen, mut none, mut unread) = (vec![], vec![], vec![]);
    for (count, name, said, of) in all {
        match count {
            Some(0) => none.push(format!("no {name}")),
            Some(count) => seen.push(format!("{said} {}", plural(count, of))),
            None => unread.push(name),
        }
    }
    let unread = if unread.is_empty() { String::new() } else { format!(" Not read: {}.", unread.join(", ")) };
    if seen.is_empty() {
        return format!("nothing seen: {}.{unread}", none.join(", "));
    }
    let trials: usize = results.points.iter().map(|point| point.trials.0).sum();
    format!("{}; {} in all.{unread}", seen.join(", "), plural(trials, "trial"))
}

/// The core that the work ran on: whether another hardware thread used it, and at which frequency it ran.
fn core(results: &Results) -> Option<String> {
    let said: Vec<String> =
        occupancy::sentences(results).into_iter().chain(run::frequencies(results)).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// The conditions known beforehand to disturb a run, by name.
fn warnings(results: &Results) -> Option<String> {
    let warnings = results.run.header.machine.warnings();
    let names: Vec<&str> = warnings.iter().map(|warning| warning.id.as_str()).collect();
    (!names.is_empty()).then(|| format!("{} (`fathom machine` says what to do).", names.join(", ")))
}
