//! Verdicts in words.

use crate::comparison::signed;
use crate::paper::{Block, Text};
use crate::words::plural;
use fathom_core::message::capitalize;
use fathom_core::quantities;
use fathom_engine::around::{ChangeScale, HostDimension, Source, Verdict, Whole};

/// How dimensions are judged.
pub(super) const JUDGED: &str = "Anchors: a dimension moved where its change is certainly beyond half of its margin (false \
                                 discovery rate 5 % over all dimensions and phases) and is not shown to be within the \
                                 whole; it held still within x % \
                                 where the 95 % interval of the change ends there, and that is within its margin. Meanwhile: \
                                 it moved where its rate leaves those of all seconds before by more than its margin (the \
                                 interval is the change from the highest and from the lowest of them). What \
                                 moved with another can have moved because of it. Nothing is rescaled.";

/// The verdict on the host in one sentence.
pub(super) fn verdict(dimensions: &[HostDimension], interrupted: bool) -> String {
    let sentence = match Whole::of(dimensions) {
        Whole::HeldStill => {
            format!(
                "The host held still within {}: all of {}.",
                most(dimensions),
                plural(dimensions.len(), "dimension")
            )
        }
        Whole::Moved => {
            let (following, first): (Vec<_>, Vec<_>) =
                dimensions.iter().filter(|each| each.moved()).partition(|each| each.follows.is_some());
            let list =
                |moved: Vec<&HostDimension>| moved.into_iter().map(change).collect::<Vec<_>>().join("; ");
            let with =
                if following.is_empty() { String::new() } else { format!(" With it: {}.", list(following)) };
            format!("The host did not hold still: {}.{with}", list(first))
        }
        Whole::CannotSay => undecided(dimensions),
    };
    if interrupted { format!("Interrupted. {sentence}") } else { sentence }
}

fn undecided(dimensions: &[HostDimension]) -> String {
    let unknown: Vec<&str> = dimensions
        .iter()
        .filter(|each| matches!(each.verdict, Verdict::CannotSay { .. }))
        .map(|each| each.name.as_str())
        .collect();
    let still = dimensions.len() - unknown.len();
    let names = unknown.join(", ");
    if still == 0 {
        return format!("Whether the host held still cannot be said: {names}.");
    }
    format!(
        "Whether the host held still cannot be said: {} of {} held still within {}, none moved, and of {} it is \
         undecided ({names}).",
        quantities::count(still),
        plural(dimensions.len(), "dimension"),
        most(dimensions),
        quantities::count(unknown.len()),
    )
}

/// The largest change that anchors which held still may have had.
fn most(dimensions: &[HostDimension]) -> String {
    // Rates that were watched meanwhile are no change of an operation.
    let anchors = dimensions.iter().filter(|each| each.source == Source::Anchors);
    let within = anchors.filter_map(|each| match each.verdict {
        Verdict::HeldStill { within } => Some(within),
        _ => None,
    });
    quantities::percent(within.fold(0.0, f64::max))
}

/// The change of a dimension that moved.
fn change(dimension: &HostDimension) -> String {
    let Verdict::Moved { by, low, high } = dimension.verdict else { return dimension.name.clone() };
    let shown = |share: f64| by_scale(dimension.scale, share);
    let interval = match (low, high) {
        (Some(low), Some(high)) => format!(" ({} to {})", shown(low), shown(high)),
        _ => String::new(),
    };
    format!("{} moved by {}{interval}", dimension.name, shown(by))
}

/// A change, as a share of the first value or in points.
pub(super) fn by_scale(scale: ChangeScale, share: f64) -> String {
    match scale {
        ChangeScale::Ratio => signed(1.0 + share),
        ChangeScale::Points => format!("{} points", quantities::deviation(share)),
    }
}

pub(super) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::HeldStill { .. } => "held still",
        Verdict::Moved { .. } => "moved",
        Verdict::CannotSay { .. } => "cannot say",
    }
}

/// The reasons why nothing can be said of some dimensions.
pub(super) fn reasons(dimensions: &[HostDimension]) -> Vec<Block> {
    let reason = |each: &HostDimension| match &each.verdict {
        Verdict::CannotSay { reason } => Some(Text::plain(format!("{}: {reason}.", capitalize(&each.name)))),
        _ => None,
    };
    let reasons: Vec<Text> = dimensions.iter().filter_map(reason).collect();
    if reasons.is_empty() {
        return vec![];
    }
    vec![Block::Heading("Why nothing can be said of some".to_owned()), Block::List(reasons)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dimension(name: &str, scale: ChangeScale, verdict: Verdict) -> HostDimension {
        let (source, name) = (Source::Anchors, name.to_owned());
        HostDimension {
            name,
            source,
            scale,
            unit: None,
            readings: vec![],
            margin: 0.1,
            verdict,
            follows: None,
        }
    }

    fn still(name: &str, within: f64) -> HostDimension {
        dimension(name, ChangeScale::Ratio, Verdict::HeldStill { within })
    }

    #[test]
    fn the_first_sentence_is_the_verdict() {
        let calm = [still("system call", 0.031), still("fsync", 0.072)];
        assert_eq!(verdict(&calm, false), "The host held still within 7.20 %: all of 2 dimensions.");
        let moved = Verdict::Moved { by: 0.42, low: Some(0.35), high: Some(0.49) };
        let share = Verdict::Moved { by: -0.5, low: None, high: None };
        let lost = [
            dimension("fsync", ChangeScale::Ratio, moved),
            dimension("processor time", ChangeScale::Points, share),
            still("L1 latency", 0.01),
        ];
        let sentence = verdict(&lost, false);
        assert!(
            sentence.starts_with("The host did not hold still: fsync moved by +42 % (+35 % to +49 %);"),
            "{sentence}"
        );
        assert!(sentence.ends_with("processor time moved by −50.0 points."), "{sentence}");
        let [_, mut share, _] = lost.clone();
        share.follows = Some("fsync".to_owned());
        let sentence = verdict(&[lost[0].clone(), share], false);
        assert!(sentence.ends_with("+49 %). With it: processor time moved by −50.0 points."), "{sentence}");
    }

    #[test]
    fn what_is_undecided_is_counted_and_named() {
        let reason = Verdict::CannotSay { reason: "too few trials for an interval".to_owned() };
        let some = [still("system call", 0.031), dimension("fsync", ChangeScale::Ratio, reason)];
        let sentence = verdict(&some, true);
        assert!(
            sentence.starts_with("Interrupted. Whether the host held still cannot be said: 1 of 2"),
            "{sentence}"
        );
        assert!(sentence.contains("(fsync)"), "{sentence}");
        assert_eq!(reasons(&some).len(), 2);
        assert!(verdict(&some[1..], false).ends_with("cannot be said: fsync."));
    }
}
