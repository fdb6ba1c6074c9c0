//! The main figures as a table.

use crate::main_figures::{FigureSource, Ranked, WrittenFigure};
use crate::paper::Sign;
use crate::text::{Style, clean, clipped_to, display_width, distinct_names};
use crate::usual::UsualFigures;
use crate::words::ABSENT;
use crate::{cpu_distance, denied, main_figures, occupancy, states};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use fathom_core::quantities;
use fathom_engine::results::Results;

/// The places of the columns.
const NAME: usize = 0;
const SHARED: usize = 2;
const USUAL: usize = 4;
const CHECK: usize = 5;

/// The width from which the check has a column; below it, its mark stands before the name.
const WIDE: usize = 96;

/// The head of the names.
const HEAD: &str = "Main figures";

/// Spaces between two columns.
const GAP: usize = 2;

/// The lines of the legend on a narrow terminal, where it has most to say.
const MOST_OF_LEGEND: usize = 5;

/// Marks a value that is of both states of the core.
const OF_BOTH: &str = "*";

/// The table, with a line for each word that needs it.
pub(super) fn text(shown: &[Ranked], usual: &UsualFigures, results: &Results, style: Style) -> String {
    if shown.is_empty() {
        return style.title("No point has a value.") + "\n";
    }
    let (usual_head, of_usual) = usual.column(shown.iter().map(|figure| &figure.main.source));
    let at_one_distance = distance(shown);
    let with_usual = |(figure, usual)| cells(figure, usual, at_one_distance.is_none());
    let rows: Vec<[String; 6]> = shown.iter().zip(of_usual).map(with_usual).collect();
    let head = [HEAD, "median", "shared", "±", &usual_head, "check"];
    let legend = legend((shown, at_one_distance), usual, results, style.width);
    let legend = if legend.is_empty() { legend } else { clipped_to(MOST_OF_LEGEND, "  ", &legend, style) };
    table(&head.map(str::to_owned), rows, style) + &legend
}

