//! The points without a value, with the reasons.

use super::places::place_of;
use crate::paper::{Block, Key, Section, Text, Tone};
use crate::summary::{self, Unmeasured};
use crate::words::plural;
use fathom_engine::results::Results;

/// The number of reasons named in an experiment's section; the appendix has all.
const MOST_REASONS: usize = 2;

/// The section: the failures, and all points without a value, folded.
pub(super) fn of(found: &Results) -> Section {
    let section = Section::new(Key::of("without"), "What has no value").lettered();
    let groups = summary::unmeasured(&found.points);
    if groups.is_empty() {
        return section.say("Every planned point has a value or an upper limit.");
    }
    let item = |group: &Unmeasured| {
        let link = Text::link(&place_of(found, group.experiment), group.experiment);
        outcome(group).and(" ").and(link).and(": ").and(counted(group))
    };
    let broken: Vec<Text> = groups.iter().filter(|group| group.failure).map(item).collect();
    let section = if broken.is_empty() {
        section.say("Nothing failed.")
    } else {
        section.say("What failed:").with(Block::List(broken))
    };
    let number = groups.iter().map(|group| group.points.len()).sum();
    section.with(Block::Folded {
        summary: format!("{} without a value, and why", plural(number, "point")).into(),
        long: true,
        open: false,
        blocks: vec![
            Block::Paragraph("Points without a value, each with the reason.".into()),
            Block::List(groups.iter().map(item).collect()),
        ],
    })
}

fn outcome(group: &Unmeasured) -> Text {
    Text::toned(if group.failure { Tone::Bad } else { Tone::Careful }, group.outcome)
}

/// The number of points, and the reason.
fn counted(group: &Unmeasured) -> Text {
    let points = match group.points.as_slice() {
        [one] => format!("{one}: "),
        many => format!("{}: ", plural(many.len(), "point")),
    };
    Text::plain(points).and(Text::prose(&group.reason))
}

/// The reasons why points of an experiment have no value, in a sentence or two; `None` if all have one.
pub(super) fn reasons(groups: &[Unmeasured]) -> Option<Text> {
    let told = groups.iter().take(MOST_REASONS).map(|group| {
        let number = format!("{} {}, ", plural(group.points.len(), "point"), group.outcome);
        Text::plain(number).and(Text::prose(group.reason.trim_end_matches('.')))
    });
    let rest: usize = groups.iter().skip(MOST_REASONS).map(|group| group.points.len()).sum();
    let rest = (rest > 0).then(|| Text::plain(format!("{} for other reasons", plural(rest, "point"))));
    let all: Vec<Text> = told.chain(rest).collect();
    (!all.is_empty()).then(|| Text::joined(all, "; ").and("."))
}

/// An item for each reason why points of an experiment have no value, with all their names.
pub(super) fn items(groups: &[Unmeasured]) -> Vec<Text> {
    let item = |group: &Unmeasured| {
        let points = match group.points.as_slice() {
            [one] => format!(": {one}: "),
            many => format!(": {} points ({}): ", many.len(), many.join("; ")),
        };
        outcome(group).and(points).and(Text::prose(&group.reason))
    };
    groups.iter().map(item).collect()
}
