//! The one screen that a run ends with: the machine, how far to trust the run and why, the main figures with their
//! intervals, what stands out, and where the rest is.

mod clipped;
mod figures;
mod notable;
mod trust;

use super::run;
use super::terminal::places;
use super::text::Style;
use crate::results::Results;
use clipped::clipped;
use std::path::Path;

/// A screen has no more lines.
pub const MOST_LINES: usize = 50;

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
    let labels: Vec<String> =
        header.settings.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let labels = if labels.is_empty() { String::new() } else { clipped("", &labels.join(" "), style) };
    titled + &labels + &peer + &clipped("", &run::ending(results), style)
}

/// A part with an empty line before it; nothing where there is no such part.
fn separated(part: String) -> String {
    if part.is_empty() { part } else { "\n".to_owned() + &part }
}

fn rest(files: &[(&str, &Path)], style: Style) -> String {
    let named = places(files, style);
    style.faint("all figures, predictions and evidence: fathom report --full") + "\n" + &named
}
