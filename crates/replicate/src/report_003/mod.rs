//! Report 003: the project on a laptop of Apple's with an i5-5257U and OS X 10.11.

mod cpu;
pub mod filesystem;
pub mod memory;
pub mod network;
mod repetitions;

use super::timer::ENDS_WITH_RDTSCP;
use super::{Drawn, Picture, Report, Row, Shape};
use cpu::{calls, readings, switches, tasks};
use fathom_core::experiment::Scale;
use fathom_core::quantity::Unit;
use filesystem::{cache, contention, read, remote};
use memory::{latency, page_fault};
use network::{connection, round_trip};

/// The report.
pub const REPORT: Report = Report {
    id: "003",
    machine: "i5-5257u-osx-10.11",
    title: "CSE 221: System Measurement Project, by Y. Shen, Y. Wu and Q. Zhou: a MacBook Pro with OS X 10.11",
    methodology: "The programs are C++, compiled by Apple LLVM 7.0.2; the report does not print the flags. Their timer is CPUID and RDTSC \
                  before, RDTSCP and CPUID after, and ticks are converted with the nominal 2.7 GHz. Each operation stands between two \
                  readings of its own, so no loop is in the result. The figures are means of ten runs, with sample deviations; a run that \
                  departs from the others is left out by hand. All cores but one were switched off. Here the methods run on Linux and on \
                  one CPU, while the other CPUs serve the rest of the machine; ticks are converted with the counter's measured frequency.",
    timer_needs: ENDS_WITH_RDTSCP,
    rows: &ROWS,
    figures: FIGURES,
};

/// The figures of the report's summary in its order, then those that the summary leaves out.
const ROWS: [Row; 49] = [
    readings::READING_ROW,
    readings::LOOP_ROW,
    calls::ARGUMENT_ROW,
    calls::GETPID_ROW,
    calls::GETPPID_ROW,
    tasks::PROCESS_ROW,
    tasks::THREAD_ROW,
    switches::PROCESS_ROW,
    switches::THREAD_ROW,
    latency::RAM_ROW,
    memory::bandwidth::PARALLEL_READ_ROW,
    memory::bandwidth::PARALLEL_WRITE_ROW,
    page_fault::FAULT_ROW,
    page_fault::PER_BYTE_ROW,
    round_trip::TCP_LOCAL_ROW,
    round_trip::TCP_REMOTE_ROW,
    network::bandwidth::LOCAL_ROW,
    network::bandwidth::REMOTE_ROW,
    connection::SETUP_LOCAL_ROW,
    connection::SETUP_REMOTE_ROW,
    connection::TEARDOWN_LOCAL_ROW,
    connection::TEARDOWN_REMOTE_ROW,
    cache::SIZE_ROW,
    read::SEQUENTIAL_ROW,
    read::RANDOM_ROW,
    remote::SEQUENTIAL_ROW,
    remote::RANDOM_ROW,
    contention::COEFFICIENT_ROW,
    // What the summary leaves out.
    calls::PROCEDURE_ROW,
    latency::L1_ROW,
    latency::L2_ROW,
    latency::L3_ROW,
    memory::bandwidth::READ_LOOP_ROW,
    memory::bandwidth::READ_UNROLLED_ROW,
    memory::bandwidth::READ_PREFETCHING_ROW,
    memory::bandwidth::READ_AVX_ROW,
    memory::bandwidth::WRITE_LOOP_ROW,
    memory::bandwidth::WRITE_AVX_ROW,
    memory::bandwidth::WRITE_MEMSET_ROW,
    page_fault::RANDOM_ROW,
    page_fault::SHORT_ROW,
    round_trip::PING_LOCAL_ROW,
    round_trip::PING_REMOTE_ROW,
    cache::RATE_ROW,
    contention::SLOPE_ROW,
    contention::SEQUENTIAL_ROW,
    contention::RANDOM_ROW,
    contention::SEQUENTIAL_MIXED_ROW,
    contention::RANDOM_MIXED_ROW,
];

