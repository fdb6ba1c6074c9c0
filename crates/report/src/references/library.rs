//! The data files, read once.

use super::data;
use super::figure::{Figure, FigureLocation, FigureRow, Shared};
use super::machine::Machine;
use fathom_core::sorting;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Source {
    /// The number of a report, or `lmbench`.
    pub id: String,
    pub title: String,
    /// The text to which the line numbers refer.
    pub text: String,
}

pub(super) struct DataFiles {
    pub sources: Vec<Source>,
    pub machines: Vec<Machine>,
    /// The figures in the order of their ids.
    pub figures: Vec<Figure>,
}

#[derive(Deserialize)]
struct DataFile {
    source: Option<Source>,
    #[serde(default)]
    machine: Vec<Machine>,
    #[serde(default)]
    group: Vec<FigureTable>,
}

#[derive(Deserialize)]
struct FigureTable {
    #[serde(flatten)]
    place: FigureLocation,
    #[serde(flatten)]
    shared: Shared,
    figure: Vec<FigureRow>,
}

/// The files with their names, for messages.
const FILES: [(&str, &str); 7] = [
    ("report-000.toml", include_str!("../../references/report-000.toml")),
    ("report-001.toml", include_str!("../../references/report-001.toml")),
    ("report-002.toml", include_str!("../../references/report-002.toml")),
    ("report-003.toml", include_str!("../../references/report-003.toml")),
    ("report-004.toml", include_str!("../../references/report-004.toml")),
    ("cited.toml", include_str!("../../references/cited.toml")),
    ("lmbench.toml", include_str!("../../references/lmbench.toml")),
];

static LIBRARY: LazyLock<DataFiles> = LazyLock::new(read);

/// The data, read at the first request.
pub(super) fn library() -> &'static DataFiles {
    &LIBRARY
}

/// # Panics
/// If a data file is invalid: they are part of the program, and a test reads all of them.
fn read() -> DataFiles {
    let mut library = DataFiles { sources: vec![], machines: vec![], figures: vec![] };
    for (name, text) in FILES {
        library.take(name, data(name, text));
    }
    sorting::by(&mut library.figures, |one, other| one.id().cmp(other.id()));
    library
}

impl DataFiles {
    fn take(&mut self, name: &str, file: DataFile) {
        let source = file.source.as_ref().map(|source| source.id.as_str());
        for group in file.group {
            for row in group.figure {
                let id = row.id.clone();
                let figure = Figure::new(&group.place, &group.shared, source, row);
                self.figures.push(figure.unwrap_or_else(|| {
                    panic!("references/{name}: {id} has no source, no variant or no unit")
                }));
            }
        }
        self.machines.extend(file.machine);
        self.sources.extend(file.source);
    }
}
