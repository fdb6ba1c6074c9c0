//! What has no value, and why.

use super::places::place_of;
use crate::report::paper::{Block, Key, Section, Text, Tone};
use crate::report::summary::{self, Unmeasured};
use crate::results::Results;

/// The section.
pub(super) fn of(found: &Results) -> Section {
    let section = Section::new(Key::of("without"), "What has no value");
    let items = items(found, None);
    if items.is_empty() {
        return section.say("Every planned point has a value or an upper limit.");
    }
    section.say("Points without a value, each with the reason.").with(Block::List(items))
}

/// An item for each reason, of one experiment or of all.
pub(super) fn items(found: &Results, experiment: Option<&str>) -> Vec<Text> {
    let groups = summary::unmeasured(found).into_iter();
    let mine = groups.filter(|group| experiment.is_none_or(|name| group.experiment == name));
    mine.map(|group| item(found, &group, experiment.is_none())).collect()
}

fn item(found: &Results, group: &Unmeasured, named: bool) -> Text {
    let tone = if group.failure { Tone::Bad } else { Tone::Careful };
    let mut text = Text::toned(tone, group.outcome);
    if named {
        text = text.and(" ").and(Text::link(&place_of(found, group.experiment), group.experiment));
    }
    let points = match group.points.as_slice() {
        [one] => format!(": {one}: "),
        many if named => format!(": {} points: ", many.len()),
        many => format!(": {} points ({}): ", many.len(), many.join("; ")),
    };
    text.and(points).and(Text::prose(&group.reason))
}
