//! Which figure shows which data, and only data that stand in a table beside it (R-FIX-69).
//!
//! - A sweep along a number: medians with interval bars over it, the fitted line where the experiment asks for one,
//!   and lines between points only here, where what lies between them exists (Hoefler & Belli 2015, rule 12).
//!   What the machine declares (the size of a cache) is a dashed line across.
//! - What one setting has given against what it has given of another kind, where the experiment measures such pairs.
//! - The memory hierarchy: two panels over one axis of sizes, with the levels that were found.
//! - Two numbers that are two of a kind, such as two CPUs: a matrix of cells, the darker the greater.
//! - Named variants: a row each, with interval bars; logarithmic where they span more than a factor of twenty.
//! - Operations that were observed one by one: the share of them that ended by a time; where their order says
//!   something, each of them in that order.
//!
//! A replicated report has what its methods found drawn as the report drew it (`replicated`).
//!
//! Predictions are hollow marks beside the measured ones; an upper limit (below resolution) is an arrow.
//!
//! The SVG is written by hand. The plotting crates that were looked at write colours into every element, so that no
//! style sheet can turn them for a dark page, and have no axis of powers of two with a place for zero.

mod against;
mod axis;
mod compared;
mod curves;
mod distribution;
mod drawn;
mod hierarchy;
mod mark;
mod matrix;
mod order;
mod replicated;
mod rows;
mod svg;
mod sweep;

pub(super) use compared::figures as of_both_sides;
pub(super) use drawn::Figure;
pub(super) use hierarchy::figure as of_hierarchy;
pub(super) use replicated::figures as of_method;
pub use svg::Svg;

use crate::results::{PointResult, Results};
pub(super) use mark::KEY;
use mark::is_drawn;

/// The figures of an experiment.
pub(super) struct Figures {
    /// The one by which it is told; `None` where there is nothing to draw.
    pub main: Option<Figure>,
    /// All others.
    pub others: Vec<Figure>,
}

/// Every figure of an experiment. It is told by its first curve or matrix, or by a row each of the `few` points that tell of it.
pub(super) fn of_experiment(results: &Results, experiment: &str, few: &[&PointResult]) -> Figures {
    let points: Vec<&PointResult> =
        results.of_experiment(experiment).filter(|point| is_drawn(point)).collect();
    let (mut courses, mut others) = (against::figures(results, experiment), vec![]);
    for mine in by_unit(&points) {
        let (matrix, rest) = matrix::split(&mine);
        courses.extend(matrix);
        let (sweeps, rest) = sweep::split(results, &rest);
        courses.extend(sweeps.iter().flat_map(|swept| sweep::figures(results, swept)));
        others.extend(rows::figures(&rest));
        others.extend(order::figures(&mine));
        others.extend(distribution::figures(&mine));
    }
    let drawn: Vec<&PointResult> = few.iter().copied().filter(|point| is_drawn(point)).collect();
    if courses.is_empty() {
        courses.extend(by_unit(&drawn).iter().flat_map(|few| rows::figures(few)).take(1));
        others.retain(|other| courses.iter().all(|first| first.svg != other.svg));
    }
    let mut figures = courses.into_iter().chain(others);
    Figures { main: figures.next(), others: figures.collect() }
}

/// Points of one unit each, in the order in which the units come.
fn by_unit<'run>(points: &[&'run PointResult]) -> Vec<Vec<&'run PointResult>> {
    let mut units: Vec<Vec<&PointResult>> = vec![];
    for point in points {
        match units.iter_mut().find(|unit| unit[0].unit == point.unit) {
            Some(unit) => unit.push(point),
            None => units.push(vec![point]),
        }
    }
    units
}
