//! The choice of figures for the data; a figure shows only data that a table in the report contains (R-FIX-69).
//!
//! - A sweep along a number: medians with interval bars, the fitted line if the experiment requests one, and lines between
//!   points only here, where intermediate values exist (Hoefler & Belli 2015, rule 12). Declared sizes (of a cache) are dashed
//!   vertical lines.
//! - One quantity plotted against another at the same setting, if the experiment measures such pairs.
//! - The memory hierarchy: two panels over one axis of sizes, with the levels found.
//! - Pairs of numbers of one kind, such as two CPUs: a matrix of cells, darker for greater values.
//! - Named variants: one row each, with interval bars; logarithmic if they span more than a factor of twenty.
//! - Operations observed one by one: the share that ended by a time; if their order is meaningful, each of them in that
//!   order.
//!
//!
//! Predictions are hollow marks next to the measured ones; an upper limit (below resolution) is an arrow.
//!
//! The SVG is written without a library. The plotting crates that were considered write colours into every element, so that
//! no style sheet can change them for a dark page, and have no axis of powers of two with a position for zero.

mod against;
mod axis;
mod compared;
pub mod curves;
pub mod distribution;
mod drawn;
mod hierarchy;
pub mod mark;
mod matrix;
mod order;
mod rows;
pub mod svg;
mod sweep;

pub(super) use compared::figures as of_both_sides;
pub use drawn::DrawnFigure;
use fathom_engine::results::{PointResult, Results};
pub(super) use hierarchy::figure as of_hierarchy;
pub(super) use mark::KEY;
use mark::is_drawn;
pub use svg::{Drawing, Svg};

pub(super) struct Figures {
    /// The main figure; `None` if there is nothing to draw.
    pub main: Option<DrawnFigure>,
    pub others: Vec<DrawnFigure>,
}

/// Every figure of an experiment. The main one is its first curve or matrix, or a row for each of the `few` points that
/// represent it.
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

/// Points grouped by unit, in the order of the first occurrence of each unit.
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
