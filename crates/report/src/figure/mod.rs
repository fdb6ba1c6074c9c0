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
mod change;
mod compared;
pub mod curves;
pub mod distribution;
mod drawn;
mod hierarchy;
pub mod mark;
mod matrix;
mod operations;
mod order;
mod picture;
mod placing;
mod rows;
pub mod svg;
mod sweep;

use crate::{at_usual, occupancy, words};
pub(super) use compared::figures as of_both_sides;
pub use drawn::DrawnFigure;
use fathom_engine::results::{PointResult, Results};
pub(super) use hierarchy::figure as of_hierarchy;
pub(super) use mark::KEY;
use mark::is_drawn;
pub(super) use picture::figure as of_machine;
pub use svg::{Drawing, Svg};

pub(super) struct Figures {
    /// The figures that show the main points of the experiment; empty if there is nothing to draw.
    pub main: Vec<DrawnFigure>,
    pub others: Vec<DrawnFigure>,
}

/// A figure with the points that it shows.
struct Candidate<'run> {
    points: Vec<&'run PointResult>,
    drawn: DrawnFigure,
}

impl Candidate<'_> {
    fn shows(&self, point: &PointResult) -> bool {
        self.points.iter().any(|shown| std::ptr::eq(*shown, point))
    }

    /// The drawing, whose caption says of unlike states of the core that it shows them, and which of its values must not be used.
    fn with_states(self) -> DrawnFigure {
        let caption = self.drawn.caption
            + &occupancy::of_picture(&self.points)
            + &at_usual::of_picture(&self.points)
            + &of_doubtful(&self.points);
        DrawnFigure { caption, ..self.drawn }
    }

    fn number_of(&self, points: &[&PointResult]) -> usize {
        points.iter().filter(|point| self.shows(point)).count()
    }
}

/// The most values named that must not be used.
const MOST_DOUBTFUL: usize = 2;

/// Which of these values must not be used; empty without one.
fn of_doubtful(points: &[&PointResult]) -> String {
    let doubtful: Vec<&PointResult> = points.iter().copied().filter(|point| point.is_doubtful()).collect();
    let shared = words::shared_parameters(points);
    let names = || doubtful.iter().map(|point| words::differing_label(point, &shared)).collect::<Vec<_>>();
    match doubtful.len() {
        0 => String::new(),
        few if few <= MOST_DOUBTFUL => format!(" ✗, not to be used: {}.", names().join("; ")),
        many => format!(" ✗, not to be used: {many} of these values."),
    }
}

/// Every figure of an experiment. The main ones are as few as show all of the `few` points that represent it, as far as any
/// figure does: curves and matrices before rows.
pub(super) fn of_experiment(results: &Results, experiment: &str, few: &[&PointResult]) -> Figures {
    let points: Vec<&PointResult> =
        results.of_experiment(experiment).filter(|point| is_drawn(point)).collect();
    let (mut candidates, mut rows, mut others) = (against::figures(results, experiment), vec![], vec![]);
    for mine in by_unit(&points) {
        let (matrices, rest) = matrix::split(&mine);
        candidates.extend(matrices);
        let (sweeps, rest) = sweep::split(results, &rest, few);
        candidates.extend(sweeps.into_iter().flat_map(|swept| sweep::figures(results, swept, few)));
        rows.extend(rows::figures(&rest));
        others.extend(order::figures(&mine));
        others.extend(distribution::figures(&mine));
    }
    candidates.extend(rows);
    let main = chosen(&mut candidates, few).into_iter().map(Candidate::with_states).collect();
    Figures { main, others: candidates.into_iter().map(Candidate::with_states).chain(others).collect() }
}

/// Takes the candidates that show these points: always the one that shows most of those that are left. If none shows any,
/// the first.
fn chosen<'run>(candidates: &mut Vec<Candidate<'run>>, points: &[&PointResult]) -> Vec<Candidate<'run>> {
    let (mut main, mut remaining) = (vec![], points.to_vec());
    while let Some(best) = first_of_most(candidates.iter().map(|candidate| candidate.number_of(&remaining))) {
        let candidate = candidates.remove(best);
        remaining.retain(|point| !candidate.shows(point));
        main.push(candidate);
    }
    if main.is_empty() && !candidates.is_empty() {
        main.push(candidates.remove(0));
    }
    main
}

/// The index of the first of the greatest numbers; `None` if all are zero.
fn first_of_most(numbers: impl Iterator<Item = usize>) -> Option<usize> {
    let positive = numbers.enumerate().filter(|(_, number)| *number > 0);
    let most = positive.max_by_key(|(index, number)| (*number, std::cmp::Reverse(*index)));
    most.map(|(index, _)| index)
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
