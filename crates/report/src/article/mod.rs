//! A run as a paper: the machine, the method, a chapter for each family with a section for each experiment, then the overall
//! conclusions. Every form of the full report is written from this one document.

mod accuracy;
pub(super) mod beside;
mod conditions;
mod evidence;
mod experiment;
mod hierarchy;
mod machine;
mod main_figures;
mod main_rows;
mod mechanisms;
mod method;
mod opening;
mod places;
mod prediction;
mod published_statistics;
mod results;
mod settings;
mod summary;
pub mod synopsis;
mod synopsis_machine;
mod verification;
mod without;
mod works;

use super::paper::{Block, Document, Key, Section, Text};
use super::{run, screen};
use beside::Published;
use fathom_core::experiment::family;
use fathom_engine::results::Results;
use opening::Shown;
use places::{place_of, title};

/// The whole paper, with published figures next to those of the run if they were requested.
pub fn of(found: &Results, published: Option<&Published>) -> Document {
    let header = &found.run.header;
    let mut document = Document::new(format!("What it costs: {}", run::machine(&header.machine)));
    "A machine and its operating system, measured by Fathom".clone_into(&mut document.kind);
    document.date.clone_from(&header.started);
    "Made by Fathom from the run file alone; the same file gives the same document."
        .clone_into(&mut document.foot);
    document.front.push(front(found));
    document.sections.extend([machine::of(found), method::of(found)]);
    document.sections.extend(chapters(found));
    document.sections.extend(mechanisms::of(found));
    document.sections.extend(mechanisms::cross_checks(found));
    document.sections.extend(accuracy::of(found));
    document.sections.extend(published.map(|published| beside::of(found, published)));
    document.sections.push(conditions::of(found));
    document.sections.extend([references(), settings::of(found), verification::of(found)]);
    document.sections.extend([summary::of(found), without::of(found), published_statistics::of(found)]);
    document
}

/// The final screen of a run, as a section.
fn front(found: &Results) -> Section {
    let (figures, more) = screen::leading(found);
    let rest = (more > 0).then(|| format!("{more} more are in the sections of their experiments.").into());
    let name = |experiment: &str| Text::link(&place_of(found, experiment), experiment);
    opening::of(
        found,
        &Shown { figures: &figures, rest, elsewhere: "in the section Mechanisms", name: &name },
    )
}

/// The experiments by family; a new chapter begins wherever the family changes in the plan.
fn chapters(found: &Results) -> Vec<Section> {
    let mut chapters: Vec<(&str, Section)> = vec![];
    for (place, name) in found.experiments().into_iter().enumerate() {
        let family = family(name);
        if chapters.last().is_none_or(|(last, _)| *last != family) {
            let key = Key::numbered("chapter", chapters.len() + 1);
            let chapter = Section::new(key, title(family));
            chapters.push((family, chapter.with_all(hierarchy::of(found, family))));
        }
        if let Some((_, chapter)) = chapters.last_mut() {
            chapter.sections.push(experiment::of(found, name, place));
        }
    }
    chapters.into_iter().map(|(_, chapter)| chapter).collect()
}

/// The list of references.
pub(super) fn references() -> Section {
    Section::new(Key::of("references"), "References")
        .lettered()
        .say("What predictions and methods cite, in the order of the citations.")
        .with(Block::Works)
}
