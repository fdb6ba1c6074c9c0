//! The part of a synopsis below the main figures: the machine and the program in a table, and the location of the whole
//! report.

use crate::description::{self, Row as Fact};
use crate::paper::{Column, Key, Row, Section, Table, Text};
use fathom_engine::results::Results;
use std::path::Path;

/// The facts that fit on a page: sections of the description with the names of their rows.
const FACTS: &[(&str, &[&str])] = &[
    ("Processor", &["Model", "Microarchitecture", "Nominal clock"]),
    ("Cores", &["CPUs (threads)", "Cores", "SMT"]),
    ("Caches", &["All last-level caches together"]),
    ("Memory", &["Size"]),
    ("Storage of the measured folder", &["File system", "Device", "Device model"]),
    ("Kernel", &["Release", "Distribution", "C library"]),
    ("Virtualisation", &["Hypervisor"]),
];

/// The machine and the program.
pub(super) fn machine(found: &Results) -> Section {
    Section::new(Key::of("synopsis-machine"), "Machine and program").with(table(found))
}

/// The machine and the program, as far as they are known, on half a page.
pub(super) fn table(found: &Results) -> Table {
    let (machine, tool) = (&found.run.header.machine, &found.run.header.tool);
    let described = description::sections(machine);
    let of = |(title, names): &(&str, &'static [&str])| -> Vec<Row> {
        let part = described.iter().find(|part| part.title == *title);
        let facts = part.into_iter().flat_map(|part| &part.rows);
        let wanted = facts.filter(|fact| !fact.unknown && names.contains(&fact.name.as_str()));
        wanted.map(|fact| row(title, fact)).collect()
    };
    let program = format!("{} {}, {} build for {}", tool.name, tool.version, tool.build, tool.target);
    let compiler = tool.compiler.clone().map(|compiler| Row::of(["Compiler".to_owned(), compiler]));
    let program = [Row::of(["Program".to_owned(), program])].into_iter().chain(compiler);
    Table::new(Key::of("synopsis-machine-table"), "What was measured, and by what.")
        .columns([Column::words("fact"), Column::words("value, with its unit")])
        .rows(FACTS.iter().flat_map(of).chain(program))
}

/// A fact by its section of the description and its name there: "Memory: Size".
fn row(part: &str, fact: &Fact) -> Row {
    Row::of([format!("{part}: {}", fact.name), fact.value.clone()])
}

/// The location of the whole report.
pub(super) fn whole(files: &[(&str, &Path)]) -> Section {
    let section = Section::new(Key::of("synopsis-whole"), "The whole report");
    let place = |wanted: &str| files.iter().find(|(what, _)| *what == wanted).map(|(_, path)| quoted(path));
    let told = place("report").map(|page| Text::plain("The page is ").and(Text::code(page)).and(". "));
    let run = place("run file").unwrap_or_else(|| "RUN".to_owned());
    section.say(
        told.unwrap_or_else(|| Text::plain(""))
            .and(Text::code(format!("fathom report {run} --format html")))
            .and(" writes the full report from the run file: every figure with its method, interval, prediction and \
                  evidence."),
    )
}

/// A path quoted for a shell.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:".contains(letter);
    if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_the_command_that_writes_it_are_told() {
        let run = ("run file", Path::new("/tmp/run.jsonl"));
        let told = |files: &[(&str, &Path)]| format!("{:?}", whole(files).blocks);
        let command = "fathom report /tmp/run.jsonl --format html";
        assert!(told(&[run]).contains(command) && !told(&[run]).contains("The page is"));
        let both = told(&[run, ("report", Path::new("/tmp/run.html"))]);
        assert!(both.contains(command) && both.contains("The page is") && both.contains("\"/tmp/run.html\""));
        assert!(told(&[]).contains("fathom report RUN"));
    }

    #[test]
    fn paths_are_quoted_where_a_shell_would_read_them_otherwise() {
        assert_eq!(quoted(Path::new("/tmp/run-1.jsonl")), "/tmp/run-1.jsonl");
        assert_eq!(quoted(Path::new("/tmp/my run's")), "'/tmp/my run'\\''s'");
    }
}
