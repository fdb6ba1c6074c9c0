//! Why predictions missed: for results further than a factor of two from what was predicted, which term was wrong, and what
//! the evidence says.
//!
//! What is concluded must follow:
//!
//! - Evidence that does not hold leaves the measurement in doubt, not the prediction.
//! - A cost is a sum of terms, none below zero. A term that alone is more than all that was measured is too high.
//! - Of a cost of more than twice its prediction, whatever took half of the time (the program, the kernel, or waiting for
//!   something else) took longer than all that was predicted: the missing time is there.
//! - A rate is what some term allows, less what others take. Measured above what the former allow, these are too low; below,
//!   but above the prediction, the latter take too much.
//!
//! Where nothing follows, that is said. Misses of one experiment with the same reason are told together, with the figures of
//! the furthest.

mod reason;
mod root;
#[cfg(test)]
mod tests;
mod told;

use super::PointResult;
use crate::experiment::{Finding, Known};
use reason::{Missed, Reason};

/// What is said of all misses of a run.
pub struct Misses {
    /// Wrong inputs, each with the predictions that it spoilt.
    pub roots: Vec<Finding>,
    /// The other misses, by experiment.
    pub others: Vec<(String, Vec<Finding>)>,
}

/// The misses, told. `known` is what the run has found in the end.
pub fn told(names: &[&str], points: &[PointResult], known: &Known) -> Misses {
    let missed = root::of(points);
    let (roots, explained) = root::causes(&missed, known);
    let others = names.iter().map(|name| {
        let mine = points.iter().filter(|point| point.experiment == *name);
        let open = mine.filter(|point| !explained.contains(&(point.experiment.as_str(), &point.point)));
        ((*name).to_owned(), by_reason(open, known))
    });
    Misses { others: others.collect(), roots }
}

/// The misses of one experiment: those with the same reason together.
fn by_reason<'run>(points: impl Iterator<Item = &'run PointResult>, known: &Known) -> Vec<Finding> {
    let mut groups: Vec<(Reason, Vec<Missed>)> = vec![];
    for missed in points.filter_map(Missed::of) {
        let reason = missed.reason();
        match groups.iter_mut().find(|(of, _)| *of == reason) {
            Some((_, group)) => group.push(missed),
            None => groups.push((reason, vec![missed])),
        }
    }
    groups.iter().filter_map(|(reason, group)| told::finding(reason, group, known)).collect()
}
