//! A run as a paper: the machine, the method, a chapter for each family with a section for each experiment, then the overall
//! conclusions. Every form of the full report is written from this one document.

mod analysis;
mod assessment;
mod beginnings;
pub(super) mod beside;
mod cause;
mod clauses;
mod conclusions;
mod cpu_distance;
mod evidence;
mod experiment;
mod introduction;
mod machine;
mod main_rows;
mod method;
mod most_moved;
mod nearest;
mod neighbour;
mod neighbour_middle;
mod one_page;
mod operations;
mod prediction;
mod quotable;
mod quotation;
mod results;
mod sections;
mod shared_ending;
mod standing;
mod strengths;
pub mod synopsis;
mod time;
mod works;

use crate::paper::{Block, Document, Figure, Key, Section, Text};
use crate::usual::UsualFigures;
use crate::{figure, run, screen};
use beside::Published;
use fathom_core::experiment::family as family_of;
use fathom_engine::results::Results;
use sections::{has_section, linked, numbered, title};
use synopsis::Opening;

/// The whole paper, with published figures next to those of the run if they were requested.
pub(crate) fn of<'run>(
    results: &'run Results<'run>,
    usual: &UsualFigures<'run>,
    published: Option<&Published>,
) -> Document {
    let header = &results.run.header;
    let mut document = Document::new(format!("Operation costs: {}", run::machine(&header.machine)));
    "A machine and its operating system, measured by Fathom".clone_into(&mut document.kind);
    document.date.clone_from(&header.started);
    "Made by Fathom from the run file alone; the same file gives the same document."
        .clone_into(&mut document.foot);
    document.front.push(front(results, usual));
    document.sections.extend([introduction::of(results), machine::of(results), method::of(results)]);
    document.sections.extend(chapters(results));
    document.sections.extend(one_page::of(results, sections::linked_as));
    document.sections.extend(neighbour::of(results));
    document.sections.extend(conclusions::mechanisms(results));
    document.sections.extend(conclusions::cross_checks(results));
    document.sections.extend(conclusions::accuracy(results));
    let nearest = nearest::Nearest::of(results);
    document.sections.extend(match published {
        Some(published) => Some(beside::of(results, published)),
        None => nearest.section(results),
    });
    document.sections.push(strengths::of(results, &nearest, usual));
    document.sections.push(machine::conditions(results));
    document.sections.extend([references(), method::settings(results), method::verification(results)]);
    document.sections.extend([
        operations::every_operation(results),
        operations::without_value(results),
        operations::published_statistics(results),
    ]);
    document.sections.extend(cpu_distance::of(results));
    document.sections.extend(beginnings::of(results));
    document.sections.extend(time::of(results));
    document
}

/// The final screen of a run, as a section.
fn front<'run>(results: &'run Results<'run>, usual: &UsualFigures<'run>) -> Section {
    let (figures, more) = screen::leading(results);
    let verb = if more == 1 { "is" } else { "are" };
    let rest = (more > 0).then(|| format!("{more} more {verb} in the sections of their experiments.").into());
    let name = |experiment: &str| linked(results, experiment);
    let shown =
        Opening { figures: &figures, rest, usual, elsewhere: "in the section Mechanisms", name: &name };
    let mut section = synopsis::opening(results, &shown);
    // Below the sentence that names the machine, and the verdict on the run.
    section.blocks.splice(2..2, picture(results));
    section
}

/// The machine in one picture.
fn picture(results: &Results) -> Option<Block> {
    let drawn = figure::of_machine(results)?;
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
fn chapters(results: &Results) -> Vec<Section> {
    let mut chapters: Vec<(&str, Section)> = vec![];
    for (place, name) in results.experiments().into_iter().enumerate() {
        if !has_section(results, name) {
            continue;
        }
        let family = family_of(name);
        if chapters.last().is_none_or(|(last, _)| *last != family) {
            let key = Key::numbered("chapter", chapters.len() + 1);
            let chapter = Section::new(key, title(family));
            chapters.push((family, chapter.with_all(hierarchy(results, family))));
        }
        if let Some((_, chapter)) = chapters.last_mut() {
            chapter.sections.push(experiment::of(results, name, place));
        }
    }
    chapters.into_iter().map(|(_, chapter)| chapter).collect()
}

pub(super) fn references() -> Section {
    Section::new(Key::of("references"), "References")
        .lettered()
        .say("What predictions and methods cite, in the order of the citations; what the appendix alone cites comes last.")
        .with(Block::Works)
}

/// The figure, in the chapter of its family; `None` in others, and if no levels were found.
fn hierarchy(results: &Results, family: &str) -> Option<Block> {
    let (drawn, experiments) = figure::of_hierarchy(results)?;
    let is_of_family = family_of(experiments.first()?) == family;
    let places = Text::joined(experiments.iter().map(|name| numbered(results, name)), ", ");
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
