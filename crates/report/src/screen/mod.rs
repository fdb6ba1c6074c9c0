//! The final screen of a run: the machine, how far to trust the run and why, the main figures with their intervals, the most
//! important findings, and where the rest is.

mod figures;
mod notable;
mod trust;

use crate::main_figures::{self, Ranked};
use crate::run;
use crate::text::{Style, clipped, places};
use fathom_engine::results::Results;
pub(super) use notable::{TITLE as NOTABLE, everything as everything_notable, lines as notable};
use std::path::Path;
pub(super) use trust::{TITLE as TRUST, TrustLines, lines as trust, sentence as trusted, text as trust_text};

/// The lines of a screen.
pub const MOST_LINES: usize = 40;

/// The lines between the parts, the title of the figures, the line with the number of further figures, and the line that
/// says where the rest is.
const BETWEEN: usize = 7;

/// The lines for the names of written files, taken from every screen so that all of a run have the same figures.
const FILES: usize = 2;

/// The figures that a screen shows before less important findings, where there are so many.
const FEW_FIGURES: usize = 16;

/// The lines that what stands out needs, before further reasons of trust.
const NOTABLE_ROOM: usize = 5;

/// The screen, of at most [`MOST_LINES`] lines. `files` are the written files with their names: `("run file", path)`.
pub fn page(results: &Results, files: &[(&str, &Path)], style: Style) -> String {
    let mut figures = main_figures::all(results);
    let parts = Parts::of(results, &figures, style);
    let more = main_figures::keep(&mut figures, parts.room);
    parts.head
        + "\n"
        + &parts.trust
        + "\n"
        + &figures::text(&figures, more, style)
        + &separated(parts.notable)
        + "\n"
        + &rest(files, style)
}

/// The main figures at the beginning of a document, and the number of further ones: those that fit on a screen of usual
/// width, and all that represent a machine.
pub(super) fn leading<'run>(results: &'run Results) -> (Vec<Ranked<'run>>, usize) {
    let mut figures = main_figures::all(results);
    let parts = Parts::of(results, &figures, Style::default());
    let room = parts.room.max(main_figures::leading_lines(&figures));
    let more = main_figures::keep(&mut figures, room);
    (figures, more)
}

/// The main figures of these results in a table, for a part of a run; empty without any.
pub(super) fn main_rows(results: &Results, style: Style) -> String {
    let figures = main_figures::all(results);
    if figures.is_empty() { String::new() } else { figures::text(&figures, 0, style) }
}

/// The parts of a screen beside its figures.
struct Parts {
    head: String,
    trust: String,
    notable: String,
    /// The lines that these parts leave for figures and their families.
    room: usize,
}

impl Parts {
    /// What stands out leaves room for the leading figures, but for what is wrong.
    fn of(results: &Results, figures: &[Ranked], style: Style) -> Self {
        let head = head(results, style);
        let free_beside = |trust: &str| {
            MOST_LINES.saturating_sub(head.lines().count() + trust.lines().count() + BETWEEN + FILES)
        };
        let lines = main_figures::leading_lines(figures).max(figures.len().min(FEW_FIGURES));
        let wrong = notable::text(results, 0, style).lines().count();
        let forms = [(TrustLines::All, NOTABLE_ROOM), (TrustLines::Screen, wrong)];
        let fits = |(shown, notable): (TrustLines, usize)| {
            let text = trust::text(results, shown, style);
            (free_beside(&text) >= lines + notable).then_some(text)
        };
        let trust = forms.into_iter().find_map(fits);
        let trust = trust.unwrap_or_else(|| trust::text(results, TrustLines::Few, style));
        let free = free_beside(&trust);
        let notable = notable::text(results, free.saturating_sub(lines), style);
        let room = free.saturating_sub(notable.lines().count());
        Self { head, trust, notable, room }
    }
}

fn head(results: &Results, style: Style) -> String {
    let header = &results.run.header;
    let title = format!("{}, {}", run::machine_in_full(&header.machine), header.started);
    let peer = run::peer(header).map(|peer| clipped("", &peer, style)).unwrap_or_default();
    let titled: String = clipped("", &title, style).lines().map(|line| style.title(line) + "\n").collect();
    let labels = run::labels(header).map(|labels| clipped("", &labels, style)).unwrap_or_default();
    titled
        + &labels
        + &peer
        + &clipped("", &run::ending(results), style)
        + &style.wrapped("", &trust::sentence(results))
}

/// A part with an empty line before it; empty if the part is.
fn separated(part: String) -> String {
    if part.is_empty() { part } else { "\n".to_owned() + &part }
}

fn rest(files: &[(&str, &Path)], style: Style) -> String {
    let named = places(files, style);
    style.faint("all figures, predictions and evidence: fathom report --full") + "\n" + &named
}
