//! `fathom run` and `fathom ab`: the flags for measuring.

use super::heading::{CHANGES, LENGTH, OUTPUT, SECOND_HOST, START, WHAT, WHERE};
use super::peer::PeerOptions;
use super::value::{
    parse_folder, parse_name, parse_processes, parse_share, parse_size, parse_time, parse_trials,
    without_picture,
};
use clap::{Args, ValueEnum};
use fathom_core::experiment::Effort;
use fathom_core::machine::{RatedDisk, RemoteAddress};
use fathom_core::sampling::ClockKind;
use fathom_engine::record::Label;
use fathom_engine::run::Variation;
use fathom_report::{Form, ProgressForm};
use std::path::PathBuf;
use std::time::Duration;

/// What and how to measure.
#[derive(Debug, Args)]
pub struct Run {
    /// Names or globs of experiments, such as `cpu`, `cpu/system_call` or `*_switch`; without names, all of them. `fathom list` shows them.
    pub experiments: Vec<String>,
    /// How much is measured.
    #[command(flatten)]
    pub extent: Extent,
    /// The time the run may take, such as `30s` or `20m`. By default a minute and a half with `--quick`, else six minutes; of named experiments only their share.
    #[arg(long, help_heading = LENGTH, value_name = "TIME", value_parser = parse_time)]
    pub budget: Option<Duration>,
    /// How well each value is to be known, such as `2%`: no end of its interval further from it than that.
    #[arg(long, help_heading = LENGTH, value_name = "SHARE", value_parser = parse_share)]
    pub precision: Option<f64>,
    /// How long each trial observes, such as `20ms`.
    #[arg(long, help_heading = LENGTH, value_name = "TIME", value_parser = parse_time)]
    pub trial: Option<Duration>,
    /// The number of trials of each point, each in a process of its own: none gets more, and a point for which that number does
    /// not fit into the budget is left out. By default 6 to 8, and more where they narrow an interval. How many iterations a trial
    /// times follows from `--trial` and from the operation.
    #[arg(long, help_heading = LENGTH, value_name = "NUMBER", value_parser = parse_trials)]
    pub trials: Option<u32>,
    /// A named set of points from several experiments, instead of experiments: `fleet` finds slow hosts in a minute, without
    /// root and in 256 MiB (see docs/fleet.md). A set makes no page; `fathom report` does.
    #[arg(long, help_heading = WHAT, value_name = "SET", conflicts_with_all = ["experiments", "resume"])]
    pub set: Option<String>,
    /// Numbers of processes for experiments in which processes compete, such as `1,8,32`.
    #[arg(long, help_heading = WHAT, value_name = "NUMBERS", value_delimiter = ',', value_parser = parse_processes)]
    pub processes: Vec<u64>,
    /// Amounts of data instead of those of the experiments, such as `64KiB,1MiB`: the array whose loads are timed
    /// (`memory/load_latency`), the file that is read (`filesystem/read`, of each process in `filesystem/contention`) or copied
    /// (`filesystem/copy`). In whole pages of 4 KiB.
    #[arg(long, help_heading = WHAT, value_name = "SIZES", value_delimiter = ',', value_parser = parse_size, conflicts_with = "set")]
    pub sizes: Vec<u64>,
    /// Also measure what takes all memory of the machine: the page cache filled to its end (`filesystem/cache_size`), and files
    /// of more than 1 GiB kept in it. Files that other programs have in the page cache are dropped from it, and with swap
    /// space their memory may be moved there. Without this flag no experiment fills the page
    /// cache beyond a limit of 1 GiB, but in memory that nothing uses.
    #[arg(long, help_heading = WHAT, conflicts_with = "set")]
    pub whole_memory: bool,
    /// The run file; the report is written beside it. By default it is made in the data folder. The name may contain
    /// `{host}`, `{time}` and `{set}`.
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// A label for the run, kept in its file and in exports: `--label rack=7 --label image=2026-11`. A run of a set also has
    /// the label `host`, by default the machine's name.
    #[arg(long, help_heading = OUTPUT, value_name = "KEY=VALUE", conflicts_with = "resume")]
    pub label: Vec<Label>,
    /// Save the run as a baseline of this name, for `fathom gate`; several runs under one name show how much the machine
    /// varies.
    #[arg(long, help_heading = OUTPUT, value_name = "NAME", value_parser = parse_name)]
    pub save_baseline: Option<String>,
    /// What to print at the end.
    #[arg(long, help_heading = OUTPUT, value_enum, default_value_t = Form::Text)]
    pub format: Form,
    /// The form of progress messages on standard error.
    #[arg(long, help_heading = OUTPUT, value_enum, value_name = "FORM", default_value_t = ProgressForm::Auto)]
    pub progress: ProgressForm,
    /// Print the plan without measuring, and what the run would do to the machine as a whole, with a forecast if an earlier run of this machine is stored.
    #[arg(long, help_heading = START, conflicts_with_all = ["resume", "output"])]
    pub dry_run: bool,
    /// Wait before measuring, at most this time, until the machine is idle: its CPU time and its load are looked at.
    #[arg(long, help_heading = START, value_name = "TIME", value_parser = parse_time, conflicts_with = "dry_run")]
    pub wait: Option<Duration>,
    /// Continue a run that was interrupted, or add rounds to a complete one. A peer, a file over a network, and a folder
    /// that is not the one for temporary files, must be named again.
    #[arg(long, help_heading = START, value_name = "FILE", conflicts_with_all = ["experiments", "quick", "thorough", "output", "seed", "cpu", "clock", "processes", "sizes", "trials"])]
    pub resume: Option<PathBuf>,
    /// Measure although another fathom is measuring on this machine.
    #[arg(long, help_heading = START)]
    pub alongside: bool,
    /// The priority of the measuring processes, as nice(1) counts: -20, before all other programs, to 19. Below the run's own, so
    /// usually below 0, it takes root. By default it is that of the run. Everything measured has the same priority, also processes
    /// that compete. Real-time policies are not offered: a measured loop would keep even the kernel's own threads waiting.
    #[arg(long, help_heading = WHERE, value_name = "NUMBER", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19))]
    pub priority: Option<i32>,
    /// The folder in which experiments may make files; by default the folder for temporary files.
    #[arg(long, help_heading = WHERE, value_name = "FOLDER", value_parser = parse_folder)]
    pub dir: Option<PathBuf>,
    /// The CPU that pinned work runs on.
    #[arg(long, help_heading = WHERE, value_name = "NUMBER")]
    pub cpu: Option<usize>,
    /// The clock to measure with; by default the best that qualifies.
    #[arg(long, help_heading = WHERE, value_enum, value_name = "CLOCK")]
    pub clock: Option<Clock>,
    /// The seed of all randomness, to repeat a run's order and layout.
    #[arg(long, help_heading = WHERE, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Figures of the data sheet of the disk below the measured folder, from which its operations are predicted and beside which the
    /// report shows them: any of `seek=8.5ms,transfer=150MB/s,write=140MB/s,reads=380k,writes=330k,buffer=64MB`, where `reads` and `writes`
    /// are those at random places in a second with many in flight.
    #[arg(long, help_heading = WHERE, value_name = "FIGURES", conflicts_with = "resume")]
    pub disk_rated: Option<RatedDisk>,
    /// A file or folder to read over a network: `sftp://[user@]host[:port]/path`, `nfs://host/export/path`,
    /// `smb://[user@]host/share/path`, or a path on a network mount. A folder (ending in `/`) gets a file for the run.
    /// The password of smb comes from the environment variable `FATHOM_REMOTE_PASSWORD`; ssh uses keys and agent.
    #[arg(long, help_heading = SECOND_HOST, value_name = "URL")]
    pub remote: Option<RemoteAddress>,
    /// The second host for remote experiments.
    #[command(flatten)]
    pub peer: PeerOptions,
}

