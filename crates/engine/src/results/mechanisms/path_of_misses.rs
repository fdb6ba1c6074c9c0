//! What the shared path to memory has of a miss: two threads near each other that move less than was predicted, beside what they move
//! farther apart.

use super::{Mechanism, MechanismKind, shared_path};
use crate::results::accuracy::CLOSE;
use crate::results::{Explanation, MissMechanism, PointResult};
use fathom_core::experiment::{Dimension, Found, Known, Prediction, Source, Statement, statement};

/// How many threads the rule is about.
const TWO: u64 = 2;

/// Marks the points that missed and of whose miss the path is the cause or may be.
pub(super) fn mark(points: &mut [PointResult], known: &Known, mechanisms: &[Mechanism]) {
    let is_it = |one: &Mechanism| one.name == shared_path::RULE.name && one.kind == MechanismKind::Effect;
    if !mechanisms.iter().any(is_it) {
        return;
    }
    let marks: Vec<_> = points.iter().map(|point| of(point, points, known)).collect();
    for (point, mark) in points.iter_mut().zip(marks) {
        if let (Some(Explanation::NotExplained), Some(mark), Some(because)) =
            (&point.explanation, &mark, &mut point.because)
        {
            *because =
                statement!("{because} {mark}.", because = because.clone(), mark = mark.statement.clone());
        }
        point.miss_mechanism = mark;
    }
}

/// What two threads move farther apart than the point's: a value of its own, or of another method of the same kind.
struct FartherApart<'run> {
    rate: Found,
    trials: usize,
    method: Option<&'run str>,
}

fn of(point: &PointResult, points: &[PointResult], known: &Known) -> Option<MissMechanism> {
    let prediction = point.prediction.as_ref().filter(|prediction| is_of_one_thread(prediction))?;
    let measured = point.figure().filter(|_| is_of_two(point, known) && point.evidence_holds())?;
    let predicted = Found::exact(prediction.total(), measured.dimension);
    (predicted.value > CLOSE * measured.value && !measured.holds(predicted.value)).then_some(())?;
    let own = farther_apart(point);
    let far = own.or_else(|| of_another_method(point, points, known))?;
    (far.rate.value > CLOSE * measured.value).then_some(())?;
    let is_own = far.method.is_none();
    let is_certain = is_own && far.rate.differs_from(&measured) == Some(true);
    // A value of its own has a prediction of its own, made from figures at that distance.
    let there = point.predicted_at_other_distance().filter(|_| is_own);
    let there = there.map(|(prediction, _)| Found::exact(prediction.total(), measured.dimension));
    Some(if is_certain { shown(measured, predicted, &far) } else { hinted(there.unwrap_or(predicted), &far) })
}

/// A part that the run shows: the difference between the two values of the same work.
fn shown(measured: Found, predicted: Found, far: &FartherApart) -> MissMechanism {
    let share = far.rate.minus(measured).share_of(predicted.minus(measured));
    let accounts = far.rate.holds(predicted.value) || far.rate.is_like(&predicted);
    let statement = statement!(
        "farther apart the two threads move {far}: the path to memory that CPUs near each other share is {share} of what is missing",
        far = far.rate.named("two threads farther apart"),
        share = share.named("the shared path, of what is missing")
    );
    MissMechanism { mechanism: shared_path::RULE.name, statement, accounts }
}

/// What two threads move farther apart, of a point whose figure is of two near each other and was predicted from those of one thread.
pub(crate) fn own(point: &PointResult, known: &Known) -> Option<Found> {
    let prediction = point.prediction.as_ref().filter(|prediction| is_of_one_thread(prediction))?;
    (is_of_two(point, known) && prediction.total() > 0.0).then_some(())?;
    farther_apart(point).map(|far| far.rate)
}

/// What makes a part likely, and shows no size of it.
fn hinted(predicted: Found, far: &FartherApart) -> MissMechanism {
    let by =
        far.method.map_or_else(Statement::default, |method| format!(" by another method ({method})").into());
    let interval = far.rate.interval.is_none().then(|| {
        let trials = Found::exact(far.trials as f64, Dimension::Count).named("trials farther apart");
        statement!(", {trials} trials without an interval", trials)
    });
    let statement = statement!(
        "farther apart two threads move {far}{by}, {ratio} times what was predicted{interval}: perhaps the path to memory that CPUs near \
         each other share",
        far = far.rate.named("two threads farther apart"),
        ratio = far.rate.over(predicted).named("two threads farther apart over predicted"),
        by,
        interval
    );
    MissMechanism { mechanism: shared_path::RULE.name, statement, accounts: false }
}

fn is_of_two(point: &PointResult, known: &Known) -> bool {
    let is_two = point.point.number_of("threads") == Some(TWO);
    is_two && shared_path::TOGETHER.selects(&point.experiment, &point.point, known.machine)
}

/// Whether a prediction has no figure of several threads, which has the path in it already.
fn is_of_one_thread(prediction: &Prediction) -> bool {
    let is_of_several = |source: &Source| match source {
        Source::Measured { experiment, point } => {
            experiment == shared_path::TOGETHER.experiment && point.number_of("threads") != Some(1)
        }
        _ => false,
    };
    !prediction.terms.iter().any(|term| is_of_several(&term.source))
}

