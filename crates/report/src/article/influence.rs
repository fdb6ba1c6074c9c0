//! Which mechanism of a run makes a figure worse than it would be without it. What makes one better (read-ahead) does so on the machines
//! beside it as well, and is no reason for a difference from them.

use fathom_core::experiment::{Placement, Point};
use fathom_engine::results::{Mechanism, PointResult, Results};

/// A mechanism that makes figures of an experiment worse than they were without it.
struct Influence {
    experiment: &'static str,
    mechanism: &'static str,
    /// What it is, in a cell of a table.
    brief: &'static str,
    is_of: fn(&Point) -> bool,
}

/// A wake-up of an idle CPU.
const WAKE_UP: &str = "waking an idle CPU";

const INFLUENCES: [Influence; 8] = [
    Influence {
        experiment: "cpu/system_call",
        mechanism: "kernel_entry",
        brief: "entering the kernel",
        is_of: |point| point.is("call", "getppid") || point.is("call", "write nothing to /dev/null"),
    },
    Influence {
        experiment: "cpu/process_creation",
        mechanism: "process_against_thread",
        brief: "an address space of its own",
        is_of: |point| point.is("measure", "fork, exit, wait"),
    },
    Influence {
        experiment: "cpu/context_switch",
        mechanism: "idle_wake_up",
        brief: WAKE_UP,
        is_of: |point| point.placement() == Placement::AcrossCpus,
    },
    Influence {
        experiment: "memory/parallel_bandwidth",
        mechanism: "shared_path",
        brief: "the path to memory that CPUs near each other share",
        is_of: |point| point.number_of("threads") == Some(2),
    },
    Influence {
        experiment: "memory/parallel_bandwidth",
        mechanism: "common_limit",
        brief: "a limit that the cores share",
        is_of: |point| point.is("kind", "read") && point.number_of("threads").is_some_and(|many| many > 1),
    },
    Influence {
        experiment: "network/round_trip",
        mechanism: "idle_wake_up",
        brief: WAKE_UP,
        is_of: |point| point.placement() == Placement::AcrossCpus,
    },
    Influence {
        experiment: "filesystem/contention",
        mechanism: "device_limit",
        brief: "the device's limit",
        is_of: |point| {
            point.number_of("processes").is_some_and(|many| many > 1) && point.is("pattern", "all random")
        },
    },
    Influence {
        experiment: "filesystem/read",
        mechanism: "read_around",
        brief: "the pages read around a fault",
        is_of: |point| point.name_of("state") == Some("cold") && point.name_of("call") == Some("mmap"),
    },
];

/// The mechanism of this run that makes a figure worse, in a few words and wholly; `None` if none was found.
pub(super) fn at_work<'run>(
    results: &'run Results,
    point: &PointResult,
) -> Option<(&'static str, &'run Mechanism)> {
    let works = |one: &&Influence| one.experiment == point.experiment && (one.is_of)(&point.point);
    INFLUENCES.iter().filter(works).find_map(|one| {
        let mechanism = results.mechanisms.iter().find(|mechanism| mechanism.name == one.mechanism)?;
        Some((one.brief, mechanism))
    })
}
