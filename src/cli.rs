//! Every command and flag, with its help.

use crate::experiment::Effort;
use crate::export::Format;
use crate::machine::RemoteAddress;
use crate::record::Label;
use crate::report::{FactsForm, Form, ProgressForm};
use crate::run::Variation;
use crate::sampling::ClockKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Measures what this machine and its operating system cost: predicts each figure first, proves what was measured, and
/// writes a report.
#[derive(Debug, Parser)]
#[command(name = "fathom", version, long_version = BUILD_FACTS, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit status: 0 done, 1 regression found, 2 usage or could not run, 3 inconclusive or interrupted, 4 some experiments \
                        failed."
)]
pub struct Cli {
    /// When to colour: the flag wins over `NO_COLOR`, and that over looking at the terminal.
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What `--version` tells: the version, the compiler with its flags, and the commit where it is known. `-V` tells the version
/// alone.
const BUILD_FACTS: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncompiler: ",
    env!("FATHOM_COMPILER"),
    ", ",
    env!("FATHOM_COMPILER_FLAGS"),
    "\ncommit: ",
    env!("FATHOM_COMMIT"),
    "\nlicence: ",
    env!("CARGO_PKG_LICENSE")
);

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// Where a person looks at a terminal.
    Auto,
    /// Also into pipes and files.
    Always,
    /// Nowhere.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure: everything, or the experiments named.
    #[command(
        after_help = "Exit status: 0 done, 2 usage or could not run, 3 interrupted (what was found until then is valid), 4 some \
                      points failed. Whether the machine is as fast as it should be is told by `fathom gate`."
    )]
    Run(Box<Run>),
    /// List the experiments with their questions.
    List,
    /// Explain an experiment: its method, its points on this machine, what it needs and what to beware of.
    Explain {
        /// Name or glob, such as `cpu/system_call`, `system_call` or `cpu/*`.
        #[arg(required = true)]
        experiment: Vec<String>,
    },
    /// Describe this machine, with where each fact was read.
    Machine {
        /// Text for people, or JSON.
        #[arg(long, value_enum, default_value_t = FactsForm::Text)]
        format: FactsForm,
        /// The folder whose storage is described.
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        dir: PathBuf,
    },
    /// Show a run again; without a file the latest one.
    Report(Report),
    /// Set runs against each other: what differs between their machines, what got better, what worse, and how sure that is.
    Compare(Compare),
    /// Measure two settings of this machine in turns, in one run, and compare them: the way to see a difference of one per
    /// cent. Whatever is set is set back, also after a kill.
    Ab(Box<Ab>),
    /// Measure what a baseline measured, and tell by the exit status whether anything got worse: what looks so is measured
    /// again before it is called a regression.
    Gate(Box<Gate>),
    /// Write a run in the format of another tool, with units; without a file the latest one.
    Export(Export),
    /// List the stored runs; or show points over them, and where their level has changed.
    History(History),
    /// List the machines that figures are published of; of a machine, its figures with what is doubted.
    References {
        /// Id, part of it, number of a report, or `lmbench`; or the id of a figure, such as `s000-0027`.
        machine: Option<String>,
        /// Text for people, or JSON.
        #[arg(long, value_enum, default_value_t = FactsForm::Text)]
        format: FactsForm,
    },
    /// Run a published report's own methods, and print its summary table beside what Fathom finds.
    Replicate(Box<Replicate>),
    /// Put this instrument on trial: set truths on this machine, measure them as everything else is, and compare.
    #[command(
        after_help = "Exit status: 0 every truth was found, 1 one was not, 2 usage or could not run, 3 inconclusive."
    )]
    Verify(Verify),
    /// Be the other half of a run on another host: serve it, and end with it.
    Peer(Peer),
    /// Print the JSON Schema of run files.
    Schema,
    /// Print shell completions.
    #[command(hide = true)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    #[command(hide = true)]
    Man,
    /// Set back what was set, as the process that `ab` starts for it.
    #[command(hide = true)]
    Restore,
    /// Start other tools, as the process that `verify --peers` starts for it.
    #[command(hide = true)]
    Keep,
    /// Do one trial, as the process that `run` starts for it.
    #[command(hide = true)]
    Trial,
    /// Measure one method of a published report, as the process that `replicate` starts for it.
    #[command(hide = true)]
    Replica,
}

