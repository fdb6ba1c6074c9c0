//! The machine's description as rows: names, formatted values, sources. Text and page show no other facts about it.

mod hardware;
mod row;
mod system;

pub use row::Row;

use row::stated;
use serde::Serialize;

use fathom_core::machine::{Fact, Machine, Route};
use fathom_engine::record::{Peer, PeerKind};

/// A part of the description under a title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// `Processor`, `Caches`, …
    pub title: String,
    /// In reading order.
    pub rows: Vec<Row>,
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

/// The description of a run's second host: how it was reached, and its machine if that is another one.
pub fn of_peer(peer: &Peer, route: Option<&Fact<Route>>) -> Vec<Section> {
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
    reached.extend(route.map(|route| system::way("Way to it", route)));
    let machine = peer.machine.iter().flat_map(sections);
    let named = machine.map(|part| section(&format!("Peer: {}", part.title), part.rows));
    std::iter::once(section("Peer", reached)).chain(named).collect()
}

fn section(title: &str, rows: Vec<Row>) -> Section {
    Section { title: title.to_owned(), rows }
}
