//! `fathom check`: requirements.

use super::heading::{LENGTH, OUTPUT, START, WHAT, WHERE};
use super::peer::PeerOptions;
use super::value::{parse_folder, parse_time, without_picture};
use clap::Args;
use fathom_report::{Form, ProgressForm};
use std::path::PathBuf;
use std::time::Duration;

/// Which requirements, and how they are decided.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A TOML file of requirements (docs/check.md), or the name of one that Fathom brings, such as `etcd`; without it these
    /// are listed.
    pub requirements: Option<String>,
    /// List the requirements that Fathom brings.
    #[arg(long, help_heading = WHAT, conflicts_with = "requirements")]
    pub list: bool,
    /// Print the file of requirements instead of measuring, to be edited.
    #[arg(long, help_heading = WHAT, requires = "requirements", conflicts_with = "run")]
    pub print: bool,
    /// Decide from this run, without measuring.
    #[arg(long, help_heading = WHAT, value_name = "RUN", requires = "requirements", conflicts_with_all = ["budget", "seed", "cpu", "trial", "dir", "alongside", "progress"])]
    pub run: Option<PathBuf>,
    /// The time that measuring may take; by default two minutes. What is undecided then stays so.
    #[arg(long, help_heading = LENGTH, value_name = "TIME", value_parser = parse_time)]
    pub budget: Option<Duration>,
    /// The folder in which experiments may make files, on the file system that is asked about; by default the folder for
    /// temporary files.
    #[arg(long, help_heading = WHERE, value_name = "FOLDER", value_parser = parse_folder)]
    pub dir: Option<PathBuf>,
    /// The seed of all randomness.
    #[arg(long, help_heading = WHERE, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// The CPU that pinned work runs on.
    #[arg(long, help_heading = WHERE, value_name = "NUMBER")]
    pub cpu: Option<usize>,
    /// How long each trial observes, such as `20ms`.
    #[arg(long, help_heading = LENGTH, value_name = "TIME", value_parser = parse_time)]
    pub trial: Option<Duration>,
    /// The run file, which `fathom report` reads; by default it is made in the data folder.
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE", conflicts_with = "run")]
    pub output: Option<PathBuf>,
    /// The second host, for requirements on the network.
    #[command(flatten)]
    pub peer: PeerOptions,
    /// The form of progress messages on standard error.
    #[arg(long, help_heading = OUTPUT, value_enum, value_name = "FORM", default_value_t = ProgressForm::Auto)]
    pub progress: ProgressForm,
    /// Measure although another fathom is measuring on this machine.
    #[arg(long, help_heading = START)]
    pub alongside: bool,
    /// What to print at the end.
    #[arg(long, help_heading = OUTPUT, value_parser = without_picture(), default_value = "text")]
    pub format: Form,
}
