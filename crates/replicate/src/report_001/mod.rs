//! Report 001: a laptop of 2016 with a rotating disk, and a second machine over Wi-Fi.

mod contention;
mod cpu;
mod filesystem;
mod memory;
mod network;
mod trials;

use super::timer::ENDS_WITH_RDTSCP;
use super::{Drawn, Picture, Report, Row, Shape};
use fathom_core::experiment::Scale;
use fathom_core::quantity::Unit;

/// The report.
pub const REPORT: Report = Report {
    id: "001",
    machine: "i7-6700hq-ubuntu-22.04",
    title: "System Benchmarking and Measurement, by M. Jain and J. Woenardi (University of California, San Diego): an Intel \
            Core i7-6700HQ under Ubuntu 22.04",
    methodology: "The programs are C, compiled by gcc 11.4.0 at -O0 \"wherever necessary\", so every variable is in memory; here they are \
                  assembly of the same form. The report's timer is CPUID and RDTSC before, RDTSCP after; it converted ticks with the \
                  nominal 2.6 GHz, Fathom with the counter's measured frequency. A trial is the average over many operations, and a figure \
                  is the mean over ten trials. The report does not say which standard deviation it printed; here it is that of a sample. \
                  Its programs ran at a raised priority (nice), on one core \"wherever necessary\", but it does not say where that was. \
                  Here the work of one thread is pinned to one CPU, and the work of two tasks is not pinned. A raised priority shields the \
                  report's programs from other work of the machine; Fathom's own measurements do not have it. There is no warm-up before \
                  the first trial.",
    timer_needs: ENDS_WITH_RDTSCP,
    rows: ROWS,
    figures: FIGURES,
};

const ROWS: &[Row] = &[
    cpu::MEASUREMENT,
    cpu::LOOP,
    cpu::PER_ARGUMENT,
    cpu::SYSTEM_CALL,
    cpu::PROCESS_CREATION,
    cpu::THREAD_CREATION,
    cpu::PROCESS_SWITCH,
    cpu::THREAD_SWITCH,
    memory::L1,
    memory::L2,
    memory::L3,
    memory::MAIN_MEMORY,
    memory::READING,
    memory::WRITING,
    memory::PAGE_FAULT,
    network::ROUND_TRIP,
    network::ROUND_TRIP_AWAY,
    network::BANDWIDTH,
    network::BANDWIDTH_AWAY,
    network::CONNECTION,
    network::CONNECTION_AWAY,
    filesystem::CACHE_SIZE,
    filesystem::SEQUENTIAL_READ,
    filesystem::RANDOM_READ,
    filesystem::SEQUENTIAL_REMOTE,
    filesystem::RANDOM_REMOTE,
    contention::SEQUENTIALLY,
    contention::AT_RANDOM,
    // The figures that the summary leaves out.
    cpu::NO_ARGUMENT,
    cpu::SEVEN_ARGUMENTS,
    memory::END_OF_L1,
    memory::END_OF_L2,
    memory::END_OF_L3,
    memory::PAGE_FAULT_PER_BYTE,
    network::SETUP,
    network::TEARDOWN,
    network::SETUP_AWAY,
    network::TEARDOWN_AWAY,
    filesystem::PENALTY,
];

/// The figures of the report.
const FIGURES: &[Picture] = &[
    Picture::swept(1, "procedure call time against arguments", "procedure call", "arguments", Scale::Count),
    Picture::swept(
        2,
        "memory access time against size, one curve per stride",
        "memory access time",
        "size of the array",
        Scale::Bytes,
    ),
    Picture::swept(
        3,
        "time of a block against file size, read again: the file cache",
        "file cache size",
        "size of the file",
        Scale::Bytes,
    ),
    Picture::swept(
        4,
        "time of a block, sequential and random, against file size, local",
        "file read",
        "size of the file",
        Scale::Bytes,
    ),
    Picture {
        number: 5,
        shows: "time of a block, sequential and random, against file size, remote",
        drawn: Drawn::By {
            method: "remote file read",
            variant: |name| name != "penalty",
            unit: Unit::Nanoseconds,
            shape: Shape::Sweep("size of the file", Scale::Bytes),
        },
    },
    Picture::swept(
        6,
        "time of a block, sequential and random, against processes",
        "contention",
        "processes",
        Scale::Count,
    ),
];
