//! CPUs, cores, packages, NUMA nodes, and classes of cores where they differ.

use crate::sorting;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cpu_set::CpuSet;
use super::fact::Fact;
use super::host::Host;
use super::microarchitecture;
use super::source::{Root, parse_hex, parse_size};

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

/// The arrangement of the CPUs (hardware threads) in cores, packages and nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Topology {
    /// CPUs the kernel schedules on.
    pub online: Fact<CpuSet>,
    /// CPUs this process may use (affinity, which a cpuset also narrows).
    pub allowed: Fact<CpuSet>,
    /// Physical cores: the CPUs of each.
    pub cores: Fact<Vec<CpuSet>>,
    /// Sockets: the CPUs of each.
    pub packages: Fact<Vec<CpuSet>>,
    /// Whether two online CPUs share a core.
    pub smt: Fact<bool>,
    /// Classes of cores, fastest first; one class on a homogeneous machine.
    pub classes: Fact<Vec<CoreClass>>,
    /// NUMA nodes.
    pub nodes: Fact<Vec<NumaNode>>,
}

/// Cores that are alike. Results of two classes are never averaged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreClass {
    /// `performance`, `efficiency`, the name of an Arm core, or `all`.
    pub name: String,
    /// Its CPUs.
    pub cpus: CpuSet,
    /// Highest clock of these cores, Hz.
    pub maximum_hz: Fact<f64>,
}

/// One NUMA node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NumaNode {
    /// Its number.
    pub id: usize,
    /// Its CPUs; empty for a node of memory alone.
    pub cpus: CpuSet,
    /// Its memory, bytes.
    pub memory_bytes: Fact<u64>,
    /// Distance to every node in order, 10 being local (ACPI SLIT: relative, not nanoseconds).
    pub distances: Fact<Vec<u32>>,
}

impl Topology {
    /// CPUs on which the kernel schedules; none if that is not known.
    pub(super) fn online(&self) -> &[usize] {
        self.online.value().map_or(&[], CpuSet::as_slice)
    }

    /// CPUs this process may use, ascending; all online ones if the affinity is not known.
    pub(super) fn allowed(&self) -> &[usize] {
        self.allowed.value().map_or_else(|| self.online(), CpuSet::as_slice)
    }

    /// The rank of a CPU's class: 0 is the fastest; 0 for all if classes are not known.
    pub(super) fn class_rank(&self, cpu: usize) -> usize {
        let classes = self.classes.value().map_or(&[][..], Vec::as_slice);
        classes.iter().position(|class| class.cpus.contains(cpu)).unwrap_or(0)
    }

    /// The CPU for pinned work unless another is requested: an allowed one of the fastest class that has any, and not CPU 0,
    /// which serves most interrupts, if there is another.
    pub(super) fn usual_cpu(&self) -> Option<usize> {
        self.allowed().iter().copied().min_by_key(|cpu| (self.class_rank(*cpu), *cpu == 0, *cpu))
    }
}

pub(super) fn read(root: &Root, host: &dyn Host) -> Topology {
    let online = online(root);
    let cpus = online.value().map(|set| set.as_slice().to_vec()).unwrap_or_default();
    let cores = groups(root, &cpus, "thread_siblings_list");
    Topology {
        allowed: Fact::from_call(host.affinity(), "sched_getaffinity(2)").map(CpuSet::new),
        smt: cores.clone().map(|cores| cores.iter().any(|core| core.len() > 1)),
        packages: groups(root, &cpus, "core_siblings_list"),
        classes: classes(root, &cpus),
        nodes: nodes(root),
        online,
        cores,
    }
}

/// CPUs in the order in which threads should be spread over them, beginning with `home`: one of each core before a second
/// of any, and cores of the faster classes first.
pub fn spread(root: &Root, home: usize, allowed: &[usize]) -> Vec<usize> {
    let cores = groups(root, allowed, "thread_siblings_list");
    let classes = classes(root, allowed);
    let core_of = |cpu: usize| cores.value()?.iter().find(|core| core.contains(cpu));
    let class_of = |cpu: usize| classes.value()?.iter().position(|class| class.cpus.contains(cpu));
    // The index of a CPU among the threads of its core, home being the first of its own.
    let thread_of = |cpu: usize| {
        let core = core_of(cpu)?;
        let before = |other: &usize| *other != cpu && (*other == home || (*other < cpu && cpu != home));
        Some(core.as_slice().iter().filter(|other| allowed.contains(other) && before(other)).count())
    };
    let mut order = allowed.to_vec();
    sorting::by_key(&mut order, |cpu| (*cpu != home, thread_of(*cpu), class_of(*cpu), *cpu));
    order
}

