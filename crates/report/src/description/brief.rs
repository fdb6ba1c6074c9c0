//! The description in some fifteen lines: what a person asks about a machine first.

use super::hardware;
use crate::form::{self, Facts};
use crate::text::{Style, clipped, clipped_to};
use crate::words::plural;
use fathom_core::machine::{Adapter, Cache, ClockReading, Device, Fact, Machine};
use fathom_core::quantity::declared::{bits_rate, frequency, on_off, size};

/// The machine without sources and details; as data all of it.
pub struct BriefMachine<'a>(pub &'a Machine);

/// The columns of the names.
const NAMES: usize = 11;
/// The warnings that are told; more are counted.
const MOST_WARNINGS: usize = 3;

impl Facts for BriefMachine<'_> {
    fn text(&self, style: Style) -> String {
        let row = |(name, value): (&str, String)| clipped(&format!("{name:NAMES$}  "), &value, style);
        let rows: String = rows(self.0).into_iter().map(row).collect();
        let rest = "every fact with its source, and what to do about what may disturb: fathom machine --full";
        rows + &disturbing(self.0, style) + &style.faint(rest) + "\n"
    }

    fn json(&self) -> String {
        form::pretty(self.0)
    }
}

fn rows(machine: &Machine) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("processor", processor(machine)),
        ("kind", kind(machine)),
        ("CPUs", cpus(machine)),
        ("caches", caches(&machine.caches)),
        ("memory", memory(machine)),
        ("kernel", kernel(machine)),
        ("disk", disk(machine)),
        ("network", network(&machine.network)),
        ("clock", clock(machine)),
        ("mitigations", mitigations(machine)),
    ];
    let frequency = [
        machine.conditions.governors.value().map(|names| format!("governor {}", names.join(", "))),
        machine.conditions.turbo.value().map(|on| format!("turbo {}", on_off(*on))),
    ];
    let frequency = joined(frequency);
    rows.extend((!frequency.is_empty()).then_some(("frequency", frequency)));
    rows
}

/// What is known, with commas.
fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The value, or that it is unknown and why.
fn or_reason<T>(fact: &Fact<T>, form: impl FnOnce(&T) -> String) -> String {
    fact.value().map_or_else(|| format!("unknown: {}", fact.reason().unwrap_or_default()), form)
}

fn processor(machine: &Machine) -> String {
    let processor = &machine.processor;
    let clock = processor.observed_hz.value().map(|hertz| format!("{} observed", frequency(*hertz)));
    let nominal = processor.nominal_hz.value().map(|hertz| format!("{} nominal", frequency(*hertz)));
    let design = processor.microarchitecture.value().cloned();
    joined([Some(or_reason(&processor.model_name, String::clone)), design, clock.or(nominal)])
}

fn kind(machine: &Machine) -> String {
    let layers = &machine.virtualization;
    let kind = or_reason(&layers.hypervisor, |hypervisor| match hypervisor {
        Some(name) => format!("virtual machine under {name}"),
        None => "physical machine".to_owned(),
    });
    let nested = machine.nested().map(|word| format!("probably nested ({word})"));
    let container =
        layers.container.value().and_then(Option::as_ref).map(|name| format!("in a container ({name})"));
    joined([Some(kind), nested, container, layers.system_product.value().cloned()])
}

fn cpus(machine: &Machine) -> String {
    let topology = &machine.topology;
    let allowed = machine.allowed_cpus().len();
    let fewer = topology.online.value().filter(|online| online.len() != allowed);
    let number = |sets: &Vec<_>, word: &str| plural(sets.len(), word);
    joined([
        Some(or_reason(&topology.online, |online| plural(online.len(), "thread"))),
        fewer.map(|_| format!("of which this process may use {allowed}")),
        topology.cores.value().map(|cores| number(cores, "core")),
        topology.packages.value().map(|packages| number(packages, "socket")),
        topology.smt.value().map(|on| format!("SMT {}", on_off(*on))),
        topology
            .classes
            .value()
            .filter(|all| all.len() > 1)
            .map(|all| format!("{} classes of cores", all.len())),
    ])
}

fn caches(caches: &Fact<Vec<Cache>>) -> String {
    or_reason(caches, |caches| {
        let known = joined(caches.iter().map(cache));
        if known.is_empty() { "the kernel tells no sizes".to_owned() } else { known }
    })
}

fn cache(cache: &Cache) -> Option<String> {
    let bytes = cache.size_bytes.value()?;
    Some(format!("{} {}{}", hardware::cache_name(cache), hardware::instances(cache), size(*bytes)))
}

