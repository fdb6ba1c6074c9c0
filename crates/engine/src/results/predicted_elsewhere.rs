//! What is predicted of work on two CPUs at the other of their distances, from what the run measured there: a prediction from the figures of
//! one distance says nothing of a value at another.

use super::by_end;
use super::cpu_distance::{CpuDistance, LINE_HAND_OVER};
use super::{Outcome, PointResult, cpu_distance};
use fathom_core::experiment::{Found, Known, Point, Prediction};

/// Adds to every point with a value at another distance what its prediction is there. The judged prediction is that of the figure.
pub(super) fn mark(points: &mut [PointResult], is_of_both: impl Fn(&Point) -> bool, without: &Known) {
    let mut distances: Vec<CpuDistance> = vec![];
    for point in points.iter() {
        let other = point.at_other_distance().map(|(at, _)| *at);
        if let Some(at) = other.filter(|at| distances.iter().all(|known| !is_at(known, at))) {
            distances.push(at);
        }
    }
    for at in distances {
        let known = figures(points, &at, &is_of_both, without);
        let own: Vec<Option<Prediction>> = points.iter().map(|point| again(point, &at, &known)).collect();
        for (point, prediction) in points.iter_mut().zip(own) {
            if let (Some(distance), Some(prediction)) = (&mut point.cpu_distance, prediction) {
                distance.predicted_there = Some(prediction);
            }
        }
    }
}

fn is_at(one: &CpuDistance, other: &CpuDistance) -> bool {
    cpu_distance::is_same(one.line_ns, other.line_ns)
}

/// The figures of the whole run as they are at a distance: of work on both CPUs those there, of other work all. What was disturbed is none,
/// as of work on both whose trials are of several distances, too few at each.
fn figures<'run>(
    points: &[PointResult],
    at: &CpuDistance,
    is_of_both: impl Fn(&Point) -> bool,
    without: &Known<'run>,
) -> Known<'run> {
    let is_sound =
        |point: &&PointResult| !matches!(point.outcome, Outcome::Disturbed { .. }) && !point.is_doubtful();
    let sound = points.iter().filter(is_sound);
    let (moved, others): (Vec<&PointResult>, Vec<&PointResult>) =
        sound.partition(|point| is_of_both(&point.point));
    let mut known = without.clone();
    for point in others {
        by_end::learn(&mut known, point, None);
    }
    for point in moved {
        let there = point.estimate().and_then(|own| point.cpu_distance.as_ref()?.value_at(at.line_ns, own));
        let there = there.map(|estimate| Found::of(estimate, point.unit));
        let line = || (point.experiment == LINE_HAND_OVER).then(|| at.line());
        if let Some(figure) = there.or_else(line) {
            known.learn(&point.experiment, &point.point, figure);
        }
    }
    known
}

