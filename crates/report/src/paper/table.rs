//! Tables: columns with their units, rows in groups.

use super::text::Key;
use super::text::{Text, Tone};

#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub key: Key,
    /// The content of the table, without its number.
    pub caption: Text,
    /// The columns, from left to right.
    pub columns: Vec<Column>,
    /// The groups of rows, from top to bottom.
    pub groups: Vec<Group>,
    /// Whether the page offers a search, for readers who want only some of the rows.
    pub searched: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name of its content, without the unit.
    pub head: Text,
    /// The unit of its numbers, as printed after the head.
    pub unit: Option<String>,
    pub align: Align,
    /// Whether a narrow page may omit it, because its content is elsewhere too.
    pub optional: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Words,
    Numbers,
    Signs,
}

/// Rows that belong together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// Their name, across all columns; may be empty.
    pub head: Text,
    pub rows: Vec<Row>,
}

/// A row: as many cells as there are columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The cells from left to right; the first is the row's head.
    pub cells: Vec<Text>,
    /// Its emphasis among the others.
    pub weight: Weight,
}

/// The emphasis of a row among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// An ordinary row.
    Usual,
    /// A sum of other rows.
    Sum,
    /// Less important: an unknown value.
    Faint,
}

impl Table {
    pub fn new(key: Key, caption: impl Into<Text>) -> Self {
        Table { key, caption: caption.into(), columns: vec![], groups: vec![], searched: false }
    }

    #[must_use]
    pub fn columns(mut self, columns: impl IntoIterator<Item = Column>) -> Self {
        self.columns.extend(columns);
        self
    }

    #[must_use]
    pub fn rows(mut self, rows: impl IntoIterator<Item = Row>) -> Self {
        self.groups.push(Group { head: Text::default(), rows: rows.into_iter().collect() });
        self
    }

    /// The table with another group of rows.
    #[must_use]
    pub fn group(mut self, group: Group) -> Self {
        self.groups.push(group);
        self
    }

    /// The table without the optional columns that say the same in every row: that there is nothing.
    #[must_use]
    pub fn without_columns_of(self, nothing: &str) -> Self {
        self.without(nothing, |column| column.optional)
    }

    /// The table without any column that says the same in every row: that there is nothing.
    #[must_use]
    pub fn without_empty_columns(self, nothing: &str) -> Self {
        self.without(nothing, |_| true)
    }

    /// The table without those of the columns for which `may_go` holds and that say nothing in every row.
    fn without(mut self, nothing: &str, may_go: fn(&Column) -> bool) -> Self {
        let nothing = [Text::plain(nothing), Text::toned(Tone::Faint, nothing)];
        let says = |place: usize| {
            let mut rows = self.groups.iter().flat_map(|group| &group.rows);
            rows.any(|row| row.cells.get(place).is_none_or(|cell| !nothing.contains(cell)))
        };
        let stays: Vec<bool> =
            self.columns.iter().enumerate().map(|(place, column)| !may_go(column) || says(place)).collect();
        retain(&mut self.columns, &stays);
        for row in self.groups.iter_mut().flat_map(|group| &mut group.rows) {
            retain(&mut row.cells, &stays);
        }
        self
    }

    /// Every cell, row by row.
    pub fn cells(&self) -> impl Iterator<Item = &Text> {
        self.groups.iter().flat_map(|group| {
            std::iter::once(&group.head).chain(group.rows.iter().flat_map(|row| &row.cells))
        })
    }
}

fn retain<T>(all: &mut Vec<T>, stays: &[bool]) {
    let mut stays = stays.iter();
    all.retain(|_| stays.next() != Some(&false));
}

impl Column {
    pub fn words(head: impl Into<Text>) -> Self {
        Column { head: head.into(), unit: None, align: Align::Words, optional: false }
    }

    pub fn number(head: impl Into<Text>, unit: impl Into<String>) -> Self {
        Column { head: head.into(), unit: Some(unit.into()), align: Align::Numbers, optional: false }
    }

    /// A column of figures, each with its unit.
    pub fn mixed(head: impl Into<Text>) -> Self {
        Column::ratio(head)
    }

    pub fn ratio(head: impl Into<Text>) -> Self {
        Column { unit: None, align: Align::Numbers, ..Column::words(head) }
    }

    /// A column of counts of things, which the head names.
    pub fn count(head: impl Into<Text>) -> Self {
        Column::ratio(head)
    }

    pub fn signs(head: impl Into<Text>) -> Self {
        Column { align: Align::Signs, ..Column::words(head) }
    }

    /// The column marked as one that a narrow page may omit.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// The head followed by the unit.
    pub fn title(&self) -> Text {
        match &self.unit {
            Some(unit) => self.head.clone().and(format!(" ({unit})")),
            None => self.head.clone(),
        }
    }
}

impl Group {
    /// A group without rows.
    pub fn named(head: impl Into<Text>) -> Self {
        Group { head: head.into(), rows: vec![] }
    }

    #[must_use]
    pub fn row(mut self, row: Row) -> Self {
        self.rows.push(row);
        self
    }

    #[must_use]
    pub fn rows(mut self, rows: impl IntoIterator<Item = Row>) -> Self {
        self.rows.extend(rows);
        self
    }
}

impl Row {
    pub fn of<T: Into<Text>>(cells: impl IntoIterator<Item = T>) -> Self {
        Row { cells: cells.into_iter().map(Into::into).collect(), weight: Weight::Usual }
    }

    #[must_use]
    pub(crate) fn weighing(mut self, weight: Weight) -> Self {
        self.weight = weight;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optional_column_goes_where_no_row_says_anything_in_it() {
        let table = |cycles: &str| {
            let columns =
                [Column::words("operation"), Column::ratio("cycles").optional(), Column::ratio("shared")];
            let rows = [Row::of(["call", "–", "–"]), Row::of(["switch", cycles, "–"])];
            Table::new(Key::of("costs"), "Costs.").columns(columns).rows(rows).without_columns_of("–")
        };
        assert_eq!(table("7").columns.len(), 3);
        let without = table("–");
        assert_eq!(without.columns.len(), 2, "a column that is not optional stays");
        assert_eq!(without.groups[0].rows[1], Row::of(["switch", "–"]));
        assert_eq!(table("7").without_empty_columns("–").columns.len(), 2, "any column may go");
    }
}
