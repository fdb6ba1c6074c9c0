//! Predictions of work on two CPUs whose inputs were measured at another distance of these, or while they were moved: they say nothing of the
//! value, and are no prediction of it.

use super::PointResult;
use super::cpu_distance::{CpuDistances, is_of_both, is_same};
use crate::record::{Run, Trial};
use fathom_core::experiment::{Point, Source};
use std::collections::BTreeMap;

/// The trials of each point, in the order in which they were made.
type TrialsOf<'run> = BTreeMap<(&'run str, &'run Point), Vec<&'run Trial>>;

/// Takes away every prediction of a figure at one of several distances that rests on trials at another, and says so.
pub(super) fn withdraw(run: &Run, points: &mut [PointResult], distances: &CpuDistances) {
    if !distances.are_several() {
        return;
    }
    let mut trials = TrialsOf::new();
    for trial in &run.trials {
        trials.entry((&trial.experiment, &trial.point)).or_default().push(trial);
    }
    for point in points {
        if rests_elsewhere(run, point, distances, &trials) {
            point.prediction = None;
            point.unpredicted = Some(WITHDRAWN.to_owned());
        }
    }
}

/// Why there is none.
pub const WITHDRAWN: &str = "the prediction in the run file rests on trials with the two CPUs at another distance, or moved meanwhile";

fn rests_elsewhere(run: &Run, point: &PointResult, distances: &CpuDistances, trials: &TrialsOf) -> bool {
    let (Some(at), Some(prediction)) = (&point.cpu_distance, &point.prediction) else { return false };
    let own = trials.get(&(point.experiment.as_str(), &point.point));
    let first_s = own.into_iter().flatten().map(|trial| trial.began_s).fold(f64::INFINITY, f64::min);
    let is_elsewhere = |source: &Source| {
        let Source::Measured { experiment, point: input } = source else { return false };
        if !is_of_both(&run.header, input) {
            return false;
        }
        let before = trials.get(&(experiment.as_str(), input)).into_iter().flatten();
        let before: Vec<&Trial> = before.copied().filter(|trial| trial.began_s < first_s).collect();
        let figure = distances.divide(&run.header, input, &before).map(|divided| divided.main.0.line_ns);
        let each: Vec<Option<f64>> =
            before.iter().map(|trial| distances.line_during(trial.began_s)).collect();
        !is_of(at.at.line_ns, figure, &each)
    };
    prediction.terms.iter().any(|term| is_elsewhere(&term.source))
}

/// Whether what was known of an input until then is of this distance: the distance of its figure, which it had from four trials at one on, or
/// else that of each of its trials, of which one during which the CPUs were moved has none.
fn is_of(line_ns: f64, figure: Option<f64>, each: &[Option<f64>]) -> bool {
    let is_there = |of: f64| is_same(of, line_ns);
    match figure {
        Some(figure) => is_there(figure),
        None => each.iter().all(|trial| trial.is_some_and(is_there)),
    }
}

#[cfg(test)]
mod tests {
    use super::is_of;

    /// A stream of 2.89 GB/s at 32.9 ns was predicted from one trial of 1.70 GB/s that began at 159 ns and ended near.
    #[test]
    fn an_input_is_of_a_distance_if_each_of_its_trials_is_or_enough_of_them_are() {
        let (near, far) = (Some(32.1), Some(159.0));
        assert!(is_of(32.9, None, &[near]) && is_of(32.9, None, &[near, near]));
        assert!(!is_of(32.9, None, &[far]) && !is_of(32.9, None, &[None]), "elsewhere, or on the way");
        assert!(!is_of(32.9, None, &[near, far]), "a median over both is of neither");
        assert!(is_of(32.9, near, &[near, near, near, near, None]), "its figure is of those at one");
        assert!(!is_of(32.9, far, &[near, far, far, far, far]));
    }
}
