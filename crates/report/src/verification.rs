//! The verification of the instrument: the known truths, the measured values, and their distance.

use crate::csv;
use crate::form::{self, Facts, Subject};
use crate::paper::{Column, Document, Key, Row, Section, Table, Text, Tone, plain};
use crate::text::Style;
use crate::words::ABSENT;
use crate::words::plural;
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Unit;
use fathom_engine::record::{Header, Truth, Verdict, Verification};
use serde::Serialize;

pub struct VerificationReport<'a>(&'a Verification);

impl<'a> VerificationReport<'a> {
    pub fn of(verification: &'a Verification) -> Self {
        VerificationReport(verification)
    }
}

impl Facts for VerificationReport<'_> {
    fn text(&self, style: Style) -> String {
        plain::render(&self.document(), style.width)
    }

    fn json(&self) -> String {
        #[derive(Serialize)]
        struct VerificationEntry<'a> {
            verdict: Verdict,
            #[serde(flatten)]
            verification: &'a Verification,
        }
        form::pretty(&VerificationEntry { verdict: self.0.verdict(), verification: self.0 })
    }
}

impl Subject for VerificationReport<'_> {
    fn rows(&self) -> String {
        csv::table(self.0.truths.iter().map(TruthRow::of))
    }

    fn document(&self) -> Document {
        let mut document = Document::new(format!("Verification of the instrument: {}", place(self.0)));
        "Known truths, measured by Fathom".clone_into(&mut document.kind);
        document.date.clone_from(&self.0.at);
        document.sections = vec![
            Section::new(Key::of("truths"), "Truths set and values found")
                .say(format!("{} {}", sentence(self.0), judged()))
                .with(table(self.0)),
        ];
        let tool = &self.0.tool;
        document.foot =
            format!("Measured by {} {} in {}.", tool.name, tool.version, quantities::duration(self.0.took_s));
        document
    }
}

/// The result in a sentence: `18 truths: 15 right, 1 inconclusive, 2 skipped.`
pub(super) fn sentence(verification: &Verification) -> String {
    let counted = [Verdict::Right, Verdict::Wrong, Verdict::Inconclusive, Verdict::Skipped].map(|verdict| {
        let count = verification.count(verdict);
        (count > 0).then(|| format!("{count} {}", verdict.name()))
    });
    let counted: Vec<String> = counted.into_iter().flatten().collect();
    let all = plural(verification.truths.len(), "truth");
    if counted.is_empty() { format!("{all}.") } else { format!("{all}: {}.", counted.join(", ")) }
}

/// Whether the build that measured a run was verified on that machine, and the result.
pub(super) fn of_build(header: &Header) -> String {
    match &header.verification {
        Some(verification) => format!("yes, this build on this machine: {}", sentence(verification)),
        None => "not verified on this machine (`fathom verify`, some minutes).".to_owned(),
    }
}

/// The rule for verdicts.
pub(super) fn judged() -> &'static str {
    "The verdict is right where the whole 95 % interval lies within 2 % of the value set (or within the resolution of \
     the clock that set it), wrong where the whole interval lies outside, also in a second session, and inconclusive \
     otherwise, or where the instrument itself saw a disturbance."
}

fn place(verification: &Verification) -> String {
    let processor = verification.processor.as_deref().unwrap_or("a machine of unknown processor");
    let kernel = verification.kernel.iter().map(|release| format!(", Linux {release}"));
    processor.to_owned() + &kernel.collect::<String>()
}

/// The truths, one row each.
pub(super) fn table(verification: &Verification) -> Table {
    Table::new(
        Key::of("truths-table"),
        "Known truths: the value set on this machine, and the value that the instrument found.",
    )
    .columns([
        Column::words("rig"),
        Column::words("truth"),
        Column::mixed("set"),
        Column::mixed("found"),
        Column::mixed("interval"),
        Column::number("error", "%"),
        Column::words("verdict"),
    ])
    .rows(verification.truths.iter().map(row))
}

fn row(truth: &Truth) -> Row {
    let written = |value: Option<f64>, ends| {
        Text::plain(value.map_or_else(|| ABSENT.to_owned(), |value| number(truth.unit, value, ends)))
    };
    let interval = truth.interval.map(|ends| (ends.low, ends.high));
    let ends = truth.interval.zip(truth.found).map(|(ends, value)| match truth.unit {
        Some(unit) => {
            let measure = Measure::of(unit, value);
            format!("{} {}", measure.range(value, ends.low, ends.high), measure.symbol)
        }
        None => quantities::number_range(value, ends.low, ends.high),
    });
    let error = truth.error().map(quantities::deviation);
    let verdict = Text::toned(tone(truth.verdict), truth.verdict.name());
    Row::of([
        Text::code(&*truth.rig),
        Text::prose(&truth.what),
        written(truth.set, None),
        written(truth.found, interval),
        Text::plain(ends.unwrap_or_else(|| ABSENT.to_owned())),
        Text::plain(error.unwrap_or_else(|| ABSENT.to_owned())),
        match &truth.because {
            Some(because) => verdict.noted(Text::prose(because)),
            None => verdict,
        },
    ])
}

fn number(unit: Option<Unit>, value: f64, interval: Option<(f64, f64)>) -> String {
    match unit {
        Some(unit) => quantities::rounded(unit, value, interval),
        None => quantities::number_within(value, interval),
    }
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Right => Tone::Good,
        Verdict::Wrong => Tone::Bad,
        Verdict::Inconclusive => Tone::Careful,
        Verdict::Skipped => Tone::Faint,
    }
}

/// A truth as comma-separated values.
#[derive(Serialize)]
struct TruthRow {
    rig: String,
    truth: String,
    unit: Option<Unit>,
    set: Option<f64>,
    tolerance: Option<f64>,
    found: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    error: Option<f64>,
    verdict: &'static str,
    reason: String,
}

impl TruthRow {
    fn of(truth: &Truth) -> Self {
        TruthRow {
            rig: csv::cell(&truth.rig),
            truth: csv::cell(&truth.what),
            unit: truth.unit,
            set: truth.set,
            tolerance: truth.tolerance,
            found: truth.found,
            low: truth.interval.map(|interval| interval.low),
            high: truth.interval.map(|interval| interval.high),
            error: truth.error(),
            verdict: truth.verdict.name(),
            reason: csv::cell(truth.because.as_deref().unwrap_or_default()),
        }
    }
}
