//! Published machines and their figures, for a terminal and as JSON.

use super::form::{self, Facts};
use super::measured;
use super::text::{Style, clean};
use super::words::plural;
use crate::references::{self, Fact, Figure, Machine, Role, Value};
use fathom_core::quantities;
use serde::Serialize;

/// A machine in a line: its id, its name, and the publication that describes it.
pub(super) fn title(machine: &Machine) -> String {
    format!("{}: {} ({})", machine.id, machine.title(), sources(machine))
}

fn sources(machine: &Machine) -> String {
    let (reports, others): (Vec<&str>, Vec<&str>) =
        machine.sources.iter().map(String::as_str).partition(|source| source.starts_with('0'));
    let names = match reports.as_slice() {
        [] => vec![],
        [one] => vec![format!("report {one}")],
        many => vec![format!("reports {}", many.join(", "))],
    };
    names.into_iter().chain(others.into_iter().map(str::to_owned)).collect::<Vec<_>>().join(", ")
}

/// A figure's value in its unit, with its doubt: `74.2 ns per block (doubtful: unit)`. A figure without a single value is
/// shown as printed.
pub fn value(figure: &Figure) -> String {
    let (Some(value), Some(unit)) = (figure.value(), figure.unit().quantity()) else {
        return figure.printed().to_string();
    };
    let per = figure.unit().per().map(|per| format!(" {per}")).unwrap_or_default();
    let number = |value: f64| quantities::value(unit, value) + &per;
    match value {
        Value::AsPrinted(value) => number(value),
        Value::Doubtful { printed, doubt, corrected } => {
            let right = corrected.map(|value| format!(", corrected {}", number(value))).unwrap_or_default();
            format!("{} (doubtful: {}{right})", number(printed), doubt.name())
        }
    }
}

/// Every machine in a line, with the number of its figures: those of the atlas, whose figures are found by this program's methods,
/// published tables, and the machines of reports, most of which are laptops without a name.
pub struct MachineList;

/// The machines with published figures, those of reports last.
fn published() -> impl Iterator<Item = &'static Machine> {
    let is_of_report = |machine: &&Machine| machine.sources.iter().any(|source| source.starts_with('0'));
    let (reports, others): (Vec<&Machine>, Vec<&Machine>) =
        references::machines().iter().partition(is_of_report);
    others.into_iter().chain(reports)
}

impl Facts for MachineList {
    fn text(&self, style: Style) -> String {
        let mut text = measured::list(fathom_atlas::compiled(), style);
        for machine in published() {
            text += &(style.title(&machine.id) + "\n");
            text += &style.wrapped("    ", &format!("{}; {}", machine.title(), sources(machine)));
            text += &style.wrapped("    ", &format!("{}; {}", role(machine), counts(machine)));
        }
        text
    }

    fn json(&self) -> String {
        let machines: Vec<Listed> = published().map(listed).collect();
        let (sources, atlas) = (references::sources(), measured::listed(fathom_atlas::compiled()));
        form::pretty(
            &serde_json::json!({ "schema": SCHEMA, "atlas": atlas, "sources": sources, "machines": machines }),
        )
    }
}

/// These machines with their known facts and all of their figures.
pub struct Machines<'a>(pub &'a [&'a Machine]);

impl Facts for Machines<'_> {
    fn text(&self, style: Style) -> String {
        let texts: Vec<String> = self.0.iter().map(|each| machine(each, style)).collect();
        texts.join("\n")
    }

    fn json(&self) -> String {
        let entry = |machine: &&Machine| {
            let figures: Vec<&Figure> = references::of_machine(&machine.id).collect();
            serde_json::json!({ "machine": machine, "figures": figures })
        };
        let machines: Vec<serde_json::Value> = self.0.iter().map(entry).collect();
        form::pretty(&serde_json::json!({ "schema": SCHEMA, "machines": machines }))
    }
}

/// One figure with all known facts.
impl Facts for Figure {
    fn text(&self, style: Style) -> String {
        let machine = references::machine(self.machine());
        let mut text = style.title(style.wrapped("", &place(self)).trim_end()) + "\n" + &line(self, style);
        let source = references::source(self.source()).map(|source| {
            (" source: ", format!("{}, line {} of {}", source.title, self.line(), source.text))
        });
        let lines = [
            Some((" printed: ", self.printed().to_string())),
            self.printed_prediction().map(|printed| (" predicted: ", printed.to_owned())),
            machine.map(|machine| (" machine: ", title(machine))),
            self.remote().map(|remote| (" other end: ", remote.to_owned())),
            self.basis().map(|basis| (" basis: ", basis.to_owned())),
            self.note().filter(|_| self.doubt().is_none()).map(|note| (" note: ", note.to_owned())),
            self.doubt().map(|doubt| (" doubt: ", doubt.sentence().to_owned())),
            source,
        ];
        let lines = lines.into_iter().flatten();
        text.extend(lines.map(|(lead, words)| style.wrapped(&format!("  {lead:>13}"), &words)));
        text
    }

