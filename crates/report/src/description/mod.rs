//! The machine's description as rows: names, formatted values, sources. Text and page show no other facts about it.

mod brief;
mod hardware;
mod row;
mod system;

pub(super) use hardware::{THREADS, cache_name};

use crate::form::{self, Facts};
use crate::text::{Style, clean, display_width};
use fathom_core::machine::{Fact, Machine, Route, Warning};
use fathom_engine::record::{Peer, PeerKind};
use row::stated;

pub use brief::BriefMachine;
pub use row::{FactRow, FactSection};

/// The whole description in reading order.
pub fn sections(machine: &Machine) -> Vec<FactSection> {
    vec![
        section("Processor", hardware::processor(&machine.processor)),
        section("Cores", hardware::topology(machine)),
        section("Caches", hardware::caches(machine)),
        section("Memory", hardware::memory(&machine.memory)),
        section("Pages", hardware::pages(&machine.memory)),
        section("Storage of the measured folder", system::storage(&machine.storage)),
        section("Network", system::network(&machine.network)),
        section("Kernel", system::kernel(&machine.kernel, &brief::mitigations(machine))),
        section("Mitigations", system::mitigations(&machine.kernel)),
        section("Conditions", system::conditions(&machine.conditions)),
        section("Limits", system::limits(machine)),
        section("Virtualisation", system::virtualization(machine)),
        section("Privileges and counters", system::privileges(&machine.privileges)),
        section("This program", system::build(&machine.build)),
    ]
}

/// The description of a run's second host: how it was reached, and its machine if that is another one.
pub fn of_peer(peer: &Peer, route: Option<&Fact<Route>>) -> Vec<FactSection> {
    let kind = match peer.kind {
        PeerKind::Ssh => "a host on which ssh started it",
        PeerKind::ByHand => "a host on which it was started by hand",
        PeerKind::Virtual => "a virtual peer: a network namespace of the measured machine",
    };
    let mut reached = vec![
        stated("Kind", kind, "--peer"),
        stated("Asked for as", &*peer.wanted, "--peer"),
        stated("Address", &*peer.address, "the connection to it"),
    ];
    reached.extend(route.map(|route| system::route_row("Route to it", route)));
    let machine = peer.machine.iter().flat_map(sections);
    let named = machine.map(|part| section(&format!("Peer: {}", part.title), part.rows));
    std::iter::once(section("Peer", reached)).chain(named).collect()
}

fn section(title: &str, rows: Vec<FactRow>) -> FactSection {
    FactSection { title: title.to_owned(), rows }
}

/// Longer names of facts have a line of their own.
const LONGEST_NAME: usize = 32;

/// Every fact with its source, and the warnings about a run.
impl Facts for Machine {
    fn text(&self, style: Style) -> String {
        let sections = sections(self);
        let mut text: String = sections.iter().map(|section| of_section(section, style) + "\n").collect();
        text += &warnings(&self.warnings(), style);
        text
    }

    fn json(&self) -> String {
        form::pretty(self)
    }
}

fn of_section(section: &FactSection, style: Style) -> String {
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
pub(super) fn warnings(warnings: &[Warning], style: Style) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let mut text = style.title("What may disturb a run") + "\n";
    for warning in warnings {
        text += &style.careful(&format!("  ! {}", clean(&warning.id)));
        text.push('\n');
        text += &style.wrapped("    ", &warning.problem);
        text += &style.wrapped("    → ", &warning.remedy);
    }
    text
}
