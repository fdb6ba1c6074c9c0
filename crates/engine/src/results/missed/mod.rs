//! The reasons why predictions missed: for results further than a factor of two from their prediction, the term that was
//! wrong, and the evidence for it.
//!
//! The conclusions must follow from the figures:
//!
//! - If evidence does not hold, the measurement is in doubt, not the prediction.
//! - A cost is a sum of terms, none below zero. A term that alone exceeds the measured cost is too high.
//! - If a cost is more than twice its prediction, whatever took half of the time (the program, the kernel, or waiting for
//!   something else) took longer than the whole prediction: the missing time is there.
//! - A rate is the sum of terms that allow it, less terms that reduce it. If it is measured above the former, these are too
//!   low; if below them but above the prediction, the latter take too much.
//!
//! If nothing follows, the finding says so. Misses of one experiment with the same reason are reported together, with the
//! figures of the furthest.

mod reason;
mod root;
mod sentences;
#[cfg(test)]
mod tests;

use super::PointResult;
use fathom_core::experiment::{Finding, Known};
use reason::{Missed, Reason};

/// A value that is within this factor of another has not changed in a way that explains a factor of two.
const UNCHANGED: f64 = 1.25;

/// The findings about all misses of a run.
pub struct Misses {
    /// Wrong inputs, each with the predictions that it explains.
    pub roots: Vec<Finding>,
    /// The findings about the other misses, by experiment.
    pub others: Vec<(String, Vec<Finding>)>,
}

/// The findings about all misses. `known` holds the figures of the finished run.
pub fn findings(names: &[&str], points: &[PointResult], known: &Known) -> Misses {
    let missed = root::valid(points);
    let (roots, explained) = root::causes(&missed, known);
    let others = names.iter().map(|name| {
        let mine = points.iter().filter(|point| point.experiment == *name);
        let open = mine.filter(|point| !explained.contains(&(point.experiment.as_str(), &point.point)));
        ((*name).to_owned(), by_reason(open, known))
    });
    Misses { others: others.collect(), roots }
}

/// The findings about one experiment's misses: one for each reason.
fn by_reason<'run>(points: impl Iterator<Item = &'run PointResult>, known: &Known) -> Vec<Finding> {
    let mut groups: Vec<(Reason, Vec<Missed>)> = vec![];
    for missed in points.filter_map(Missed::of) {
        let reason = missed.reason();
        match groups.iter_mut().find(|(of, _)| *of == reason) {
            Some((_, group)) => group.push(missed),
            None => groups.push((reason, vec![missed])),
        }
    }
    groups.iter().filter_map(|(reason, group)| sentences::finding(reason, group, known)).collect()
}