/// A list of CPUs in a file.
pub(super) fn cpu_list(root: &Root, path: &str) -> Fact<CpuSet> {
    root.text(path).parse("a list of CPUs", |text| CpuSet::parse(text))
}

fn online(root: &Root) -> Fact<CpuSet> {
    cpu_list(root, "/sys/devices/system/cpu/online")
        .parse("a list of CPUs", |set| (!set.is_empty()).then(|| set.clone()))
        .or_else(|| {
            root.text("/proc/cpuinfo").parse("a list of processors", |info| {
                let numbers = info.lines().filter_map(|line| {
                    let (key, value) = line.split_once(':')?;
                    (key.trim() == "processor").then(|| value.trim().parse().ok())?
                });
                let set = CpuSet::new(numbers);
                (!set.is_empty()).then_some(set)
            })
        })
}

/// The distinct sets that a topology file names for each CPU.
fn groups(root: &Root, cpus: &[usize], file: &str) -> Fact<Vec<CpuSet>> {
    let source = format!("{CPUS}/cpu*/topology/{file}");
    let mut sets: Vec<CpuSet> = Vec::new();
    for &cpu in cpus {
        if sets.iter().any(|set| set.contains(cpu)) {
            continue;
        }
        match cpu_list(root, &format!("{CPUS}/cpu{cpu}/topology/{file}")) {
            Fact::Known { value, .. } if value.contains(cpu) => sets.push(value),
            Fact::Known { .. } => return Fact::unknown("the file of a CPU does not name that CPU", source),
            Fact::Unknown { unknown, .. } => return Fact::unknown(unknown, source),
        }
    }
    if sets.is_empty() { Fact::unknown("no CPU is described", source) } else { Fact::known(sets, source) }
}

/// Classes of cores, by the first source that distinguishes any.
fn classes(root: &Root, cpus: &[usize]) -> Fact<Vec<CoreClass>> {
    if cpus.is_empty() {
        return Fact::unknown("no CPU is described", CPUS);
    }
    let witnesses = [intel_classes(root), arm_classes(root, cpus), capacity_classes(root, cpus)];
    let (names, source) = witnesses.into_iter().find(|(names, _)| names.len() > 1).unwrap_or_else(|| {
        (vec![("all".to_owned(), CpuSet::new(cpus.iter().copied()))], "no file distinguishes CPUs")
    });
    let classes: Vec<CoreClass> = names.into_iter().map(|(name, cpus)| class(root, name, cpus)).collect();
    Fact::known(fastest_first(root, classes), source)
}

/// By the scheduler's capacity if every class has one, otherwise by their highest clocks; if neither is known they stay in
/// the order of their source, which names the faster kind first.
fn fastest_first(root: &Root, classes: Vec<CoreClass>) -> Vec<CoreClass> {
    let all = |of: fn(&Root, &CoreClass) -> Option<f64>| -> Option<Vec<f64>> {
        classes.iter().map(|class| of(root, class)).collect()
    };
    let Some(speeds) = all(capacity).or_else(|| all(hertz)) else { return classes };
    let mut ranked: Vec<(f64, CoreClass)> = speeds.into_iter().zip(classes).collect();
    sorting::by(&mut ranked, |(one, _), (other, _)| other.total_cmp(one));
    ranked.into_iter().map(|(_, class)| class).collect()
}

fn capacity(root: &Root, class: &CoreClass) -> Option<f64> {
    let first = class.cpus.first()?;
    root.decimal(&format!("{CPUS}/cpu{first}/cpu_capacity")).value().copied()
}

fn hertz(_: &Root, class: &CoreClass) -> Option<f64> {
    class.maximum_hz.value().copied()
}

fn class(root: &Root, name: String, cpus: CpuSet) -> CoreClass {
    let first = cpus.first().unwrap_or_default();
    let maximum_hz = root.frequency(&format!("{CPUS}/cpu{first}/cpufreq/cpuinfo_max_freq"));
    CoreClass { name, cpus, maximum_hz }
}

