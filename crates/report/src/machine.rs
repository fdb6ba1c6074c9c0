//! The machine's description and its warnings as text.

use super::description::{self, Section};
use super::form::{self, Facts};
use super::text::{Style, clean, display_width};
use fathom_core::machine::Machine;

/// Longer names of facts have a line of their own.
const LONGEST_NAME: usize = 32;

/// Every fact with its source, and the warnings about a run.
impl Facts for Machine {
    fn text(&self, style: Style) -> String {
        let sections = description::sections(self);
        let mut text: String = sections.iter().map(|section| of_section(section, style) + "\n").collect();
        text += &warnings(self, style);
        text
    }

    fn json(&self) -> String {
        form::pretty(self)
    }
}

fn of_section(section: &Section, style: Style) -> String {
    let names = section.rows.iter().map(|row| display_width(&row.name));
    let width = names.max().unwrap_or(0).min(LONGEST_NAME);
    let mut text = style.title(&clean(&section.title)) + "\n";
    for row in &section.rows {
        let lead = format!("  {:width$}  ", clean(&row.name));
        let value = if row.unknown { format!("unknown: {}", row.value) } else { row.value.clone() };
        text += &with_source(&lead, &value, &row.source, style);
    }
    text
}

/// The value followed by its source, fainter: on the same line if it fits, otherwise below.
fn with_source(lead: &str, value: &str, source: &str, style: Style) -> String {
    let (value, source) = (clean(value), format!("[{}]", clean(source)));
    let used = display_width(lead) + display_width(&value) + display_width(&source) + 2;
    if used <= style.width {
        return format!("{lead}{value}  {}\n", style.faint(&source));
    }
    let indent = " ".repeat(display_width(lead));
    let below: String =
        style.wrapped(&indent, &source).lines().map(|line| style.faint(line) + "\n").collect();
    style.wrapped(lead, &value) + &below
}

/// The conditions that may disturb a run, with their remedies; empty if there are none.
pub(super) fn warnings(machine: &Machine, style: Style) -> String {
    let warnings = machine.warnings();
    if warnings.is_empty() {
        return String::new();
    }
    let mut text = style.title("What may disturb a run") + "\n";
    for warning in &warnings {
        text += &style.careful(&format!("  ! {}", clean(&warning.id)));
        text.push('\n');
        text += &style.wrapped("    ", &warning.problem);
        text += &style.wrapped("    → ", &warning.remedy);
    }
    text
}
