//! The data of a report, `references/replication-NNN.toml`: what its methods do, the rows of its table and its figures.

use super::method::{MeasureFn, Method};
use super::picture::{Picture, PictureData};
use super::question::SameQuestion;
use super::report::{Replica, Report, Row, Theirs};
use super::statistic::{Deviation, Fit, Statistic};
use fathom_core::experiment::{Placement, Requirement};
use fathom_core::quantity::Unit;
use fathom_report::references::data;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use toml::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    id: String,
    machine: String,
    title: String,
    /// Whether its programs ran at the highest priority that `nice` gives.
    #[serde(default)]
    raised_priority: bool,
    /// That of the earlier file, where it is left out.
    methodology: Option<String>,
    #[serde(default)]
    method: Vec<Table>,
    row: Vec<Table>,
    #[serde(default)]
    picture: Vec<PictureData>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MethodData {
    name: String,
    text: String,
    #[serde(default)]
    differs: String,
    placement: Option<String>,
    #[serde(default)]
    needs: Vec<Need>,
    /// A minute, where it is left out.
    limit_s: Option<u64>,
    /// Whether it runs at the usual priority although the report's other programs do not.
    #[serde(default)]
    usual_priority: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Need {
    Peer,
    Remote,
    MemoryLimit,
    MemoryBytes(u64),
    Instructions(String),
    #[serde(rename = "x86_64")]
    X86,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowData {
    operation: String,
    section: String,
    figure: FigureData,
    method: ReplicaData,
    /// Nanoseconds, where it is left out.
    unit: Option<Unit>,
    #[serde(default)]
    per: String,
    #[serde(default)]
    variant: String,
    /// The mean with its deviation, where it is left out.
    statistic: Option<Fit>,
    same_question: SameQuestion,
    misleads: String,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum FigureData {
    Printed(String),
    Not { not_printed: String },
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum ReplicaData {
    By(String),
    Not { not_here: String },
}

impl Report {
    /// The report of a file whose methods are measured by these functions, by their names. Its rows may refer to those of an
    /// `earlier` file by `as`, and so to its methods.
    ///
    /// # Panics
    /// If the file is invalid: it is part of the program, and a test reads all of them.
    pub(super) fn read(
        [earlier, text]: [&str; 2],
        timer_needs: &'static [Requirement],
        measures: &[(&str, MeasureFn)],
    ) -> Self {
        let file: File = data("replication-NNN.toml", text);
        let base: Option<File> = (!earlier.is_empty()).then(|| data("replication-NNN.toml", earlier));
        let (methods, rows, methodology) =
            base.map(|base| (base.method, base.row, base.methodology)).unwrap_or_default();
        let earlier_rows = rows.len();
        let method = |data| Method::of(data, file.raised_priority, measures);
        let methods = completed([methods, file.method].concat(), "name").into_iter().map(method);
        let methods: &'static [Method] = methods.collect::<Vec<_>>().leak();
        assert_eq!(methods.len(), measures.len(), "every function measures a method of {}", file.id);
        let rows = completed([rows, file.row].concat(), "operation").into_iter().skip(earlier_rows);
        Report {
            id: file.id.leak(),
            machine: file.machine.leak(),
            title: file.title.leak(),
            methodology: file.methodology.or(methodology).unwrap_or_default().leak(),
            timer_needs,
            rows: rows.map(|row| Row::of(row, methods)).collect::<Vec<_>>().leak(),
            figures: file.picture.into_iter().map(Picture::from).collect::<Vec<_>>().leak(),
        }
    }
}

/// Each table with what it leaves out taken from the earlier one of the name that it gives as `as`.
fn completed<T: DeserializeOwned>(mut tables: Vec<Table>, name: &str) -> Vec<T> {
    for index in 0..tables.len() {
        let Some(other) = tables[index].remove("as") else { continue };
        let earlier = tables[..index].iter().find(|table| table.get(name) == Some(&other)).cloned();
        for (key, value) in earlier.unwrap_or_else(|| panic!("{other:?} is named before it is there")) {
            tables[index].entry(key).or_insert(value);
        }
    }
    let typed = |table: Table| {
        let of = table.get(name).cloned();
        table.try_into().unwrap_or_else(|error| panic!("{of:?} of references/replication-NNN.toml: {error}"))
    };
    tables.into_iter().map(typed).collect()
}

impl Method {
    fn of(data: MethodData, raised_priority: bool, measures: &[(&str, MeasureFn)]) -> Self {
        let measure = measures.iter().find(|(name, _)| *name == data.name);
        let (_, measure) = measure.unwrap_or_else(|| panic!("nothing measures `{}`", data.name));
        let placement = data.placement.map_or(Some(Placement::OneCpu), |name| {
            Placement::ALL.into_iter().find(|placement| placement.name() == name)
        });
        Method {
            placement: placement.unwrap_or_else(|| panic!("`{}` has no such placement", data.name)),
            name: data.name.leak(),
            text: data.text.leak(),
            differs: data.differs.leak(),
            needs: data.needs.into_iter().map(Need::requirement).collect::<Vec<_>>().leak(),
            limit: Duration::from_secs(data.limit_s.unwrap_or(60)),
            raised_priority: raised_priority && !data.usual_priority,
            measure: *measure,
        }
    }
}

impl Need {
    fn requirement(self) -> Requirement {
        match self {
            Need::Peer => Requirement::Peer,
            Need::Remote => Requirement::Remote,
            Need::MemoryLimit => Requirement::MemoryLimit,
            Need::MemoryBytes(bytes) => Requirement::MemoryBytes(bytes),
            Need::Instructions(name) => Requirement::Instructions(name.leak()),
            Need::X86 => Requirement::Architecture(&["x86_64"]),
        }
    }
}

impl Row {
    fn of(data: RowData, methods: &'static [Method]) -> Self {
        let method = |name: String| {
            let method = methods.iter().find(|method| method.name == name);
            method.unwrap_or_else(|| panic!("`{}` has no method `{name}`", data.operation))
        };
        Row {
            theirs: match data.figure {
                FigureData::Printed(id) => Theirs::Printed(id.leak()),
                FigureData::Not { not_printed } => Theirs::NotPrinted(not_printed.leak()),
            },
            replica: match data.method {
                ReplicaData::By(name) => Replica::By(method(name)),
                ReplicaData::Not { not_here } => Replica::NotHere(not_here.leak()),
            },
            section: data.section.leak(),
            operation: data.operation.leak(),
            unit: data.unit.unwrap_or(Unit::Nanoseconds),
            per: data.per.leak(),
            statistic: Statistic {
                variant: data.variant.leak(),
                fit: data.statistic.unwrap_or(Fit::Mean(Deviation::Sample)),
            },
            fathom: data.same_question,
            misleads: data.misleads.leak(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{find, reports};
    use fathom_core::experiment::registry;
    use fathom_report::references::{self, Figure, Kind};

    #[test]
    fn what_a_row_refers_to_is_there() {
        fathom_experiments::register();
        let machine = fathom_described::machine();
        for report in reports() {
            for row in report.rows {
                let name = format!("{} {}", report.id, row.operation);
                if let Theirs::Printed(id) = row.theirs {
                    assert!(references::figure(id).is_some(), "{name}: no figure {id}");
                }
                let points = row.fathom.points(&machine);
                assert!(points.iter().all(|(name, _)| registry::find(name).is_some()), "{name}");
                if let SameQuestion::Slope { .. } = row.fathom {
                    assert!(points.len() > 2, "{name}: a slope of {} points", points.len());
                }
            }
        }
    }

    #[test]
    fn every_figure_of_the_third_reports_summary_has_its_row_in_its_order() {
        let summary = references::of_report("003").filter(|figure| figure.kind() == Kind::Summary);
        let summary: Vec<&str> = summary.map(Figure::id).collect();
        let printed = |row: &Row| match row.theirs {
            Theirs::Printed(id) => Some(id),
            Theirs::NotPrinted(_) => None,
        };
        let rows = find("003").unwrap().rows.iter().filter_map(printed);
        assert_eq!(summary.len(), 28);
        assert_eq!(rows.take(28).collect::<Vec<_>>(), summary);
    }

    #[test]
    fn what_a_table_leaves_out_is_that_of_the_earlier_one_that_it_names() {
        let table = |text: &str| text.parse::<Table>().unwrap();
        let tables = vec![table("name = 'a'\nx = 1\ny = 2"), table("name = 'b'\nas = 'a'\ny = 3")];
        let whole: Vec<Table> = completed(tables, "name");
        assert_eq!(whole[1], table("name = 'b'\nx = 1\ny = 3"));
    }
}
