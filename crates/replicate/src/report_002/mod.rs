//! Report 002: a laptop of 2021, described in an essay without tables.

mod cpu;
mod filesystem;
mod memory;

use super::method::MeasureFn;
use super::operations::Between;
use super::{Report, tasks};

const MEASURES: [(&str, MeasureFn); 14] = [
    ("timer overhead", cpu::reading),
    ("function call", cpu::calling),
    ("system call", cpu::entering),
    ("process creation", |stage| cpu::creating(stage, tasks::fork, tasks::reap)),
    ("thread creation", |stage| cpu::creating(stage, tasks::thread, tasks::join)),
    ("process switch", |stage| cpu::switching(stage, Between::Processes)),
    ("thread switch", |stage| cpu::switching(stage, Between::Threads)),
    ("memory access", memory::accessing),
    ("memory bandwidth", memory::streaming),
    ("page fault", memory::faulting),
    ("file cache size", filesystem::caching),
    ("file read", filesystem::reading),
    ("remote file read", filesystem::reading_away),
    ("ping", filesystem::pinging),
];

pub fn report() -> Report {
    Report::read(["", include_str!("../../references/replication-002.toml")], &[], &MEASURES)
}
