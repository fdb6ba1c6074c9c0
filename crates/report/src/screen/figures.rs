//! The main figures as a table.

use crate::main_figures::{Ranked, WrittenFigure};
use crate::occupancy;
use crate::paper::Sign;
use crate::states;
use crate::summary::ABSENT;
use crate::text::{Style, clean, clipped, cut, display_width};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

const HEAD: [&str; 6] = ["Main figures", "median", "95 % interval", "shared", "× pred.", "check"];

/// The place of the column of the core shared.
const SHARED: usize = 3;

/// The width from which measured over predicted has a column.
const WIDE: usize = 96;

/// Spaces between two columns.
const GAP: usize = 2;

/// The table, with a line with the number of further figures.
pub(super) fn text(shown: &[Ranked], more: usize, style: Style) -> String {
    if shown.is_empty() {
        return style.title("No point has a value.") + "\n";
    }
    let mixed = shown.iter().any(|figure| figure.main.shared() == occupancy::MIXTURE);
    let clauses = [
        (shown.iter().any(Ranked::has_core_state), "medians are of the core alone where that is known"),
        (mixed, "mixture: of both states"),
        (more > 0, &format!("{more} more with --full")),
    ];
    let clauses: Vec<&str> =
        clauses.into_iter().filter_map(|(is_so, clause)| is_so.then_some(clause)).collect();
    let legend = if clauses.is_empty() { String::new() } else { clipped("  ", &clauses.join("; "), style) };
    let states = if shown.iter().any(Ranked::has_states) {
        clipped("  ", states::LEGEND, style)
    } else {
        String::new()
    };
    table(shown, style) + &states + &legend
}

fn table(all: &[Ranked], style: Style) -> String {
    let rows: Vec<[String; 6]> = all.iter().map(cells).collect();
    let columns = &columns(&rows, style.width);
    let room = room(&rows, columns, style.width);
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.add_row(chosen(&HEAD.map(str::to_owned), columns));
    let mut before = None;
    for (figure, mut row) in all.iter().zip(rows) {
        let family = figure.family();
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

/// The columns that fit; without that of the core shared where no figure has such a value.
fn columns(rows: &[[String; 6]], width: usize) -> Vec<usize> {
    let mut columns: Vec<usize> = if width >= WIDE { vec![0, 1, 2, 3, 4, 5] } else { vec![0, 1, 2, 3, 5] };
    if rows.iter().all(|row| row[SHARED] == ABSENT) {
        columns.retain(|column| *column != SHARED);
    }
    columns
}

fn chosen(cells: &[String; 6], columns: &[usize]) -> Vec<String> {
    columns.iter().map(|column| cells[*column].clone()).collect()
}

/// The width for the words, after that of the numbers.
fn room(rows: &[[String; 6]], columns: &[usize], width: usize) -> usize {
    let widest = |column: &usize| {
        let cells = rows.iter().map(|row| display_width(&row[*column]));
        cells.chain([display_width(HEAD[*column])]).max().unwrap_or(0) + GAP
    };
    width.saturating_sub(columns.iter().skip(1).map(widest).sum::<usize>()).max(GAP)
}

fn cells(figure: &Ranked) -> [String; 6] {
    let short = figure.experiment.split_once('/').map_or(figure.experiment, |(_, short)| short);
    let words = clean(&format!("{short}: {}", figure.main.short_label()));
    let WrittenFigure { median, interval, factor, evidence } = figure.main.written();
    let mark = evidence.map_or(ABSENT, Sign::mark).to_owned();
    [words, median, interval, figure.main.shared(), factor, mark]
}

/// Colours a finished line: column widths are those of the plain text.
fn painted(line: &str, style: Style) -> String {
    // The head and the names of families are not indented; the words of a figure are.
    if !line.starts_with(' ') {
        return style.title(line);
    }
    line.replace('✓', &style.good("✓")).replace('✗', &style.bad("✗"))
}
