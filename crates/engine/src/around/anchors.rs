//! The anchors: a dozen points of the experiments that this program has registered, one for each dimension of a host.

use crate::plan::{
    FIRST_WRITE, GETPPID, LOOPBACK_ROUND_TRIP, PIPE_ON_ONE_CPU, READ_FROM_DEVICE, Set, SetMember,
    WRITE_AND_FSYNC, random_loads,
};
use fathom_core::experiment::At::{self, Cache, Least, Name, Nearest, Number};
use fathom_core::experiment::Selector;
use std::time::Duration;

/// The change of an operation up to which the host held still.
pub(super) const MARGIN: f64 = 0.10;

/// The same of an operation on a device, whose time varies more.
const MARGIN_OF_DEVICES: f64 = 0.25;

/// The same of a share of the time, in points.
pub(super) const MARGIN_OF_SHARES: f64 = 0.10;

/// The dimension of the time that a thread which wants its CPU has it: a share, from the share that `cpu/noise` reports as lost.
pub(super) const PROCESSOR_TIME: &str = "processor time";

pub(super) const FSYNC: &str = "fsync";
pub(super) const READ: &str = "read from the device";

pub(super) fn margin(name: &str) -> f64 {
    if [FSYNC, READ].contains(&name) { MARGIN_OF_DEVICES } else { MARGIN }
}

/// The time that a CPU leaves to a thread which wants it.
const fn time_of(cpu: u64) -> [(&'static str, At); 2] {
    [("figure", Name("lost")), ("cpu", Number(cpu))]
}

/// The dimensions, and the point of each; processor time is that of up to four CPUs together.
const MEMBERS: [SetMember; 15] = [
    (PROCESSOR_TIME, Selector::of("cpu/noise", &time_of(0))),
    (PROCESSOR_TIME, Selector::of("cpu/noise", &time_of(1))),
    (PROCESSOR_TIME, Selector::of("cpu/noise", &time_of(2))),
    (PROCESSOR_TIME, Selector::of("cpu/noise", &time_of(3))),
    ("system call", GETPPID),
    ("pipe hand-over", PIPE_ON_ONE_CPU),
    ("page fault", FIRST_WRITE),
    ("L1 latency", Selector::of("memory/load_latency", &random_loads(Cache(1)))),
    ("L2 latency", Selector::of("memory/load_latency", &random_loads(Cache(2)))),
    ("L3 latency", Selector::of("memory/load_latency", &random_loads(Cache(3)))),
    ("memory latency", Selector::of("memory/load_latency", &random_loads(Nearest(128 << 20)))),
    (
        "memory bandwidth",
        Selector::of(
            "memory/bandwidth",
            &[("kind", Name("read")), ("level", Name("memory")), ("size", Least)],
        ),
    ),
    ("loopback round trip", LOOPBACK_ROUND_TRIP),
    (FSYNC, WRITE_AND_FSYNC),
    (READ, READ_FROM_DEVICE),
];

/// The anchors, and further points of this program's own.
pub(super) fn anchors(own: Vec<SetMember>) -> &'static Set {
    let members: Vec<SetMember> = MEMBERS.into_iter().chain(own).collect();
    // A set lives as long as the program; there is one for each time that something is measured around.
    Box::leak(Box::new(Set {
        name: "around",
        budget: Duration::from_secs(10),
        precision: 0.02,
        most_memory: 512 << 20,
        members: members.leak(),
    }))
}
