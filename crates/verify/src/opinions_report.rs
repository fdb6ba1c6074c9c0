//! Second opinions: the figures of other tools for operations that Fathom measures too, in the same session.

use crate::opinions::{Agreement, ToolComparison};
use fathom_core::machine::Machine;
use fathom_core::quantities::{self, percent};
use fathom_core::quantity::Unit;
use fathom_core::statistics::Estimate;
use fathom_engine::record::Tool;
use fathom_report::csv;
use fathom_report::form::{self, Facts, Subject};
use fathom_report::paper::{Column, Document, Key, Row, Section, Table, Text, Tone, plain};
use fathom_report::text::Style;
use fathom_report::words::ABSENT;
use serde::Serialize;

/// A session with other tools, for reporting.
#[derive(Serialize)]
pub struct OpinionsReport {
    at: String,
    tool: Tool,
    processor: Option<String>,
    kernel: Option<String>,
    opinions: Vec<ToolComparison>,
}

impl OpinionsReport {
    /// The report of these opinions, by this build on this machine.
    pub fn of(at: String, tool: Tool, machine: &Machine, opinions: Vec<ToolComparison>) -> Self {
        let processor = machine.processor.model_name.value().cloned();
        OpinionsReport { at, tool, processor, kernel: machine.kernel.release.value().cloned(), opinions }
    }

    fn sentence(&self) -> String {
        let count =
            |agreement| self.opinions.iter().filter(|compared| compared.agreement == agreement).count();
        let same = |agreement| {
            let reproduced = self.opinions.iter().filter_map(|compared| compared.reproduced.as_ref());
            reproduced.filter(|reproduced| reproduced.agreement == agreement).count()
        };
        format!(
            "Of {} comparisons with other tools, {} agree within 5 %, {} differ by more, {} are undecided, and {} \
             could not be made. Fathom and the tool take turns in one session, on the same CPUs. Each figure is the \
             median of its runs or trials, each spread is half the 95 % interval over the median, and the ratio is \
             Fathom's figure over the tool's. `the same` is the tool's own statistic of Fathom's observations, all of \
             them, each state of the core by its share of the time: by it {} agree within 5 %, {} are undecided and {} \
             differ. A difference means that one of the two is wrong, or that they measure \
             different things: `docs/peers.md` explains which.",
            self.opinions.len(),
            count(Agreement::Agree),
            count(Agreement::Differ),
            count(Agreement::Open),
            count(Agreement::Skipped),
            same(Agreement::Agree),
            same(Agreement::Open),
            same(Agreement::Differ),
        )
    }
}

impl Facts for OpinionsReport {
    fn text(&self, style: Style) -> String {
        plain::render(&self.document(), style.width)
    }

    fn json(&self) -> String {
        form::pretty(self)
    }
}

impl Subject for OpinionsReport {
    fn rows(&self) -> String {
        csv::table(self.opinions.iter().map(ToolComparisonRow::of))
    }

    fn document(&self) -> Document {
        let processor = self.processor.as_deref().unwrap_or("a machine of unknown processor");
        let kernel: String = self.kernel.iter().map(|release| format!(", Linux {release}")).collect();
        let mut document = Document::new(format!("Comparison with other tools: {processor}{kernel}"));
        "Other tools beside Fathom".clone_into(&mut document.kind);
        document.date.clone_from(&self.at);
        document.sections = vec![
            Section::new(Key::of("opinions"), "Results of other tools")
                .say(self.sentence())
                .with(table(&self.opinions)),
        ];
        document.foot = format!("Measured by {} {}.", self.tool.name, self.tool.version);
        document
    }
}

fn table(opinions: &[ToolComparison]) -> Table {
    Table::new(Key::of("opinions-table"), "Operations measured alternately by Fathom and another tool.")
        .columns([
            Column::words("operation"),
            Column::words("tool"),
            Column::mixed("its median"),
            Column::mixed("spread"),
            Column::mixed("Fathom's"),
            Column::mixed("spread"),
            Column::mixed("ratio"),
            Column::mixed("spread ratio"),
            Column::mixed("seconds, tool"),
            Column::mixed("seconds, Fathom"),
            Column::words("verdict"),
            Column::mixed("the same"),
            Column::mixed("ratio"),
            Column::words("verdict"),
        ])
        .rows(opinions.iter().map(row))
}

