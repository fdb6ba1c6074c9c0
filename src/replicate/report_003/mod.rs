//! Report 003: the project on a laptop of Apple's with an i5-5257U and OS X 10.11.

mod cpu;
mod filesystem;
mod memory;
mod network;
mod repetitions;

use super::{Report, Row};
use cpu::{calls, readings, switches, tasks};
use filesystem::{cache, contention, read, remote};
use memory::{latency, page_fault};
use network::{connection, round_trip};

/// The report.
pub const REPORT: Report = Report {
    id: "003",
    machine: "i5-5257u-osx-10.11",
    title: "CSE 221: System Measurement Project, by Y. Shen, Y. Wu and Q. Zhou: a MacBook Pro with OS X 10.11",
    methodology: "C++ by Apple LLVM 7.0.2, flags not printed. Times by CPUID, RDTSC before and RDTSCP, CPUID after, converted \
                  with the nominal 2.7 GHz; each operation between two readings of its own, so that no loop is in the \
                  result. Means of ten runs, with sample deviations; a run that departs is left out by hand. All cores but one \
                  were switched off. Here: Linux; the counter's own frequency, as it is measured; everything on one CPU, \
                  while the other CPUs serve the rest of the machine.",
    rows: &ROWS,
};

/// In the order of the report's summary; then what it leaves out.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::references::{self, Kind};
    use crate::replicate::Theirs;

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
