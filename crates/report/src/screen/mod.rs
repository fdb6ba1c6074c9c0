//! The final screen of a run: the machine in a line, how far to trust the run and why, what stands out, a dozen figures with what is
//! usual, and what to do next.

mod figures;
mod head;
mod notable;
mod trust;

use crate::main_figures::{self, Ranked};
use crate::text::{Style, display_width, places};
use crate::usual::UsualFigures;
use crate::words::plural;
use fathom_engine::results::Results;
pub(super) use notable::{TITLE as NOTABLE, everything as everything_notable, lines as notable};
use std::path::Path;
pub(super) use trust::{TITLE as TRUST, lines as trust, text as trust_text};

/// The lines of a screen.
pub const MOST_LINES: usize = 40;

/// The figures of a screen, unless more represent a machine.
const FIGURES: usize = 12;

/// The lines that what stands out has at most, unless more is wrong.
const NOTABLE_ROOM: usize = 9;

/// The screen, of at most [`MOST_LINES`] lines. `files` are the written files with their names: `("run file", path)`.
pub(crate) fn page(results: &Results, usual: &UsualFigures, files: &[(&str, &Path)], style: Style) -> String {
    let (shown, more) = leading(results);
    let head = head::text(results, style);
    let next = next(more, files, style);
    let figures = figures::text(&shown, usual, results, style);
    let others = [&head, &figures, &next].map(|part| part.lines().count() + 1).iter().sum::<usize>();
    let room = MOST_LINES.saturating_sub(others).min(NOTABLE_ROOM);
    let notable = notable::text(results, usual, room, style);
    let parts = [head, notable, figures, next];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The main figures at the beginning of a document, and the number of further ones: those that fit on a screen.
pub(super) fn leading<'run>(results: &'run Results) -> (Vec<Ranked<'run>>, usize) {
    let mut figures = main_figures::all(results);
    let all = figures.len();
    let leading = main_figures::leading(&figures);
    // Points that no name chose represent their experiment only where nothing represents the machine.
    figures.retain(|figure| leading == 0 || figure.main.role.is_some());
    main_figures::keep(&mut figures, leading.max(FIGURES));
    let more = all - figures.len();
    (figures, more)
}

/// The main figures of these results in a table, for a part of a run; empty without any.
pub(super) fn main_rows(results: &Results, usual: &UsualFigures, style: Style) -> String {
    let figures = main_figures::all(results);
    if figures.is_empty() { String::new() } else { figures::text(&figures, usual, results, style) }
}

/// What to do next, and where the files are.
fn next(more: usize, files: &[(&str, &Path)], style: Style) -> String {
    let figures = if more == 0 { "all figures".to_owned() } else { plural(more, "more figure") };
    let steps = [
        ("Next: fathom report RUN --full", format!("{figures}, with predictions and checks")),
        ("      fathom compare OTHER RUN", "with another machine, or another day".to_owned()),
        ("      fathom publish RUN", "this machine for the atlas".to_owned()),
    ];
    let line = |(command, purpose): (&str, String)| {
        let whole = format!("{command:32}{purpose}");
        // A command is not broken: on a narrow terminal it stands alone.
        style.faint(if display_width(&whole) > style.width { command } else { &whole }) + "\n"
    };
    steps.into_iter().map(line).collect::<String>() + &places(files, style)
}
