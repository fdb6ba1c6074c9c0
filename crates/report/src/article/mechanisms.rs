//! Conclusions from figures of several experiments: causes, and operations measured more than once.

use crate::finding;
use crate::paper::{Block, Key, Section, Text, Tone};
use fathom_engine::results::{Agreement, CrossCheck, Mechanism, Results};

/// The section; `None` if nothing was concluded.
pub(super) fn of(found: &Results) -> Option<Section> {
    let all: Vec<Text> = found.mechanisms.iter().map(told).collect();
    (!all.is_empty()).then(|| {
        Section::new(Key::of("mechanisms"), "Mechanisms")
            .say("Mechanisms that explain figures of several experiments. Each follows from a rule whose condition \
                  was met.")
            .with(Block::List(all))
    })
}

/// A cause, the figures that support it, and its condition.
fn told(mechanism: &Mechanism) -> Text {
    let because = format!(" {} ", finding::text(&mechanism.because));
    Text::strong(finding::text(&mechanism.headline))
        .and(Text::prose(&because))
        .and(Text::prose(&format!("Condition: {}.", mechanism.condition)))
}

/// The operations measured more than once; `None` if there are none.
pub(super) fn cross_checks(found: &Results) -> Option<Section> {
    let all: Vec<Text> = found.cross_checks.iter().map(checked).collect();
    (!all.is_empty()).then(|| {
        Section::new(Key::of("cross-checks"), "Cross-checks")
            .say("Operations that several experiments measured, and pairs of operations of which one cannot cost more \
                  than the other.")
            .with(Block::List(all))
    })
}

fn checked(check: &CrossCheck) -> Text {
    let said = finding::text(&check.statement);
    match check.agreement {
        Agreement::Contradicts => Text::toned(Tone::Careful, "Contradiction. ").and(Text::prose(&said)),
        Agreement::Agrees | Agreement::Differs => Text::prose(&said),
    }
}
