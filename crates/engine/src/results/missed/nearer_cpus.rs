//! The path to memory that CPUs near each other share, as the cause of a miss: what two threads move farther apart is what was predicted.

use super::Figures;
use super::candidate::MissCandidate;
use super::miss::Missed;
use crate::results::mechanisms::path_of_misses;
use fathom_core::experiment::statement;

/// The prediction, with the share of it that two threads move near each other of what they move farther apart. Only of the latter the
/// interval counts: that of the former is the result's own.
pub(super) fn of(missed: &Missed, figures: Figures) -> Option<MissCandidate> {
    let measured = missed.measured;
    let far = path_of_misses::own(missed.result, figures.supported)?;
    let is_more = far.value > measured.value && far.differs_from(&measured) == Some(true);
    let mechanism = "the path to memory that CPUs near each other share".to_owned();
    is_more.then(|| MissCandidate {
        sizes: statement!(
            "{mechanism}: farther apart the two threads move {far}",
            mechanism = mechanism.as_str(),
            far = far.named("two threads farther apart")
        ),
        again: far.inverse(missed.prediction.total() * measured.value, measured.dimension),
        changes: Some(far.value / measured.value),
        part: None,
        is_again: false,
        mechanism,
    })
}

#[cfg(test)]
mod tests {
    use super::super::explain;
    use super::super::tests::result;
    use crate::results::PointResult;
    use crate::results::by_end::WholeRun;
    use crate::results::missed::{Explanation, Figures};
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::{At::Any, Basis, Known, Placement, Prediction, Selector};
    use fathom_core::quantity::Unit;
    use fathom_core::statistics::{Estimate, Interval};
    use serde_json::json;

    const TOGETHER: Selector = Selector::only(
        "memory/parallel_bandwidth",
        &[("threads", Any), ("kind", Any), ("method", Any), ("level", Any), ("size", Any)],
    )
    .at(Placement::Spread);

    /// What is said of two threads that move 30 near each other and this farther apart, where 66 was predicted.
    fn explained(far: f64) -> Explanation {
        let machine = planted::machine();
        let settings = [("threads", json!(2)), ("kind", json!("read")), ("method", json!("avx2"))];
        let settings = settings.into_iter().chain([("level", json!("memory")), ("size", json!(1 << 27))]);
        let interval = Some(Interval { low: 0.95 * far, high: 1.05 * far });
        let estimate =
            Estimate { value: far, interval, level: 0.95, trials: 8, observations: 80, min: None, max: None };
        let predicted = Prediction::new().hardware("one thread", 2.0, Basis::published(33e9, "a test"));
        let mut points = [PointResult {
            experiment: TOGETHER.experiment.to_owned(),
            point: TOGETHER.point(&settings.collect::<Vec<_>>()),
            cpu_distance: planted::at_distances(32.9, Some((164.0, estimate))),
            ..result(Unit::BytesPerSecond, 29e9, predicted)
        }];
        let known = Known::new(&machine, None);
        let whole = WholeRun::of_one_state(&known);
        explain(
            &["memory/parallel_bandwidth"],
            &mut points,
            Figures { supported: &known, whole: &whole, shared: &[], levels: &[], one_core_ns: &[] },
        );
        points[0].explanation.clone().expect("it missed")
    }

    #[test]
    fn the_shared_path_is_the_cause_if_the_two_move_what_was_predicted_farther_apart() {
        let is_cause = |far| matches!(explained(far), Explanation::Cause { mechanism, .. } if mechanism.starts_with("the path to memory"));
        assert!(is_cause(65e9));
        assert!(!is_cause(45e9), "half of what is missing");
    }
}
