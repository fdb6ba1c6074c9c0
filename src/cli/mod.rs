//! Every command and flag, with its help: the commands here, their flags in one file per subject.

mod around;
mod check;
mod compare;
mod heading;
mod mistake;
mod peer;
mod report;
mod run;
mod value;
mod verify;

pub use around::Around;
pub use check::CheckArgs;
pub use compare::{Annotations, Compare, Gate, History, MarginOptions};
pub use mistake::parsed;
pub use peer::{Peer, PeerOptions};
pub use report::{Export, Publish, Report};
pub use run::{Ab, Run};
pub use verify::{Replicate, Verify};

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use fathom_engine::run::COMPILER;
use fathom_report::FactsForm;
use std::path::PathBuf;
use std::sync::LazyLock;

/// Measures the cost of operations on this machine and its operating system: predicts each figure, measures it, shows
/// evidence for what was measured, and writes a report.
#[derive(Debug, Parser)]
#[command(name = "fathom", version, long_version = BUILD_FACTS.as_str(), max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Examples:\n  fathom run --quick                  90 seconds: a screen, a page and a run file\n  fathom report RUN memory            \
                        one chapter of it\n  fathom compare BEFORE AFTER         what got better and what worse\n  fathom explain system_call          \
                        what is measured, and how\n\nExit status: 0 done, 1 regression found or a requirement not met, 2 usage or could not run, 3 inconclusive or interrupted, 4 some experiments \
                        failed.\n\nThe packages bring the manual page and the completions of bash, zsh and fish \
                        (docs/install.md)."
)]
pub struct Cli {
    /// When to use colour: `auto` (on a terminal), `always` (also into pipes and files), or `never`. This flag overrides `NO_COLOR`.
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN", hide_possible_values = true)]
    pub color: Colour,
    #[command(subcommand)]
    pub command: Command,
}

/// The commit of the source that this program was built from, where it is known; see `build.rs`.
pub const COMMIT: Option<&str> = option_env!("FATHOM_COMMIT");

