//! A run as a paper: the machine, the method, a chapter for each family with a section for each experiment, then the overall
//! conclusions. Every form of the full report is written from this one document.

pub(super) mod beside;
mod conclusions;
mod evidence;
mod experiment;
mod machine;
mod main_rows;
mod method;
mod neighbour;
mod operations;
mod prediction;
mod results;
mod sections;
pub mod synopsis;

use crate::paper::{Block, Document, Figure, Key, Section, Text};
use crate::{figure, run, screen};
use beside::Published;
use fathom_core::experiment::family as family_of;
use fathom_engine::results::Results;
use sections::{has_section, linked, numbered, title};
use synopsis::Opening;

/// The whole paper, with published figures next to those of the run if they were requested.
pub fn of(found: &Results, published: Option<&Published>) -> Document {
    let header = &found.run.header;
    let mut document = Document::new(format!("Operation costs: {}", run::machine(&header.machine)));
    "A machine and its operating system, measured by Fathom".clone_into(&mut document.kind);
    document.date.clone_from(&header.started);
    "Made by Fathom from the run file alone; the same file gives the same document."
        .clone_into(&mut document.foot);
    document.front.push(front(found));
    document.sections.extend([machine::of(found), method::of(found)]);
    document.sections.extend(chapters(found));
    document.sections.extend(conclusions::mechanisms(found));
    document.sections.extend(conclusions::cross_checks(found));
    document.sections.extend(conclusions::accuracy(found));
    document.sections.extend(published.map(|published| beside::of(found, published)));
    document.sections.push(machine::conditions(found));
    document.sections.extend([references(), method::settings(found), method::verification(found)]);
    document.sections.extend([
        operations::every_operation(found),
        operations::without_value(found),
        operations::published_statistics(found),
    ]);
    document.sections.extend(neighbour::of(found));
    document
}

/// The final screen of a run, as a section.
fn front(found: &Results) -> Section {
    let (figures, more) = screen::leading(found);
    let rest = (more > 0).then(|| format!("{more} more are in the sections of their experiments.").into());
    let name = |experiment: &str| linked(found, experiment);
    let shown = Opening { figures: &figures, rest, elsewhere: "in the section Mechanisms", name: &name };
    let mut section = synopsis::opening(found, &shown);
    // Below the sentence that names the machine.
    section.blocks.splice(1..1, picture(found));
    section
}

/// The machine in one picture.
fn picture(found: &Results) -> Option<Block> {
    let drawn = figure::of_machine(found)?;
    Some(Block::from(Figure {
        key: Key::of("machine-picture"),
        caption: Text::plain(drawn.caption),
        drawing: drawn.svg,
        otherwise: None,
        spread: drawn.spread,
        data: None,
    }))
}

/// The experiments by family; a new chapter begins wherever the family changes in the plan.
fn chapters(found: &Results) -> Vec<Section> {
    let mut chapters: Vec<(&str, Section)> = vec![];
    for (place, name) in found.experiments().into_iter().enumerate() {
        if !has_section(found, name) {
            continue;
        }
        let family = family_of(name);
        if chapters.last().is_none_or(|(last, _)| *last != family) {
            let key = Key::numbered("chapter", chapters.len() + 1);
            let chapter = Section::new(key, title(family));
            chapters.push((family, chapter.with_all(hierarchy(found, family))));
        }
        if let Some((_, chapter)) = chapters.last_mut() {
            chapter.sections.push(experiment::of(found, name, place));
        }
    }
    chapters.into_iter().map(|(_, chapter)| chapter).collect()
}

pub(super) fn references() -> Section {
    Section::new(Key::of("references"), "References")
        .lettered()
        .say("What predictions and methods cite, in the order of the citations.")
        .with(Block::Works)
}

/// The figure, in the chapter of its family; `None` in others, and if no levels were found.
fn hierarchy(found: &Results, family: &str) -> Option<Block> {
    let (drawn, experiments) = figure::of_hierarchy(found)?;
    let is_of_family = family_of(experiments.first()?) == family;
    let places = Text::joined(experiments.iter().map(|name| numbered(found, name)), ", ");
    is_of_family.then(|| {
        Block::from(Figure {
            key: Key::of("hierarchy"),
            caption: Text::plain(drawn.caption).and(" Data: ").and(places).and("."),
            drawing: drawn.svg,
            otherwise: None,
            spread: drawn.spread,
            data: None,
        })
    })
}
