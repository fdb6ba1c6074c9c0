//! A replicated report as a paper: its summary table with this machine's results by its method and by Fathom's, where its methods
//! mislead and by how much, and how each was measured.

mod cells;
mod csv;
mod figures;
mod json;
mod machines;
mod methods;

use self::cells::{by_fathom, operation, predicted, printed, ratio, replicated};
use crate::record::Replication;
use crate::table::{self, Compared, MethodVerdict, NoRatio};
use crate::{Report, reports};
use fathom_engine::results::Results;
use fathom_report::form::{Facts, Subject};
use fathom_report::paper::{Block, Column, Document, Key, Row, Section, Table, Text, plain};
use fathom_report::references;
use fathom_report::run;
use fathom_report::text::{Style, clean};
use fathom_report::words::{ABSENT, plural};
use std::path::Path;

/// One line for each report.
pub fn list(style: Style) -> String {
    let line = |report: &Report| {
        style.wrapped(&format!("{}  ", report.id), &format!("{} ({})", report.title, report.machine))
    };
    reports().iter().map(line).collect()
}

pub struct ReplicationReport<'run> {
    report: &'static Report,
    replication: &'run Replication,
    results: &'run Results<'run>,
    files: &'run [(&'run str, &'run Path)],
    rows: Vec<Compared>,
}

impl<'run> ReplicationReport<'run> {
    /// A report replicated, with the results of the run beside it; `files` names what was written where.
    pub fn of(
        report: &'static Report,
        replication: &'run Replication,
        results: &'run Results<'run>,
        files: &'run [(&'run str, &'run Path)],
    ) -> Self {
        let mut rows = table::compared(report, replication, results);
        rows.retain(|row| {
            row.row
                .method()
                .map_or(replication.header.only.is_empty(), |name| replication.has_asked_for(name))
        });
        ReplicationReport { report, replication, results, files, rows }
    }
}

impl Facts for ReplicationReport<'_> {
    fn text(&self, style: Style) -> String {
        let place =
            |(what, path): &(&str, &Path)| format!("{what}: {}\n", clean(&path.display().to_string()));
        plain::render(&self.document(), style.width) + &self.files.iter().map(place).collect::<String>()
    }

    fn json(&self) -> String {
        json::pretty(self.report, self.replication, &self.rows)
    }
}

impl Subject for ReplicationReport<'_> {
    fn rows(&self) -> String {
        csv::rows(&self.rows)
    }

    fn document(&self) -> Document {
        let (report, replication, rows) = (self.report, self.replication, self.rows.as_slice());
        let here = run::machine(&self.results.run.header.machine);
        let mut document = Document::new(format!("Report {} replicated on {here}", report.id));
        "Replication".clone_into(&mut document.kind);
        replication.header.started.clone_into(&mut document.date);
        document.sections = match report.page_of() {
            Some(whole) => vec![page(whole, report, replication, rows)],
            None => self.whole(),
        };
        document.sections.push(Section::new(Key::of("works"), "References").with(Block::Works));
        let tool = &replication.header.tool;
        document.foot = format!("Made by {} {}.", tool.name, tool.version);
        document
    }
}

impl ReplicationReport<'_> {
    /// Every section of a report that is more than a page.
    fn whole(&self) -> Vec<Section> {
        let (report, replication, rows) = (self.report, self.replication, self.rows.as_slice());
        let machines = machines::section(report, &self.results.run.header);
        let mut sections = vec![summary(report, replication, rows), machines, misleading(rows)];
        sections.extend(figures::section(report, replication));
        sections.extend(figures::sweeps(report, replication, rows));
        sections.push(methods::section(report, replication, rows));
        sections
    }
}

/// A report that is a page about another stays one: its table, and where the rest is.
fn page(whole: &str, report: &Report, replication: &Replication, rows: &[Compared]) -> Section {
    summary(report, replication, rows).say(Text::plain("Methods, sweeps and pictures, and where the methods mislead: ").and(
        Text::code(format!("fathom replicate {whole}")),
    ).and(format!(
        ", whose page report {} is. All figures of this replication with their trials are in its file.",
        report.id
    )))
}

