//! A matrix of cells, darker for greater values: the results for pairs of numbers of one kind, such as two CPUs.

use super::Candidate;
use super::axis::Axis;
use super::drawn::{DrawnFigure, quantity};
use super::mark::{Mark, mark};
use super::svg::{Drawing, WIDTH};
use crate::words;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_engine::results::PointResult;

/// Fewer numbers than this are shown as rows of variants.
const LEAST: usize = 4;

/// Up to this many numbers each has its label; of more, only some have.
const LABELLED: usize = 16;

/// The coverage of the palest cell: it must differ visibly from a cell without a value.
const PALEST: f64 = 0.12;

const LEFT: f64 = 74.0;
const TOP: f64 = 22.0;
/// The longest side of the matrix, pixels.
const SIDE: f64 = 480.0;

/// A cell: row, column and its result.
type MatrixCell<'run> = (u64, u64, &'run PointResult);

/// The matrices of some points, one for each setting of the other parameters, and the points that belong to none.
pub(super) fn split<'run>(points: &[&'run PointResult]) -> (Vec<Candidate<'run>>, Vec<&'run PointResult>) {
    let (mut groups, mut rest) = (Vec::<Vec<MatrixCell>>::new(), vec![]);
    for point in points {
        let Some(cell) = cell(point) else {
            rest.push(*point);
            continue;
        };
        match groups.iter_mut().find(|group| is_of_one_matrix(group[0].2, point)) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    let (large, small): (Vec<_>, Vec<_>) =
        groups.into_iter().partition(|cells| numbers(cells).len() >= LEAST);
    rest.extend(small.into_iter().flatten().map(|(.., point)| point));
    let candidate = |cells: &Vec<MatrixCell<'run>>| Candidate {
        points: cells.iter().map(|(.., point)| *point).collect(),
        drawn: figure(cells),
    };
    (large.iter().map(candidate).collect(), rest)
}

/// The cell of a point, if its experiment is shown as a matrix.
fn cell(point: &PointResult) -> Option<MatrixCell<'_>> {
    let (row, column) = point.method().ok()?.about().shown.matrix?;
    point.point.get(row.name).zip(point.point.get(column.name))?;
    Some((point.point.number(row), point.point.number(column), point))
}

fn is_of_one_matrix(one: &PointResult, other: &PointResult) -> bool {
    let sides = |point: &PointResult| point.method().ok().and_then(|method| method.about().shown.matrix);
    let Some((row, column)) = sides(one) else { return false };
    let rest = |point: &PointResult| point.point.without(row.name).without(column.name);
    one.experiment == other.experiment && rest(one) == rest(other)
}

/// The rows, which are the columns as well, in ascending order.
fn numbers(cells: &[MatrixCell]) -> Vec<u64> {
    let mut numbers: Vec<u64> = cells.iter().flat_map(|(row, column, _)| [*row, *column]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn figure(cells: &[MatrixCell]) -> DrawnFigure {
    let point = cells[0].2;
    let numbers = numbers(cells);
    let side = (SIDE / numbers.len() as f64).min(44.0);
    let length = side * numbers.len() as f64;
    let of_cell = |(row, column, point): &MatrixCell| Some(((*row, *column), mark(point)?));
    let marks: Vec<((u64, u64), Mark)> = cells.iter().filter_map(of_cell).collect();
    let values: Vec<f64> = marks.iter().map(|(_, mark)| mark.value).collect();
    // The coverage of a cell is a position on an axis, which is logarithmic if the values are far apart.
    let cover = Axis::of_values(&values, point.unit, PALEST, 1.0);
    let mut drawing = Drawing::new(TOP + length + 16.0);
    for ((row, column), mark) in &marks {
        let place = |number: u64| numbers.partition_point(|other| *other < number) as f64 * side;
        drawing.titled(&mark.words, |drawing| {
            for (row, column) in [(*row, *column), (*column, *row)] {
                let at = (LEFT + place(column), TOP + place(row));
                drawing.cell(at, side - 1.0, cover.place(mark.value).clamp(PALEST, 1.0));
            }
        });
    }
    labels(&mut drawing, &numbers, side);
    shades(&mut drawing, &cover, point.unit);
    let caption = format!(
        "{} of every measured pair: the darker, the greater. Both halves show the same pairs; cells without colour \
         were not measured.",
        quantity(point.unit)
    );
    let name = format!("{}: {} by pair", point.experiment, words::quantity(point.unit));
    let words: Vec<&str> = marks.iter().map(|(_, mark)| mark.words.as_str()).collect();
    DrawnFigure::of(caption, point.unit, drawing.finish(&name, &words.join("; ")), &cover)
}

fn labels(drawing: &mut Drawing, numbers: &[u64], side: f64) {
    for (index, number) in numbers.iter().enumerate().step_by(numbers.len().div_ceil(LABELLED)) {
        let middle = (index as f64 + 0.5) * side;
        drawing.text("tick", "end", (LEFT - 6.0, TOP + middle + 4.0), &number.to_string());
        drawing.text("tick", "middle", (LEFT + middle, TOP - 6.0), &number.to_string());
    }
}

fn shades(drawing: &mut Drawing, cover: &Axis, unit: Unit) {
    let left = WIDTH - 120.0;
    for (index, tick) in cover.ticks(6).into_iter().enumerate() {
        let y = TOP + index as f64 * 22.0;
        drawing.cell((left, y), 16.0, cover.place(tick).clamp(PALEST, 1.0));
        drawing.text("tick", "start", (left + 24.0, y + 12.0), &quantities::tick(unit, tick));
    }
}