fn table(head: &[String; 6], rows: Vec<[String; 6]>, style: Style) -> String {
    let columns = &columns(&rows, style.width);
    let room = room(head, &rows, columns, style.width);
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.add_row(chosen(head, columns));
    let names: Vec<String> = rows.iter().map(|row| row[NAME].clone()).collect();
    let names = distinct_names(&names, room.saturating_sub(GAP));
    for (mut row, name) in rows.into_iter().zip(names) {
        let mark = if style.width < WIDE { row[CHECK].as_str() } else { " " };
        row[NAME] = format!("{mark} {name}");
        table.add_row(chosen(&row, columns));
    }
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if place + 1 == columns.len() { 0 } else { GAP as u16 }));
        let is_words = [NAME, USUAL].contains(&columns[place]);
        column.set_cell_alignment(if is_words { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.lines().map(|line| painted(line.trim_end(), style) + "\n").collect()
}

/// The columns that fit; without those of the core shared and of what is usual where no figure has such a value.
fn columns(rows: &[[String; 6]], width: usize) -> Vec<usize> {
    let is_empty = |column: usize| rows.iter().all(|row| row[column] == ABSENT);
    let fits = |column: &usize| match *column {
        SHARED | USUAL => !is_empty(*column),
        CHECK => width >= WIDE,
        _ => true,
    };
    (0..=CHECK).filter(fits).collect()
}

fn chosen(cells: &[String; 6], columns: &[usize]) -> Vec<String> {
    columns.iter().map(|column| cells[*column].clone()).collect()
}

/// The width for the words, after that of the numbers.
fn room(head: &[String; 6], rows: &[[String; 6]], columns: &[usize], width: usize) -> usize {
    let widest = |column: &usize| {
        let cells = rows.iter().chain([head]).map(|row| display_width(&row[*column]));
        cells.max().unwrap_or(0) + GAP
    };
    width.saturating_sub(columns.iter().skip(1).map(widest).sum::<usize>()).max(GAP)
}

/// The cells of a figure; its name has the distance of its CPUs if the legend does not say it of all.
fn cells(figure: &Ranked, usual: String, names_distance: bool) -> [String; 6] {
    let name = clean(&figure.main.label_beside_states(names_distance));
    let WrittenFigure { median, evidence, .. } = figure.main.written();
    let (median, shared) = match figure.main.shared() {
        of if of == occupancy::MIXTURE => (format!("{median}{OF_BOTH}"), ABSENT.to_owned()),
        // The core was too rarely alone.
        _ if figure.main.is_of_shared_core() => (ABSENT.to_owned(), median),
        shared => (median, shared),
    };
    let reaches: Vec<String> =
        figure.main.reaches().into_iter().map(|of| of.map_or(ABSENT.to_owned(), width)).collect();
    let reach =
        if reaches.iter().all(|one| one == ABSENT) { ABSENT.to_owned() } else { reaches.join(" or ") };
    let denied = figure.main.point().map(denied::mark).unwrap_or_default();
    let mark = evidence.map_or(ABSENT, Sign::mark).to_owned() + &denied;
    [name, median, shared, reach, usual, mark]
}

/// How far the farther end of an interval is from its value. Beyond the value itself a share says nothing.
fn width(share: f64) -> String {
    if share > 1.0 { "> ±100 %".to_owned() } else { quantities::plus_minus(share) }
}

/// What the heads of the columns mean, as far as it is needed.
fn legend(
    (shown, distance): (&[Ranked], Option<String>),
    usual: &UsualFigures,
    results: &Results,
    width: usize,
) -> String {
    let core = results.core_shared.as_ref().filter(|core| core.levels.shared.is_some());
    let has_states = shown.iter().any(Ranked::has_core_state);
    let is_shared = |figure: &Ranked| {
        let shared = figure.main.shared();
        figure.main.is_of_shared_core() || (shared != ABSENT && shared != occupancy::MIXTURE)
    };
    let has_shared = shown.iter().any(is_shared);
    let share = core.filter(|_| has_states).map(|core| {
        let share = quantities::percent(core.share);
        if has_shared {
            of_shared(&share)
        } else {
            format!("medians of short work: without another hardware thread on the core, which was there {share} of the time")
        }
    });
    let both = shown.iter().any(|figure| figure.main.shared() == occupancy::MIXTURE);
    let both = both.then(|| format!("{OF_BOTH} of both"));
    let several = shown.iter().any(Ranked::has_states).then(|| states::LEGEND.to_owned());
    let frequency = frequency(shown);
    let is_usual = shown.iter().any(|figure| usual.of_source(&figure.main.source).is_some());
    let head = usual.column(shown.iter().map(|figure| &figure.main.source)).0;
    let usual = usual.legend().filter(|_| is_usual).map(|words| format!("{head}: {words}"));
    let checked = (width < WIDE).then(|| {
        format!("{}, {}: the check of the operation passed, failed", Sign::Holds.mark(), Sign::Fails.mark())
    });
    let alike = main_figures::legend_of_alike(shown.iter().map(|figure| &figure.main));
    let alike =
        alike.map(|_| "or n others: not shown to be worse than the first, which has the value".to_owned());
    let denied = denied::in_short(shown.iter().filter_map(|figure| figure.main.point()));
    let denied = denied.filter(|_| width >= WIDE);
    let all = [checked, denied, share, frequency, distance, both, several, alike, usual];
    all.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The columns of short work, of which another hardware thread shared the core for this share of the time.
fn of_shared(share: &str) -> String {
    format!(
        "shared: short work while another hardware thread used its core ({share} of the time), median: while none did; ±: of the median, else of shared"
    )
}

/// The distance at which all work on two CPUs was, of a host that moved them; `None` if it was at several, or never moved.
fn distance(shown: &[Ranked]) -> Option<String> {
    let mut lines: Vec<String> =
        shown.iter().filter_map(|figure| cpu_distance::of_figure(figure.main.point()?)).collect();
    lines.dedup();
    let [line] = lines.as_slice() else { return None };
    Some(format!("work on two CPUs: a cache line took {line} between them"))
}

/// The frequency of the core that figures are of which follow it; `None` where none was moved to it.
fn frequency(shown: &[Ranked]) -> Option<String> {
    let moved = shown.iter().find_map(|figure| match figure.main.source {
        FigureSource::Point(point) => point.at_frequency.as_ref(),
        FigureSource::Slope(_) => None,
    })?;
    Some(format!("what follows the core's frequency is at {}", quantities::frequency(moved.usual)))
}

/// Colours a finished line: column widths are those of the plain text.
fn painted(line: &str, style: Style) -> String {
    if line.starts_with(HEAD) {
        return style.title(line);
    }
    line.replace('✓', &style.good("✓")).replace('✗', &style.bad("✗"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "± is of the first that a row has" did not say of what.
    #[test]
    fn the_legend_says_of_which_column_the_reach_is() {
        let said = of_shared("85.9 %");
        assert!(said.contains("used its core (85.9 % of the time), median: while none did"), "{said}");
        assert!(said.ends_with("±: of the median, else of shared"), "{said}");
    }
}
