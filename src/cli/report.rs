//! `fathom report` and `fathom export`: the content and form of a report.

use super::heading::{OUTPUT, WHAT};
use clap::Args;
use fathom_report::Form;
use fathom_report::export::Format;
use std::path::PathBuf;

/// What to show of a run, and how.
#[derive(Debug, Args)]
pub struct Report {
    /// A run file, and names or globs of experiments. Without a file, the latest run of the data folder; without names, all
    /// of it. Named experiments are shown as what was found, then their main figures, then tables. Several run files are
    /// shown beside each other, as `fathom compare` does.
    #[arg(value_name = "RUN|EXPERIMENT")]
    pub what: Vec<PathBuf>,
    /// The form of the report.
    #[arg(long, help_heading = OUTPUT, value_enum, default_value_t = Form::Text)]
    pub format: Form,
    /// As text, every figure in tables instead of one screen.
    #[arg(long, help_heading = OUTPUT)]
    pub full: bool,
    /// Show the figures of a published machine beside the run's: its id, a part of it, the number of a report, `lmbench`, or
    /// `all`. May be given several times; `fathom references` lists the machines.
    #[arg(long, help_heading = WHAT, value_name = "MACHINE")]
    pub beside: Vec<String>,
    /// Show predictions that this program makes now, from the machine and the figures of the finished run, in place of those that
    /// were made before it measured: how today's predictors do on a machine that was measured earlier.
    #[arg(long, help_heading = WHAT)]
    pub predict_again: bool,
    /// Write to this file instead of standard output. An earlier report of the same kind gives way.
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite a file that is no earlier report. Measured data are never overwritten.
    #[arg(long, help_heading = OUTPUT, requires = "output")]
    pub force: bool,
}

/// What to write in which format.
#[derive(Debug, Args)]
pub struct Export {
    /// The run file; by default the latest in the data folder. With `--points`, any number of files, and folders of them.
    pub runs: Vec<PathBuf>,
    /// The format.
    #[arg(long, help_heading = OUTPUT, value_enum, required_unless_present = "points")]
    pub format: Option<Format>,
    /// One line of JSON per run file, with its machine and the median of every point: the input of a data set of many runs.
    /// A file that cannot be read gets a line that says so.
    #[arg(long, help_heading = WHAT, conflicts_with = "format")]
    pub points: bool,
    /// Include the median of every trial.
    #[arg(long, help_heading = WHAT, requires = "points")]
    pub trials: bool,
    /// Read names of run files from this file, one per line; `-` is standard input.
    #[arg(long, help_heading = WHAT, value_name = "FILE", requires = "points", conflicts_with = "runs")]
    pub files_from: Option<PathBuf>,
    /// Write to this file instead of standard output. An earlier report of the same kind gives way.
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite a file that is no earlier report. Measured data are never overwritten.
    #[arg(long, help_heading = OUTPUT, requires = "output")]
    pub force: bool,
}

/// What to publish of a run.
#[derive(Debug, Args)]
pub struct Publish {
    /// The run file; by default the latest in the data folder.
    pub run: Option<PathBuf>,
    /// Write to this file instead of standard output; of a folder, to a file in it that is named after the machine. An earlier file of
    /// the same machine gives way.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Publish a run whose trust is low; the file says so.
    #[arg(long)]
    pub anyway: bool,
    /// Overwrite a file that is no earlier one. Measured data are never overwritten.
    #[arg(long, requires = "output")]
    pub force: bool,
}
