//! The anchors: a dozen points of the experiments that this program has registered, one for each dimension of a host.

use crate::plan::{
    FIRST_WRITE, GETPPID, LOOPBACK_ROUND_TRIP, PIPE_ON_ONE_CPU, READ_FROM_DEVICE, Set, SetMember,
    WRITE_AND_FSYNC,
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

/// An array of a size, in an order that no prefetcher predicts.
const fn chase(size: &'static [(&'static str, At)]) -> Selector {
    Selector::of("memory/load_latency", size)
}

/// The time that a CPU leaves to a thread which wants it.
const fn time_of(cpu: &'static [(&'static str, At)]) -> Selector {
    Selector::of("cpu/noise", cpu)
}

/// The dimensions, and the point of each; processor time is that of up to four CPUs together.
const MEMBERS: [SetMember; 15] = [
    (PROCESSOR_TIME, time_of(&[("figure", Name("lost")), ("cpu", Number(0))])),
    (PROCESSOR_TIME, time_of(&[("figure", Name("lost")), ("cpu", Number(1))])),
    (PROCESSOR_TIME, time_of(&[("figure", Name("lost")), ("cpu", Number(2))])),
    (PROCESSOR_TIME, time_of(&[("figure", Name("lost")), ("cpu", Number(3))])),
    ("system call", GETPPID),
    ("pipe hand-over", PIPE_ON_ONE_CPU),
    ("page fault", FIRST_WRITE),
    ("L1 latency", chase(&[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Cache(1))])),
    ("L2 latency", chase(&[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Cache(2))])),
    ("L3 latency", chase(&[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Cache(3))])),
    (
        "memory latency",
        chase(&[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Nearest(128 << 20))]),
    ),
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
