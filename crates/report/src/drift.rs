//! Sentences on values that changed while the run went on.

use super::precision::USEFUL;
use super::words::{self, plural};
use fathom_core::quantities;
use fathom_engine::results::{Drift, ExperimentDrift, FEWEST_FOR_DRIFT, PointResult, Results};

/// Of so many points one differs by chance: that none of fewer is shown to have changed says nothing of a run.
const FEWEST_POINTS: usize = 20;

/// Trials are compared in which the machine was alike: other sentences count them all.
const OF_ONE_STATE: &str = " in one state of the machine";

/// How many points changed in the whole run, and in which experiments that is more than chance explains; that it is not known if too few
/// points have enough trials to show that nothing changed, and none did.
pub(super) fn sentence(results: &Results) -> String {
    let drift = Drift::of(&results.points);
    let Some(drift) = drift.as_ref().filter(|drift| says(drift)) else {
        return unknown(drift.map_or(0, |drift| drift.points));
    };
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
    format!(
        "The earlier half of the trials differs from the later one in {} of {} with {FEWEST_FOR_DRIFT} trials or more{OF_ONE_STATE} (by rank sums, Mann and \
         Whitney 1947), where {} would by chance: {more}.",
        quantities::count(drift.changed),
        plural(drift.points, "point"),
        quantities::count(drift.by_chance.round() as usize)
    )
}

/// That too few points, so many, have trials enough.
fn unknown(points: usize) -> String {
    let few = match points {
        0 => "no point has".to_owned(),
        1 => "a single point has".to_owned(),
        _ => format!("only {} have", plural(points, "point")),
    };
    format!(
        "Whether values changed during the run cannot be said: {few} {FEWEST_FOR_DRIFT} trials or more{OF_ONE_STATE}."
    )
}

fn says(drift: &Drift) -> bool {
    drift.points >= FEWEST_POINTS || !drift.experiments.is_empty()
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

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Point;

    /// Of one point with eight trials, of 867, "0 differ: more than chance explains in no experiment".
    #[test]
    fn that_nothing_changed_rests_on_enough_points() {
        let of = |points, experiments| Drift { points, changed: 0, by_chance: 0.0, experiments };
        assert!(!says(&of(1, vec![])) && !says(&of(FEWEST_POINTS - 1, vec![])));
        assert!(says(&of(FEWEST_POINTS, vec![])));
        let experiment = "memory/tlb_reach".to_owned();
        let changed = ExperimentDrift { experiment, points: 3, changed: 3, most: Point::new(), factor: 2.0 };
        assert!(says(&of(3, vec![changed])), "what changed is said however few are known");
        assert!(unknown(1).contains("cannot be said: a single point has"));
        // Of a run with "a median of 8 per point".
        assert!(unknown(7).ends_with("only 7 points have 8 trials or more in one state of the machine."));
    }
}
