//! Rows on processor, cores, caches and memory.

use super::row::{FactRow, list, plain, row, stated};
use fathom_core::machine::{
    Cache, CacheKind, CoreClass, CpuSet, Fact, Machine, Memory, Module, NumaNode, Processor, Tlb, TlbKind,
    Topology, manufacturing_process,
};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::quantity::declared::{bytes_rate, frequency, on_off, size, yes_no};

pub(super) fn processor(processor: &Processor) -> Vec<FactRow> {
    let hertz = |hertz: &f64| frequency(*hertz);
    let ticks = &processor.tick_counter;
    let mut rows = vec![
        plain("Model", &processor.model_name),
        plain("Vendor", &processor.vendor),
        plain("Microarchitecture", &processor.microarchitecture),
        plain("Process (lithography)", &made_by(&processor.microarchitecture)),
        row("Family", &processor.family, |number| format!("{number} ({number:#x})")),
        row("Model number", &processor.model, |number| format!("{number} ({number:#x})")),
        plain("Stepping", &processor.stepping),
        plain("Microcode", &processor.microcode),
        row("Nominal clock", &processor.nominal_hz, hertz),
        row("Cycle time at it", &processor.nominal_hz, |hertz| {
            quantities::value(Unit::Nanoseconds, 1e9 / hertz)
        }),
        row("Maximum clock", &processor.maximum_hz, hertz),
        row("Minimum clock", &processor.minimum_hz, hertz),
        row("Observed clock", &processor.observed_hz, |hz| format!("{} when it was described", hertz(hz))),
        row("Cycle time at the observed clock", &processor.observed_hz, |hertz| {
            quantities::value(Unit::Nanoseconds, 1e9 / hertz)
        }),
        row("Cycles per instruction (CPI)", &processor.cycles_per_instruction, |cpi| {
            let (each, a_cycle) = (quantities::number(*cpi), quantities::number(1.0 / cpi));
            format!(
                "{each} ({a_cycle} instructions a cycle) when it was described, with what else used the core"
            )
        }),
        row("Clock at one moment", &processor.momentary_hz, hertz),
        row("Tick counter, declared", &ticks.declared_hz, hertz),
        row("Tick counter invariant", &ticks.invariant, |yes| yes_no(*yes)),
        row("rdtscp", &ticks.rdtscp, |yes| yes_no(*yes)),
        row("Physical address", &processor.physical_address_bits, |bits| format!("{bits} bits")),
        row("Virtual address", &processor.virtual_address_bits, |bits| format!("{bits} bits")),
        plain("Byte order", &processor.byte_order),
        row("Relevant instruction-set extensions", &processor.features, |names| names.join(" ")),
    ];
    rows.extend(tlbs(&processor.tlbs));
    rows
}

/// The process by which a design is made.
fn made_by(design: &Fact<String>) -> Fact<String> {
    let source = "table of designs, by the microarchitecture";
    match design.value().map(|name| manufacturing_process(name)) {
        Some(Some(process)) => Fact::known(process.to_owned(), source),
        Some(None) => Fact::unknown("no single process is published for this design", source),
        None => Fact::unknown("the design is unknown", source),
    }
}

fn tlbs(fact: &Fact<Vec<Tlb>>) -> Vec<FactRow> {
    match fact {
        Fact::Known { value, source } => {
            value.iter().map(|tlb| stated(tlb_name(tlb), tlb_value(tlb), source)).collect()
        }
        Fact::Unknown { .. } => vec![list("TLBs", &fact.clone().map(|_| Vec::<String>::new()))],
    }
}

fn tlb_name(tlb: &Tlb) -> String {
    let kind = match tlb.kind {
        TlbKind::Data => "data",
        TlbKind::Instruction => "instruction",
        TlbKind::Unified => "unified",
        TlbKind::Load => "load",
        TlbKind::Store => "store",
    };
    format!("L{} {kind} TLB", tlb.level)
}

fn tlb_value(tlb: &Tlb) -> String {
    let pages: Vec<String> = tlb.page_bytes.iter().map(|bytes| size(*bytes)).collect();
    format!(
        "{} entries, {}, pages of {}",
        tlb.entries,
        ways(tlb.ways, u64::from(tlb.entries)),
        pages.join(" or ")
    )
}

fn ways(ways: u32, entries: u64) -> String {
    match ways {
        0 => "ways unknown".to_owned(),
        ways if u64::from(ways) == entries => "fully associative".to_owned(),
        1 => "direct mapped".to_owned(),
        ways => format!("{ways}-way"),
    }
}

pub(super) fn topology(machine: &Machine) -> Vec<FactRow> {
    let topology = &machine.topology;
    let count = |sets: &Vec<CpuSet>| sets.len().to_string();
    // The host's threads are not visible: another guest may use one of the same core.
    let seen_by = if machine.is_virtual() { " (as the guest sees it)" } else { "" };
    let mut rows = vec![
        row("CPUs (threads)", &topology.online, |cpus| format!("{} ({cpus})", cpus.len())),
        row("CPUs allowed to us", &topology.allowed, |cpus| format!("{} ({cpus})", cpus.len())),
        row("Cores", &topology.cores, count),
        row("Packages", &topology.packages, count),
        row(THREADS, &topology.smt, |on| on_off(*on) + seen_by),
    ];
    rows.extend(classes(topology));
    rows.extend(nodes(machine));
    rows
}

