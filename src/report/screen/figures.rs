//! The main figures as a table: as many as there is room for, those by which a machine is told before all others.

use super::clipped::cut;
use crate::report::main_figures::{self, Main, Source};
use crate::report::quantities::{self, Measure};
use crate::report::summary::ABSENT;
use crate::report::text::{Style, clean, display_width};
use crate::report::words;
use crate::results::{Outcome, PointResult, Results, TrendResult};
use comfy_table::{CellAlignment, ContentArrangement, Table, TableStyle};

const HEAD: [&str; 6] = ["Main figures", "median", "95 % interval", "±", "meas./pred.", "evid."];

/// From this width on the half-widths have a column of their own.
const WIDE: usize = 96;

/// Half-widths below this share are not told apart.
const NARROW: f64 = 0.001;

/// Columns between two columns.
const GAP: usize = 2;

/// The title, and the line that says how many there was no room for.
const BESIDES: usize = 2;

/// A figure with the experiment that it is of, and its place among the experiment's own.
struct Ranked<'run> {
    experiment: &'run str,
    rank: usize,
    main: Main<'run>,
}

/// The table in at most so many lines.
pub(super) fn text(results: &Results, room: usize, style: Style) -> String {
    let mut all = ranked(results);
    let found = all.len();
    if found == 0 {
        return style.title("No point has a value.") + "\n";
    }
    keep(&mut all, room.saturating_sub(BESIDES));
    let left = found - all.len();
    let more = if left == 0 { String::new() } else { format!("  and {left} more with --full\n") };
    table(&all, style) + &more
}

fn ranked<'run>(results: &'run Results) -> Vec<Ranked<'run>> {
    let of = |experiment: &'run str| {
        let figures = main_figures::of(results, experiment).into_iter().enumerate();
        figures.map(move |(rank, main)| Ranked { experiment, rank, main })
    };
    // The names are those of the points, which live as long as the results.
    let mut names: Vec<&str> = results.points.iter().map(|point| point.experiment.as_str()).collect();
    names.dedup();
    names.into_iter().flat_map(of).collect()
}

/// Takes figures away until what is left fits with a line for each family: those that do not lead before those that do, the last ranks
/// first, and within a rank from the family that has most.
fn keep(all: &mut Vec<Ranked>, room: usize) {
    while all.len() + families(all) > room {
        let of_family =
            |name: &str| all.iter().filter(|other| family(other.experiment) == family(name)).count();
        let last = all.iter().enumerate().max_by_key(|(place, figure)| {
            (!figure.main.leads, figure.rank, of_family(figure.experiment), *place)
        });
        let Some((place, _)) = last else { return };
        all.remove(place);
    }
}

fn families(all: &[Ranked]) -> usize {
    let mut names: Vec<&str> = all.iter().map(|figure| family(figure.experiment)).collect();
    names.dedup();
    names.len()
}

fn family(experiment: &str) -> &str {
    experiment.split('/').next().unwrap_or_default()
}

fn table(all: &[Ranked], style: Style) -> String {
    let columns: &[usize] = if style.width >= WIDE { &[0, 1, 2, 3, 4, 5] } else { &[0, 1, 2, 4, 5] };
    let rows: Vec<[String; 6]> = all.iter().map(cells).collect();
    let room = room(&rows, columns, style.width);
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Disabled);
    table.add_row(chosen(&HEAD.map(str::to_owned), columns));
    let mut before = None;
    for (figure, mut row) in all.iter().zip(rows) {
        let family = family(figure.experiment);
        if before.replace(family) != Some(family) {
            table.add_row([cut(&clean(family), room)]);
        }
        row[0] = format!("  {}", cut(&row[0], room.saturating_sub(GAP)));
        table.add_row(chosen(&row, columns));
    }
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if place + 1 == columns.len() { 0 } else { GAP as u16 }));
        column.set_cell_alignment(if place == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.lines().map(|line| painted(line.trim_end(), style) + "\n").collect()
}

fn chosen(cells: &[String; 6], columns: &[usize]) -> Vec<String> {
    columns.iter().map(|column| cells[*column].clone()).collect()
}

/// What the numbers leave of the width for the words.
fn room(rows: &[[String; 6]], columns: &[usize], width: usize) -> usize {
    let widest = |column: &usize| {
        let cells = rows.iter().map(|row| display_width(&row[*column]));
        cells.chain([display_width(HEAD[*column])]).max().unwrap_or(0) + GAP
    };
    width.saturating_sub(columns.iter().skip(1).map(widest).sum::<usize>()).max(GAP)
}

fn cells(figure: &Ranked) -> [String; 6] {
    let short = figure.experiment.split_once('/').map_or(figure.experiment, |(_, short)| short);
    let words = clean(&format!("{short}: {}", figure.main.words));
    match figure.main.source {
        Source::Point(point) => of_point(words, point),
        Source::Slope(trend) => of_slope(words, trend),
    }
}

fn of_point(words: String, point: &PointResult) -> [String; 6] {
    let factor = point.factor().map(quantities::factor);
    let evidence = words::evidence_mark(point).to_owned();
    let [median, interval, width] = match &point.outcome {
        Outcome::Value(found) => {
            numbers(Measure::of(point.unit, found.value), found.value, quantities::ends(found))
        }
        Outcome::BelowResolution { below, .. } => {
            [format!("< {}", quantities::value(point.unit, *below)), ABSENT.to_owned(), ABSENT.to_owned()]
        }
        _ => [ABSENT; 3].map(str::to_owned),
    };
    [words, median, interval, width, factor.unwrap_or(ABSENT.to_owned()), evidence]
}

fn of_slope(words: String, trend: &TrendResult) -> [String; 6] {
    let ends = trend.slope_interval().map(|interval| (interval.low, interval.high));
    let [slope, interval, width] = numbers(Measure::of(trend.unit, trend.slope()), trend.slope(), ends);
    [words, slope, interval, width, ABSENT.to_owned(), ABSENT.to_owned()]
}

/// A number with its unit, its interval in the same, and half of that as a share.
fn numbers(measure: Measure, value: f64, ends: Option<(f64, f64)>) -> [String; 3] {
    let half = ends.map(|(low, high)| (high - low) / 2.0 / value.abs()).filter(|half| half.is_finite());
    [
        format!("{} {}", measure.number(value, ends), measure.symbol),
        ends.map_or(ABSENT.to_owned(), |(low, high)| measure.range(value, low, high)),
        half.map_or(ABSENT.to_owned(), |half| {
            if half < NARROW {
                format!("< {}", quantities::percent(NARROW))
            } else {
                quantities::plus_minus(half)
            }
        }),
    ]
}

/// Colours a finished line: widths are those of the plain text.
fn painted(line: &str, style: Style) -> String {
    // The head and the names of families are not indented; the words of a figure are.
    if !line.starts_with(' ') {
        return style.title(line);
    }
    line.replace('✓', &style.good("✓")).replace('✗', &style.bad("✗"))
}
