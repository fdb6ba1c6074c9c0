//! Tables: columns with their units, rows in groups.

use super::key::Key;
use super::text::Text;

/// A numbered table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What references call it.
    pub key: Key,
    /// What it shows, without its number.
    pub caption: Text,
    /// From left to right.
    pub columns: Vec<Column>,
    /// From top to bottom; at least one column wide.
    pub groups: Vec<Group>,
    /// Whether a reader may want only some of the rows.
    pub searched: bool,
}

/// A column with its head.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// What it has, without the unit.
    pub head: Text,
    /// The unit of its numbers, as it is written behind the head.
    pub unit: Option<String>,
    /// How its cells stand.
    pub align: Align,
    /// Whether a narrow screen may do without it: its content stands elsewhere too.
    pub spare: bool,
}

/// How the cells of a column stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words, from the left.
    Words,
    /// Numbers, to the right.
    Numbers,
    /// Signs, in the middle.
    Signs,
}

/// Rows that belong together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// What they are, across all columns; empty where that needs no saying.
    pub head: Text,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row: as many cells as there are columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// From left to right; the first is the row's head.
    pub cells: Vec<Text>,
    /// How it stands among the others.
    pub weight: Weight,
}

/// How a row stands among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// As one of them.
    Usual,
    /// Their sum.
    Sum,
    /// Less than they: what is unknown.
    Faint,
}

impl Table {
    /// An empty one.
    pub fn new(key: Key, caption: impl Into<Text>) -> Self {
        Table { key, caption: caption.into(), columns: vec![], groups: vec![], searched: false }
    }

    /// With these columns.
    #[must_use]
    pub fn columns(mut self, columns: impl IntoIterator<Item = Column>) -> Self {
        self.columns.extend(columns);
        self
    }

    /// With rows of no group.
    #[must_use]
    pub fn rows(mut self, rows: impl IntoIterator<Item = Row>) -> Self {
        self.groups.push(Group { head: Text::default(), rows: rows.into_iter().collect() });
        self
    }

    /// With a group of rows.
    #[must_use]
    pub fn group(mut self, group: Group) -> Self {
        self.groups.push(group);
        self
    }

    /// Every cell, from left to right and from top to bottom.
    pub fn cells(&self) -> impl Iterator<Item = &Text> {
        self.groups.iter().flat_map(|group| {
            std::iter::once(&group.head).chain(group.rows.iter().flat_map(|row| &row.cells))
        })
    }
}

impl Column {
    /// Of words.
    pub fn words(head: impl Into<Text>) -> Self {
        Column { head: head.into(), unit: None, align: Align::Words, spare: false }
    }

    /// Of numbers in one unit.
    pub fn number(head: impl Into<Text>, unit: impl Into<String>) -> Self {
        Column { head: head.into(), unit: Some(unit.into()), align: Align::Numbers, spare: false }
    }

    /// Of figures each of which has its unit beside it.
    pub fn mixed(head: impl Into<Text>) -> Self {
        Column::number(head, "unit in cell")
    }

    /// Of one value over another.
    pub fn ratio(head: impl Into<Text>) -> Self {
        Column { unit: None, align: Align::Numbers, ..Column::words(head) }
    }

    /// Of numbers of things, which the head names.
    pub fn count(head: impl Into<Text>) -> Self {
        Column::ratio(head)
    }

    /// Of signs.
    pub fn signs(head: impl Into<Text>) -> Self {
        Column { align: Align::Signs, ..Column::words(head) }
    }

    /// A narrow screen may do without it.
    #[must_use]
    pub fn spare(mut self) -> Self {
        self.spare = true;
        self
    }

    /// The head with the unit behind it.
    pub fn title(&self) -> Text {
        match &self.unit {
            Some(unit) => self.head.clone().and(format!(" ({unit})")),
            None => self.head.clone(),
        }
    }
}

impl Group {
    /// Without a row yet.
    pub fn named(head: impl Into<Text>) -> Self {
        Group { head: head.into(), rows: vec![] }
    }

    /// With one more row.
    #[must_use]
    pub fn row(mut self, row: Row) -> Self {
        self.rows.push(row);
        self
    }

    /// With more rows.
    #[must_use]
    pub fn rows(mut self, rows: impl IntoIterator<Item = Row>) -> Self {
        self.rows.extend(rows);
        self
    }
}

impl Row {
    /// Of these cells.
    pub fn of<T: Into<Text>>(cells: impl IntoIterator<Item = T>) -> Self {
        Row { cells: cells.into_iter().map(Into::into).collect(), weight: Weight::Usual }
    }

    /// The same as a sum of those above.
    #[must_use]
    pub fn weighing(mut self, weight: Weight) -> Self {
        self.weight = weight;
        self
    }
}
