//! The report's machine beside this one.

use self::FactKind::{BitRate, Bytes, Count, Frequency, Rate, Text};
use crate::Report;
use fathom_core::quantities;
use fathom_core::quantity::declared::{bytes_rate, frequency, size};
use fathom_engine::record::Header;
use fathom_report::description::{self, FactSection};
use fathom_report::paper::{self, Column, Key, Row, Section, Table};
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

/// A fact: its name, the keys that the report's machine may have it by, and the section and rows of this machine's description.
type ComparedFact = (&'static str, FactKind, &'static [&'static str], &'static str, &'static [&'static str]);

const FACTS: [ComparedFact; 17] = [
    ("Processor", Text, &["cpu", "model"], "Processor", &["Model", "Microarchitecture"]),
    ("Nominal clock", Frequency, &["base_hz", "tsc_hz"], "Processor", &["Nominal clock"]),
    ("Maximum clock", Frequency, &["max_hz"], "Processor", &["Maximum clock", "Observed clock"]),
    ("Cores", Count, &["cores"], "Cores", &["Cores"]),
    ("L1 data cache", Bytes, &["l1d_per_core_bytes", "l1d_total_bytes"], "Caches", &["L1d"]),
    ("L2 cache", Bytes, &["l2_per_core_bytes", "l2_total_bytes"], "Caches", &["L2"]),
    ("L3 cache", Bytes, &["l3_bytes"], "Caches", &["L3"]),
    ("Memory", Bytes, &["ram_bytes"], "Memory", &["Size"]),
    ("Kind of memory", Text, &["ram_printed", "ram_type"], "Memory", &["Modules"]),
    ("Theoretical bandwidth", Rate, BANDWIDTH, "Memory", &["Theoretical bandwidth"]),
    ("Disk", Text, &["disk"], "Storage of the measured folder", &["Device", "Device model"]),
    ("Disk, sequential read", Rate, DISK_RATE, "", &[]),
    ("Network adapter", Text, &["nic"], "Network", &["eth0 model"]),
    ("Its rate", BitRate, &["nic_bits_per_s"], "Network", &["eth0 speed"]),
    ("Operating system", Text, &["os"], "Kernel", &["Distribution", "Release"]),
    ("Compiler and flags", Text, &["compiler"], "", &[]),
    ("Timer", Text, &["timer"], "Kernel", &["Clock source"]),
];

const BANDWIDTH: &[&str] = &["memory_bandwidth_theoretical_bytes_per_s"];
const DISK_RATE: &[&str] = &[
    "disk_sequential_read_bytes_per_s",
    "disk_bandwidth_bytes_per_s",
    "disk_sequential_read_256k_bytes_per_s",
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
            let opening = paper::Text::plain("Doubtful in the report's description: ");
            section.say(opening.and(paper::Text::prose(note)))
        }
        None => section,
    }
}

/// A row; `None` if neither machine's fact is known.
fn row(
    (name, kind, keys, part, facts): &ComparedFact,
    there: Option<&Machine>,
    described: &[FactSection],
    header: &Header,
) -> Option<Row> {
    let theirs = there.and_then(|machine| keys.iter().find_map(|key| written(*kind, key, machine)));
    let ours = match *name {
        "Compiler and flags" => header.tool.compiler.clone(),
        _ => ours(part, facts, described),
    };
    if theirs.is_none() && ours.is_none() {
        return None;
    }
    let or_absent = |text: Option<String>| text.unwrap_or_else(|| ABSENT.to_owned());
    Some(Row::of([(*name).to_owned(), or_absent(theirs), or_absent(ours)]))
}

fn written(kind: FactKind, key: &str, machine: &Machine) -> Option<String> {
    if let Text = kind {
        let flags = machine.text("compiler_flags").filter(|_| key == "compiler");
        return machine.text(key).map(|text| match flags {
            Some(flags) => format!("{text}, {flags}"),
            None => text.to_owned(),
        });
    }
    let number = machine.number(key)?;
    let all = if key.contains("_total_") { ", of all cores together" } else { "" };
    Some(match kind {
        Frequency => frequency(number),
        Bytes => size(number as u64) + all,
        Rate => bytes_rate(number),
        BitRate => format!("{} Mbit/s", quantities::number(number / 1e6)),
        Count | Text => quantities::plain(number),
    })
}

/// This machine's rows, one after the other; of those that are unknown, that they are.
fn ours(part: &str, names: &[&str], described: &[FactSection]) -> Option<String> {
    let part = described.iter().find(|section| section.title == part)?;
    let values = names.iter().filter_map(|name| {
        let fact = part.rows.iter().find(|fact| fact.name == *name)?;
        Some(if fact.unknown { "unknown".to_owned() } else { fact.value.clone() })
    });
    let values: Vec<String> = values.collect();
    let known: Vec<String> = values.iter().filter(|value| *value != "unknown").cloned().collect();
    let shown = if known.is_empty() { values } else { known };
    (!shown.is_empty()).then(|| shown.join(", "))
}
