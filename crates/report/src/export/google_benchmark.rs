//! The JSON format of Google Benchmark: <https://github.com/google/benchmark/blob/main/docs/user_guide.md#output-formats>.
//!
//! The format has only times. A rate is written as the time of a mebibyte, and its name says so; its `bytes_per_second` is
//! the rate itself. Sizes and shares are no times and are left out.

use super::figures::{figures, name};
use crate::form::pretty;
use fathom_core::quantity::Unit;
use fathom_engine::results::{PointResult, Results};
use serde::Serialize;

/// Bytes for which a rate's time is written.
const MEBIBYTE: f64 = 1_048_576.0;

#[derive(Serialize)]
struct BenchmarkFile {
    context: Context,
    benchmarks: Vec<BenchmarkRow>,
}

#[derive(Serialize)]
struct Context {
    date: String,
    host_name: &'static str,
    executable: String,
    num_cpus: usize,
    mhz_per_cpu: u64,
    cpu_scaling_enabled: bool,
    caches: Vec<CacheEntry>,
    load_avg: Vec<f64>,
    library_version: String,
    library_build_type: String,
    json_schema_version: u32,
}

#[derive(Serialize)]
struct CacheEntry {
    r#type: String,
    level: u8,
    size: u64,
    num_sharing: usize,
}

/// A trial, or the median of all. Times are in nanoseconds. Processor time is not measured separately: `cpu_time` repeats
/// the elapsed time, because readers of the format require it.
#[derive(Serialize)]
struct BenchmarkRow {
    name: String,
    run_name: String,
    run_type: &'static str,
    repetitions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    repetition_index: Option<usize>,
    threads: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregate_name: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregate_unit: Option<&'static str>,
    iterations: usize,
    real_time: f64,
    cpu_time: f64,
    time_unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_second: Option<f64>,
}

/// Every figure that is a time or a rate.
pub(super) fn of(results: &Results) -> String {
    pretty(&BenchmarkFile {
        context: context(results),
        benchmarks: figures(results).flat_map(rows).collect(),
    })
}

fn context(results: &Results) -> Context {
    let header = &results.run.header;
    let machine = &header.machine;
    let caches = machine.caches.value().map(Vec::as_slice).unwrap_or_default();
    let cache = |cache: &fathom_core::machine::Cache| {
        Some(CacheEntry {
            r#type: format!("{:?}", cache.kind),
            level: cache.level,
            size: *cache.size_bytes.value()?,
            num_sharing: cache.instances.first()?.len(),
        })
    };
    Context {
        date: header.started.clone(),
        host_name: "",
        executable: header.tool.name.clone(),
        num_cpus: machine.allowed_cpus().len(),
        mhz_per_cpu: results.core_hz.map_or(0, |hertz| (hertz / 1e6).round() as u64),
        cpu_scaling_enabled: machine.conditions.governors.value().is_some(),
        caches: caches.iter().filter_map(cache).collect(),
        load_avg: machine.conditions.load_average.value().map(|load| load.to_vec()).unwrap_or_default(),
        library_version: header.tool.version.clone(),
        library_build_type: header.tool.build.clone(),
        json_schema_version: 1,
    }
}

/// The trials of a point, then its median.
fn rows(point: &PointResult) -> Vec<BenchmarkRow> {
    let (name, time): (String, fn(f64) -> f64) = match point.unit {
        Unit::Nanoseconds => (name(point), |value| value),
        Unit::BytesPerSecond => (name(point) + "/per=MiB", |rate| MEBIBYTE / rate * 1e9),
        Unit::Bytes | Unit::PartsPerMillion => return vec![],
    };
    let Some(estimate) = point.estimate() else { return vec![] };
    let repetitions = point.by_round.len();
    let row = |value: f64, index: Option<usize>| BenchmarkRow {
        name: if index.is_some() { name.clone() } else { format!("{name}_median") },
        run_name: name.clone(),
        run_type: if index.is_some() { "iteration" } else { "aggregate" },
        repetitions,
        repetition_index: index,
        threads: 1,
        aggregate_name: index.is_none().then_some("median"),
        aggregate_unit: index.is_none().then_some("time"),
        iterations: index.map_or(repetitions, |index| point.samples.get(index).map_or(1, Vec::len)),
        real_time: time(value),
        cpu_time: time(value),
        time_unit: "ns",
        bytes_per_second: (point.unit == Unit::BytesPerSecond).then_some(value),
    };
    let trials = point.by_round.iter().enumerate().map(|(index, (_, value))| row(*value, Some(index)));
    trials.chain([row(estimate.value, None)]).collect()
}
