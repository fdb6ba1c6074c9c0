//! All that the reports of the fixed run say, in words and numbers, in one file; and what its figures show. How a form is
//! written has goldens of its own (`every_block.rs`), and so has the shape of the data (`data_forms.rs`).

use super::golden;
use crate::reported::{FIXED, files, on_screen, on_terminal};
use fathom::report::figure::Svg;
use fathom::report::paper::{Block, Document, Section, plain};
use fathom::report::{RunReport, Subject};
use std::collections::BTreeMap;
use std::fmt::Write;

/// As wide as a terminal that has room for every column.
const WIDTH: usize = 120;

fn document() -> Document {
    RunReport::of(&FIXED.results).document()
}

fn synopsis() -> Document {
    RunReport::of(&FIXED.results).written_to(&files()).synopsis()
}

/// Every sentence and number is of the screen, of the tables on a terminal, of the synopsis or of the document: a change of one
/// changes this file alone, whatever forms it is in.
#[test]
fn the_report_of_the_fixed_run_says_what_was_reviewed() {
    let parts = [
        ("On one screen", on_screen(&FIXED.results, WIDTH, false)),
        ("In full on a terminal", on_terminal(&FIXED.results, WIDTH, false)),
        ("The synopsis", plain::render(&synopsis(), WIDTH)),
        ("The document, with its appendix", plain::render(&document(), WIDTH)),
    ];
    let title = |name: &str| format!("{0}\n{name}\n{0}\n\n", "=".repeat(WIDTH));
    let parts = parts.map(|(name, text)| title(name) + &reviewable(&text));
    golden("report.txt", &parts.join("\n"));
}

/// Plain spaces, and rules of tables that do not change with the width of a cell.
fn reviewable(text: &str) -> String {
    let plain = text.replace(['\u{a0}', '\u{202f}'], " ");
    let is_rule = |line: &str| line.trim_start_matches('─').is_empty() && !line.is_empty();
    plain.lines().map(|line| if is_rule(line) { "---\n".to_owned() } else { format!("{line}\n") }).collect()
}

/// Every drawing of a document, with its words and the number of its marks: where the marks are is known of those whose
/// truth is known (`report_properties.rs`).
#[test]
fn the_figures_of_the_fixed_run_show_what_was_reviewed() {
    let mut shown = String::new();
    let document = document();
    document.front.iter().chain(&document.sections).for_each(|section| figures(section, &mut shown));
    golden("figures.txt", &shown);
}

fn figures(section: &Section, shown: &mut String) {
    section.blocks.iter().for_each(|block| figures_of(block, shown));
    section.sections.iter().for_each(|part| figures(part, shown));
}

fn figures_of(block: &Block, shown: &mut String) {
    match block {
        Block::Figure(figure) => {
            let data = figure.data.as_ref().map_or("none", |key| key.name());
            writeln!(shown, "{} ({}, data: {data})", figure.key.name(), figure.spread).unwrap();
            drawing(&figure.drawing, shown);
            if let Some(otherwise) = &figure.otherwise {
                writeln!(shown, "  otherwise").unwrap();
                drawing(otherwise, shown);
            }
        }
        Block::Folded { blocks, .. } => blocks.iter().for_each(|block| figures_of(block, shown)),
        _ => {}
    }
}

fn drawing(drawing: &Svg, shown: &mut String) {
    let (width, height) = drawing.size();
    writeln!(shown, "  {} [{width} × {height:.0}]\n  {}", drawing.name, drawing.description).unwrap();
    let mut marks: BTreeMap<String, usize> = BTreeMap::new();
    let mut words: Vec<&str> = vec![];
    for element in drawing.body().split('<').skip(1) {
        let (tag, text) = element.split_once('>').unwrap_or((element, ""));
        let class = tag.split("class=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("");
        match tag.split(' ').next().unwrap_or("") {
            "text" => words.push(text),
            "title" | "g" => {}
            name if name.starts_with('/') => {}
            name => *marks.entry(format!("{name} {class}").trim_end().to_owned()).or_default() += 1,
        }
    }
    let marks: Vec<String> = marks.iter().map(|(mark, count)| format!("{count} {mark}")).collect();
    writeln!(shown, "  marks: {}\n  words: {}\n", marks.join(", "), words.join(" | ")).unwrap();
}