/// What and how to measure.
#[derive(Debug, Args)]
pub struct Run {
    /// Names or globs of experiments, such as `cpu`, `cpu/system_call` or `*_switch`; all of them without any.
    pub experiments: Vec<String>,
    /// Points of several experiments under one name, instead of experiments: `fleet`, which tells slow hosts in a minute, without
    /// root and in 256 MiB (see docs/fleet.md). It leaves no page; `fathom report` makes one.
    #[arg(long, value_name = "SET", conflicts_with_all = ["experiments", "resume"])]
    pub set: Option<String>,
    /// What the run is called by, kept in its file and in exports: `--label rack=7 --label image=2026-11`. A run of a set for
    /// fleets has the label `host`, which is the machine's own name unless another is given.
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "resume")]
    pub label: Vec<Label>,
    /// How much is measured.
    #[command(flatten)]
    pub extent: Extent,
    /// The time the run may take, such as `90s` or `6m`.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub budget: Option<Duration>,
    /// The target half-width of the intervals, such as `2%` or `0.02`.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub precision: Option<f64>,
    /// The seed of all randomness, to repeat a run's order and layout.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// The CPU that pinned work runs on.
    #[arg(long, value_name = "NUMBER")]
    pub cpu: Option<usize>,
    /// The clock to measure with; without it the best that qualifies.
    #[arg(long, value_enum, value_name = "CLOCK")]
    pub clock: Option<ClockKind>,
    /// How long each trial observes, such as `20ms`.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub trial: Option<Duration>,
    /// The folder in which experiments may make files; without it the folder for temporary files.
    #[arg(long, value_name = "FOLDER", value_parser = parse_folder)]
    pub dir: Option<PathBuf>,
    /// Numbers of processes for experiments in which processes compete, such as `1,8,32`; without it the usual ones.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=256))]
    pub processes: Vec<u64>,
    /// A file or folder to read over a network: `sftp://[user@]host[:port]/path`, `nfs://host/export/path`,
    /// `smb://[user@]host/share/path`, or a path on a network mount. A folder (ending in `/`) gets a file for the run.
    /// The password of smb comes from the environment variable `FATHOM_REMOTE_PASSWORD`; ssh uses keys and agent.
    #[arg(long, value_name = "URL")]
    pub remote: Option<RemoteAddress>,
    /// The run file; the report stands beside it. Without it, one is made in the data folder. The name may be a pattern with
    /// `{host}`, `{time}` and `{set}`.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What is told on standard error while it measures.
    #[arg(long, value_enum, value_name = "FORM", default_value_t = ProgressForm::Auto)]
    pub progress: ProgressForm,
    /// Keep the run as a baseline of this name, for `fathom gate`; runs under one name show together how much the machine varies.
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub save_baseline: Option<String>,
    /// Go on with a run that was interrupted, or add rounds to a complete one. Its peer and what it reads over a network
    /// must be named again.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["experiments", "quick", "thorough", "output", "seed", "cpu", "clock", "processes"])]
    pub resume: Option<PathBuf>,
    /// Print the plan, and what is expected of it where an earlier run of this machine is stored, without measuring.
    #[arg(long, conflicts_with_all = ["resume", "output"])]
    pub dry_run: bool,
    /// The second host for remote experiments.
    #[command(flatten)]
    pub peer: PeerOptions,
    /// Measure although another fathom is measuring on this machine.
    #[arg(long)]
    pub alongside: bool,
    /// What to print at the end.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub format: Form,
}

/// How much is measured: between these two what is usual.
#[derive(Debug, Args)]
pub struct Extent {
    /// A complete table soon: fewer points, wider intervals.
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// As precise as a quarter of an hour a chapter allows.
    #[arg(long)]
    pub thorough: bool,
}

impl Extent {
    /// Quick, standard or thorough.
    pub fn effort(&self) -> Effort {
        match (self.quick, self.thorough) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Thorough,
            _ => Effort::Standard,
        }
    }
}

