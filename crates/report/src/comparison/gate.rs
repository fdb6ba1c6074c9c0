//! The report of a gate: its decision first, then the comparison.

use super::rows::{change, label};
use super::{ComparisonReport, families};
use crate::form::{Facts, Subject};
use crate::paper::{Block, Document, Key, Section, Text, Tone, plain};
use crate::text::Style;
use crate::words::plural;
use fathom_engine::comparison::{Comparison, Decision, Row as Compared, Verdict, decide};

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
        let (tone, sentence) = match self.decision {
            Decision::Passed => (Tone::Good, self.passed()),
            Decision::Regressed => (Tone::Bad, self.regressed()),
            Decision::Inconclusive => (Tone::Careful, self.undecided()),
        };
        let text = Text::prose(&sentence);
        document
            .sections
            .insert(0, Section::new(Key::of("decision"), "Decision").with(Block::Aside(tone, text)));
        "Gate".clone_into(&mut document.kind);
        document
    }
}

const PASSED: &str = "Passed: no regression beyond the margins, and one of the size of the margin would have been found \
                      in every family.";

/// Why the points of [`Comparison::unlike`] say nothing.
const UNLIKE: &str = "met another state of the machine than in the baseline (the core alone or shared, the CPUs near or far), \
                      so a regression of its own would not have been seen there";

impl GateReport<'_> {
    fn passed(&self) -> String {
        let unlike = self.comparison.comparisons().map(|comparison| comparison.unlike().len()).sum();
        match unlike {
            0 => PASSED.to_owned(),
            number => format!("{PASSED} But {} {UNLIKE}.", plural(number, "point")),
        }
    }

    fn regressed(&self) -> String {
        let all = || self.comparison.comparisons();
        let families: Vec<String> = all()
            .flat_map(|comparison| &comparison.families)
            .filter(|family| family.regressed())
            .map(families::change)
            .collect();
        let points = all().flat_map(|comparison| comparison.with(Verdict::Worse)).count();
        let by_themselves =
            (points > 0).then(|| format!("{} got worse by more than the margin", plural(points, "point")));
        let sentences: Vec<String> = families.into_iter().chain(by_themselves).collect();
        format!("Regressed: {}.", sentences.join(", "))
    }

    fn undecided(&self) -> String {
        let all: Vec<&Comparison> = self.comparison.comparisons().collect();
        if all.iter().any(|comparison| comparison.of_itself) {
            return "Inconclusive: the baseline and the candidate have a run in common.".to_owned();
        }
        let suspects =
            all.iter().flat_map(|comparison| &comparison.rows).filter(|row| row.is_suspect()).count();
        let suspects = (suspects > 0).then(|| {
            format!("{} may have got worse, and these runs do not decide it.", plural(suspects, "point"))
        });
        let sentences: Vec<String> = suspects.into_iter().chain(families::needed(&all)).collect();
        format!(
            "Inconclusive: {} Allow more time (`--budget`), save more baseline runs under the same name, declare a \
             wider margin (`--margin`), or use a quieter machine.",
            if sentences.is_empty() { UNMEASURED.to_owned() } else { sentences.join(" ") }
        )
    }
}

const UNMEASURED: &str = "a point that had a value has failed, or nothing could be compared.";

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