/// The prediction of a point that has a value there; `None` where its terms are other ones than those of the prediction that was made before:
/// then a figure is missing there, or a different model would be judged.
fn again(point: &PointResult, at: &CpuDistance, known: &Known) -> Option<Prediction> {
    point.at_other_distance().filter(|(other, _)| is_at(other, at))?;
    let before = point.prediction.as_ref()?;
    let there = point.method().ok()?.predict(&point.point, known).ok()?;
    let is_same = before.terms.len() == there.terms.len()
        && before
            .terms
            .iter()
            .zip(&there.terms)
            .all(|(then, now)| then.what == now.what && then.source == now.source);
    is_same.then_some(there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Outcome, planted};
    use fathom_core::experiment::Experiment;
    use fathom_core::statistics::{Estimate, Interval};

    fn estimate(value: f64) -> Estimate {
        let interval = Some(Interval { low: 0.95 * value, high: 1.05 * value });
        Estimate { value, interval, level: 0.95, trials: 9, observations: 9, min: None, max: None }
    }

    /// The first point of an experiment, with these values at 32 and 167 ns.
    fn point(experiment: &'static dyn Experiment, [near, far]: [f64; 2], known: &Known) -> PointResult {
        let about = experiment.about();
        let point = experiment.sweep(known.machine).remove(0);
        PointResult {
            prediction: experiment.predict(&point, known).ok(),
            point,
            method_version: about.version,
            outcome: Outcome::Value(estimate(near)),
            cpu_distance: planted::at_distances(32.0, Some((167.0, estimate(far)))),
            ..planted::result(about.name, estimate(near), None)
        }
    }

    #[test]
    fn a_value_at_another_distance_is_predicted_from_the_figures_there() {
        let machine = planted::machine();
        let find = |name| fathom_core::experiment::registry::find(name).expect("an experiment");
        let (line, shared) = (find(LINE_HAND_OVER), find("cpu/false_sharing"));
        let without = Known::new(&machine, Some(3e9));
        let hand_over = point(line, [32.0, 165.0], &without);
        let at = |ns: f64| {
            let mut known = without.clone();
            let value = Found::of(&estimate(ns), hand_over.unit);
            known.learn(LINE_HAND_OVER, &hand_over.point, value);
            known
        };
        let increment = point(shared, [1.6, 1.2], &at(32.0));
        let mut points = [hand_over.clone(), increment];
        mark(&mut points, |_| true, &without);
        let (there, factor) = points[1].predicted_at_other_distance().expect("it is predicted");
        let expected = shared.predict(&points[1].point, &at(165.0)).expect("a prediction").total();
        assert!(
            (there.total() - expected).abs() < 1e-9 && (factor - 1.2 / expected).abs() < 1e-9,
            "{there:?}"
        );
        assert!((there.total() - points[1].prediction.as_ref().expect("one").total()).abs() > 1e-9);
        // A prediction by another model is not the one that was made before.
        let mut other = points[1].clone();
        other.cpu_distance = point(shared, [1.6, 1.2], &without).cpu_distance;
        other.prediction.as_mut().expect("one").terms[0].what = "as before".to_owned();
        let mut points = [hand_over, other];
        mark(&mut points, |_| true, &without);
        assert!(points[1].predicted_at_other_distance().is_none());
    }

    /// A stream whose four trials were near three times, and on the way once, stood for one at 159 ns, of 2.96 GB/s.
    #[test]
    fn what_was_moved_while_it_was_measured_predicts_nothing_at_a_distance() {
        let machine = planted::machine();
        let find = |name| fathom_core::experiment::registry::find(name).expect("an experiment");
        let without = Known::new(&machine, Some(3e9));
        let stream = point(find("network/bandwidth"), [1.7e9, 1.7e9], &without);
        let method = find("network/sustained");
        let input = |known: &Known| {
            let lasting = method.sweep(&machine).remove(0);
            let said = method.predict(&lasting, known).ok();
            said.and_then(|said| match &said.terms[0].source {
                fathom_core::experiment::Source::Measured { point, .. } => Some(point.clone()),
                _ => None,
            })
        };
        let mut known = without.clone();
        for of in find("network/bandwidth").sweep(&machine) {
            known.learn("network/bandwidth", &of, Found::of(&estimate(1.7e9), stream.unit));
        }
        let usual = input(&known).expect("it is predicted from a stream");
        let lasting = point(method, [2.9e9, 1.3e9], &known);
        let predicted = |of: PointResult| {
            let mut points = [PointResult { point: usual.clone(), ..of }, lasting.clone()];
            mark(&mut points, |_| true, &without);
            points[1].predicted_at_other_distance().map(|(there, _)| there.total())
        };
        assert!(predicted(stream.clone()).is_some_and(|there| (there - 1.7e9).abs() < 1.0));
        let moved = Outcome::Disturbed { by: "it was moved".to_owned(), unusable: estimate(2.96e9) };
        assert_eq!(predicted(PointResult { outcome: moved, cpu_distance: None, ..stream.clone() }), None);
        assert_eq!(predicted(PointResult { cpu_distance: None, ..stream }), None, "of no known distance");
    }
}
