//! The operations by which a machine is pictured, from a nanosecond to milliseconds.

use super::mark::is_drawn;
use crate::main_figures::{self, FigureSource};
use fathom_core::experiment::{At, Placement, Point, Selector};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_engine::results::{PointResult, Results};

/// An operation with its name for readers who know no experiment.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub name: &'static str,
    at: Selector,
    /// The level of the caches that it shows; it is left out if the results show no such level.
    level: Option<&'static str>,
}

pub(super) type Kind = (&'static str, &'static [Operation]);

const fn of(name: &'static str, experiment: &'static str, at: &'static [(&'static str, At)]) -> Operation {
    Operation { name, at: Selector::of(experiment, at), level: None }
}

const fn placed(operation: Operation, placement: Placement) -> Operation {
    Operation { at: operation.at.at(placement), ..operation }
}

const fn load(name: &'static str, level: &'static str) -> Operation {
    Operation { level: Some(level), ..of(name, "memory/load_latency", &[]) }
}

const LOOPBACK: (&str, At) = ("path", At::Name("loopback"));
const CLOSED: (&str, At) = ("loop", At::Name("closed"));
const SMALL: (&str, At) = ("payload", At::Least);

pub(super) const KINDS: [Kind; 5] = [
    (
        "processor",
        &[
            of(
                "procedure call",
                "cpu/procedure_call",
                &[("form", At::Name("abi")), ("arguments", At::Number(0))],
            ),
            of("mispredicted branch", "cpu/arithmetic", &[("instruction", At::Name("mispredicted-branch"))]),
            of("cache line from another CPU", "cpu/core_to_core", &[]),
        ],
    ),
    (
        "memory",
        &[
            load("load from L1", "L1"),
            load("load from L2", "L2"),
            load("load from L3", "L3"),
            load("load from memory", "memory"),
            of(
                "first write of a page",
                "memory/minor_fault",
                &[("access", At::Name("anonymous, first write")), ("batch", At::Least)],
            ),
            of("map 4 KiB", "memory/mapping", &[("call", At::Name("mmap")), ("size", At::Least)]),
        ],
    ),
    (
        "operating system",
        &[
            of("read the clock", "cpu/system_call", &[("call", At::Name("clock_gettime by library"))]),
            of("system call", "cpu/system_call", &[("call", At::Name("getppid"))]),
            of("write to /dev/null", "cpu/system_call", &[("call", At::Name("write nothing to /dev/null"))]),
            of("deliver a signal", "cpu/system_call", &[("call", At::Name("deliver a signal"))]),
            placed(
                of(
                    "context switch",
                    "cpu/context_switch",
                    &[("mechanism", At::Name("pipe less its cost")), ("between", At::Name("processes"))],
                ),
                Placement::OneCpu,
            ),
            placed(
                of("pipe hand-over, one CPU", "cpu/synchronisation", &[("mechanism", At::Name("pipe"))]),
                Placement::OneCpu,
            ),
            placed(
                of("pipe hand-over, two CPUs", "cpu/synchronisation", &[("mechanism", At::Name("pipe"))]),
                Placement::AcrossCpus,
            ),
            placed(
                of(
                    "thread, create and join",
                    "cpu/thread_creation",
                    &[("measure", At::Name("create and join"))],
                ),
                Placement::OneCpu,
            ),
            of("fork, exit, wait", "cpu/process_creation", &[("measure", At::Name("fork, exit, wait"))]),
            of(
                "fork and exec",
                "cpu/process_creation",
                &[("measure", At::Name("fork and exec of a static program"))],
            ),
        ],
    ),
    (
        "network",
        &[
            placed(
                of(
                    "UDP round trip, loopback",
                    "network/round_trip",
                    &[("transport", At::Name("UDP")), LOOPBACK, CLOSED, SMALL],
                ),
                Placement::OneCpu,
            ),
            placed(
                of(
                    "TCP round trip, loopback",
                    "network/round_trip",
                    &[("transport", At::Name("TCP")), LOOPBACK, CLOSED, SMALL],
                ),
                Placement::OneCpu,
            ),
            placed(
                of(
                    "TCP connect, one CPU",
                    "network/connection",
                    &[("phase", At::Name("connect")), ("path", At::Name("loopback"))],
                ),
                Placement::OneCpu,
            ),
        ],
    ),
    (
        "files",
        &[
            of(
                "read 4 KiB, cached",
                "filesystem/read",
                &[
                    ("state", At::Name("warm")),
                    ("call", At::OneOf(&["pread", "read"])),
                    ("block", At::Number(4096)),
                ],
            ),
            of(
                "read 4 KiB, device",
                "filesystem/read",
                &[("state", At::Name("direct")), ("order", At::Name("random")), ("block", At::Number(4096))],
            ),
            of(
                "page fault, no read-ahead",
                "memory/major_fault",
                &[("access", At::Name("shuffled pages, no read-ahead"))],
            ),
            of(
                "write 4 KiB, page cache",
                "filesystem/write",
                &[("durability", At::Name("in the page cache")), ("block", At::Number(4096))],
            ),
            of(
                "write 4 KiB and fsync",
                "filesystem/write",
                &[("durability", At::Name("on the device, fsync")), ("block", At::Number(4096))],
            ),
            of(
                "create and delete a file",
                "filesystem/metadata",
                &[("operation", At::Name("create and delete"))],
            ),
        ],
    ),
];

impl Operation {
    /// Its name with the size of the file, where the operation has files of several sizes: the caches make the same operation several.
    pub fn name_of(&self, point: &PointResult) -> String {
        match point.point.number_of("file") {
            Some(bytes) => format!("{} ({})", self.name, quantities::size(bytes)),
            None => self.name.to_owned(),
        }
    }

    /// The first measured time of the operation, and of a load the main figure of its level; `None` if there is none.
    pub fn result<'run>(&self, results: &'run Results) -> Option<&'run PointResult> {
        let main = main_points(results, self.at.experiment);
        if let Some(level) = self.level {
            // The words end with the size of the array: `L1 (24 KiB)`.
            let is_of_level =
                |words: &str| words.split(" (").next().is_some_and(|name| name.ends_with(level));
            return main.into_iter().find_map(|(words, point)| is_of_level(&words).then_some(point));
        }
        let measured: Vec<&PointResult> = results
            .of_experiment(self.at.experiment)
            .filter(|point| point.unit == Unit::Nanoseconds && is_drawn(point))
            .collect();
        let points: Vec<&Point> = measured.iter().map(|point| &point.point).collect();
        let targets = self.at.among(points, &results.run.header.machine);
        let is_main = |target: &&&Point| main.iter().any(|(_, point)| point.point == ***target);
        let target = targets.iter().find(is_main).or(targets.first())?;
        measured.into_iter().find(|point| point.point == **target)
    }
}

/// The points of an experiment that are main figures, with their words: of several that an operation may mean, pictures show the
/// one that the screen does.
fn main_points<'run>(results: &'run Results, experiment: &str) -> Vec<(String, &'run PointResult)> {
    let name = results.experiments().into_iter().find(|name| *name == experiment);
    let figures = name.map(|name| main_figures::of(results, name)).unwrap_or_default();
    let points = figures.into_iter().filter_map(|main| match main.source {
        FigureSource::Point(point) if is_drawn(point) => Some((main.words, point)),
        _ => None,
    });
    points.collect()
}
