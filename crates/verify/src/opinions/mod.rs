//! Second opinions: figures of other tools for operations that Fathom measures too, taken alternately in one session.
//!
//! An adapter is a file: a tool, and for each operation the command line and how its output is parsed. Fathom's side is the
//! point of the report itself. For a tool that is not installed the package is named.

mod comparison;
mod fio;
mod hackbench;
mod iperf3;
mod mbw;
mod measurement;
mod opinion;
mod perf_bench;
mod qperf;
mod session;
mod sockperf;
mod stress_ng;
mod sysbench;
pub mod tool_runner;

pub use comparison::{Agreement, NEAR, Reproduced, ToolComparison};
pub use opinion::Opinion;
pub use session::second_opinions;
pub use tool_runner::run_tools;

/// Every second opinion, in the order of the table.
pub fn all() -> impl Iterator<Item = &'static Opinion> {
    OPINIONS.iter().copied().flatten()
}

const OPINIONS: &[&[Opinion]] = &[
    perf_bench::OPINIONS,
    stress_ng::OPINIONS,
    mbw::OPINIONS,
    sysbench::OPINIONS,
    hackbench::OPINIONS,
    sockperf::OPINIONS,
    qperf::OPINIONS,
    iperf3::OPINIONS,
    fio::OPINIONS,
];
