//! Report 000: CPU and operating system, memory, network and file system of a laptop.

mod chain;
pub mod cpu;
mod files;
mod filesystem;
mod memory;
mod network;

use super::Report;
use super::method::MeasureFn;
use super::timer::ENDS_WITH_RDTSCP;
use fathom_core::experiment::PEER;
use fathom_equipment::peer::other_side::LOOPBACK;

const DATA: &str = include_str!("../../references/replication-000.toml");

const MEASURES: [(&str, MeasureFn); 22] = [
    ("timing overhead", cpu::timing),
    ("procedure call", cpu::procedures),
    ("system call", cpu::write_nothing),
    ("thread creation", cpu::threads),
    ("process creation", cpu::processes),
    ("context switch", cpu::switches),
    ("memory latency", memory::chase),
    ("memory bandwidth", memory::both_ways),
    ("page fault", memory::faults),
    ("ICMP round trip, loopback", network::ping_loopback),
    ("ICMP round trip, remote", network::ping_peer),
    ("TCP round trip, loopback", |stage| network::turns(stage, LOOPBACK)),
    ("TCP round trip, remote", |stage| network::turns(stage, PEER)),
    ("TCP bandwidth, loopback", |stage| network::both_ways(stage, LOOPBACK)),
    ("TCP bandwidth, remote", |stage| network::both_ways(stage, PEER)),
    ("TCP connection, loopback", network::connections_here),
    ("TCP connection, remote", network::connections_to_peer),
    ("file cache", filesystem::mapped_files),
    ("file cache size", filesystem::larger_files),
    ("file read", filesystem::blocks),
    ("remote file read", filesystem::remote_blocks),
    ("contention", filesystem::contention),
];

pub fn report() -> Report {
    Report::read(["", DATA], ENDS_WITH_RDTSCP, &MEASURES)
}

/// Report 004, the synopsis of this one: its figures, rounded, which were measured by the methods of this one.
pub fn synopsis() -> Report {
    Report::read([DATA, include_str!("../../references/replication-004.toml")], &[], &MEASURES)
}