/// The figures of the report.
const FIGURES: &[Picture] = &[
    Picture {
        number: 0,
        shows: "memory latency against size, by stride",
        drawn: Drawn::By {
            method: "memory latency",
            variant: |name| name.starts_with("stride"),
            unit: Unit::Nanoseconds,
            shape: Shape::Sweep("size of the array", Scale::Bytes),
        },
    },
    Picture::not(
        0,
        "memory latency of the first and second version of the loop",
        "Fathom repeats the third version, on which the report's figures stand; the other two are points of `memory/load_latency` (orders)",
    ),
    Picture {
        number: 0,
        shows: "time of each access to the first byte of a stride, in order",
        drawn: Drawn::By {
            method: "page fault",
            variant: |name| name.starts_with("accesses, first"),
            unit: Unit::Nanoseconds,
            shape: Shape::Sweep("number of the access", Scale::Count),
        },
    },
    Picture {
        number: 0,
        shows: "time of each access to a random byte of a stride, in order",
        drawn: Drawn::By {
            method: "page fault",
            variant: |name| name.starts_with("accesses, random"),
            unit: Unit::Nanoseconds,
            shape: Shape::Sweep("number of the access", Scale::Count),
        },
    },
    Picture {
        number: 0,
        shows: "bandwidth against the size of the buffer, loopback",
        drawn: Drawn::By {
            method: "peak bandwidth, loopback",
            variant: |_| true,
            unit: Unit::BytesPerSecond,
            shape: Shape::Sweep("size of the buffer", Scale::Bytes),
        },
    },
    Picture {
        number: 0,
        shows: "bandwidth against the size of the buffer, remote",
        drawn: Drawn::By {
            method: "peak bandwidth, remote",
            variant: str::is_empty,
            unit: Unit::BytesPerSecond,
            shape: Shape::Sweep("size of the buffer", Scale::Bytes),
        },
    },
    Picture {
        number: 0,
        shows: "bytes received by each read",
        drawn: Drawn::By {
            method: "peak bandwidth, remote",
            variant: |name| name == "received",
            unit: Unit::Bytes,
            shape: Shape::Sweep("number of the read", Scale::Count),
        },
    },
    Picture::swept(
        0,
        "time of a byte against file size when a file is read again: the file cache, coarse and fine",
        "file cache size",
        "size of the file",
        Scale::Bytes,
    ),
    Picture::swept(
        0,
        "time of a block, sequential and random, against file size, local",
        "file read",
        "size of the file",
        Scale::Bytes,
    ),
    Picture {
        number: 0,
        shows: "distribution of the mean time of a block, local",
        drawn: Drawn::By {
            method: "file read",
            variant: |_| true,
            unit: Unit::Nanoseconds,
            shape: Shape::Distribution(Some(read::SUMMARY_FILE as f64)),
        },
    },
    Picture {
        number: 0,
        shows: "distribution of the mean time of a block, remote",
        drawn: Drawn::By {
            method: "remote file read",
            variant: |name| !name.ends_with("by size"),
            unit: Unit::Nanoseconds,
            shape: Shape::Distribution(None),
        },
    },
    Picture {
        number: 0,
        shows: "time of a block, sequential and random, against file size, remote",
        drawn: Drawn::By {
            method: "remote file read",
            variant: |name| name.ends_with("by size"),
            unit: Unit::Nanoseconds,
            shape: Shape::Sweep("size of the file", Scale::Bytes),
        },
    },
    Picture {
        number: 0,
        shows: "time of a block against competitors, four patterns",
        drawn: Drawn::By {
            method: "contention",
            variant: |name| name != "growth by doubling",
            unit: Unit::Nanoseconds,
            shape: Shape::Sweep("competitors", Scale::Count),
        },
    },
    Picture {
        number: 0,
        shows: "distribution of the time of a block among competitors",
        drawn: Drawn::By {
            method: "contention",
            variant: |name| name != "growth by doubling",
            unit: Unit::Nanoseconds,
            shape: Shape::Distribution(Some(contention::MOST as f64)),
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Theirs;
    use fathom_report::references::{self, Kind};

    fn printed() -> Vec<&'static str> {
        let id = |row: &Row| match row.theirs {
            Theirs::Printed(id) => Some(id),
            Theirs::NotPrinted(_) => None,
        };
        ROWS.iter().filter_map(id).collect()
    }

    #[test]
    fn every_figure_of_the_summary_has_its_row_in_its_order() {
        let figures = references::of_report(REPORT.id);
        let summary: Vec<&str> =
            figures.filter(|figure| figure.kind() == Kind::Summary).map(references::Figure::id).collect();
        assert_eq!(summary.len(), 28);
        assert_eq!(printed()[..summary.len()], summary);
    }
}