fn table_key() -> Key {
    Key::of("summary-table")
}

fn summary(report: &Report, replication: &Replication, rows: &[Compared]) -> Section {
    let replicated_rows = rows.iter().filter(|row| row.replicated.is_ok()).count();
    let by_fathom = rows.iter().filter(|row| row.fathom.is_ok()).count();
    let source = references::source(report.id).map_or(report.title, |source| source.title.as_str());
    let quick = match (replication.header.quick, replication.header.thorough) {
        (true, _) => " Counts were reduced (`--quick`).",
        (_, true) => " Every setting of the report was measured (`--thorough`).",
        _ => "",
    };
    let of = match replication.header.only.as_slice() {
        [] => String::new(),
        only => format!(" of the methods that were asked for ({})", only.join(", ")),
    };
    let opening = Text::plain(format!("Report {} (", report.id))
        .and(Text::prose(report.title))
        .and(")")
        .cite(source)
        .and(" is repeated here with its own methods. ")
        .and(Text::to(&table_key()))
        .and(format!(
            " has {}{of}: {replicated_rows} of them are measured here with the report's methods and {by_fathom} with Fathom's.{quick}",
            plural(rows.len(), "row")
        ))
        .and(" The report's figures are of its machine. The next two columns are of this machine, measured in one \
              session: the result of the report's method in its own statistic, and Fathom's median. Only these two \
              are compared.");
    Section::new(Key::of("summary"), "Summary").say(opening).with(summary_table(rows))
}

fn summary_table(rows: &[Compared]) -> Table {
    let caption = "The report's own prediction and its figure; the result of its method here (± the deviation that it would print); Fathom's \
                   result here, with the 95 % interval. The ratio is of the last two. Notes explain the dashes.";
    let row = |compared: &Compared| {
        Row::of([
            Text::plain(operation(compared.row)),
            predicted(compared),
            printed(compared),
            replicated(compared),
            by_fathom(compared),
            ratio(compared),
        ])
    };
    Table::new(table_key(), caption)
        .columns([
            Column::words("operation"),
            Column::mixed("report, predicted"),
            Column::mixed("report, measured"),
            Column::mixed("here, report's method"),
            Column::mixed("here, Fathom's method"),
            Column::ratio("ratio"),
        ])
        .rows(rows.iter().map(row))
        .without_empty_columns(ABSENT)
}

fn misleading(rows: &[Compared]) -> Section {
    let of = |verdict: MethodVerdict| rows.iter().filter(move |row| row.verdict() == verdict).map(sentence);
    let differing: Vec<Text> = of(MethodVerdict::Above).chain(of(MethodVerdict::Below)).collect();
    Section::new(Key::of("misleading"), "Where the report's methods mislead")
        .under("Results that differ from Fathom's", listed(differing))
        .under("No significant difference here", listed(of(MethodVerdict::NotSignificant).collect()))
        .under("Negative results", listed(of(MethodVerdict::Negative).collect()))
        .under("Below resolution here", listed(of(MethodVerdict::BelowResolution).collect()))
        .under("Impossible results: something is broken", listed(of(MethodVerdict::Impossible).collect()))
        .under("Not compared here", listed(of(MethodVerdict::Open).collect()))
}

fn listed(items: Vec<Text>) -> Vec<Block> {
    if items.is_empty() { vec![] } else { vec![Block::List(items)] }
}

fn sentence(compared: &Compared) -> Text {
    let by_how_much = match &compared.ratio {
        Ok(_) => ratio(compared).and(" times Fathom's result. "),
        Err(why) => Text::plain(missing(compared, *why)),
    };
    Text::strong(compared.row.operation).and(": ").and(by_how_much).and(Text::prose(compared.row.misleads))
}

fn missing(compared: &Compared, why: NoRatio) -> String {
    let reason = match (&compared.replicated, &compared.fathom) {
        (Err(reason), _) => format!("the report's method: {reason}"),
        (_, Err(reason)) => format!("Fathom's: {reason}"),
        _ => why.reason().to_owned(),
    };
    format!("{}. ", reason.trim_end_matches('.'))
}
