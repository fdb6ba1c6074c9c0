//! Differences between two machines and their runs: they come first in a comparison, because they may explain the figures.

use super::side::{ReducedRun, Side};
use crate::record::Header;
use fathom_core::machine::{Fact, Machine};
use fathom_core::quantity::declared;
use std::collections::BTreeSet;
use std::fmt::Display;

/// A difference between two sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub what: &'static str,
    /// The value on the first side.
    pub before: String,
    /// The value on the second side.
    pub after: String,
    /// The name by which the difference is accepted, if it makes the comparison doubtful: a comparison in which it was not
    /// intended is meaningless.
    pub doubtful: Option<&'static str>,
}

/// The differences for which comparisons are refused unless they are accepted by this name, with the reason.
pub const REFUSED: [(&str, &str); 2] = [
    ("build", "a debug build measures its own slowness"),
    ("method", "different versions of a method measure different operations"),
];

/// The least difference in share from which the core counts as shared more of the time on one side.
const SHARED_MORE: f64 = 0.1;

type FactReading = fn(&ReducedRun) -> String;

/// The compared facts, and the name of those that make a comparison doubtful.
const READINGS: [(&str, Option<&str>, FactReading); 28] = [
    ("setting", None, setting),
    ("processor", Some("processor"), |run| known(&machine(run).processor.model_name)),
    ("processor design", Some("processor"), |run| design(machine(run))),
    ("CPUs", Some("processor"), |run| machine(run).allowed_cpus().len().to_string()),
    ("second threads of cores", Some("processor"), |run| known(&machine(run).topology.smt)),
    ("microcode", None, |run| known(&machine(run).processor.microcode)),
    ("memory", None, |run| sized(&machine(run).memory.total_bytes)),
    ("hypervisor", Some("virtualisation"), |run| optional(&machine(run).virtualization.hypervisor)),
    ("container", Some("virtualisation"), |run| optional(&machine(run).virtualization.container)),
    ("product", None, |run| known(&machine(run).virtualization.system_product)),
    ("kernel", None, |run| known(&machine(run).kernel.release)),
    ("kernel command line", None, |run| known(&machine(run).kernel.command_line)),
    ("mitigations", Some("mitigations"), |run| listed(&machine(run).kernel.mitigations)),
    ("system-call filter", None, |run| known(&machine(run).privileges.seccomp)),
    ("clock source", Some("clock"), |run| known(&machine(run).kernel.clocksource)),
    ("clock of the measurement", Some("clock"), |run| format!("{:?}", run.header.clock.kind)),
    ("governor", Some("governor"), |run| joined(&machine(run).conditions.governors)),
    ("turbo", Some("governor"), |run| known(&machine(run).conditions.turbo)),
    ("energy preference", Some("governor"), |run| joined(&machine(run).conditions.energy_preferences)),
    ("on battery", Some("governor"), |run| known(&machine(run).conditions.on_battery)),
    ("transparent huge pages", None, |run| known(&machine(run).memory.transparent_huge_pages.enabled)),
    ("file system", Some("storage"), |run| known(&machine(run).storage.file_system)),
    ("device", Some("storage"), |run| device(machine(run))),
    ("extent of the run", Some("settings"), |run| format!("{:?}", run.header.settings.effort).to_lowercase()),
    ("CPU of the measurement", None, |run| run.header.settings.home.to_string()),
    ("priority", Some("settings"), |run| {
        run.header.settings.priority.map_or_else(|| "that of the run".to_owned(), |nice| nice.to_string())
    }),
    ("fathom", None, |run| tool(&run.header)),
    ("second host", Some("peer"), |run| peer(&run.header)),
];

/// The differences between two sides; for several runs of a side, all of their values.
pub(super) fn between(before: &Side, after: &Side) -> Vec<Difference> {
    let differs = |(what, doubtful, reading): &(&'static str, Option<&'static str>, FactReading)| {
        let (before, after) = (reading_of(before, *reading), reading_of(after, *reading));
        (before != after).then_some(Difference { what, before, after, doubtful: *doubtful })
    };
    READINGS.iter().filter_map(differs).chain(shared_core(before, after)).collect()
}

fn reading_of(side: &Side, reading: FactReading) -> String {
    let all: BTreeSet<String> = side.runs.iter().map(reading).collect();
    all.into_iter().collect::<Vec<_>>().join("; ")
}

fn shared_core(before: &Side, after: &Side) -> Option<Difference> {
    let share = |side: &Side| {
        let shares: Vec<f64> = side.runs.iter().filter_map(|run| run.core_shared).collect();
        fathom_core::statistics::mean(&shares).map(|mean| mean.value)
    };
    let (one, other) = (share(before)?, share(after)?);
    let share_text =
        |share: f64| format!("{} of the time", declared::percent((share * 100.0).round() / 100.0));
    ((one - other).abs() >= SHARED_MORE).then(|| Difference {
        what: "core used by another hardware thread",
        before: share_text(one),
        after: share_text(other),
        doubtful: Some("shared-core"),
    })
}

/// The settings of this half of an interleaved measurement.
fn setting(run: &ReducedRun) -> String {
    match &run.header.settings.interleaved {
        Some(half) if !half.setting.is_empty() => half.setting.join(" "),
        _ => "as it is".to_owned(),
    }
}

fn machine(run: &ReducedRun) -> &Machine {
    &run.header.machine
}

const UNKNOWN: &str = "unknown";

fn known<T: Display>(fact: &Fact<T>) -> String {
    fact.value().map_or(UNKNOWN.to_owned(), T::to_string)
}

fn optional(fact: &Fact<Option<String>>) -> String {
    fact.value().map_or(UNKNOWN.to_owned(), |value| value.clone().unwrap_or("none".to_owned()))
}

fn sized(fact: &Fact<u64>) -> String {
    fact.value().map_or(UNKNOWN.to_owned(), |bytes| declared::size(*bytes))
}

fn joined(fact: &Fact<Vec<String>>) -> String {
    fact.value().map_or(UNKNOWN.to_owned(), |values| values.join(", "))
}

/// The kernel's mitigations of the processor's vulnerabilities, without those that do not apply.
fn listed(fact: &Fact<std::collections::BTreeMap<String, String>>) -> String {
    let Some(all) = fact.value() else { return UNKNOWN.to_owned() };
    let concerned = all.iter().filter(|(_, state)| *state != "Not affected");
    concerned.map(|(name, state)| format!("{name}: {state}")).collect::<Vec<_>>().join("; ")
}

/// The design by family and model: guests of several may have one name, such as `AMD EPYC`.
pub(super) fn design(machine: &Machine) -> String {
    let (family, model) = (known(&machine.processor.family), known(&machine.processor.model));
    match machine.design() {
        Some(design) => format!("{design} (family {family}, model {model})"),
        None => format!("family {family}, model {model}"),
    }
}

fn device(machine: &Machine) -> String {
    let device = machine.storage.device.value().map(|device| match device.model.value() {
        Some(model) => format!("{} ({model})", device.kind),
        None => device.kind.clone(),
    });
    device.unwrap_or(UNKNOWN.to_owned())
}

fn tool(header: &Header) -> String {
    let binary: String = header.tool.binary_sha256.chars().take(12).collect();
    format!("{} ({}, binary {binary})", header.tool.version, header.tool.build)
}

fn peer(header: &Header) -> String {
    header.peer.as_ref().map_or("none".to_owned(), |peer| format!("{:?}", peer.kind).to_lowercase())
}
