//! `fathom around`: the flags for measuring around a command.

use super::heading::{CHANGES, LENGTH, OUTPUT, START, WHAT, WHERE};
use super::value::{parse_folder, parse_share, parse_time, without_picture};
use clap::Args;
use fathom_report::Form;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What to run, and how to measure around it.
#[derive(Debug, Args)]
pub struct Around {
    /// Stop the command after each such time (SIGSTOP to its process group) and measure for some 3 s, such as `30s`. Without it
    /// the command is never stopped.
    #[arg(long, help_heading = LENGTH, value_name = "TIME", value_parser = parse_time)]
    pub every: Option<Duration>,
    /// How long is measured before and after the command.
    #[arg(long, help_heading = LENGTH, value_name = "TIME", value_parser = parse_time, default_value = "5s")]
    pub length: Duration,
    /// The folder whose device is measured; by default the folder for temporary files.
    #[arg(long, help_heading = WHERE, value_name = "FOLDER", value_parser = parse_folder)]
    pub dir: Option<PathBuf>,
    /// The change up to which an operation held still, such as `5%`; by default 10 %, of operations on devices 25 %.
    #[arg(long, help_heading = CHANGES, value_name = "SHARE", value_parser = parse_share)]
    pub margin: Option<f64>,
    /// The CPU that pinned work runs on.
    #[arg(long, help_heading = WHERE, value_name = "NUMBER")]
    pub cpu: Option<usize>,
    /// The seed of all randomness.
    #[arg(long, help_heading = WHERE, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Record every trial of the anchors in this run file.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub run_file: Option<PathBuf>,
    /// Exit with status 1 if the host moved and the command itself succeeded.
    #[arg(long, help_heading = OUTPUT)]
    pub fail_if_moved: bool,
    /// The form of the report.
    #[arg(long, help_heading = OUTPUT, value_parser = without_picture(), default_value = "text")]
    pub format: Form,
    /// Write the report to this file, and only its first sentence to standard error. Without it the whole report goes to
    /// standard error, whatever its form: standard output belongs to the command. With `--report` it goes to standard output.
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite a file that is no earlier report. Measured data are never overwritten.
    #[arg(long, help_heading = OUTPUT, requires = "output")]
    pub force: bool,
    /// Measure although another fathom is measuring on this machine.
    #[arg(long, help_heading = START)]
    pub alongside: bool,
    /// Show a report that was written with `--format json` again, in another form; nothing runs.
    #[arg(long, help_heading = WHAT, value_name = "FILE", conflicts_with_all = ["command", "every", "dir", "margin", "cpu", "seed", "run_file"])]
    pub report: Option<PathBuf>,
    /// The command and its arguments, after `--`.
    #[arg(last = true, required_unless_present = "report", value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