/// The point's own value farther apart, if its figure is of the shorter distance.
fn farther_apart(point: &PointResult) -> Option<FartherApart<'static>> {
    let own = point.cpu_distance.as_ref()?;
    let (_, estimate) = point.at_other_distance().filter(|(at, _)| at.line_ns > own.at.line_ns)?;
    Some(FartherApart { rate: Found::of(estimate, point.unit), trials: estimate.trials, method: None })
}

/// That of the method of the same kind with most trials farther apart, of those measured at the point's own distance too.
fn of_another_method<'run>(
    point: &PointResult,
    points: &'run [PointResult],
    known: &Known,
) -> Option<FartherApart<'run>> {
    let own = point.cpu_distance.as_ref()?;
    let is_alike = |other: &&PointResult| {
        let same = |name: &str| other.point.name_of(name) == point.point.name_of(name);
        is_of_two(other, known)
            && same("kind")
            && other.point.number_of("size") == point.point.number_of("size")
            && other.cpu_distance.as_ref().is_some_and(|distance| distance.at == own.at)
    };
    let others = points.iter().filter(is_alike);
    let others = others.filter_map(|other| {
        Some(FartherApart { method: Some(other.point.name_of("method")?), ..farther_apart(other)? })
    });
    others.max_by_key(|far| far.trials)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::PointDistance;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Basis;
    use fathom_core::quantity::Unit;
    use fathom_core::statistics::{Estimate, Interval};
    use serde_json::json;

    fn estimate(value: f64, width: Option<f64>) -> Estimate {
        let interval = width.map(|width| Interval { low: value - width, high: value + width });
        let trials = if interval.is_some() { 8 } else { 3 };
        Estimate { value, interval, level: 0.95, trials, observations: 9, min: None, max: None }
    }

    /// Two threads that were predicted to read 66 GB/s, read 36 near each other, and this farther apart.
    fn reading(method: &str, far: Option<Estimate>) -> PointResult {
        let settings = [("threads", json!(2)), ("kind", json!("read")), ("method", json!(method))];
        let settings = settings.into_iter().chain([("level", json!("memory")), ("size", json!(1 << 27))]);
        let predicted = Prediction::new().hardware("one thread", 2.0, Basis::published(33e9, "a test"));
        let own = estimate(36e9, Some(2e9));
        PointResult {
            point: shared_path::TOGETHER.point(&settings.collect::<Vec<_>>()),
            unit: Unit::BytesPerSecond,
            cpu_distance: planted::at_distances(32.9, far.map(|far| (164.0, far))).map(|of| PointDistance {
                trials: 8,
                medians: [vec![36e9; 8], vec![]],
                ..of
            }),
            ..planted::result(shared_path::TOGETHER.experiment, own, Some(predicted))
        }
    }

    fn marked(mut points: Vec<PointResult>, name: &'static str) -> Option<(String, bool)> {
        let machine = planted::machine();
        let mechanism = Mechanism {
            name,
            condition: "",
            headline: Statement::default(),
            because: Statement::default(),
            kind: MechanismKind::Effect,
            is_of_several: false,
        };
        mark(&mut points, &Known::new(&machine, None), &[mechanism]);
        points[0].miss_mechanism.as_ref().map(|of| (of.statement.plain(), of.accounts))
    }

    #[test]
    fn a_miss_of_which_the_two_move_what_was_predicted_farther_apart_is_the_paths() {
        let path = shared_path::RULE.name;
        let (text, accounts) = marked(vec![reading("avx2", Some(estimate(65e9, Some(3e9))))], path).unwrap();
        assert!(accounts && text.contains("the two threads move {65000000000}: the path"), "{text}");
        assert!(text.contains("share is {0.966"), "{text}");
        let (text, accounts) = marked(vec![reading("avx2", Some(estimate(46e9, Some(2e9))))], path).unwrap();
        assert!(!accounts && text.contains("share is {0.333"), "{text}");
        assert_eq!(marked(vec![reading("avx2", Some(estimate(37e9, Some(2e9))))], path), None, "no more");
        assert_eq!(marked(vec![reading("avx2", Some(estimate(65e9, Some(3e9))))], "another"), None);
    }

    #[test]
    fn without_an_interval_or_a_value_of_its_own_it_is_no_more_than_possible() {
        let path = shared_path::RULE.name;
        let few = Some(estimate(64e9, None));
        let (text, accounts) = marked(vec![reading("avx2", few.clone())], path).unwrap();
        assert!(!accounts && text.contains("{0.969") && text.contains("{3} trials without"), "{text}");
        let (text, accounts) = marked(vec![reading("sse", None), reading("avx2", few)], path).unwrap();
        assert!(!accounts && text.contains("by another method (avx2)"), "{text}");
        assert_eq!(marked(vec![reading("sse", None)], path), None, "nothing was measured farther apart");
    }

    #[test]
    fn a_prediction_from_several_threads_has_the_path_in_it() {
        let point = reading("avx2", Some(estimate(65e9, Some(3e9))));
        let from = Basis::measured(66e9, shared_path::TOGETHER.experiment, point.point.clone());
        let predicted = Some(Prediction::new().hardware("as many threads", 1.0, from));
        assert_eq!(
            marked(vec![PointResult { prediction: predicted, ..point }], shared_path::RULE.name),
            None
        );
    }
}
