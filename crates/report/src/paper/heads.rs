//! A unit that all figures of a column share stands in the column's head, once.

use super::table::{Align, Table};
use super::text::{Piece, Text};

impl Table {
    /// The table with the unit of a column in its head where every figure of the column has the same.
    #[must_use]
    pub(super) fn with_units_in_heads(mut self) -> Self {
        for place in 1..self.columns.len() {
            let column = &self.columns[place];
            if column.unit.is_some() || column.align != Align::Numbers {
                continue;
            }
            let Some(unit) = self.shared_unit(place) else { continue };
            for row in self.groups.iter_mut().flat_map(|group| &mut group.rows) {
                if let Some(cell) = row.cells.get_mut(place) {
                    drop_unit(cell, &unit);
                }
            }
            self.columns[place].unit = Some(unit);
        }
        self
    }

    /// The unit of all figures of a column; `None` if they differ, or if a cell says more than a figure.
    fn shared_unit(&self, place: usize) -> Option<String> {
        let rows = self.groups.iter().flat_map(|group| &group.rows);
        let mut figures = rows.filter_map(|row| row.cells.get(place)).filter(|cell| has_digits(cell));
        let unit = unit_of(figures.next()?)?.to_owned();
        // One figure among rows without one is no column of its unit.
        let is_alone = figures.clone().next().is_none()
            && self.groups.iter().map(|group| group.rows.len()).sum::<usize>() > 1;
        (!is_alone && figures.all(|cell| unit_of(cell) == Some(&unit))).then_some(unit)
    }
}

fn has_digits(cell: &Text) -> bool {
    cell.words().contains(|letter: char| letter.is_ascii_digit())
}

/// The words of a piece that may end a figure.
fn of_figure(piece: &Piece) -> Option<&str> {
    match piece {
        Piece::Plain(words) | Piece::Strong(words) | Piece::Toned(_, words) if !words.trim().is_empty() => {
            Some(words)
        }
        _ => None,
    }
}

/// The unit of a cell that holds a figure, with its interval in brackets behind or without, or an interval, or several of either, and one
/// unit for all of them.
fn unit_of(cell: &Text) -> Option<&str> {
    let (last, _) = before_interval(cell.pieces().iter().rev().find_map(of_figure)?);
    let (_, unit) = last.rsplit_once(SPACES)?;
    let is_unit =
        !unit.is_empty() && unit.chars().all(|letter| letter.is_alphabetic() || "/%²".contains(letter));
    let all = cell.words();
    let (all, _) = before_interval(&all);
    let numbers = all.strip_suffix(unit)?.replace(" or ", " ").replace(" to ", " ");
    (is_unit && !numbers.trim().is_empty() && of_numbers(&numbers)).then_some(unit)
}

/// The words before an interval in brackets at their end, and that interval, which is empty if there is none.
fn before_interval(words: &str) -> (&str, &str) {
    let words = words.trim_end();
    let begin = words.ends_with(')').then(|| words.rfind('(')).flatten();
    let begin = begin.filter(|begin| of_numbers(&words[*begin..])).unwrap_or(words.len());
    let figure = words[..begin].trim_end_matches(SPACES);
    (figure, &words[figure.len()..])
}

fn of_numbers(words: &str) -> bool {
    words.chars().all(|letter| letter.is_ascii_digit() || SIGNS.contains(letter))
}

/// What stands between a number and its unit.
const SPACES: [char; 3] = [' ', '\u{a0}', '\u{202f}'];

/// What else belongs to numbers and intervals.
const SIGNS: &str = " \u{a0}\u{202f}\u{2009}.,–−-+±<>≈()";

/// The cell without its unit.
fn drop_unit(cell: &mut Text, unit: &str) {
    if unit_of(cell) != Some(unit) {
        return;
    }
    let last = cell.pieces_mut().iter_mut().rev().find(|piece| of_figure(piece).is_some());
    if let Some(Piece::Plain(words) | Piece::Strong(words) | Piece::Toned(_, words)) = last {
        let (figure, interval) = before_interval(words);
        let number = figure.strip_suffix(unit).unwrap_or(figure).trim_end_matches(SPACES);
        *words = format!("{number}{interval}");
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::{Column, Row};
    use super::super::text::{Key, Tone};
    use super::*;

    fn column(cells: &[Text]) -> (Option<String>, Vec<String>) {
        let columns = [Column::words("operation"), Column::mixed("median")];
        let rows = cells.iter().map(|cell| Row::of([Text::plain("call"), cell.clone()]));
        let table = Table::new(Key::of("costs"), "Costs.").columns(columns).rows(rows).with_units_in_heads();
        let cells = table.groups[0].rows.iter().map(|row| row.cells[1].words()).collect();
        (table.columns[1].unit.clone(), cells)
    }

    #[test]
    fn a_unit_that_a_column_shares_stands_in_its_head() {
        let text = Text::plain;
        let shared = [text("4.48 ns"), text("–"), text("4.69 or 7.13 ns"), text("3–5 ns").noted("wide")];
        let (unit, cells) = column(&shared);
        assert_eq!(unit.as_deref(), Some("ns"));
        assert_eq!(cells, ["4.48", "–", "4.69 or 7.13", "3–5"]);
        let (unit, cells) = column(&[text("20.3 ns (15.4–25.2)"), text("7.1 ns")]);
        assert_eq!(
            (unit.as_deref(), cells),
            (Some("ns"), vec!["20.3 (15.4–25.2)".to_owned(), "7.1".to_owned()])
        );
        let toned = [Text::toned(Tone::Faint, "10.0 %"), text("3 %")];
        assert_eq!(column(&toned), (Some("%".to_owned()), vec!["10.0".to_owned(), "3".to_owned()]));
    }

    #[test]
    fn what_differs_or_says_more_stays_as_it_is() {
        let text = Text::plain;
        for cells in [
            vec![text("4.48 ns"), text("1.2 µs")],
            vec![text("4.48 ns"), text("7")],
            vec![text("4.48 ns"), text("2 of 3 ns")],
            vec![text("1 ns and 2 ns")],
            vec![text("20.3 ns (at most)")],
            vec![text("–")],
            vec![text("below resolution")],
        ] {
            let words: Vec<String> = cells.iter().map(Text::words).collect();
            assert_eq!(column(&cells), (None, words));
        }
    }
}
