//! Tables: wide ones scroll sideways, also by keyboard.

use super::Page;
use crate::paper::numbers::TableNotes;
use crate::paper::{Align, Column, Group, Row, Table, Weight};

/// A table with at most this number of rows is printed on one page.
const FEW: usize = 12;

/// The most rows that a narrow page shows as blocks.
const MOST_STACKED: usize = 24;

impl Page<'_> {
    pub(super) fn table(&mut self, table: &Table) {
        let number = &self.numbers.number(&table.key).to_string();
        let notes = TableNotes::of(table);
        self.out
            .raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table ")
            .text(number)
            .raw("\">\n");
        self.out.raw("<table id=\"table-").text(number).raw(match (table.searched, has_numbers(table)) {
            (true, _) => "\" class=\"figures searched\">\n",
            (_, true) if is_stacked(table) && rows(table) <= FEW => "\" class=\"figures few stacked\">\n",
            (_, true) if is_stacked(table) => "\" class=\"figures stacked\">\n",
            (_, true) => "\" class=\"figures\">\n",
            (_, false) => "\" class=\"facts\">\n",
        });
        self.out.raw("<caption><b>Table ").text(number).raw(".</b> ");
        self.phrase(&table.caption);
        self.out.raw("</caption>\n<thead><tr>");
        for column in &table.columns {
            self.out.raw("<th scope=\"col\"").raw(class(column)).raw(">");
            self.cell(&column.title(), &notes, number);
            self.out.raw("</th>");
        }
        self.out.raw("</tr></thead>\n");
        for group in &table.groups {
            self.group(group, table, &notes, number);
        }
        self.out.raw("</table>\n</div>\n");
        self.table_notes(&notes, number);
    }

    fn group(&mut self, group: &Group, table: &Table, notes: &TableNotes, number: &str) {
        self.out.raw("<tbody>\n");
        if !group.head.is_empty() {
            self.out
                .raw("<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"")
                .number(table.columns.len())
                .raw("\">");
            self.cell(&group.head, notes, number);
            self.out.raw("</th></tr>\n");
        }
        for (place, row) in group.rows.iter().enumerate() {
            // Where rows beside each other begin with the same words, the next cell is a part of their names.
            let neighbours = [place.wrapping_sub(1), place + 1].map(|place| group.rows.get(place));
            let is_ambiguous =
                neighbours.iter().flatten().any(|other| other.cells.first() == row.cells.first());
            self.row(row, table, notes, number, if is_ambiguous { 2 } else { 1 });
        }
        self.out.raw("</tbody>\n");
    }

    /// Writes a row, of which so many cells are its name.
    fn row(&mut self, row: &Row, table: &Table, notes: &TableNotes, number: &str, names: usize) {
        self.out.raw(match row.weight {
            Weight::Usual => "<tr>",
            Weight::Sum => "<tr class=\"sum\">",
            Weight::Faint => "<tr class=\"unknown\">",
        });
        for (place, (cell, column)) in row.cells.iter().zip(&table.columns).enumerate() {
            // A row that goes on with the one above has no name of its own, and a reader would hear an empty header.
            let is_name = place == 0 || (place < names && column.align == Align::Words);
            let (open, close) =
                if is_name && !cell.is_empty() { ("<th scope=\"row\"", "</th>") } else { ("<td", "</td>") };
            self.out.raw(open).raw(class(column));
            // The first two say what the row is of.
            if is_stacked(table) && (column.align != Align::Words || place > 1) && !cell.is_empty() {
                self.out.raw(" data-head=\"").text(&column.title().words()).raw("\"");
            }
            self.out.raw(">");
            self.cell(cell, notes, number);
            self.out.raw(close);
        }
        self.out.raw("</tr>\n");
    }

    fn table_notes(&mut self, notes: &TableNotes, number: &str) {
        let mut any = false;
        for (letter, note) in notes.all() {
            self.out.raw(if any { "" } else { "<ol class=\"notes\">\n" });
            any = true;
            self.out
                .raw("<li id=\"tablenote-")
                .text(number)
                .raw("-")
                .text(&letter)
                .raw("\"><sup>")
                .text(&letter)
                .raw("</sup> ");
            self.phrase(note);
            self.out.raw("</li>\n");
        }
        self.out.raw(if any { "</ol>\n" } else { "" });
    }
}

/// Whether a narrow page shows each row as a block with the heads of its columns: only short tables, because every cell then
/// names its head.
fn is_stacked(table: &Table) -> bool {
    has_numbers(table) && rows(table) <= MOST_STACKED
}

fn rows(table: &Table) -> usize {
    table.groups.iter().map(|group| group.rows.len()).sum()
}

fn has_numbers(table: &Table) -> bool {
    table.columns.iter().any(|column| column.align == Align::Numbers)
}

fn class(column: &Column) -> &'static str {
    match (column.align, column.optional) {
        (Align::Words, false) => "",
        (Align::Words, true) => " class=\"optional\"",
        (Align::Numbers, false) => " class=\"n\"",
        (Align::Numbers, true) => " class=\"n optional\"",
        (Align::Signs, false) => " class=\"m\"",
        (Align::Signs, true) => " class=\"m optional\"",
    }
}