/// A second host, and how it is reached.
#[derive(Debug, Args)]
pub struct PeerOptions {
    /// A second host for remote experiments: one that `ssh` knows, `namespace` for a virtual one on this machine, or the
    /// address and port of a peer that was started by hand.
    #[arg(long, value_name = "HOST")]
    pub peer: Option<String>,
    /// The second host's address for direct connections, where it is not the one that `ssh` goes to.
    #[arg(long, value_name = "ADDRESS", requires = "peer")]
    pub peer_address: Option<IpAddr>,
    /// A file with the token of a peer that was started by hand.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

/// Which report to replicate, and where.
#[derive(Debug, Args)]
pub struct Replicate {
    /// The report's number, `000` to `004`, or a part of the name of its machine; without it, the reports are listed.
    pub report: Option<String>,
    /// With smaller counts: a table in about a minute.
    #[arg(long)]
    pub quick: bool,
    /// The time that Fathom's own points may take, such as `30s`; without it two seconds each, or half a second with
    /// `--quick`. What the report's methods take comes on top.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub budget: Option<Duration>,
    /// The seed of all randomness.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// The CPU that pinned work runs on.
    #[arg(long, value_name = "NUMBER")]
    pub cpu: Option<usize>,
    /// The folder in which files may be made; without it the folder for temporary files.
    #[arg(long, value_name = "FOLDER", value_parser = parse_folder)]
    pub dir: Option<PathBuf>,
    /// The file of the replication; Fathom's own run stands beside it. Without it, one is made in the data folder.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What to read over a network, as for `fathom run`.
    #[arg(long, value_name = "URL")]
    pub remote: Option<RemoteAddress>,
    /// The second host for the rows that need one.
    #[command(flatten)]
    pub peer: PeerOptions,
    /// Measure although another fathom is measuring on this machine.
    #[arg(long)]
    pub alongside: bool,
    /// What to print at the end.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub format: Form,
}

/// Which truths to set, and how to measure them.
#[derive(Debug, Args)]
pub struct Verify {
    /// Names of rigs, such as `spin`; all of them without any. Only then are later runs told how it ended.
    pub rigs: Vec<String>,
    /// Instead of setting truths, ask other tools that measure what Fathom measures, in turns with it: perf bench, fio, iperf3,
    /// sockperf, qperf, sysbench, stress-ng, mbw and hackbench, those that are installed.
    #[arg(long, conflicts_with = "rigs")]
    pub peers: bool,
    /// Measure so many times as long as usual, for narrower intervals.
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0, value_parser = parse_times)]
    pub times_as_long: f64,
    /// The seed of all randomness.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// The CPU that pinned work runs on.
    #[arg(long, value_name = "NUMBER")]
    pub cpu: Option<usize>,
    /// The folder in which files may be made; without it the folder for temporary files.
    #[arg(long, value_name = "FOLDER", value_parser = parse_folder)]
    pub dir: Option<PathBuf>,
    /// Measure although another fathom is measuring on this machine.
    #[arg(long)]
    pub alongside: bool,
    /// What to print at the end.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub format: Form,
}

/// How to be the other half of a run.
#[derive(Debug, Args)]
pub struct Peer {
    /// The address to listen at, `0.0.0.0` for all, with a port or at one that the system chooses.
    #[arg(long, value_name = "ADDRESS[:PORT]", required = true, value_parser = parse_listen)]
    pub listen: Vec<SocketAddr>,
    /// A file with the token that the run must show; without it one is drawn and printed.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// End when nobody was heard of for so long.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub idle: Option<Duration>,
    /// Live so long at most.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub most_time: Option<Duration>,
    /// Move so many bytes at most.
    #[arg(long, value_name = "BYTES")]
    pub most_bytes: Option<u64>,
    /// Take so many control connections at a time at most.
    #[arg(long, value_name = "NUMBER")]
    pub most_connections: Option<usize>,
    /// Take the token from standard input and end with it, as `fathom run --peer` wants it.
    #[arg(long, hide = true, conflicts_with = "token_file")]
    pub launched: bool,
    /// Remove this copy of the program before serving.
    #[arg(long, hide = true, requires = "launched")]
    pub remove_itself: bool,
    /// Serve inside a new network namespace that is tied to the one of this process.
    #[arg(long, hide = true, requires = "launched", value_name = "PROCESS")]
    pub namespace_of: Option<u32>,
}

