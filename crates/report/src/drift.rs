//! Sentences on values that changed while the run went on.

use super::precision::USEFUL;
use super::words::{self, plural};
use fathom_core::quantities;
use fathom_engine::results::{Drift, ExperimentDrift, FEWEST_FOR_DRIFT, PointResult, Results};

/// How many points changed in the whole run, and in which experiments that is more than chance explains; `None` if no point has enough trials.
pub(super) fn sentence(results: &Results) -> Option<String> {
    let drift = Drift::of(&results.points)?;
    let named = |of: &ExperimentDrift| {
        format!(
            "{} ({} of {}; the most at {}, {} times as much in the later half)",
            of.experiment,
            quantities::count(of.changed),
            quantities::count(of.points),
            most(&results.points, of),
            quantities::number(of.factor)
        )
    };
    let named: Vec<String> = drift.experiments.iter().map(named).collect();
    let more = match named.as_slice() {
        [] => "more than chance explains in no experiment".to_owned(),
        named => format!("more than chance explains in {}", named.join(", ")),
    };
    Some(format!(
        "The earlier half of the trials differs from the later one in {} of {} with {FEWEST_FOR_DRIFT} trials or more (by rank sums, Mann and \
         Whitney 1947), where {} would by chance: {more}.",
        quantities::count(drift.changed),
        plural(drift.points, "point"),
        quantities::count(drift.by_chance.round() as usize)
    ))
}

/// That values of an experiment changed during the run; `None` if no more did than chance explains, or none by more than a value should be
/// known to.
pub(super) fn of_experiment(points: &[&PointResult]) -> Option<String> {
    let drift = Drift::of(points.iter().copied())?;
    let of = drift.experiments.first().filter(|of| of.factor.ln().abs() > USEFUL.ln_1p())?;
    Some(format!(
        "Changed during the run: in {} of {} with {FEWEST_FOR_DRIFT} trials or more the earlier half of the trials differs from the later one, \
         the most in {}, whose later half is {} times the earlier one. A value over both is that of neither time.",
        quantities::count(of.changed),
        plural(of.points, "point"),
        most(points.iter().copied(), of),
        quantities::number(of.factor)
    ))
}

/// The name of the point that changed the most.
fn most<'run>(points: impl IntoIterator<Item = &'run PointResult>, of: &ExperimentDrift) -> String {
    let is_it = |point: &&PointResult| point.experiment == of.experiment && point.point == of.most;
    let label = |point: &PointResult| words::short_label(point, &point.point);
    points.into_iter().find(is_it).map(label).unwrap_or_default()
}
