//! A run in the formats of other tools: units named, nothing rounded, nothing in the place of what was not measured. What each format
//! can hold of a run, and what it cannot, stands in `docs/export.md`.

mod bencher;
mod figures;
mod google_benchmark;
mod open_metrics;

use crate::report::{Form, RunReport, Style, render};
use crate::results::Results;
use clap::ValueEnum;

/// The formats of other tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A row a point, comma-separated (`docs/report-csv.md`).
    Csv,
    /// The JSON of Google Benchmark: a row a trial, and the median.
    GoogleBenchmark,
    /// Bencher Metric Format: each point with its interval.
    Bencher,
    /// `OpenMetrics` text, for Prometheus and its kin.
    OpenMetrics,
}

/// The run in a format, ending in a line feed.
pub fn render_run(results: &Results, format: Format) -> String {
    match format {
        Format::Csv => render(&RunReport::of(results), Form::Csv, Style { colour: false, width: 120 }),
        Format::GoogleBenchmark => google_benchmark::of(results),
        Format::Bencher => bencher::of(results),
        Format::OpenMetrics => open_metrics::of(results),
    }
}