fn memory(machine: &Machine) -> String {
    let memory = &machine.memory;
    let nodes = machine.numa_nodes().len();
    let swap = machine.conditions.swap_total_bytes.value().filter(|bytes| **bytes > 0);
    joined([
        Some(or_reason(&memory.total_bytes, |bytes| size(*bytes))),
        memory.available_bytes.value().map(|bytes| format!("{} available", size(*bytes))),
        (nodes > 1).then(|| plural(nodes, "NUMA node")),
        swap.map(|bytes| format!("swap {}", size(*bytes))),
    ])
}

fn kernel(machine: &Machine) -> String {
    let kernel = &machine.kernel;
    joined([
        Some(or_reason(&kernel.release, |release| format!("Linux {release}"))),
        kernel.architecture.value().cloned(),
        kernel.tick_hz.value().map(|hertz| format!("tick {hertz} Hz")),
        kernel.distribution.value().cloned(),
        kernel.libc.value().cloned(),
    ])
}

fn disk(machine: &Machine) -> String {
    let storage = &machine.storage;
    let device = |device: &Device| {
        let capacity = device.capacity_bytes.value().map(|bytes| size(*bytes));
        joined([
            Some(device.name.clone()),
            Some(device.kind.clone()),
            device.model.value().cloned(),
            capacity,
        ])
    };
    let free = storage.free_bytes.value().map(|bytes| format!(", {} free", size(*bytes)));
    let system = storage.file_system.value().map(|kind| format!("{kind}{}", free.unwrap_or_default()));
    let folder = storage.folder.value().map(|folder| format!("at {folder}"));
    joined([Some(or_reason(&storage.device, device)), system, folder])
}

/// The adapters that have a wire; loopback and virtual ones are with every machine.
fn network(adapters: &[Adapter]) -> String {
    let wired = |adapter: &&Adapter| adapter.driver.value().is_some();
    let one = |adapter: &Adapter| {
        let rate = adapter.speed_bits_per_second.value().map(|rate| bits_rate(*rate));
        let state = adapter.state.value().filter(|state| *state != "up").cloned();
        let words = joined([adapter.driver.value().cloned(), rate, state]);
        Some(format!("{} ({words})", adapter.name))
    };
    let all = joined(adapters.iter().filter(wired).map(one));
    if all.is_empty() { "no adapter with a driver: loopback and virtual ones only".to_owned() } else { all }
}

fn clock(machine: &Machine) -> String {
    let ticks = &machine.processor.tick_counter;
    let steady = match ticks.invariant.value() {
        Some(true) => " (invariant)",
        Some(false) => " (not invariant)",
        None => "",
    };
    let reading = machine.kernel.clock_reading().map(|reading| match reading {
        ClockReading::Direct => "read directly",
        ClockReading::SharedPage => "read with a page of the hypervisor's",
        ClockReading::SystemCall => "read by a system call",
    });
    joined([
        ticks.declared_hz.value().map(|hertz| format!("counter {}{steady}", frequency(*hertz))),
        Some(or_reason(&machine.kernel.clocksource, |source| format!("the kernel's is {source}"))),
        reading.map(str::to_owned),
    ])
}

/// What the kernel does about weaknesses of the processor, and what it leaves open.
pub(super) fn mitigations(machine: &Machine) -> String {
    let all = machine.mitigations();
    let those = |prefix: &'static str| {
        all.iter().filter_map(move |(name, text)| Some((name.as_str(), text.strip_prefix(prefix)?)))
    };
    let active: Vec<&str> = those("Mitigation").map(|(name, _)| name).collect();
    // What is done about a weakness that stays open is said of it.
    let open = those("Vulnerable").map(|(name, rest)| match rest.strip_prefix(": ") {
        Some(done) => format!("{name} ({done})"),
        None => name.to_owned(),
    });
    let (active, open) = (active.join(", "), open.collect::<Vec<_>>().join(", "));
    match (active.is_empty(), open.is_empty()) {
        (true, true) if all.is_empty() => or_reason(&machine.kernel.mitigations, |_| "none told".to_owned()),
        (true, true) => "none needed".to_owned(),
        (false, true) => format!("on for {active}"),
        (true, false) => format!("vulnerable: {open}"),
        (false, false) => format!("on for {active}; vulnerable: {open}"),
    }
}

/// What may disturb a run, a line each.
fn disturbing(machine: &Machine, style: Style) -> String {
    let warnings = machine.warnings();
    let line = |problem: &str| clipped_to(1, &style.careful("! "), problem, style);
    let shown: String = warnings.iter().take(MOST_WARNINGS).map(|warning| line(&warning.problem)).collect();
    match warnings.len().saturating_sub(MOST_WARNINGS) {
        0 => shown,
        more => {
            let ids: Vec<&str> =
                warnings[MOST_WARNINGS..].iter().map(|warning| warning.id.as_str()).collect();
            shown + &line(&format!("{more} more may disturb a run: {}", ids.join(", ")))
        }
    }
}
