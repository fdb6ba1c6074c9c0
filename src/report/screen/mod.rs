//! The one screen that a run ends with: the machine, how far to trust the run and why, the main figures with their
//! intervals, what stands out, and where the rest is.

mod figures;
mod notable;
mod trust;

use super::run;
use super::terminal::places;
use super::text::{Style, clean, lines};
use crate::results::Results;
use std::path::Path;

/// A screen has no more lines.
pub const MOST_LINES: usize = 60;

/// No sentence takes more lines than this: a name in a run file may be of any length.
const MOST_OF_ONE: usize = 3;

/// The screen, of at most [`MOST_LINES`] lines. `files` names what was written where: `("run file", path)`.
pub fn page(results: &Results, files: &[(&str, &Path)], style: Style) -> String {
    let before = head(results, style) + "\n" + &trust::text(results, style) + "\n";
    let after = separated(notable::text(results, style)) + "\n" + &rest(files, style);
    let used = before.lines().count() + after.lines().count();
    before + &figures::text(results, MOST_LINES.saturating_sub(used), style) + &after
}

fn head(results: &Results, style: Style) -> String {
    let header = &results.run.header;
    let title = format!("{}, {}", run::machine(&header.machine), header.started);
    let peer = run::peer(header).map(|peer| clipped("", &peer, style)).unwrap_or_default();
    let titled: String = clipped("", &title, style).lines().map(|line| style.title(line) + "\n").collect();
    titled + &peer + &clipped("", &run::ending(results), style)
}

/// A part with an empty line before it; nothing where there is no such part.
fn separated(part: String) -> String {
    if part.is_empty() { part } else { "\n".to_owned() + &part }
}

fn rest(files: &[(&str, &Path)], style: Style) -> String {
    let named = places(files, style);
    style.faint("every figure, prediction and piece of evidence: fathom report --full") + "\n" + &named
}

/// Text in at most [`MOST_OF_ONE`] lines of the style's width, the first behind `lead`, the others below its text.
fn clipped(lead: &str, text: &str, style: Style) -> String {
    let indent = lead.chars().count();
    let room = style.width.saturating_sub(indent).max(20);
    let all = lines(&clean(text), room);
    let mut shown: Vec<String> = all.iter().take(MOST_OF_ONE).map(|line| cut(line, room)).collect();
    if let Some(last) = shown.last_mut().filter(|_| all.len() > MOST_OF_ONE) {
        *last = cut(&format!("{last} …"), room);
    }
    format!("{lead}{}\n", shown.join(&format!("\n{}", " ".repeat(indent))))
}

/// A line of at most so many letters; one that was longer ends in an ellipsis.
fn cut(line: &str, room: usize) -> String {
    if line.chars().count() <= room {
        return line.to_owned();
    }
    let kept: String = line.trim_end_matches(" …").chars().take(room.saturating_sub(1)).collect();
    kept.trim_end().to_owned() + "…"
}