fn classes(topology: &Topology) -> Vec<FactRow> {
    let Fact::Known { value: classes, source } = &topology.classes else {
        return vec![list("Classes of cores", &topology.classes.clone().map(|_| Vec::<String>::new()))];
    };
    match classes.as_slice() {
        [_] => vec![stated("Classes of cores", "one: all are alike", source)],
        classes => {
            classes.iter().map(|class| stated(class.name.clone(), class_value(class), source)).collect()
        }
    }
}

fn class_value(class: &CoreClass) -> String {
    let clock =
        class.maximum_hz.value().map(|hertz| format!(", up to {}", frequency(*hertz))).unwrap_or_default();
    format!("CPUs {}{clock}", class.cpus)
}

fn nodes(machine: &Machine) -> Vec<FactRow> {
    let Fact::Known { value: nodes, source } = &machine.topology.nodes else {
        return vec![list("NUMA nodes", &machine.topology.nodes.clone().map(|_| Vec::<String>::new()))];
    };
    let rows = nodes.iter().map(|node| stated(format!("NUMA node {}", node.id), node_value(node), source));
    rows.chain(memory_beyond_nodes(machine)).collect()
}

/// The memory that belongs to no node, if it is more than a hundredth: memory that was added later or that a hypervisor
/// provides by another way.
fn memory_beyond_nodes(machine: &Machine) -> Option<FactRow> {
    let nodes = machine.topology.nodes.value()?;
    let all: Option<u64> = nodes.iter().map(|node| node.memory_bytes.value().copied()).sum();
    let (in_nodes, total) = (all?, *machine.memory.total_bytes.value()?);
    (in_nodes < total - total / 100).then(|| {
        let value = format!(
            "{} of {}: the nodes have no more than {}",
            size(total - in_nodes),
            size(total),
            size(in_nodes)
        );
        stated("Memory in no NUMA node", value, "/proc/meminfo and the nodes' meminfo")
    })
}