type Named = (Vec<(String, CpuSet)>, &'static str);

/// Intel: the kernel registers one counter unit per kind of core.
fn intel_classes(root: &Root) -> Named {
    let units =
        [("performance", "cpu_core"), ("efficiency", "cpu_atom"), ("low-power efficiency", "cpu_lowpower")];
    let named = units.into_iter().filter_map(|(name, unit)| {
        let cpus = cpu_list(root, &format!("/sys/devices/{unit}/cpus")).value().cloned()?;
        (!cpus.is_empty()).then(|| (name.to_owned(), cpus))
    });
    (named.collect(), "/sys/devices/cpu_core/cpus and its like")
}

/// Arm: cores of different parts.
fn arm_classes(root: &Root, cpus: &[usize]) -> Named {
    let part = |cpu: usize| {
        let path = format!("{CPUS}/cpu{cpu}/regs/identification/midr_el1");
        let midr = parse_hex(root.text(&path).value()?)?;
        let vendor = microarchitecture::implementer((midr >> 24 & 0xff) as u32).unwrap_or("unknown");
        let number = (midr >> 4 & 0xfff) as u32;
        let name = microarchitecture::arm(vendor, number).map(str::to_owned);
        Some(name.unwrap_or_else(|| format!("{vendor} part {number:#x}")))
    };
    (grouped(cpus, part), "/sys/devices/system/cpu/cpu*/regs/identification/midr_el1")
}

/// Anything else: the scheduler's capacity.
fn capacity_classes(root: &Root, cpus: &[usize]) -> Named {
    let capacity = |cpu: usize| {
        let capacity = root.number::<u32>(&format!("{CPUS}/cpu{cpu}/cpu_capacity"));
        capacity.value().map(|capacity| format!("capacity {capacity} of 1024"))
    };
    (grouped(cpus, capacity), "/sys/devices/system/cpu/cpu*/cpu_capacity")
}

fn grouped(cpus: &[usize], name: impl Fn(usize) -> Option<String>) -> Vec<(String, CpuSet)> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for &cpu in cpus {
        let Some(name) = name(cpu) else { return Vec::new() };
        groups.entry(name).or_default().push(cpu);
    }
    groups.into_iter().map(|(name, cpus)| (name, CpuSet::new(cpus))).collect()
}

fn nodes(root: &Root) -> Fact<Vec<NumaNode>> {
    let nodes: Vec<NumaNode> = root.numbered(NODES, "node").into_iter().map(|id| node(root, id)).collect();
    if nodes.is_empty() {
        return Fact::unknown("this kernel does not show NUMA nodes", NODES);
    }
    Fact::known(nodes, NODES)
}

fn node(root: &Root, id: usize) -> NumaNode {
    let folder = format!("{NODES}/node{id}");
    NumaNode {
        id,
        cpus: cpu_list(root, &format!("{folder}/cpulist")).value().cloned().unwrap_or_default(),
        memory_bytes: root.text(&format!("{folder}/meminfo")).parse("a node's memory", |text| {
            let total = text.lines().find_map(|line| line.split_once("MemTotal:"))?.1;
            parse_size(total)
        }),
        distances: root.text(&format!("{folder}/distance")).parse("a row of distances", |text| {
            text.split_whitespace().map(|number| number.parse().ok()).collect()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_spread_over_cores_before_a_core_gets_a_second() {
        // Two cores of two threads, and an efficient core of one.
        let files = [
            ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1"),
            ("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1"),
            ("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2-3"),
            ("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "2-3"),
            ("sys/devices/system/cpu/cpu4/topology/thread_siblings_list", "4"),
            ("sys/devices/cpu_core/cpus", "0-3"),
            ("sys/devices/cpu_atom/cpus", "4"),
        ];
        let (_tree, root) = Root::planted(&files);
        assert_eq!(spread(&root, 0, &[0, 1, 2, 3, 4]), [0, 2, 4, 1, 3]);
        assert_eq!(spread(&root, 3, &[0, 1, 2, 3, 4]), [3, 0, 4, 1, 2]);
        assert_eq!(spread(&root, 1, &[1, 3]), [1, 3], "those that are not allowed are not taken");
        assert_eq!(
            spread(&Root::new("/nowhere"), 2, &[0, 1, 2]),
            [2, 0, 1],
            "where nothing is known, by number"
        );
    }
}
