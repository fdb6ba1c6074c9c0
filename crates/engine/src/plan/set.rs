//! Sets: points of several experiments under one name, chosen for a purpose, with limits on time and memory.

use crate::record::PlannedPoint;
use fathom_core::experiment::registry;
use fathom_core::experiment::{At, Experiment, MainFigure, Requirement};
use fathom_core::machine::Machine;
use std::time::Duration;

/// Points of several experiments under one name.
#[derive(Debug)]
pub struct Set {
    /// The name, as given to `--set`.
    pub name: &'static str,
    /// The time of a run without a given budget.
    pub budget: Duration,
    /// The target relative half-width of its intervals without a given precision.
    pub precision: f64,
    /// The most memory that one of its processes may hold, bytes, including its own code.
    pub most_memory: u64,
    members: &'static [SetMember],
}

/// A point of a set.
#[derive(Debug)]
struct SetMember {
    experiment: &'static str,
    /// The meaning of its figure, and the settings by which it is found among the points of a machine.
    figure: MainFigure,
}

const fn member(
    experiment: &'static str,
    tells: &'static str,
    at: &'static [(&'static str, At)],
) -> SetMember {
    SetMember { experiment, figure: MainFigure::of(tells, at) }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The set that identifies a slow host of a fleet in a minute, without privilege and in little memory. The choice of points:
/// `docs/fleet.md`.
static FLEET: Set = Set {
    name: "fleet",
    budget: Duration::from_mins(1),
    precision: 0.02,
    most_memory: 256 * MIB,
    members: &[
        member(
            "cpu/arithmetic",
            "the clock of a core",
            &[("instruction", At::Name("integer-add")), ("chains", At::Number(1))],
        ),
        member(
            "cpu/arithmetic",
            "the floating-point units of a core",
            &[("instruction", At::Name("double-multiply")), ("chains", At::Number(8))],
        ),
        member(
            "cpu/arithmetic",
            "the depth of the pipeline",
            &[("instruction", At::Name("mispredicted-branch"))],
        ),
        member(
            "cpu/sustained",
            "a quota, heat: what lasts of it for a second",
            &[("figure", At::Name("sustained")), ("lasting", At::Least)],
        ),
        member("cpu/system_call", "entering the kernel", &[("call", At::Name("getppid"))]),
        member("cpu/system_call", "work in the kernel", &[("call", At::Name("open and close"))]),
        member("cpu/noise", "time that others take", &[("figure", At::Name("lost")), ("cpu", At::Least)]),
        member("cpu/core_to_core", "a line between two cores", &[("from", At::Least), ("to", At::Least)]),
        member(
            "cpu/context_switch",
            "the scheduler",
            &[
                ("mechanism", At::Name("pipe")),
                ("between", At::Name("processes")),
                ("placement", At::Name("one-cpu")),
            ],
        ),
        member(
            "cpu/wake_up",
            "leaving an idle state, timers",
            &[
                ("timer", At::Name("clock_nanosleep")),
                ("slack", At::Number(1)),
                ("sleep", At::Number(100_000)),
            ],
        ),
        member(
            "cpu/process_creation",
            "page tables and processes",
            &[("measure", At::Name("fork, exit, wait")), ("placement", At::Name("one-cpu"))],
        ),
        member(
            "memory/load_latency",
            "loads from L1",
            &[
                ("order", At::Name("random cycle")),
                ("pages", At::Name("huge")),
                ("size", At::Number(16 * KIB)),
            ],
        ),
        member(
            "memory/load_latency",
            "loads from L2 of most machines",
            &[
                ("order", At::Name("random cycle")),
                ("pages", At::Name("huge")),
                ("size", At::Number(512 * KIB)),
            ],
        ),
        member(
            "memory/load_latency",
            "loads from a share of the last cache",
            &[
                ("order", At::Name("random cycle")),
                ("pages", At::Name("huge")),
                ("size", At::Number(4 * MIB)),
            ],
        ),
        member(
            "memory/load_latency",
            "loads from more of the last cache",
            &[
                ("order", At::Name("random cycle")),
                ("pages", At::Name("huge")),
                ("size", At::Number(16 * MIB)),
            ],
        ),
        member(
            "memory/load_latency",
            "loads from memory",
            &[
                ("order", At::Name("random cycle")),
                ("pages", At::Name("huge")),
                ("size", At::Number(128 * MIB)),
            ],
        ),
        member(
            "memory/bandwidth",
            "reading memory, one core",
            &[("kind", At::Name("read")), ("level", At::Name("memory")), ("size", At::Most)],
        ),
        member(
            "memory/bandwidth",
            "writing memory, one core",
            &[("method", At::Name("memset")), ("level", At::Name("memory")), ("size", At::Most)],
        ),
        member(
            "memory/bandwidth",
            "copying memory, one core",
            &[("method", At::Name("memcpy")), ("level", At::Name("memory")), ("size", At::Most)],
        ),
        member(
            "memory/parallel_bandwidth",
            "the channels of memory",
            &[("kind", At::Name("read")), ("threads", At::Most), ("size", At::Most)],
        ),
        member(
            "memory/minor_fault",
            "the kernel's memory",
            &[("access", At::Name("anonymous, first write"))],
        ),
        member(
            "network/round_trip",
            "the network stack",
            &[
                ("transport", At::Name("TCP")),
                ("path", At::Name("loopback")),
                ("loop", At::Name("closed")),
                ("payload", At::Number(56)),
                ("placement", At::Name("one-cpu")),
            ],
        ),
        member(
            "filesystem/read",
            "a block from the device",
            &[
                ("state", At::Name("direct")),
                ("call", At::Name("pread")),
                ("order", At::Name("random")),
                ("block", At::Number(4 * KIB)),
                ("file", At::Number(64 * MIB)),
            ],
        ),
        member(
            "filesystem/read",
            "a stream from the device",
            &[
                ("state", At::Name("direct")),
                ("call", At::Name("read")),
                ("order", At::Name("sequential")),
                ("block", At::Number(MIB)),
                ("file", At::Number(64 * MIB)),
            ],
        ),
        member(
            "filesystem/write",
            "a block onto the device",
            &[
                ("durability", At::Name("on the device, fsync")),
                ("order", At::Name("random")),
                ("block", At::Number(4 * KIB)),
            ],
        ),
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
        let named = |name: &str| self.members.iter().any(|member| member.experiment == name);
        registry::all().filter(|experiment| named(experiment.about().name)).collect()
    }

    /// The points of a machine that belong to the set, in their order. A point that needs more memory than the set may take
    /// does not belong; if several have the settings of a member, the first that can be measured is chosen.
    pub fn chosen(&self, points: &[PlannedPoint], machine: &Machine) -> Vec<PlannedPoint> {
        let fitting: Vec<&PlannedPoint> = points.iter().filter(|planned| self.holds(planned)).collect();
        let chosen: Vec<&PlannedPoint> =
            self.members.iter().filter_map(|member| member.among(&fitting, machine)).collect();
        points
            .iter()
            .filter(|planned| chosen.iter().any(|one| std::ptr::eq(*one, *planned)))
            .cloned()
            .collect()
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

impl SetMember {
    fn among<'a>(&self, points: &[&'a PlannedPoint], machine: &Machine) -> Option<&'a PlannedPoint> {
        let mine = || points.iter().copied().filter(|planned| planned.experiment == self.experiment);
        let landmarks = registry::find(self.experiment)
            .map(|experiment| (experiment.about().shown.landmarks)(machine))
            .unwrap_or_default();
        let choose = |among: Vec<&'a PlannedPoint>| {
            let point = self.figure.choose(among.iter().map(|planned| &planned.point), &landmarks)?;
            among.into_iter().find(|planned| planned.point == *point)
        };
        choose(mine().filter(|planned| planned.skip.is_none()).collect()).or_else(|| choose(mine().collect()))
    }
}
