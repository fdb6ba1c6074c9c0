//! Values that a run lost: their points were tried and have none, because something disturbed their trials.

use super::words::{self, plural};
use fathom_engine::results::{Outcome, PointResult, Results};

/// Points whose values were lost to one cause.
pub(super) struct Loss<'run> {
    /// The cause: the reason of the points as far as they have it in common.
    pub cause: String,
    /// Those points, in the order of the plan.
    pub points: Vec<&'run PointResult>,
}

/// The lost values among these points, by their cause.
pub(super) fn by_cause<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> Vec<Loss<'run>> {
    let mut all: Vec<Loss> = vec![];
    for point in points {
        let Outcome::Disturbed { by, .. } = &point.outcome else { continue };
        // Behind the colon are the numbers of each point.
        let cause = by.split(": ").next().unwrap_or_default();
        match all.iter_mut().find(|loss| loss.cause == cause) {
            Some(loss) => loss.points.push(point),
            None => all.push(Loss { cause: cause.to_owned(), points: vec![point] }),
        }
    }
    all
}

/// How many values were lost, and to what, in a clause; `None` if none were.
pub(super) fn counted(results: &Results) -> Option<String> {
    let each: Vec<String> = by_cause(&results.points)
        .iter()
        .map(|loss| format!("{} lost ({})", plural(loss.points.len(), "value"), loss.cause))
        .collect();
    (!each.is_empty()).then(|| each.join(", "))
}

/// The most points named; the appendix has all.
const MOST: usize = 3;

/// Which values of an experiment were lost, in a sentence; `None` if none were.
pub(super) fn of_experiment(points: &[&PointResult]) -> Option<String> {
    let is_attempted = |point: &&&PointResult| !matches!(point.outcome, Outcome::Skipped { .. });
    let attempts = points.iter().filter(is_attempted).count();
    let shared = words::shared_parameters(points);
    let sentence = |loss: &Loss| {
        format!(
            "{} of {} lost ({}): {}.",
            loss.points.len(),
            plural(attempts, "value"),
            loss.cause,
            named(&loss.points, &shared)
        )
    };
    let all: Vec<String> = by_cause(points.iter().copied()).iter().map(sentence).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// Which of an experiment's planned values got too little time, in a sentence; `None` if none did.
pub(super) fn without_time(planned: &[&PointResult]) -> Option<String> {
    let is_left_out = |point: &&PointResult| matches!(point.outcome, Outcome::Skipped { .. });
    let left_out: Vec<&PointResult> = planned.iter().copied().filter(is_left_out).collect();
    (!left_out.is_empty()).then(|| {
        format!(
            "{} of {} got too little time for a value: {}.",
            left_out.len(),
            plural(planned.len(), "planned figure"),
            named(&left_out, &words::shared_parameters(planned))
        )
    })
}

/// The first of some points, by what they differ in from others.
fn named(points: &[&PointResult], shared: &[String]) -> String {
    let names = points.iter().take(MOST).map(|point| words::differing_label(point, shared));
    let more = points.len().saturating_sub(MOST);
    let more = (more > 0).then(|| format!("the appendix has {more} more"));
    names.chain(more).collect::<Vec<_>>().join("; ")
}

/// The experiments of which nothing is left, each with the cause: something was lost, and no point has a value.
pub(super) fn whole_experiments<'a>(results: &'a Results) -> Vec<(&'a str, String)> {
    let of = |name: &'a str| {
        let is_left = results.of_experiment(name).any(super::summary::is_in_table);
        let loss = by_cause(results.of_experiment(name)).into_iter().next().filter(|_| !is_left)?;
        Some((name, loss.cause))
    };
    results.experiments().into_iter().filter_map(of).collect()
}