/// What `--version` tells: the version, the compiler with its flags, and the commit where it is known. `-V` tells the version
/// alone.
static BUILD_FACTS: LazyLock<String> = LazyLock::new(|| {
    let [version, licence] = [env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_LICENSE")];
    let commit = COMMIT.unwrap_or("unknown");
    format!("{version}\ncompiler: {COMPILER}\ncommit: {commit}\nlicence: {licence}")
});

/// Every command and flag, from which the manual page and the completions of shells are made when the program is packaged.
pub fn definition() -> clap::Command {
    Cli::command()
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal.
    Auto,
    /// Also into pipes and files.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure everything, or the experiments named: in six minutes, or a minute and a half with `--quick`.
    #[command(
        after_help = "Examples:\n  fathom run --quick                  everything in 90 seconds: a screen, a page and a run file\n  \
                      fathom run                          everything in six minutes: more points\n  fathom run memory                   one \
                      chapter, in a minute and a half\n  fathom run --quick -o before.jsonl  a run to compare with a later one\n\n\
                      Exit status: 0 done, 2 usage or could not run, 3 interrupted (the results up to then are \
                      valid) or nothing fitted into the budget, 4 some points failed. `fathom gate` checks for regressions."
    )]
    Run(Box<Run>),
    /// List the experiments with their questions: all of them, or those named.
    List {
        /// Names or globs, such as `memory`, `context_switch` or `cpu/*`.
        experiments: Vec<String>,
    },
    /// Explain an experiment: its method, its points on this machine, its requirements and its pitfalls.
    Explain {
        /// Name or glob, such as `cpu/system_call`, `system_call` or `cpu/*`.
        experiment: Vec<String>,
    },
    /// Describe this machine in fifteen lines; with `--full` every fact with its source.
    Machine {
        /// Every fact with its source, and what may disturb a run with its remedy. JSON always has them.
        #[arg(long)]
        full: bool,
        /// Text for people, or JSON.
        #[arg(long, value_enum, default_value_t = FactsForm::Text)]
        format: FactsForm,
        /// The folder whose storage is described.
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        dir: PathBuf,
    },
    /// Show the report of a run; without a file, of the latest one.
    Report(Report),
    /// Compare runs: how their machines differ, and which points got better or worse, with intervals.
    Compare(Compare),
    /// Measure two settings of this machine in turns, in one run, and compare them. This can detect a difference of one per
    /// cent. All settings are restored afterwards, even after a kill.
    Ab(Box<Ab>),
    /// Run a command and say whether the host held still meanwhile: a vector of operations is measured for 5 s before and after
    /// it. The command's streams and its exit status are its own.
    #[command(
        after_help = "Exit status: that of the command (128 and the signal that ended it; 127 no such program, 126 it cannot be \
                      executed), 1 with --fail-if-moved if the host moved and the command succeeded, 2 usage or could not measure."
    )]
    Around(Box<Around>),
    /// Measure what a baseline measured, and report regressions by the exit status. Points that look worse are measured
    /// again before they count as a regression.
    Gate(Box<Gate>),
    /// Measure whether this machine meets the requirements of a purpose (etcd, a Polkadot validator, …), until each is decided, and
    /// say so by the exit status.
    #[command(
        after_help = "Exit status: 0 all requirements are met, 1 at least one is not met, 2 usage or could not run, 3 at least \
                      one is undecided and none is not met."
    )]
    Check(Box<CheckArgs>),
    /// Write a run in the format of another tool, with units; without a file the latest one.
    Export(Export),
    /// Reduce a run to a file for the atlas of machines: figures and facts that name no host and no person. What is in it is shown first.
    #[command(
        after_help = "Exit status: 0 done, 2 usage, a run that cannot be trusted, or a file in which something may be secret."
    )]
    Publish(Publish),
    /// List the stored runs, or show points over them and where their level has changed.
    History(History),
    /// List the machines of the atlas and those with published figures; or the figures of one machine, with caveats.
    References {
        /// Id, part of it, number of a report, or `lmbench`; or the id of a figure, such as `s000-0027`.
        machine: Option<String>,
        /// Text for people, or JSON.
        #[arg(long, value_enum, default_value_t = FactsForm::Text)]
        format: FactsForm,
    },
    /// Run a published report's own methods, and print its summary table beside Fathom's results.
    Replicate(Box<Replicate>),
    /// Self-test: create known delays, rates and sizes on this machine, measure them like everything else, and compare.
    #[command(
        after_help = "Exit status: 0 all checks pass, 1 at least one failed, 2 usage or could not run, 3 inconclusive."
    )]
    Verify(Verify),
    /// Serve a run on another host as its peer, until the run ends.
    Peer(Peer),
    /// Print the JSON Schema of run files.
    Schema,
    /// Restore the settings that `ab` changed, in a process of its own, which outlives `ab`.
    #[command(hide = true)]
    Restore,
    /// Run other tools for `verify --peers`, in a process of its own, which ends them.
    #[command(hide = true)]
    RunTools,
    /// Measure trials for `run`, in a process of its own.
    #[command(hide = true)]
    Trial,
    /// Measure a method of a published report for `replicate`, in a process of its own.
    #[command(hide = true)]
    Replica,
}

#[cfg(test)]
mod tests {
    use super::heading::{LENGTH, OUTPUT, SECOND_HOST, START, WHAT, WHERE};
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// What somebody asks who measures for the first time stands first, and the length of a run is named.
    #[test]
    fn the_help_of_a_run_begins_with_its_length() {
        let mut command = Cli::command();
        command.build();
        let help = command.find_subcommand_mut("run").expect("a command").render_long_help().to_string();
        let headings = [LENGTH, WHAT, OUTPUT, START, WHERE, SECOND_HOST];
        let places = headings.map(|heading| help.find(&format!("\n{heading}:\n")).expect(heading));
        assert!(places.is_sorted(), "{help}");
        let (summary, _) = help.split_once("Usage:").expect("a usage");
        assert!(summary.contains("six minutes") && summary.contains("--quick"), "{summary}");
    }

    /// The most options that are found in a list without headings.
    const MOST: usize = 6;

    #[test]
    fn options_of_a_long_help_stand_under_headings() {
        let mut command = Cli::command();
        command.build();
        let mut grouped = 0;
        for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
            let is_option = |argument: &&clap::Arg| argument.get_long().is_some() && !argument.is_hide_set();
            let options: Vec<&clap::Arg> = command.get_arguments().filter(is_option).collect();
            let without = options.iter().filter(|option| option.get_help_heading().is_none()).count();
            assert!(
                options.len() <= MOST || without <= MOST,
                "{}: {without} of {}",
                command.get_name(),
                options.len()
            );
            grouped += usize::from(options.len() > without + MOST);
        }
        assert!(grouped >= 6, "{grouped} commands");
    }
}
