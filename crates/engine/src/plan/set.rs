//! Sets: points of several experiments under one name, chosen for a purpose, with limits on time and memory.

use crate::record::PlannedPoint;
use fathom_core::experiment::At::{self, Least, Most, Name, Number};
use fathom_core::experiment::registry;
use fathom_core::experiment::{Experiment, Requirement, Selector};
use fathom_core::machine::Machine;
use std::time::Duration;

/// Points of several experiments under one name.
#[derive(Debug)]
pub struct Set {
    /// The name, as given to `--set`.
    pub name: &'static str,
    /// The time of a run without a given budget.
    pub budget: Duration,
    /// The target of its intervals without a given precision.
    pub precision: f64,
    /// The most memory that one of its processes may hold, bytes, including its own code.
    pub most_memory: u64,
    /// The meaning of each of its figures, and its points.
    pub members: &'static [SetMember],
}

/// The name of a figure, and its point.
pub type SetMember = (&'static str, Selector);

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A system call that does nothing.
pub(crate) const GETPPID: Selector = Selector::of("cpu/system_call", &[("call", Name("getppid"))]);

/// A byte through pipes between two processes on one CPU.
pub(crate) const PIPE_ON_ONE_CPU: Selector = Selector::of(
    "cpu/context_switch",
    &[("mechanism", Name("pipe")), ("between", Name("processes")), ("placement", Name("one-cpu"))],
);

/// The first write to a page of anonymous memory.
pub(crate) const FIRST_WRITE: Selector =
    Selector::of("memory/minor_fault", &[("access", Name("anonymous, first write"))]);

/// A short message and its answer by TCP over loopback, on one CPU.
pub(crate) const LOOPBACK_ROUND_TRIP: Selector = Selector::of(
    "network/round_trip",
    &[
        ("transport", Name("TCP")),
        ("path", Name("loopback")),
        ("loop", Name("closed")),
        ("payload", Number(56)),
        ("placement", Name("one-cpu")),
    ],
);

/// A block read at random past the page cache.
pub(crate) const READ_FROM_DEVICE: Selector = Selector::of(
    "filesystem/read",
    &[
        ("state", Name("direct")),
        ("call", Name("pread")),
        ("order", Name("random")),
        ("block", Number(4 * KIB)),
        ("file", Number(64 * MIB)),
    ],
);

/// A block written at random and made durable.
pub(crate) const WRITE_AND_FSYNC: Selector = Selector::of(
    "filesystem/write",
    &[("durability", Name("on the device, fsync")), ("order", Name("random")), ("block", Number(4 * KIB))],
);

/// Loads from an array of a size, in an order that no prefetcher predicts.
pub(crate) const fn random_loads(size: At) -> [(&'static str, At); 3] {
    [("order", Name("random cycle")), ("pages", Name("huge")), ("size", size)]
}

const fn in_memory(parameter: &'static str, variant: &'static str) -> [(&'static str, At); 3] {
    [(parameter, Name(variant)), ("level", Name("memory")), ("size", Most)]
}

/// The set that identifies a slow host of a fleet in a minute, without privilege and in little memory. The choice of points:
/// `docs/fleet.md`.
static FLEET: Set = Set {
    name: "fleet",
    budget: Duration::from_secs(60),
    precision: 0.02,
    most_memory: 256 * MIB,
    members: &[
        (
            "the clock of a core",
            Selector::of("cpu/arithmetic", &[("instruction", Name("integer-add")), ("chains", Number(1))]),
        ),
        (
            "the floating-point units of a core",
            Selector::of(
                "cpu/arithmetic",
                &[("instruction", Name("double-multiply")), ("chains", Number(8))],
            ),
        ),
        (
            "the depth of the pipeline",
            Selector::of("cpu/arithmetic", &[("instruction", Name("mispredicted-branch"))]),
        ),
        (
            "a quota or heat: the speed sustained for a second",
            Selector::of("cpu/sustained", &[("figure", Name("sustained")), ("lasting", Least)]),
        ),
        ("entering the kernel", GETPPID),
        ("work in the kernel", Selector::of("cpu/system_call", &[("call", Name("open and close"))])),
        ("time that others take", Selector::of("cpu/noise", &[("figure", Name("lost")), ("cpu", Least)])),
        ("a line between two cores", Selector::of("cpu/core_to_core", &[("from", Least), ("to", Least)])),
        ("the scheduler", PIPE_ON_ONE_CPU),
        (
            "leaving an idle state, timers",
            Selector::of(
                "cpu/wake_up",
                &[("timer", Name("clock_nanosleep")), ("slack", Number(1)), ("sleep", Number(100_000))],
            ),
        ),
        (
            "page tables and processes",
            Selector::of(
                "cpu/process_creation",
                &[("measure", Name("fork, exit, wait")), ("placement", Name("one-cpu"))],
            ),
        ),
        ("loads from L1", Selector::of("memory/load_latency", &random_loads(Number(16 * KIB)))),
        (
            "loads from L2 of most machines",
            Selector::of("memory/load_latency", &random_loads(Number(512 * KIB))),
        ),
        (
            "loads from a share of the last cache",
            Selector::of("memory/load_latency", &random_loads(Number(4 * MIB))),
        ),
        (
            "loads from more of the last cache",
            Selector::of("memory/load_latency", &random_loads(Number(16 * MIB))),
        ),
        ("loads from memory", Selector::of("memory/load_latency", &random_loads(Number(128 * MIB)))),
        ("reading memory, one core", Selector::of("memory/bandwidth", &in_memory("kind", "read"))),
        ("writing memory, one core", Selector::of("memory/bandwidth", &in_memory("method", "memset"))),
        ("copying memory, one core", Selector::of("memory/bandwidth", &in_memory("method", "memcpy"))),
        (
            "the channels of memory",
            Selector::of(
                "memory/parallel_bandwidth",
                &[("kind", Name("read")), ("threads", Most), ("size", Most)],
            ),
        ),
        ("the kernel's memory", FIRST_WRITE),
        ("the network stack", LOOPBACK_ROUND_TRIP),
        ("a block from the device", READ_FROM_DEVICE),
        (
            "a stream from the device",
            Selector::of(
                "filesystem/read",
                &[
                    ("state", Name("direct")),
                    ("call", Name("read")),
                    ("order", Name("sequential")),
                    ("block", Number(MIB)),
                    ("file", Number(64 * MIB)),
                ],
            ),
        ),
        ("a block onto the device", WRITE_AND_FSYNC),
    ],
};

/// All sets.
pub static SETS: [&Set; 1] = [&FLEET];

impl Set {
    /// The set of this name.
    pub fn find(name: &str) -> Option<&'static Set> {
        SETS.into_iter().find(|set| set.name == name)
    }

    /// The experiments of its points, in the order of the report.
    pub fn experiments(&self) -> Vec<&'static dyn Experiment> {
        let named = |name: &str| self.members.iter().any(|(_, member)| member.experiment == name);
        registry::all().filter(|experiment| named(experiment.about().name)).collect()
    }

    /// The points of a machine that belong to the set, in their order. A point that needs more memory than the set may take
    /// does not belong; if several have the settings of a member, the first that can be measured is chosen.
    pub fn chosen(&self, points: &[PlannedPoint], machine: &Machine) -> Vec<PlannedPoint> {
        let fitting: Vec<&PlannedPoint> = points.iter().filter(|planned| self.holds(planned)).collect();
        let chosen: Vec<&PlannedPoint> =
            self.members.iter().filter_map(|(_, member)| first(member, &fitting, machine)).collect();
        points
            .iter()
            .filter(|planned| chosen.iter().any(|one| std::ptr::eq(*one, *planned)))
            .cloned()
            .collect()
    }

    /// The place of each member's point among points that belong to the set, with the member's name.
    pub fn places(&self, points: &[PlannedPoint], machine: &Machine) -> Vec<(&'static str, usize)> {
        let all: Vec<&PlannedPoint> = points.iter().collect();
        let place = |(name, member): &SetMember| {
            let chosen = first(member, &all, machine)?;
            Some((*name, points.iter().position(|planned| std::ptr::eq(planned, chosen))?))
        };
        self.members.iter().filter_map(place).collect()
    }

    /// Whether a point stays within the memory limit of the set.
    fn holds(&self, planned: &PlannedPoint) -> bool {
        let Ok(experiment) = planned.method() else { return false };
        experiment.requires(&planned.point).iter().all(|requirement| match requirement {
            Requirement::MemoryBytes(bytes) => *bytes <= self.for_data(),
            Requirement::MemoryLimit | Requirement::WholeMemory => false,
            _ => true,
        })
    }

    /// The part of its memory that the data of a point may fill, bytes: the rest is for the program, page tables, and the
    /// other side of an operation between two.
    pub fn for_data(&self) -> u64 {
        self.most_memory / 4 * 3
    }
}

/// The first selected point that can be measured; without any, the first selected.
fn first<'a>(member: &Selector, points: &[&'a PlannedPoint], machine: &Machine) -> Option<&'a PlannedPoint> {
    let mine = || points.iter().copied().filter(|planned| planned.experiment == member.experiment);
    let choose = |among: Vec<&'a PlannedPoint>| {
        let point = *member.among(among.iter().map(|planned| &planned.point), machine).first()?;
        among.into_iter().find(|planned| planned.point == *point)
    };
    choose(mine().filter(|planned| planned.skip.is_none()).collect()).or_else(|| choose(mine().collect()))
}
