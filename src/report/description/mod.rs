//! The machine's description as rows: names, written values, sources. Text and page show nothing else of it.

mod hardware;
mod system;

use serde::Serialize;

use crate::machine::{Fact, Machine};
use crate::record::{Peer, PeerKind};

/// A part of the description under a title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// `Processor`, `Caches`, …
    pub title: String,
    /// In reading order.
    pub rows: Vec<Row>,
}

/// One line: a name, and what is known under it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// What it is.
    pub name: String,
    /// The value with its unit; the reason if it is unknown.
    pub value: String,
    /// Where it was read, or where we looked.
    pub source: String,
    /// Whether `value` is a reason instead of a value.
    pub unknown: bool,
}

/// The whole description in reading order.
pub fn sections(machine: &Machine) -> Vec<Section> {
    vec![
        section("Processor", hardware::processor(&machine.processor)),
        section("Cores", hardware::topology(machine)),
        section("Caches", hardware::caches(machine)),
        section("Memory", hardware::memory(&machine.memory)),
        section("Pages", hardware::pages(&machine.memory)),
        section("Storage of the measured folder", system::storage(&machine.storage)),
        section("Network", system::network(&machine.network)),
        section("Kernel", system::kernel(&machine.kernel)),
        section("Mitigations", system::mitigations(&machine.kernel)),
        section("Conditions", system::conditions(&machine.conditions)),
        section("Limits", system::limits(machine)),
        section("Virtualisation", system::virtualization(&machine.virtualization)),
        section("Privileges and counters", system::privileges(&machine.privileges)),
        section("This program", system::build(&machine.build)),
    ]
}

/// The description of a run's second host: how it was reached, and its machine where it is another.
pub fn of_peer(peer: &Peer) -> Vec<Section> {
    let kind = match peer.kind {
        PeerKind::Ssh => "a host where ssh has started it",
        PeerKind::ByHand => "a host where it was started by hand",
        PeerKind::Virtual => "a virtual peer: a network namespace of the machine that is measured",
    };
    let reached = vec![
        stated("Kind", kind, "--peer"),
        stated("Asked for as", &*peer.wanted, "--peer"),
        stated("Address", &*peer.address, "the connection to it"),
    ];
    let machine = peer.machine.iter().flat_map(sections);
    let named = machine.map(|part| section(&format!("Peer: {}", part.title), part.rows));
    std::iter::once(section("Peer", reached)).chain(named).collect()
}

fn section(title: &str, rows: Vec<Row>) -> Section {
    Section { title: title.to_owned(), rows }
}

/// A row of a fact, its value written by `form`.
fn row<T>(name: impl Into<String>, fact: &Fact<T>, form: impl FnOnce(&T) -> String) -> Row {
    let (value, unknown) = match fact {
        Fact::Known { value, .. } => (form(value), false),
        Fact::Unknown { unknown, .. } => (unknown.clone(), true),
    };
    Row { name: name.into(), value, source: fact.source().to_owned(), unknown }
}

/// A row of a fact that reads well as it is.
fn plain<T: ToString>(name: impl Into<String>, fact: &Fact<T>) -> Row {
    row(name, fact, ToString::to_string)
}

/// A row of a list.
fn list<T: ToString>(name: impl Into<String>, fact: &Fact<Vec<T>>) -> Row {
    row(name, fact, |items| match items.as_slice() {
        [] => "none".to_owned(),
        items => items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    })
}

/// A row whose value we have without a fact around it.
fn stated(name: impl Into<String>, value: impl Into<String>, source: &str) -> Row {
    Row { name: name.into(), value: value.into(), source: source.to_owned(), unknown: false }
}
