//! The report of a gate: its decision first, then the comparison.

use super::ComparisonReport;
use super::rows::{change, label};
use crate::form::{Facts, Subject};
use crate::paper::{Block, Document, Key, Section, Text, Tone, plain};
use crate::text::Style;
use crate::words::plural;
use fathom_engine::comparison::{Decision, Row as Compared, decide};

/// A comparison with a baseline, with its decision.
pub struct GateReport<'a> {
    comparison: ComparisonReport<'a>,
    decision: Decision,
}

impl<'a> GateReport<'a> {
    pub fn of(comparison: ComparisonReport<'a>) -> Self {
        let decision = comparison.comparisons().map(decide).max().unwrap_or(Decision::Inconclusive);
        GateReport { comparison, decision }
    }

    fn decided(&self, mut document: Document) -> Document {
        let regressed = self
            .comparison
            .comparisons()
            .flat_map(|comparison| comparison.with(fathom_engine::comparison::Verdict::Worse))
            .count();
        let (tone, sentence) = match self.decision {
            Decision::Passed => (Tone::Good, "Passed: no regression beyond the margins, at the precision of these \
                runs.".to_owned()),
            Decision::Regressed => (Tone::Bad, format!("Regressed: {} got worse by more than the margin.", plural(regressed, "point"))),
            Decision::Inconclusive => (
                Tone::Careful,
                "Inconclusive: some points may have got worse, but these runs are not precise enough to decide. Allow \
                 more time (`--budget`), save more baseline runs under the same name, or use a quieter machine."
                    .to_owned(),
            ),
        };
        let text = Text::prose(&sentence);
        document
            .sections
            .insert(0, Section::new(Key::of("decision"), "Decision").with(Block::Aside(tone, text)));
        "Gate".clone_into(&mut document.kind);
        document
    }
}

/// A regression in a sentence, for readers who see nothing else.
pub fn regression(row: &Compared) -> String {
    let (change, interval) = change(row);
    format!("{} {}: {change} ({interval})", row.experiment, label(row))
}

impl Facts for GateReport<'_> {
    fn text(&self, style: Style) -> String {
        plain::render(&self.decided(self.comparison.synopsis()), style.width)
    }

    fn json(&self) -> String {
        self.comparison.json_with(self.decision.name())
    }
}

impl Subject for GateReport<'_> {
    fn rows(&self) -> String {
        self.comparison.rows()
    }

    fn document(&self) -> Document {
        self.decided(self.comparison.document())
    }

    fn synopsis(&self) -> Document {
        self.decided(self.comparison.synopsis())
    }
}
