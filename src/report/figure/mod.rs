//! Which figure shows which data, and only data that stand in a table beside it (R-FIX-69).
//!
//! - A sweep along a number: medians with interval bars over it, the fitted line where the experiment asks for one,
//!   and lines between points only here, where what lies between them exists (Hoefler & Belli 2015, rule 12).
//!   What the machine declares (the size of a cache) is a dashed line across.
//! - What one setting has given against what it has given of another kind, where the experiment measures such pairs.
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
mod mark;
mod matrix;
mod order;
mod replicated;
mod rows;
mod svg;
mod sweep;

pub(super) use compared::figures as of_both_sides;
pub(super) use drawn::Figure;
pub(super) use replicated::figures as of_method;
pub use svg::Svg;

use crate::quantity::Unit;
use crate::results::{PointResult, Results};
use mark::is_drawn;

/// Every figure of an experiment.
pub(super) fn of_experiment(results: &Results, experiment: &str) -> Vec<Figure> {
    let points: Vec<&PointResult> =
        results.of_experiment(experiment).filter(|point| is_drawn(point)).collect();
    let mut units: Vec<Unit> = vec![];
    for point in &points {
        if !units.contains(&point.unit) {
            units.push(point.unit);
        }
    }
    let mut figures = against::figures(results, experiment);
    for unit in units {
        let mine: Vec<&PointResult> = points.iter().filter(|point| point.unit == unit).copied().collect();
        let (matrix, others) = matrix::split(&mine);
        figures.extend(matrix);
        let (sweeps, rest) = sweep::split(results, &others);
        for swept in sweeps {
            figures.extend(sweep::figures(results, &swept));
        }
        figures.extend(rows::figures(&rest));
        figures.extend(order::figures(&mine));
        figures.extend(distribution::figures(&mine));
    }
    figures
}
