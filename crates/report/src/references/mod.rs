//! Published figures with their sources, doubts and corrections: machines for comparison with a run.
//!
//! The data are the files of `references/`, which are read when the first figure is requested. `docs/references.md`
//! describes their contents.

mod beside;
mod doubt;
mod figure;
mod library;
mod machine;
mod same_method;
mod selection;
mod unit;

pub use beside::{Beside, Ratio, There, beside};
pub use doubt::Doubt;
pub use figure::{Figure, Kind, Printed, Value};
pub use library::Source;
pub use machine::{Fact, Machine, Role};
pub use same_method::{SameMethod, same_methods};
pub use selection::{Unknown, clock, nearest, own_clock, select};
pub use unit::Unit;

use library::library;
use serde::de::DeserializeOwned;

/// The content of a data file, which is a part of the program. By way of a table, because each type is then read from one kind of
/// map; the parser has three.
///
/// # Panics
/// If it is invalid: a test reads all of them.
pub fn data<T: DeserializeOwned>(name: &str, text: &str) -> T {
    let table = text.parse::<toml::Table>();
    table.and_then(toml::Table::try_into).unwrap_or_else(|error| panic!("references/{name}: {error}"))
}

/// The machines with published figures, in the order of their sources.
pub fn machines() -> &'static [Machine] {
    &library().machines
}

pub fn machine(id: &str) -> Option<&'static Machine> {
    machines().iter().find(|machine| machine.id == id)
}

pub fn sources() -> &'static [Source] {
    &library().sources
}

/// The source of this id: the number of a report, or `lmbench`.
pub fn source(id: &str) -> Option<&'static Source> {
    sources().iter().find(|source| source.id == id)
}

/// Every figure, in the order of the ids.
pub fn figures() -> &'static [Figure] {
    &library().figures
}

/// The figure of this id: `s000-0027`.
pub fn figure(id: &str) -> Option<&'static Figure> {
    let figures = figures();
    let place = figures.binary_search_by(|figure| figure.id().cmp(id)).ok()?;
    figures.get(place)
}

pub fn of_machine(id: &str) -> impl Iterator<Item = &'static Figure> {
    figures().iter().filter(move |figure| figure.machine() == id)
}

/// The figures in a report, for any machine: `000`.
pub fn of_report(number: &str) -> impl Iterator<Item = &'static Figure> {
    figures().iter().filter(move |figure| figure.source() == number)
}
