//! The run on one page: the content of the final screen, and the operations of the published reports with their predictions.

use super::beside::{self, Published};
use super::one_page;
use super::quotation;
use super::sections::title;
use crate::description::FactRow;
use crate::main_figures::{self, Ranked};
use crate::paper::{Block, Column, Document, Group, Key, Row, Section, Sign, Table, Text, Tone};
use crate::usual::UsualFigures;
use crate::words::ABSENT;
use crate::{at_usual, denied, description, occupancy, run, screen, verdict};
use fathom_engine::results::Results;
use std::path::Path;

/// The page, with published figures next to those of the run if they were requested; `files` are the locations of the run
/// file and the whole report.
pub(crate) fn alone<'run>(
    results: &'run Results<'run>,
    usual: &UsualFigures<'run>,
    published: Option<&Published>,
    files: &[(&str, &Path)],
) -> Document {
    let header = &results.run.header;
    let mut document = Document::new(format!("Synopsis: {}", run::machine(&header.machine)));
    document.date.clone_from(&header.started);
    document.front.push(summary(results, usual));
    document.front.extend([method(), machine(results), whole(files)]);
    document.front.extend(published.map(|published| beside::of(results, published)));
    "Made by Fathom from the run file.".clone_into(&mut document.foot);
    document
}

/// The figures of the page: those of the screen, and the operations of the published reports. Of a part of a run with none of these,
/// all its main figures.
fn figures<'run>(results: &'run Results) -> Vec<Ranked<'run>> {
    let operations = one_page::operations(results);
    let mut figures = main_figures::all(results);
    if !operations.is_empty() {
        let is_of = |all: &[Ranked], figure: &Ranked| all.iter().any(|other| other.is_same(figure));
        let leading = screen::leading(results).0;
        figures.retain(|figure| is_of(&operations, figure) || is_of(&leading, figure));
    }
    figures
}

/// What the screen says, in as much room: each figure stands once, and the reasons of the verdict in the whole report.
fn summary<'run>(results: &'run Results<'run>, usual: &UsualFigures<'run>) -> Section {
    let statements = most_notable(screen::notable(results, usual, ELSEWHERE));
    let trust: Vec<Text> =
        screen::trust(results).into_iter().filter(|(name, _)| IN_BRIEF.contains(name)).map(reason).collect();
    Section::new(Key::of("opening"), "Summary")
        .say(introduced(results))
        .say(Text::strong(verdict::sentence(results)))
        .with(one_page::in_brief(results, &figures(results)))
        .under(screen::NOTABLE, listed(statements))
        .under(
            screen::TRUST,
            vec![
                Block::List(trust),
                Block::Paragraph(
                    "The whole report has the other reasons, and what disturbed the run.".into(),
                ),
            ],
        )
}

/// The place of what the page has no room for.
const ELSEWHERE: &str = "in the whole report";

/// The reasons of the verdict that stand on the page.
const IN_BRIEF: [&str; 2] = ["trials", "checks"];

/// The most statements on the page that are not about something wrong.
const MOST_STATEMENTS: usize = 3;

/// All that is wrong, and the first others; the last is the number of those left out.
fn most_notable(all: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let (mut shown, mut others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(mark, _)| *mark == "✗");
    // The last of the causes says how many more there are, and the first caution is the furthest miss.
    others.retain(|(_, sentence)| !sentence.ends_with(&format!("{ELSEWHERE}.")));
    let miss = others.iter().position(|(mark, _)| *mark == "!").map(|place| others.remove(place));
    others.truncate(MOST_STATEMENTS - miss.iter().len());
    shown.extend(others.into_iter().chain(miss));
    shown
}

/// The parts of the opening that differ between documents.
pub(super) struct Opening<'a, 'run> {
    /// The main figures of the first table.
    pub figures: &'a [Ranked<'run>],
    /// The text after the table.
    pub rest: Option<Text>,
    /// What is usual for them.
    pub usual: &'a UsualFigures<'run>,
    /// The place of the causes that are not named here.
    pub elsewhere: &'a str,
    pub name: &'a dyn Fn(&str) -> Text,
}

/// The machine, the verdict on the run, main figures, the most important findings, and the reasons of the verdict.
pub(super) fn opening<'run>(results: &'run Results<'run>, shown: &Opening<'_, 'run>) -> Section {
    let shared = shown.figures.iter().any(|figure| figure.main.shared() != ABSENT);
    let shared = if shared { ", the value with the core shared beside that with it alone" } else { "" };
    let is_usual = |figure: &Ranked| shown.usual.cell(&figure.main.source) != ABSENT;
    let is_usual = shown.figures.iter().any(is_usual);
    let neighbours = shown.usual.machines().filter(|_| is_usual);
    let usual = shown.usual.legend().filter(|_| is_usual);
    let usual = usual.map(|words| format!(" Usual: {words}.")).unwrap_or_default();
    let points = || shown.figures.iter().filter_map(|figure| figure.main.point());
    let caption = format!(
        "Main figures: medians over trials with their 95 % intervals{shared}, and the median as a multiple of what was \
         predicted before.{usual}{}{}{}{}",
        occupancy::full_legend(points()),
        at_usual::legend(points()),
        denied::legend(points()),
        quotation::legend(shown.figures.iter().map(|figure| &figure.main))
    );
    Section::new(Key::of("opening"), "Summary")
        .say(introduced(results))
        .say(Text::strong(verdict::sentence(results)))
        .with(main_figures_table(results, Key::of("main-figures"), &caption, shown))
        .with_all(neighbours.map(|sentence| Block::Paragraph(Text::prose(&sentence))))
        .with_all(shown.rest.clone().map(Block::Paragraph))
        .under(screen::NOTABLE, notable(results, shown))
        .under(screen::TRUST, vec![Block::List(screen::trust(results).into_iter().map(reason).collect())])
}

