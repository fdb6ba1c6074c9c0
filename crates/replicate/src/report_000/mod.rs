//! Report 000: CPU and operating system, memory, network and file system of a laptop.

mod boilerplate;
pub mod cpu;
pub mod filesystem;
mod mapped;
pub mod memory;
pub mod network;
mod shuffle;
mod zeros;

use super::timer::ENDS_WITH_RDTSCP;
use super::{Picture, Report, Row};
use fathom_core::experiment::Scale;

/// The machine, as the reference data call it.
pub const MACHINE: &str = "i7-1250u-ubuntu-24.04";

/// What applies to all methods of the report.
pub const METHODOLOGY: &str = "The programs are C, compiled by gcc 13.3 without optimisation (-O0); taskset pins everything to one CPU. \
                               The timer is the time-stamp counter, read after CPUID and followed by CPUID (Paoloni). It stands around a \
                               loop of 1,000,000 iterations, which is one trial, and the difference is divided by the iterations; a figure \
                               is the mean of ten trials, with their deviation. Nothing is subtracted. The report converts ticks by a \
                               clock of 1881.6 MHz in its sections, and by another, twice as fast, in most of its summary. Here the \
                               counter's measured frequency is used throughout.";

/// The rows of its summary, then those of experiments that the summary leaves out.
const ROWS: &[Row] = &[
    cpu::MEASUREMENT,
    cpu::ARGUMENT,
    cpu::SYSTEM_CALL,
    cpu::THREAD,
    cpu::PROCESS,
    cpu::THREAD_SWITCH,
    cpu::PROCESS_SWITCH,
    memory::RAM,
    memory::READ,
    memory::READ_A_BYTE,
    memory::WRITE,
    memory::WRITE_A_BYTE,
    memory::PAGE_FAULT,
    network::ICMP_LOOPBACK,
    network::ICMP_REMOTE,
    network::TCP_LOOPBACK,
    network::TCP_REMOTE,
    network::LOOPBACK_READ,
    network::LOOPBACK_WRITE,
    network::REMOTE_READ,
    network::REMOTE_WRITE,
    network::LOOPBACK_CONNECT,
    network::REMOTE_CONNECT,
    network::LOOPBACK_CLOSE,
    network::REMOTE_CLOSE,
    filesystem::FIRST_ACCESS,
    filesystem::CACHE_SIZE,
    filesystem::SEQUENTIAL,
    filesystem::RANDOM,
    filesystem::REMOTE_SEQUENTIAL,
    filesystem::REMOTE_RANDOM,
    filesystem::FEW_PROCESSES,
    filesystem::MANY_PROCESSES,
    // Not in the summary.
    cpu::TIMER,
    cpu::TIMER_WHOLE,
    cpu::TIMER_AROUND,
    cpu::LOOP,
    cpu::NO_ARGUMENT,
    cpu::SEVEN_ARGUMENTS,
    cpu::PIPE,
    cpu::THREAD_SWITCH_LESS_PIPE,
    cpu::PROCESS_SWITCH_LESS_PIPE,
    memory::L1,
    memory::L2,
    memory::L3,
    filesystem::CACHED_PAGE,
];

/// The report.
pub const REPORT: Report = Report {
    id: "000",
    machine: MACHINE,
    title: "a graduate project's report on an i7-1250U laptop with Ubuntu 24.04",
    methodology: METHODOLOGY,
    timer_needs: ENDS_WITH_RDTSCP,
    rows: ROWS,
    figures: FIGURES,
};

/// The figures of the report.
const FIGURES: &[Picture] = &[
    Picture::swept(
        1,
        "memory latency against the size of the array",
        "memory latency",
        "size of the array",
        Scale::Bytes,
    ),
    Picture::swept(
        2,
        "access time of a page of a mapped file against file size, first and later readings",
        "file cache",
        "size of the file",
        Scale::Bytes,
    ),
    Picture::swept(
        3,
        "time of a block, in order and shuffled, against file size, local",
        "file read",
        "size of the file",
        Scale::Bytes,
    ),
    Picture::swept(
        4,
        "time of a block, in order and shuffled, against file size, remote",
        "remote file read",
        "size of the file",
        Scale::Bytes,
    ),
    Picture::swept(
        5,
        "time of a block against the number of processes",
        "contention",
        "processes",
        Scale::Count,
    ),
];
