//! `fathom verify` and `fathom replicate`: known truths, and published methods.

use super::heading::{LENGTH, OUTPUT, SECOND_HOST, START, WHAT, WHERE};
use super::peer::PeerOptions;
use super::value::{parse_folder, parse_time, parse_times, without_picture};
use clap::Args;
use fathom_core::experiment::Effort;
use fathom_core::machine::RemoteAddress;
use fathom_report::Form;
use std::path::PathBuf;
use std::time::Duration;

/// Which truths to set, and how to measure them.
#[derive(Debug, Args)]
pub struct Verify {
    /// Names of rigs, such as `spin`; without names, all of them. Only a verification with all rigs is mentioned in later
    /// reports.
    pub rigs: Vec<String>,
    /// Instead of setting truths, compare with other tools that measure the same, in turns: those installed of perf bench,
    /// fio, iperf3, sockperf, qperf, sysbench, stress-ng, mbw and hackbench.
    #[arg(long, help_heading = WHAT, conflicts_with = "rigs")]
    pub peers: bool,
    /// Print what would be set and what that does to this machine, without doing it.
    #[arg(long, help_heading = START)]
    pub dry_run: bool,
    /// Measure this many times as long as usual, for narrower intervals.
    #[arg(long, help_heading = LENGTH, value_name = "NUMBER", default_value_t = 1.0, value_parser = parse_times)]
    pub times_as_long: f64,
    /// Where it is measured.
    #[command(flatten)]
    pub bench: BenchOptions,
    /// What to print at the end.
    #[arg(long, help_heading = OUTPUT, value_parser = without_picture(), default_value = "text")]
    pub format: Form,
}

impl Replicate {
    /// Quick, standard or thorough.
    pub fn effort(&self) -> Effort {
        Effort::of(self.quick, self.thorough)
    }
}

/// Which report to replicate, and where.
#[derive(Debug, Args)]
pub struct Replicate {
    /// The report's number, `000` to `004`, or a part of its machine's name; without it, the reports are listed.
    pub report: Option<String>,
    /// Only methods with this in their names, such as `contention`, and the rows that they fill; may be given several times.
    #[arg(long, help_heading = WHAT, value_name = "NAME")]
    pub method: Vec<String>,
    /// Use smaller counts: a table in about a minute.
    #[arg(long, help_heading = LENGTH)]
    pub quick: bool,
    /// Measure every setting that the report has, such as 1 to 50 processes that read at once: up to an hour for a report.
    #[arg(long, help_heading = LENGTH, conflicts_with = "quick")]
    pub thorough: bool,
    /// The time that Fathom's own points may take, such as `30s`; by default two seconds each, or half a second with
    /// `--quick`. The report's methods take additional time.
    #[arg(long, help_heading = LENGTH, value_name = "TIME", value_parser = parse_time)]
    pub budget: Option<Duration>,
    /// Where it is measured.
    #[command(flatten)]
    pub bench: BenchOptions,
    /// The file of the replication; Fathom's own run is written beside it. By default it is made in the data folder.
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The file or folder to read over a network, as for `fathom run`.
    #[arg(long, help_heading = SECOND_HOST, value_name = "URL")]
    pub remote: Option<RemoteAddress>,
    /// The second host for the rows that need one.
    #[command(flatten)]
    pub peer: PeerOptions,
    /// What to print at the end.
    #[arg(long, help_heading = OUTPUT, value_parser = without_picture(), default_value = "text")]
    pub format: Form,
}

/// Where it is measured, and in which order.
#[derive(Debug, Args)]
pub struct BenchOptions {
    /// The seed of all randomness.
    #[arg(long, help_heading = WHERE, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// The CPU that pinned work runs on.
    #[arg(long, help_heading = WHERE, value_name = "NUMBER")]
    pub cpu: Option<usize>,
    /// The folder in which files may be made; by default the folder for temporary files.
    #[arg(long, help_heading = WHERE, value_name = "FOLDER", value_parser = parse_folder)]
    pub dir: Option<PathBuf>,
    /// Measure although another fathom is measuring on this machine.
    #[arg(long, help_heading = START)]
    pub alongside: bool,
}
