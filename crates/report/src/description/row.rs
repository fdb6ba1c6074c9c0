//! The description as sections, each a list of rows.

use fathom_core::machine::Fact;
use serde::Serialize;

/// A part of the description under a title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FactSection {
    /// `Processor`, `Caches`, …
    pub title: String,
    /// In reading order.
    pub rows: Vec<FactRow>,
}

/// One line: a name with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FactRow {
    pub name: String,
    /// The value with its unit; the reason if it is unknown.
    pub value: String,
    /// The source of the value, or the places that were searched.
    pub source: String,
    /// Whether `value` is a reason instead of a value.
    pub unknown: bool,
}

/// A row of a fact, whose value `form` formats.
pub(super) fn row<T>(name: impl Into<String>, fact: &Fact<T>, form: impl FnOnce(&T) -> String) -> FactRow {
    let (value, unknown) = match fact {
        Fact::Known { value, .. } => (form(value), false),
        Fact::Unknown { unknown, .. } => (unknown.clone(), true),
    };
    FactRow { name: name.into(), value, source: fact.source().to_owned(), unknown }
}

/// A row of a fact in its plain form.
pub(super) fn plain<T: ToString>(name: impl Into<String>, fact: &Fact<T>) -> FactRow {
    row(name, fact, ToString::to_string)
}

pub(super) fn list<T: ToString>(name: impl Into<String>, fact: &Fact<Vec<T>>) -> FactRow {
    row(name, fact, |items| match items.as_slice() {
        [] => "none".to_owned(),
        items => items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    })
}

/// A row with a value that is not a fact of the description.
pub(super) fn stated(name: impl Into<String>, value: impl Into<String>, source: &str) -> FactRow {
    FactRow { name: name.into(), value: value.into(), source: source.to_owned(), unknown: false }
}
