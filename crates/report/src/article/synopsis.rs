//! The run on one page: the content of the final screen, with all main figures.

use super::beside::{self, Published};
use super::opening::{self, Shown};
use super::synopsis_machine;
use crate::main_figures;
use crate::paper::{Document, Text};
use crate::run;
use fathom_engine::results::Results;
use std::path::Path;

/// The page, with published figures next to those of the run if they were requested; `files` are the locations of the run
/// file and the whole report.
pub fn alone(found: &Results, published: Option<&Published>, files: &[(&str, &Path)]) -> Document {
    let header = &found.run.header;
    let mut document = Document::new(format!("Synopsis: {}", run::machine(&header.machine)));
    document.date.clone_from(&header.started);
    let shown = Shown {
        figures: &main_figures::all(found),
        rest: None,
        elsewhere: "in the whole report",
        name: &|experiment| Text::code(experiment),
    };
    document.front.extend([
        opening::of(found, &shown),
        synopsis_machine::machine(found),
        synopsis_machine::whole(files),
    ]);
    document.front.extend(published.map(|published| beside::of(found, published)));
    "Made by Fathom from the run file.".clone_into(&mut document.foot);
    document
}
