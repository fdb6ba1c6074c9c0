//! The accuracy of the predictions, for a terminal: a line for each chapter, each kind of prediction, and the whole run.

use super::text::{Style, clean, display_width};
use super::words::plural;
use fathom_core::quantities;
use fathom_engine::results::{Accuracy, CLOSE, FAIR, Tally};

/// The lines with their title; empty if nothing could be judged.
pub(super) fn text(found: &Accuracy, style: Style) -> String {
    let Some(total) = &found.total else { return String::new() };
    // In a run of one chapter the whole is that chapter.
    let chapters = if found.chapters.len() > 1 { found.chapters.as_slice() } else { &[] };
    let tallies: Vec<&Tally> = chapters.iter().chain(found.by_kind()).chain([total]).collect();
    let room = tallies.iter().map(|tally| display_width(&tally.name)).max().unwrap_or(0);
    let line = |tally: &&Tally| {
        let lead = format!("  {:room$}  ", clean(&tally.name));
        style.wrapped(&lead, &sentence(tally))
    };
    style.title("How good the predictions were") + "\n" + &tallies.iter().map(line).collect::<String>()
}

fn sentence(tally: &Tally) -> String {
    let unpredicted = match tally.unpredicted {
        0 => String::new(),
        some => format!("; {} without a prediction", plural(some, "value")),
    };
    format!(
        "{}: {} within {CLOSE}×, {} within {FAIR}×; measured over predicted is {} in the median and {} at worst \
         ({}){unpredicted}",
        plural(tally.judged, "point"),
        quantities::percent(tally.close.share),
        quantities::percent(tally.fair.share),
        quantities::factor(tally.median_factor),
        quantities::factor(tally.worst.factor),
        tally.worst.experiment,
    )
}