/// How much is measured.
#[derive(Debug, Args)]
pub struct Extent {
    /// A minute and a half for everything, instead of six minutes: fewer points, wider intervals.
    #[arg(long, help_heading = LENGTH, conflicts_with = "thorough")]
    pub quick: bool,
    /// A quarter of an hour per chapter, an hour for everything: more points, narrower intervals.
    #[arg(long, help_heading = LENGTH)]
    pub thorough: bool,
}

impl Extent {
    /// Quick, standard or thorough.
    pub fn effort(&self) -> Effort {
        Effort::of(self.quick, self.thorough)
    }
}

/// Which two settings to measure in turns, and how.
#[derive(Debug, Args)]
pub struct Ab {
    /// Names or globs of experiments; without names, all of them.
    pub experiments: Vec<String>,
    /// A setting of the first half; by default nothing is changed. May be given several times: `sysctl:NAME=VALUE`,
    /// `file:PATH=VALUE` (below /proc and /sys), `governor:NAME`, `env:NAME=VALUE`, `prefix:COMMAND` (starts the measuring
    /// processes, such as `numactl --membind=1`), `dir:FOLDER`, `cpu:NUMBER`.
    #[arg(long, help_heading = WHAT, value_name = "SETTING")]
    pub a: Vec<Variation>,
    /// A setting of the second half.
    #[arg(long, help_heading = WHAT, value_name = "SETTING", required = true)]
    pub b: Vec<Variation>,
    /// How much is measured.
    #[command(flatten)]
    pub extent: Extent,
    /// The time that both halves may take together, such as `90s`; by default twice that of a run.
    #[arg(long, help_heading = LENGTH, value_name = "TIME", value_parser = parse_time)]
    pub budget: Option<Duration>,
    /// How well each value of either half is to be known, such as `2%`; by default half the margin.
    #[arg(long, help_heading = LENGTH, value_name = "SHARE", value_parser = parse_share)]
    pub precision: Option<f64>,
    /// The seed of all randomness.
    #[arg(long, help_heading = WHERE, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// The largest difference that does not matter; by default 1 %.
    #[arg(long, help_heading = CHANGES, value_name = "SHARE", value_parser = parse_share)]
    pub margin: Option<f64>,
    /// The folder in which experiments may make files, if no setting names one.
    #[arg(long, help_heading = WHERE, value_name = "FOLDER", value_parser = parse_folder)]
    pub dir: Option<PathBuf>,
    /// The run files, without their endings: FILE.a.jsonl and FILE.b.jsonl. By default they are made in the data folder.
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Measure although another fathom is measuring on this machine.
    #[arg(long, help_heading = START)]
    pub alongside: bool,
    /// What to print at the end.
    #[arg(long, help_heading = OUTPUT, value_parser = without_picture(), default_value = "text")]
    pub format: Form,
    /// As text, every row.
    #[arg(long, help_heading = OUTPUT)]
    pub full: bool,
}

/// The clocks that may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Clock {
    /// The processor's constant-rate counter, read by an instruction.
    Counter,
    /// `clock_gettime(CLOCK_MONOTONIC_RAW)`.
    MonotonicRaw,
}

impl From<Clock> for ClockKind {
    fn from(clock: Clock) -> Self {
        match clock {
            Clock::Counter => ClockKind::Counter,
            Clock::MonotonicRaw => ClockKind::MonotonicRaw,
        }
    }
}
