//! Report 004: the synopsis of report 000. It prints the figures of 000, rounded, which were measured by the methods of 000.

use super::report_000::{MACHINE, METHODOLOGY, cpu, filesystem, memory, network};
use super::{Fit, Report, Row, Statistic, Theirs};

/// A row of report 000 with the figure that the synopsis prints.
const fn printed(id: &'static str, row: Row) -> Row {
    Row { theirs: Theirs::Printed(id), ..row }
}

/// The same row where the synopsis prints the median over trials.
const fn median(id: &'static str, operation: &'static str, row: Row) -> Row {
    let statistic = Statistic { fit: Fit::Median, ..row.statistic };
    Row { theirs: Theirs::Printed(id), operation, statistic, ..row }
}

/// The rows in the order of the synopsis.
const ROWS: &[Row] = &[
    printed("s004-0001", cpu::TIMER),
    printed("s004-0002", cpu::LOOP),
    printed("s004-0036", cpu::ARGUMENT),
    printed("s004-0003", cpu::SYSTEM_CALL),
    printed("s004-0004", cpu::THREAD),
    printed("s004-0005", cpu::PROCESS),
    printed("s004-0006", cpu::THREAD_SWITCH),
    printed("s004-0007", cpu::PROCESS_SWITCH),
    printed("s004-0008", cpu::PIPE),
    printed("s004-0038", cpu::THREAD_SWITCH_LESS_PIPE),
    printed("s004-0039", cpu::PROCESS_SWITCH_LESS_PIPE),
    printed("s004-0009", memory::L1),
    printed("s004-0010", memory::L2),
    printed("s004-0011", memory::L3),
    printed("s004-0012", memory::RAM),
    printed("s004-0013", memory::READ),
    printed("s004-0014", memory::WRITE),
    printed("s004-0015", memory::PAGE_FAULT),
    printed("s004-0016", network::TCP_LOOPBACK),
    printed("s004-0017", network::TCP_REMOTE),
    printed("s004-0018", network::ICMP_LOOPBACK),
    printed("s004-0019", network::ICMP_REMOTE),
    printed("s004-0020", network::LOOPBACK_READ),
    printed("s004-0021", network::LOOPBACK_WRITE),
    printed("s004-0022", network::REMOTE_READ),
    printed("s004-0023", network::REMOTE_WRITE),
    printed("s004-0024", network::LOOPBACK_CONNECT),
    median("s004-0042", "connection, loopback, connect (median)", network::LOOPBACK_CONNECT),
    printed("s004-0025", network::LOOPBACK_CLOSE),
    median("s004-0026", "connection, remote, connect (median)", network::REMOTE_CONNECT),
    printed("s004-0027", network::REMOTE_CLOSE),
    printed("s004-0043", filesystem::FIRST_ACCESS),
    printed("s004-0044", filesystem::CACHED_PAGE),
    printed("s004-0028", filesystem::CACHE_SIZE),
    printed("s004-0029", filesystem::SEQUENTIAL),
    printed("s004-0030", filesystem::RANDOM),
    printed("s004-0031", filesystem::REMOTE_SEQUENTIAL),
    printed("s004-0032", filesystem::REMOTE_RANDOM),
    printed("s004-0046", filesystem::FEW_PROCESSES),
    printed("s004-0033", filesystem::MANY_PROCESSES),
];

/// The report.
pub const REPORT: Report = Report {
    id: "004",
    machine: MACHINE,
    title: "a one-page synopsis of report 000",
    methodology: METHODOLOGY,
    timer_needs: &[],
    rows: ROWS,
    figures: &[],
};
