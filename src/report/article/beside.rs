//! Published figures of other machines beside those of the run.

use super::place_of;
use crate::references::Beside;
use crate::report::beside::{self, Row as Compared};
use crate::report::paper::{Block, Column, Key, Row, Section, Table, Text};
use crate::results::Results;

/// The section; a table for each machine.
pub(super) fn of(found: &Results, rows: &[Beside]) -> Section {
    let tables = beside::tables(rows);
    let section = Section::new(Key::of("beside"), "Beside published figures");
    if tables.is_empty() {
        return section
            .say("None of the published figures that were asked for measures what this run has measured.");
    }
    let said = "A figure that is doubted has its doubt in a note, and one whose method differs says how. ";
    section.say(format!("{said}{}", beside::LEGEND)).with_all(
        tables.iter().enumerate().map(|(place, table)| Block::Table(of_machine(found, place, table))),
    )
}

fn of_machine(found: &Results, place: usize, compared: &beside::Table) -> Table {
    let columns = [
        Column::words("operation"),
        Column::mixed("here, median"),
        Column::mixed("95 % interval").spare(),
        Column::mixed("there"),
        Column::mixed("± standard deviation").spare(),
        Column::ratio("here / there"),
        Column::words("figure").spare(),
    ];
    Table::new(Key::numbered("beside", place + 1), format!("{}.", compared.title))
        .columns(columns)
        .rows(compared.rows.iter().map(|row| cells(found, row, &compared.notes)))
}

fn cells(found: &Results, row: &Compared, notes: &[String]) -> Row {
    let noted = |text: Text, note: Option<usize>| match note.and_then(|place| notes.get(place)) {
        Some(note) if !note.is_empty() => text.noted(Text::prose(note)),
        _ => text,
    };
    let operation = Text::link(&place_of(found, &row.experiment), &*row.experiment);
    Row::of([
        operation.and(format!(" {}", row.operation)),
        Text::plain(&*row.here),
        Text::plain(&*row.interval),
        noted(noted(Text::plain(&*row.there), Some(row.differs)), row.doubt),
        Text::plain(&*row.deviation),
        Text::plain(&*row.ratio),
        Text::code(row.figure),
    ])
}
