//! The tools with second opinions.

use super::opinion::Opinion;
use super::{fio, hackbench, iperf3, mbw, perf_bench, qperf, sockperf, stress_ng, sysbench};

/// The opinions of each tool.
pub(super) const OPINIONS: &[&[Opinion]] = &[
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
