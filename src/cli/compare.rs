//! `fathom compare`, `gate` and `history`: comparisons of runs.

use super::heading::{CHANGES, LENGTH, OUTPUT, START, WHAT, WHERE};
use super::value::{parse_folder, parse_share, parse_time, without_picture};
use clap::{Args, ValueEnum};
use fathom_report::{FactsForm, Form};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct Compare {
    /// Run files; the others are compared with the first. Several runs of one machine under the same settings, joined by
    /// commas, or a folder of them, are one side and show how much it varies from run to run. The first may be a published
    /// machine, as listed by `fathom references`.
    #[arg(required = true, num_args = 1.., value_name = "RUN[,RUN…]")]
    pub sides: Vec<String>,
    /// Which differences do not matter.
    #[command(flatten)]
    pub margins: MarginOptions,
    /// Intended differences, by the names in the report, such as `processor,mitigations`; `build` and `method` allow
    /// comparisons that are otherwise refused.
    #[arg(long, help_heading = CHANGES, value_name = "NAMES", value_delimiter = ',')]
    pub accept: Vec<String>,
    /// The form of the report.
    #[arg(long, help_heading = OUTPUT, value_parser = without_picture(), default_value = "text")]
    pub format: Form,
    /// As text, every row.
    #[arg(long, help_heading = OUTPUT)]
    pub full: bool,
    /// Write to this file instead of standard output. An earlier report of the same kind gives way.
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite a file that is no earlier report. Measured data are never overwritten.
    #[arg(long, help_heading = OUTPUT, requires = "output")]
    pub force: bool,
}

/// Which differences do not matter.
#[derive(Debug, Args)]
pub struct MarginOptions {
    /// The largest difference that does not matter, such as `5%`; by default 5 %, and more for figures that naturally vary
    /// more.
    #[arg(long, help_heading = CHANGES, value_name = "SHARE", value_parser = parse_share)]
    pub margin: Option<f64>,
    /// A TOML file with margins: `margin = 0.05`, and below `[experiments]` lines such as `"memory/*" = 0.1`.
    #[arg(long, help_heading = CHANGES, value_name = "FILE", conflicts_with = "margin")]
    pub margins: Option<PathBuf>,
}

/// What must not get worse, and how it is told.
#[derive(Debug, Args)]
pub struct Gate {
    /// The baseline: a run file, several joined by commas, a folder, or a name given to `fathom run --save-baseline`.
    #[arg(long, help_heading = WHAT, value_name = "RUN|NAME")]
    pub baseline: String,
    /// Judge this run, or these, instead of measuring; suspects cannot be confirmed then.
    #[arg(long, help_heading = WHAT, value_name = "RUN[,RUN…]")]
    pub candidate: Option<String>,
    /// How often suspects are measured again; a regression must be confirmed by all of these together.
    #[arg(long, help_heading = LENGTH, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub confirmations: u32,
    /// Which differences do not matter.
    #[command(flatten)]
    pub margins: MarginOptions,
    /// Intended differences, by the names in the report.
    #[arg(long, help_heading = CHANGES, value_name = "NAMES", value_delimiter = ',')]
    pub accept: Vec<String>,
    /// The time that measuring may take, not counting confirmations; by default that of the baseline.
    #[arg(long, help_heading = LENGTH, value_name = "TIME", value_parser = parse_time, conflicts_with = "candidate")]
    pub budget: Option<Duration>,
    /// The folder in which experiments may make files; by default the folder for temporary files, whichever the baseline's was.
    #[arg(long, help_heading = WHERE, value_name = "FOLDER", conflicts_with = "candidate", value_parser = parse_folder)]
    pub dir: Option<PathBuf>,
    /// The run file; by default it is made in the data folder. Confirmations are written beside it.
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE", conflicts_with = "candidate")]
    pub output: Option<PathBuf>,
    /// Annotations for a continuous-integration system; by default those of the system that this runs in.
    #[arg(long, help_heading = OUTPUT, value_enum, value_name = "SYSTEM")]
    pub annotations: Option<Annotations>,
    /// Append the verdict as Markdown to this file, such as `$GITHUB_STEP_SUMMARY`.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub summary: Option<PathBuf>,
    /// Measure although another fathom is measuring on this machine.
    #[arg(long, help_heading = START)]
    pub alongside: bool,
    /// What to print at the end.
    #[arg(long, help_heading = OUTPUT, value_parser = without_picture(), default_value = "text")]
    pub format: Form,
}

/// Whose annotations are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Annotations {
    /// None.
    None,
    /// GitHub Actions, and what understands its workflow commands (Forgejo, Gitea).
    Github,
    /// Azure Pipelines.
    Azure,
    /// The service messages of `TeamCity`.
    Teamcity,
}

/// Which points to show over the stored runs.
#[derive(Debug, Args)]
pub struct History {
    /// Names or globs of experiments; without names, the runs are listed.
    pub experiments: Vec<String>,
    /// Only points with this setting, such as `call=getppid`. May be given several times.
    #[arg(long, help_heading = WHAT, value_name = "NAME=VALUE", requires = "experiments")]
    pub point: Vec<String>,
    /// Only points whose level has changed.
    #[arg(long, help_heading = WHAT, requires = "experiments")]
    pub changed: bool,
    /// The largest change that does not matter, such as `5%`; by default 5 %, and more for figures that naturally vary more.
    #[arg(long, help_heading = CHANGES, value_name = "SHARE", value_parser = parse_share)]
    pub margin: Option<f64>,
    /// The folder of run files; by default the data folder.
    #[arg(long, help_heading = WHAT, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Text for people, or JSON.
    #[arg(long, help_heading = OUTPUT, value_enum, default_value_t = FactsForm::Text)]
    pub format: FactsForm,
}