/// The machine and the run, in a few sentences.
fn introduced(results: &Results) -> String {
    let header = &results.run.header;
    let mut sentences = vec![format!("{}.", run::machine_in_full(&header.machine))];
    sentences.extend(run::peer(header));
    sentences.push(run::ending(results));
    sentences.extend(run::labels(header).map(|labels| format!("Labels: {labels}.")));
    sentences.join(" ")
}

fn reason((name, text): (&str, String)) -> Text {
    Text::strong(name).and(": ").and(Text::prose(&text))
}

fn notable<'run>(results: &'run Results<'run>, shown: &Opening<'_, 'run>) -> Vec<Block> {
    listed(screen::notable(results, shown.usual, shown.elsewhere))
}

/// Statements with their marks.
fn listed(statements: Vec<(&str, String)>) -> Vec<Block> {
    let marked = |(mark, line): (&str, String)| {
        let mark = match mark {
            "✗" => Text::sign(Sign::Fails),
            "!" => Text::toned(Tone::Careful, mark),
            mark => Text::plain(mark),
        };
        mark.and(" ").and(Text::prose(&line))
    };
    let lines: Vec<Text> = statements.into_iter().map(marked).collect();
    if lines.is_empty() { vec![] } else { vec![Block::List(lines)] }
}

/// The table of the figures.
fn main_figures_table(results: &Results, key: Key, caption: &str, shown: &Opening) -> Table {
    let mut table = Table::new(key, caption).columns([
        Column::words("experiment"),
        Column::words("figure"),
        Column::mixed("median"),
        Column::mixed("95 % interval"),
        Column::mixed("core shared"),
        Column::words("usual"),
        Column::ratio("measured / predicted"),
        Column::signs("operation checked"),
    ]);
    for family in shown.figures.chunk_by(|one, other| one.family() == other.family()) {
        let rows = family.iter().map(|figure| main_figures_row(results, figure, shown));
        table = table.group(Group::named(title(family[0].family())).rows(rows));
    }
    table.without_empty_columns(ABSENT)
}

fn main_figures_row(results: &Results, figure: &Ranked, shown: &Opening) -> Row {
    let written = figure.main.written();
    Row::of([
        (shown.name)(figure.experiment),
        (figure.main.reader_label() + &figure.main.marks(results) + &quotation::mark(&figure.main)).into(),
        quotation::value(&figure.main, written.median),
        written.interval.into(),
        figure.main.shared().into(),
        shown.usual.cell(&figure.main.source).into(),
        written.factor.into(),
        written.evidence.map_or(ABSENT.into(), Text::sign),
    ])
}

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

/// The machine and the program, as far as they are known, in a paragraph.
fn machine(results: &Results) -> Section {
    let (machine, tool) = (&results.run.header.machine, &results.run.header.tool);
    let described = description::sections(machine);
    let of = |(title, names): &(&str, &'static [&str])| -> Option<Text> {
        let part = described.iter().find(|part| part.title == *title)?;
        let shown = part.rows.iter().filter(|fact| !fact.unknown && names.contains(&fact.name.as_str()));
        let facts: Vec<String> = shown.map(fact_in_words).collect();
        (!facts.is_empty()).then(|| part_of(title, &facts.join(", ")))
    };
    let program = format!("{} {}, {} build for {}", tool.name, tool.version, tool.build, tool.target);
    let compiler = tool.compiler.as_ref().map(|compiler| format!(", {compiler}")).unwrap_or_default();
    let parts = FACTS.iter().filter_map(of).chain([part_of("Program", &(program + &compiler))]);
    let text = parts.reduce(|text, part| text.and(" ").and(part));
    Section::new(Key::of("synopsis-machine"), "Machine and program").with_all(text.map(Block::Paragraph))
}

fn part_of(title: &str, facts: &str) -> Text {
    Text::strong(title).and(": ").and(Text::prose(facts)).and(".")
}

/// The value of a fact, after its name.
fn fact_in_words(fact: &FactRow) -> String {
    format!("{} {}", fact.name, fact.value)
}

/// How the values were made, in a few lines.
fn method() -> Section {
    Section::new(Key::of("synopsis-method"), "Method").say(
        "Each value is the median over trials in fresh processes, in random order, with its 95 % interval. Small operations are \
         written in assembly and timed in batches by the processor's counter (Rust, no root); system calls are counted by a \
         tracer, switches and faults by the kernel. Every prediction was written to the run file before its point's first trial.",
    )
}

/// The location of the whole report.
fn whole(files: &[(&str, &Path)]) -> Section {
    let section = Section::new(Key::of("synopsis-whole"), "The whole report");
    let place = |kind: &str| files.iter().find(|(what, _)| *what == kind).map(|(_, path)| quoted(path));
    let page = place("report").map(|path| Text::plain("The page is ").and(Text::code(path)).and(". "));
    let run = place("run file").unwrap_or_else(|| "RUN".to_owned());
    section.say(
        page.unwrap_or_else(|| Text::plain(""))
            .and(Text::code(format!("fathom report {run} --format html")))
            .and(" writes it: every figure with its method, interval, prediction and evidence."),
    )
}

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