/// What to show of a run, and how.
#[derive(Debug, Args)]
pub struct Report {
    /// A run file, and names or globs of experiments; without a file the latest run of the data folder, without names all of it. What is
    /// named is told in its tables.
    #[arg(value_name = "RUN|EXPERIMENT")]
    pub what: Vec<PathBuf>,
    /// In which form.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub format: Form,
    /// As text, every figure in tables instead of one screen.
    #[arg(long)]
    pub full: bool,
    /// Set the figures of a published machine beside the run's: its id, a part of it, the number of a report, `lmbench`, or
    /// `all`. May be given several times; `fathom references` lists them.
    #[arg(long, value_name = "MACHINE")]
    pub beside: Vec<String>,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What to write in which format.
#[derive(Debug, Args)]
pub struct Export {
    /// The run file; without it the latest in the data folder. With `--points` any number of files, and folders of them.
    pub runs: Vec<PathBuf>,
    /// The format.
    #[arg(long, value_enum, required_unless_present = "points")]
    pub format: Option<Format>,
    /// A line of JSON for each run file, with its machine and every point's level: what a data set of many runs is made of. A file
    /// that cannot be read has a line that says so.
    #[arg(long, conflicts_with = "format")]
    pub points: bool,
    /// With the median of every trial.
    #[arg(long, requires = "points")]
    pub trials: bool,
    /// Read names of run files from this file, a line each; `-` is standard input.
    #[arg(long, value_name = "FILE", requires = "points", conflicts_with = "runs")]
    pub files_from: Option<PathBuf>,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Which points to show over the stored runs.
#[derive(Debug, Args)]
pub struct History {
    /// Names or globs of experiments; without any the runs are listed.
    pub experiments: Vec<String>,
    /// Only points with this setting, such as `call=getppid`. May be given several times.
    #[arg(long, value_name = "NAME=VALUE", requires = "experiments")]
    pub point: Vec<String>,
    /// Only points whose level has changed.
    #[arg(long, requires = "experiments")]
    pub changed: bool,
    /// The largest change that does not matter, such as `5%`; without it 5 %, and more where a figure moves by nature.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub margin: Option<f64>,
    /// The folder of run files; without it the data folder.
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Text for people, or JSON.
    #[arg(long, value_enum, default_value_t = FactsForm::Text)]
    pub format: FactsForm,
}

/// What must not get worse, and how it is told.
#[derive(Debug, Args)]
pub struct Gate {
    /// The baseline: a run file, several joined by commas, a folder, or a name given to `fathom run --save-baseline`.
    #[arg(long, value_name = "RUN|NAME")]
    pub baseline: String,
    /// Judge this run, or these, instead of measuring; suspects cannot be confirmed then.
    #[arg(long, value_name = "RUN[,RUN…]")]
    pub candidate: Option<String>,
    /// How often suspects are measured again; a regression is what all of these together confirm.
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub confirmations: u32,
    /// The largest difference that does not matter, such as `5%`; without it 5 %, and more where a figure moves by nature.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub margin: Option<f64>,
    /// A TOML file with margins: `margin = 0.05`, and below `[experiments]` lines such as `"memory/*" = 0.1`.
    #[arg(long, value_name = "FILE", conflicts_with = "margin")]
    pub margins: Option<PathBuf>,
    /// What differs and is meant to, by the names that the report gives.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub accept: Vec<String>,
    /// The time that measuring may take, without what confirms suspects; without it that of the baseline.
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "candidate")]
    pub budget: Option<Duration>,
    /// The folder in which experiments may make files.
    #[arg(long, value_name = "FOLDER", conflicts_with = "candidate")]
    pub dir: Option<PathBuf>,
    /// Where the run file goes; without it, one is made in the data folder. Confirmations stand beside it.
    #[arg(long, short, value_name = "FILE", conflicts_with = "candidate")]
    pub output: Option<PathBuf>,
    /// Lines that a continuous-integration system shows beside a change; without it, those of the system that this runs in.
    #[arg(long, value_enum, value_name = "SYSTEM")]
    pub annotations: Option<Annotations>,
    /// Append the verdict as Markdown to this file, such as `$GITHUB_STEP_SUMMARY`.
    #[arg(long, value_name = "FILE")]
    pub summary: Option<PathBuf>,
    /// Measure although another fathom is measuring on this machine.
    #[arg(long)]
    pub alongside: bool,
    /// What to print at the end.
    #[arg(long, value_enum, default_value_t = Form::Text)]
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

/// Which two settings to measure in turns, and how.
#[derive(Debug, Args)]
pub struct Ab {
    /// Names or globs of experiments; all of them without any.
    pub experiments: Vec<String>,
    /// What is set in the first half; without it, everything is left as it is. May be given several times:
    /// `sysctl:NAME=VALUE`, `file:PATH=VALUE` (below /proc and /sys), `governor:NAME`, `env:NAME=VALUE`,
    /// `prefix:COMMAND` (starts the measuring processes, such as `numactl --membind=1`), `dir:FOLDER`, `cpu:NUMBER`.
    #[arg(long, value_name = "SETTING")]
    pub a: Vec<Variation>,
    /// What is set in the second half.
    #[arg(long, value_name = "SETTING", required = true)]
    pub b: Vec<Variation>,
    /// How much is measured.
    #[command(flatten)]
    pub extent: Extent,
    /// The time that both halves may take together, such as `90s`; without it twice that of a run.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub budget: Option<Duration>,
    /// The target half-width of the intervals of each half, such as `2%`; without it half the margin.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub precision: Option<f64>,
    /// The seed of all randomness.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// The largest difference that does not matter; without it 1 %.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub margin: Option<f64>,
    /// The folder in which experiments may make files, where no setting names one.
    #[arg(long, value_name = "FOLDER", value_parser = parse_folder)]
    pub dir: Option<PathBuf>,
    /// Where the run files go, without an ending: FILE.a.jsonl and FILE.b.jsonl. Without it, they are made in the data folder.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Measure although another fathom is measuring on this machine.
    #[arg(long)]
    pub alongside: bool,
    /// What to print at the end.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub format: Form,
    /// As text, every row.
    #[arg(long)]
    pub full: bool,
}

/// What to compare, and how.
#[derive(Debug, Args)]
pub struct Compare {
    /// Run files: the first is what the others are compared with. Several of one machine under the same settings, joined by
    /// commas, are one side and show how much it varies from run to run; so is a folder with all run files in it. The first may
    /// be a published machine instead, as `fathom references` lists them.
    #[arg(required = true, num_args = 2.., value_name = "RUN[,RUN…]")]
    pub sides: Vec<String>,
    /// The largest difference that does not matter, such as `5%`; without it 5 %, and more where a figure moves by nature.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub margin: Option<f64>,
    /// A TOML file with margins: `margin = 0.05`, and below `[experiments]` lines such as `"memory/*" = 0.1`.
    #[arg(long, value_name = "FILE", conflicts_with = "margin")]
    pub margins: Option<PathBuf>,
    /// What differs and is meant to, by the names that the report gives, such as `processor,mitigations`; `build` and
    /// `method` compare what is else refused.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub accept: Vec<String>,
    /// In which form.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub format: Form,
    /// As text, every row.
    #[arg(long)]
    pub full: bool,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// An address with or without a port.
fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let alone = || text.parse().map(|ip: IpAddr| SocketAddr::new(ip, 0));
    text.parse().or_else(|_| alone()).map_err(|_| {
        "an address of this host is wanted, such as 192.0.2.7, 192.0.2.7:4000 or [2001:db8::7]:4000"
            .to_owned()
    })
}

/// A name that is no path.
fn parse_name(text: &str) -> Result<String, String> {
    let usable = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    if !text.is_empty() && !text.starts_with('.') && text.chars().all(usable) {
        Ok(text.to_owned())
    } else {
        Err("a name of letters, digits, `-`, `_` and `.` is wanted".to_owned())
    }
}

/// A folder that is there.
fn parse_folder(text: &str) -> Result<PathBuf, String> {
    let folder = PathBuf::from(text);
    if folder.is_dir() { Ok(folder) } else { Err("there is no such folder; make it first".to_owned()) }
}

/// A time above zero.
fn parse_time(text: &str) -> Result<Duration, String> {
    let wanted = || "a time above zero is wanted, such as 90s, 5m or 1h30m".to_owned();
    humantime::parse_duration(text).ok().filter(|time| !time.is_zero()).ok_or_else(wanted)
}

fn parse_times(text: &str) -> Result<f64, String> {
    let times = text.parse::<f64>().map_err(|error| error.to_string())?;
    if (0.1..=1000.0).contains(&times) {
        Ok(times)
    } else {
        Err("a number between 0.1 and 1000 is wanted".to_owned())
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let share = number.trim().parse::<f64>().map_err(|error| error.to_string())? * scale;
    if share > 0.0 && share < 1.0 {
        Ok(share)
    } else {
        Err("a share between 0 and 1, or a percentage, is wanted".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn shares_are_read_as_numbers_and_as_percentages() {
        assert_eq!(parse_share("2%"), Ok(0.02));
        assert_eq!(parse_share("0.05"), Ok(0.05));
        assert!(parse_share("0").is_err() && parse_share("120%").is_err() && parse_share("x").is_err());
    }
}
