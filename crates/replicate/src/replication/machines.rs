//! The report's machine beside this one.

use crate::Report;
use fathom_core::quantities;
use fathom_core::quantity::declared::{bytes_rate, frequency, size};
use fathom_engine::record::Header;
use fathom_report::description::{self, FactSection};
use fathom_report::paper::{Column, Key, Row, Section, Table, Text};
use fathom_report::references::{self, Machine};
use fathom_report::words::ABSENT;

/// How a fact of the report's machine is written.
#[derive(Clone, Copy)]
enum FactKind {
    Text,
    Count,
    Frequency,
    Bytes,
    Rate,
    BitRate,
}

/// A fact: its name, the keys that the report's machine may have it by, and the sections and rows of this machine's description.
type ComparedFact =
    (&'static str, FactKind, &'static [&'static str], &'static [(&'static str, &'static str)]);

const FACTS: [ComparedFact; 17] = [
    (
        "Processor",
        FactKind::Text,
        &["cpu", "model"],
        &[("Processor", "Model"), ("Processor", "Microarchitecture")],
    ),
    ("Nominal clock", FactKind::Frequency, &["base_hz", "tsc_hz"], &[("Processor", "Nominal clock")]),
    (
        "Maximum clock",
        FactKind::Frequency,
        &["max_hz"],
        &[("Processor", "Maximum clock"), ("Processor", "Observed clock")],
    ),
    ("Cores", FactKind::Count, &["cores"], &[("Cores", "Cores")]),
    ("L1 data cache", FactKind::Bytes, &["l1d_per_core_bytes", "l1d_total_bytes"], &[("Caches", "L1d")]),
    ("L2 cache", FactKind::Bytes, &["l2_per_core_bytes", "l2_total_bytes"], &[("Caches", "L2")]),
    ("L3 cache", FactKind::Bytes, &["l3_bytes"], &[("Caches", "L3")]),
    ("Memory", FactKind::Bytes, &["ram_bytes"], &[("Memory", "Size")]),
    ("Kind of memory", FactKind::Text, &["ram_printed", "ram_type"], &[("Memory", "Modules")]),
    (
        "Theoretical bandwidth",
        FactKind::Rate,
        &["memory_bandwidth_theoretical_bytes_per_s"],
        &[("Memory", "Theoretical bandwidth")],
    ),
    (
        "Disk",
        FactKind::Text,
        &["disk"],
        &[("Storage of the measured folder", "Device"), ("Storage of the measured folder", "Device model")],
    ),
    (
        "Disk, sequential read",
        FactKind::Rate,
        &[
            "disk_sequential_read_bytes_per_s",
            "disk_bandwidth_bytes_per_s",
            "disk_sequential_read_256k_bytes_per_s",
        ],
        &[],
    ),
    ("Network adapter", FactKind::Text, &["nic"], &[("Network", "eth0 model")]),
    ("Its rate", FactKind::BitRate, &["nic_bits_per_s"], &[("Network", "eth0 speed")]),
    ("Operating system", FactKind::Text, &["os"], &[("Kernel", "Distribution"), ("Kernel", "Release")]),
    ("Compiler and flags", FactKind::Text, &["compiler"], &[]),
    ("Timer", FactKind::Text, &["timer"], &[("Kernel", "Clock source")]),
];

/// The section; it says what is doubtful in the report's own description.
pub(super) fn section(report: &Report, header: &Header) -> Section {
    let there = references::machine(report.machine);
    let described = description::sections(&header.machine);
    let rows = FACTS.iter().filter_map(|fact| row(fact, there, &described, header));
    let columns =
        [Column::words("fact"), Column::words("the report's machine"), Column::words("this machine")];
    let caption = "The machine of the report, as it describes it, and this one.";
    let table = Table::new(Key::of("machines-table"), caption).columns(columns).rows(rows);
    let section = Section::new(Key::of("machines"), "The two machines").with(table);
    match there.and_then(|machine| machine.note.as_deref()) {
        Some(note) => {
            section.say(Text::plain("Doubtful in the report's description: ").and(Text::prose(note)))
        }
        None => section,
    }
}

/// A row; `None` if neither machine's fact is known.
fn row(
    (name, kind, keys, here): &ComparedFact,
    there: Option<&Machine>,
    described: &[FactSection],
    header: &Header,
) -> Option<Row> {
    let theirs = there.and_then(|machine| keys.iter().find_map(|key| written(*kind, key, machine)));
    let ours = match *name {
        "Compiler and flags" => header.tool.compiler.clone(),
        _ => ours(here, described),
    };
    if theirs.is_none() && ours.is_none() {
        return None;
    }
    let or_absent = |text: Option<String>| text.unwrap_or_else(|| ABSENT.to_owned());
    Some(Row::of([(*name).to_owned(), or_absent(theirs), or_absent(ours)]))
}

fn written(kind: FactKind, key: &str, machine: &Machine) -> Option<String> {
    if let FactKind::Text = kind {
        let flags = machine.text("compiler_flags").filter(|_| key == "compiler");
        return machine.text(key).map(|text| match flags {
            Some(flags) => format!("{text}, {flags}"),
            None => text.to_owned(),
        });
    }
    let number = machine.number(key)?;
    let all = if key.contains("_total_") { ", of all cores together" } else { "" };
    Some(match kind {
        FactKind::Frequency => frequency(number),
        FactKind::Bytes => size(number as u64) + all,
        FactKind::Rate => bytes_rate(number),
        FactKind::BitRate => format!("{} Mbit/s", quantities::number(number / 1e6)),
        FactKind::Count | FactKind::Text => quantities::plain(number),
    })
}

/// This machine's rows, one after the other; of those that are unknown, that they are.
fn ours(places: &[(&str, &str)], described: &[FactSection]) -> Option<String> {
    let values = places.iter().filter_map(|(part, name)| {
        let part = described.iter().find(|section| section.title == *part)?;
        let fact = part.rows.iter().find(|fact| fact.name == *name)?;
        Some(if fact.unknown { "unknown".to_owned() } else { fact.value.clone() })
    });
    let values: Vec<String> = values.collect();
    let known: Vec<String> = values.iter().filter(|value| *value != "unknown").cloned().collect();
    let shown = if known.is_empty() { values } else { known };
    (!shown.is_empty()).then(|| shown.join(", "))
}
