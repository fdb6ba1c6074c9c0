//! Second opinions: figures of other tools for operations that Fathom measures too, taken alternately in one session.
//!
//! An adapter is a file: a tool, and for each operation the command line and how its output is parsed. Fathom's side is the
//! point of the report itself. For a tool that is not installed the package is named.

mod adapters;
mod asked;
mod fio;
mod hackbench;
mod iperf3;
pub mod keeper;
mod mbw;
mod opinion;
mod perf_bench;
mod qperf;
mod reading;
mod session;
mod sockperf;
mod stress_ng;
mod sysbench;
mod weighed;

pub use keeper::{COMMAND as KEEP, keep};
pub use opinion::Opinion;
pub use session::second_opinions;
pub use weighed::{Agreement, NEAR, Weighed};

/// Every second opinion, in the order of the table.
pub fn all() -> impl Iterator<Item = &'static Opinion> {
    adapters::OPINIONS.iter().copied().flatten()
}
