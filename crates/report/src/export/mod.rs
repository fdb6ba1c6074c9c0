//! A run in the formats of other tools: with units, without rounding, and without substitutes for missing values.
//! `docs/export.md` says what each format can and cannot contain.

mod bencher;
mod figures;
mod google_benchmark;
mod open_metrics;
mod points;

use crate::{Form, RunReport, Style, render};
use clap::ValueEnum;
use fathom_core::message::escaped_json;
use fathom_engine::parallel;
use fathom_engine::results::Results;
use std::io::Write;
use std::path::PathBuf;

/// The formats of other tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A row a point, comma-separated (`docs/report-csv.md`).
    Csv,
    /// The JSON of Google Benchmark: a row a trial, and the median.
    GoogleBenchmark,
    /// Bencher Metric Format: each point with its interval.
    Bencher,
    /// `OpenMetrics` text, for Prometheus and compatible systems.
    OpenMetrics,
}

/// Writes a line of JSON for each run file, in their order; `trials` adds the median of each trial. Files are read in
/// parallel, and only a few per processor are in memory at a time.
pub fn write_points(files: &[PathBuf], trials: bool, out: &mut dyn Write) -> std::io::Result<()> {
    for some in files.chunks(FILES_EACH * parallel::width()) {
        let lines = parallel::map(some, |_, file| points::line(file, trials));
        lines.iter().try_for_each(|line| out.write_all(line.as_bytes()))?;
    }
    out.flush()
}

/// Files in memory per processor.
const FILES_EACH: usize = 4;

/// The run in a format, ending in a line feed.
pub fn render_run(results: &Results, format: Format) -> String {
    match format {
        Format::Csv => render(&RunReport::of(results), Form::Csv, Style { colour: false, width: 120 }),
        Format::GoogleBenchmark => escaped_json(&google_benchmark::of(results)),
        Format::Bencher => escaped_json(&bencher::of(results)),
        Format::OpenMetrics => open_metrics::of(results),
    }
}