fn node_value(node: &NumaNode) -> String {
    let cpus = if node.cpus.is_empty() { "no CPUs".to_owned() } else { format!("CPUs {}", node.cpus) };
    let memory = node.memory_bytes.value().map(|bytes| format!(", {}", size(*bytes))).unwrap_or_default();
    let distances =
        node.distances.value().map(|row| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    let distances = distances.map(|row| format!(", distances {row}")).unwrap_or_default();
    format!("{cpus}{memory}{distances}")
}

pub(super) fn caches(machine: &Machine) -> Vec<FactRow> {
    let mut rows = match &machine.caches {
        Fact::Known { value, .. } => value.iter().map(cache).collect(),
        unknown @ Fact::Unknown { .. } => {
            vec![list("Caches", &unknown.clone().map(|_| Vec::<String>::new()))]
        }
    };
    if let Some(sum) = machine.last_level_caches_bytes() {
        rows.push(stated("All last-level caches together", size(sum), machine.caches.source()));
    }
    rows
}

/// The row that says whether a core has several hardware threads.
pub(crate) const THREADS: &str = "SMT";

/// `L1d`, `L2`.
pub(crate) fn cache_name(cache: &Cache) -> String {
    let kind = match cache.kind {
        CacheKind::Data => "d",
        CacheKind::Instruction => "i",
        CacheKind::Unified => "",
    };
    format!("L{}{kind}", cache.level)
}

fn cache(cache: &Cache) -> FactRow {
    row(cache_name(cache), &cache.size_bytes, |bytes| {
        let lines = cache.line_bytes.value().map(|line| bytes / line.max(&1)).unwrap_or_default();
        let ways = cache.ways.value().map(|number| format!(", {}", ways(*number, lines))).unwrap_or_default();
        let line = cache.line_bytes.value().map(|line| format!(", lines of {line} B")).unwrap_or_default();
        format!("{}{}{ways}{line}{}", instances(cache), size(*bytes), sharing(cache))
    })
}

/// How many there are, if more than one: `8 × `.
pub(super) fn instances(cache: &Cache) -> String {
    match cache.instances.len() {
        0 | 1 => String::new(),
        number => format!("{number} × "),
    }
}

/// The CPUs that share an instance, written out while the list is short.
fn sharing(cache: &Cache) -> String {
    let sets: Vec<String> = cache.instances.iter().map(ToString::to_string).collect();
    match cache.instances.as_slice() {
        [] => ", sharing unknown".to_owned(),
        [only] => format!(", CPUs {only}"),
        all if all.iter().all(|cpus| cpus.len() == 1) => ", one per CPU".to_owned(),
        _ if sets.len() <= 8 => format!(", shared by CPUs {}", sets.join(" | ")),
        [first, ..] => format!(", each shared by {} CPUs", first.len()),
    }
}

pub(super) fn memory(memory: &Memory) -> Vec<FactRow> {
    let bytes = |bytes: &u64| size(*bytes);
    let mut rows =
        vec![row("Size", &memory.total_bytes, bytes), row("Available", &memory.available_bytes, bytes)];
    rows.extend(modules(&memory.modules));
    rows.push(row("Channels", &memory.channels, |channels| {
        let each: Vec<String> =
            channels.bytes.iter().map(|(name, bytes)| format!("{name} {}", size(*bytes))).collect();
        let balance = if channels.is_balanced() { "balanced" } else { "not balanced" };
        format!("{} populated, {} empty, {balance}: {}", each.len(), channels.empty.len(), each.join(", "))
    }));
    rows.push(row("Theoretical bandwidth", &memory.theoretical_bandwidth, |bandwidth| {
        format!("{} ({})", bytes_rate(bandwidth.bytes_per_second), bandwidth.formula)
    }));
    rows.push(row("Error correction", &memory.error_correction, |errors| {
        format!("{} corrected, {} uncorrected since boot", errors.corrected_errors, errors.uncorrected_errors)
    }));
    rows.push(row("NUMA balancing", &memory.numa_balancing, |on| on_off(*on)));
    rows.push(row("Overcommit", &memory.overcommit, |policy| {
        let name = match policy {
            0 => "heuristic",
            1 => "always",
            2 => "never",
            _ => "unknown policy",
        };
        format!("{policy} ({name})")
    }));
    rows
}

fn modules(fact: &Fact<Vec<Module>>) -> Vec<FactRow> {
    match fact {
        Fact::Known { value, source } => {
            value.iter().map(|module| stated(module_name(module), module_value(module), source)).collect()
        }
        unknown @ Fact::Unknown { .. } => {
            vec![list("Modules", &unknown.clone().map(|_| Vec::<String>::new()))]
        }
    }
}

fn module_name(module: &Module) -> String {
    format!("Slot {} {}", module.slot, module.bank).trim().to_owned()
}

fn module_value(module: &Module) -> String {
    if module.size_bytes == 0 {
        return "empty".to_owned();
    }
    let mut parts = vec![size(module.size_bytes)];
    parts.extend(module.kind.clone());
    parts.extend(match (module.configured_mts, module.rated_mts) {
        (Some(runs), Some(rated)) if runs != rated => Some(format!("{runs} MT/s of rated {rated}")),
        (Some(rate), _) | (None, Some(rate)) => Some(format!("{rate} MT/s")),
        (None, None) => None,
    });
    parts.extend(module.data_bits.map(|bits| format!("{bits} bits wide")));
    parts.extend(module.part_number.clone());
    parts.join(", ")
}

pub(super) fn pages(memory: &Memory) -> Vec<FactRow> {
    let huge = &memory.transparent_huge_pages;
    let mut rows = vec![
        row("Base page", &memory.page_bytes, |bytes| size(*bytes)),
        row("Page tables of all processes", &memory.page_table_bytes, |bytes| size(*bytes)),
        plain("Transparent huge pages", &huge.enabled),
        plain("Transparent huge pages, defragmentation", &huge.defrag),
        plain("For shared memory", &huge.shmem),
        row("Their size", &huge.page_bytes, |bytes| size(*bytes)),
    ];
    rows.extend(huge.intermediate.iter().map(|(name, policy)| {
        stated(format!("Transparent pages of {name}"), policy.clone(), "/sys/kernel/mm/transparent_hugepage")
    }));
    rows.push(row("Pools of huge pages", &memory.huge_pages, |pools| {
        let each = pools
            .iter()
            .map(|pool| format!("{}: {} ({} free)", size(pool.page_bytes), pool.total, pool.free));
        each.collect::<Vec<_>>().join(", ")
    }));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of nodes of a machine with 16 GiB whose nodes have these sizes.
    fn rows(nodes: &[u64]) -> Vec<(String, String)> {
        let mut machine = fathom_described::machine();
        machine.memory.total_bytes = Fact::known(16 << 30, "a test");
        let node = |(id, gibibytes): (usize, &u64)| NumaNode {
            id,
            cpus: CpuSet::default(),
            memory_bytes: Fact::known(gibibytes << 30, "a test"),
            distances: Fact::unknown("a test does not say", "a test"),
        };
        machine.topology.nodes = Fact::known(nodes.iter().enumerate().map(node).collect(), "a test");
        super::nodes(&machine).into_iter().map(|row| (row.name, row.value)).collect()
    }

    #[test]
    fn memory_that_no_node_tells_of_is_told() {
        let rows = rows(&[4]);
        let (name, value) = rows.last().unwrap();
        assert_eq!(name, "Memory in no NUMA node");
        assert_eq!(value, "12 GiB of 16 GiB: the nodes have no more than 4 GiB");
    }

    #[test]
    fn nodes_that_have_all_of_it_are_told_alone() {
        assert_eq!(rows(&[8, 8]).len(), 2);
    }
}
