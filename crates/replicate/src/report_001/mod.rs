//! Report 001: a laptop of 2016 with a rotating disk, and a second machine over Wi-Fi.

mod cpu;
mod filesystem;
mod memory;
mod network;

use super::Report;
use super::method::MeasureFn;
use super::operations::Between;
use super::timer::ENDS_WITH_RDTSCP;
use fathom_core::experiment::PEER;
use fathom_equipment::peer::other_side::LOOPBACK;

const MEASURES: [(&str, MeasureFn); 21] = [
    ("measurement overhead", cpu::measurement),
    ("loop overhead", cpu::looping),
    ("procedure call", cpu::calling),
    ("system call", cpu::entering),
    ("process creation", cpu::forking),
    ("thread creation", cpu::threading),
    ("process switch", |stage| cpu::switching(stage, Between::Processes)),
    ("thread switch", |stage| cpu::switching(stage, Between::Threads)),
    ("memory access time", memory::chasing),
    ("memory bandwidth", memory::streaming),
    ("page fault", memory::faulting),
    ("round trip, loopback", |stage| network::tripping(stage, LOOPBACK)),
    ("round trip, remote", |stage| network::tripping(stage, PEER)),
    ("bandwidth, loopback", |stage| network::receiving(stage, LOOPBACK, stage.count(1024, 128))),
    ("bandwidth, remote", |stage| network::receiving(stage, PEER, stage.count(100, 16))),
    ("connection, loopback", |stage| network::connecting(stage, LOOPBACK)),
    ("connection, remote", |stage| network::connecting(stage, PEER)),
    ("file cache size", filesystem::caching),
    ("file read", filesystem::reading),
    ("remote file read", filesystem::reading_away),
    ("contention", filesystem::contending),
];

pub fn report() -> Report {
    let data = include_str!("../../references/replication-001.toml");
    Report::read(["", data], ENDS_WITH_RDTSCP, &MEASURES)
}