    fn json(&self) -> String {
        form::pretty(self)
    }
}

fn role(machine: &Machine) -> String {
    match (machine.role, &machine.peer_of) {
        (Role::Measured, _) => "measured by its source".to_owned(),
        (Role::Cited, _) => "quoted by its source".to_owned(),
        (Role::Remote, Some(other)) => format!("at the other end of {other}"),
        (Role::Remote, None) => "at the other end of a network".to_owned(),
    }
}

fn counts(machine: &Machine) -> String {
    let figures: Vec<&Figure> = references::of_machine(&machine.id).collect();
    let doubtful = figures.iter().filter(|figure| figure.doubt().is_some()).count();
    match doubtful {
        0 => plural(figures.len(), "figure"),
        _ => format!("{}, {doubtful} of them doubtful", plural(figures.len(), "figure")),
    }
}

fn machine(machine: &Machine, style: Style) -> String {
    let mut text = style.title(style.wrapped("", &title(machine)).trim_end()) + "\n";
    text += &style.wrapped("  ", &format!("{}; {}", role(machine), counts(machine)));
    for (key, fact) in &machine.facts {
        text += &style.wrapped(&format!("  {}: ", key.replace('_', " ")), &in_words(key, fact));
    }
    if let Some(note) = &machine.note {
        text += &style.wrapped("  note: ", note);
    }
    let mut above = String::new();
    for figure in references::of_machine(&machine.id) {
        let place = place(figure);
        if place != above {
            text += &(style.title(style.wrapped("", &place).trim_end()) + "\n");
            above = place;
        }
        text += &line(figure, style);
    }
    text
}

fn in_words(key: &str, fact: &Fact) -> String {
    match fact {
        Fact::Truth(truth) => (if *truth { "yes" } else { "no" }).to_owned(),
        Fact::Text(text) => text.clone(),
        Fact::Number(number) if key.ends_with("_bytes_per_s") => {
            quantities::value(fathom_core::quantity::Unit::BytesPerSecond, *number)
        }
        Fact::Number(number) if key.ends_with("_bits_per_s") => format!("{} Mbit/s", number / 1e6),
        Fact::Number(number) if key.ends_with("_hz") => quantities::frequency(*number),
        Fact::Number(number) if key.ends_with("_ns") => format!("{number} ns"),
        // The capacity of disks is given in powers of ten.
        Fact::Number(number) if key.starts_with("disk") && key.ends_with("_bytes") => {
            format!("{} GB", number / 1e9)
        }
        Fact::Number(number) if key.ends_with("_bytes") => quantities::size(*number as u64),
        Fact::Number(number) => format!("{number}"),
    }
}

fn place(figure: &Figure) -> String {
    let kind = serde_json::to_value(figure.kind()).ok();
    let kind = kind.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    let source = if figure.source().starts_with('0') { "report " } else { "" };
    format!("{source}{}, section {}, {}: {kind}", figure.source(), figure.section(), figure.table())
}

fn line(figure: &Figure, style: Style) -> String {
    let parameter = figure.parameter().map(|(name, at)| format!(", {name} {at}")).unwrap_or_default();
    let trial = figure.trial().map(|trial| format!(", trial {trial}")).unwrap_or_default();
    let what = format!("{}, {}{parameter}{trial}", figure.operation(), figure.variant());
    let unit = figure.unit().quantity();
    let deviation = figure.deviation().zip(unit);
    let deviation =
        deviation.map(|(sd, unit)| format!(" ± {}", quantities::value(unit, sd))).unwrap_or_default();
    let lead = format!("  {:12}  ", figure.id());
    let mut text = style.wrapped(&lead, &clean(&format!("{what}: {}{deviation}", value(figure))));
    if let Some(note) = figure.doubt_note() {
        text += &style.careful(style.wrapped("                ", note).trim_end());
        text.push('\n');
    }
    text
}

#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    machine: &'a Machine,
    title: String,
    figures: usize,
    doubtful: usize,
}

fn listed(machine: &Machine) -> Listed<'_> {
    let figures = || references::of_machine(&machine.id);
    Listed {
        machine,
        title: machine.title(),
        figures: figures().count(),
        doubtful: figures().filter(|figure| figure.doubt().is_some()).count(),
    }
}

const SCHEMA: u32 = 1;
