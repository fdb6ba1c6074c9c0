//! Report 003: the project on a laptop of Apple's with an i5-5257U and OS X 10.11.

mod cpu;
pub mod filesystem;
pub mod memory;
pub mod network;

use super::Report;
use super::method::MeasureFn;
use super::timer::ENDS_WITH_RDTSCP;

const MEASURES: [(&str, MeasureFn); 25] = [
    ("reading the clock", cpu::reading),
    ("empty loop", cpu::loops),
    ("procedure call", cpu::procedures),
    ("system call", cpu::services),
    ("process creation", cpu::processes),
    ("thread creation", cpu::threads),
    ("switch to a new process", cpu::process),
    ("switch to a new thread", cpu::thread),
    ("memory latency", memory::latency),
    ("memory bandwidth", memory::loops),
    ("memory bandwidth, AVX", memory::avx),
    ("page fault", memory::faults),
    ("TCP ping, loopback", network::tcp_local),
    ("TCP ping, remote", network::tcp_remote),
    ("ping, loopback", network::ping_local),
    ("ping, remote", network::ping_remote),
    ("peak bandwidth, loopback", network::bandwidth_local),
    ("peak bandwidth, remote", network::bandwidth_remote),
    ("connection, loopback", network::connections_local),
    ("connection, remote", network::connections_remote),
    ("file cache size", filesystem::cache_size),
    ("file cache rate", filesystem::cached_rate),
    ("file read", filesystem::read),
    ("remote file read", filesystem::read_remote),
    ("contention", filesystem::contention::contention),
];

pub fn report() -> Report {
    let data = include_str!("../../references/replication-003.toml");
    Report::read(["", data], ENDS_WITH_RDTSCP, &MEASURES)
}