fn row(compared: &ToolComparison) -> Row {
    let or_absent = |text: Option<String>| Text::plain(text.unwrap_or_else(|| ABSENT.to_owned()));
    let value = |side: &Option<Estimate>| {
        or_absent(compared.unit.zip(side.as_ref()).map(|(unit, side)| quantities::estimate(unit, side)))
    };
    let [tool_spread, fathom_spread] = compared.spreads().map(|spread| or_absent(spread.map(percent)));
    let seconds = |took: f64| or_absent((took > 0.0).then(|| quantities::number(took)));
    let ratio = compared.ratio.as_ref().map(|ratio| quantities::number(ratio.value));
    let verdict = Text::toned(tone(compared.agreement), compared.agreement.name());
    let same = compared.reproduced.as_ref();
    let same_value = compared
        .unit
        .zip(same)
        .map(|(unit, same)| format!("{} ({})", quantities::value(unit, same.value), same.statistic));
    let same_ratio = same.and_then(|same| same.ratio.as_ref());
    let same_agreement = same.map_or(Agreement::Skipped, |same| same.agreement);
    Row::of([
        Text::prose(compared.operation),
        Text::plain(compared.tool),
        value(&compared.tool_estimate),
        tool_spread,
        value(&compared.fathom_estimate),
        fathom_spread,
        or_absent(ratio),
        or_absent(compared.spread_ratio().map(quantities::number)),
        seconds(compared.took_s[0]),
        seconds(compared.took_s[1]),
        match &compared.because {
            Some(because) => verdict.noted(Text::prose(because)),
            None => verdict,
        },
        or_absent(same_value),
        or_absent(same_ratio.map(|ratio| quantities::number(ratio.value))),
        Text::toned(tone(same_agreement), same_agreement.name()),
    ])
}

fn tone(agreement: Agreement) -> Tone {
    match agreement {
        Agreement::Agree => Tone::Good,
        Agreement::Differ | Agreement::Open => Tone::Careful,
        Agreement::Skipped => Tone::Faint,
    }
}

#[derive(Serialize)]
struct ToolComparisonRow {
    operation: &'static str,
    peer: &'static str,
    command: String,
    point: String,
    unit: Option<Unit>,
    theirs: Option<f64>,
    their_spread: Option<f64>,
    ours: Option<f64>,
    our_spread: Option<f64>,
    ratio: Option<f64>,
    spread_ratio: Option<f64>,
    their_seconds: f64,
    our_seconds: f64,
    verdict: &'static str,
    statistic: Option<&'static str>,
    reproduced: Option<f64>,
    reproduced_ratio: Option<f64>,
    reproduced_verdict: Option<&'static str>,
    reason: String,
}

impl ToolComparisonRow {
    fn of(compared: &ToolComparison) -> Self {
        let [their_spread, our_spread] = compared.spreads();
        let same = compared.reproduced.as_ref();
        ToolComparisonRow {
            operation: compared.operation,
            peer: compared.tool,
            command: csv::cell(compared.command),
            point: csv::cell(&compared.point),
            unit: compared.unit,
            theirs: compared.tool_estimate.as_ref().map(|side| side.value),
            their_spread,
            ours: compared.fathom_estimate.as_ref().map(|side| side.value),
            our_spread,
            ratio: compared.ratio.as_ref().map(|ratio| ratio.value),
            spread_ratio: compared.spread_ratio(),
            their_seconds: compared.took_s[0],
            our_seconds: compared.took_s[1],
            verdict: compared.agreement.name(),
            statistic: same.map(|same| same.statistic),
            reproduced: same.map(|same| same.value),
            reproduced_ratio: same.and_then(|same| Some(same.ratio.as_ref()?.value)),
            reproduced_verdict: same.map(|same| same.agreement.name()),
            reason: csv::cell(compared.because.as_deref().unwrap_or_default()),
        }
    }
}
