//! Running a tool: its command line on this machine, and its figure each time.

use super::opinion::{Opinion, OtherTool};
use super::tool_runner::{COMMAND, CommandLine, ToolOutput, ToolTask, free_port};
use fathom_core::experiment::{Placement, Point};
use fathom_core::sampling::child::{End, Launch, Process};
use fathom_core::statistics::MINIMUM_TRIALS;
use fathom_engine::plan::Cpus;
use std::path::Path;
use std::time::Duration;

/// The longest that a run of a tool may take.
const LIMIT: Duration = Duration::from_secs(30);

/// Trials of Fathom for each further run of the tool, which takes a second or more where a trial takes some hundredths.
const TRIALS_A_RUN: usize = 4;

/// The process that starts the tools; a fresh one replaces one that did not answer.
#[derive(Default)]
pub(super) struct ToolRunner(Option<Process>);

impl ToolRunner {
    /// The result of a task; `None` if the session was interrupted.
    fn run(&mut self, task: &ToolTask) -> Result<Option<ToolOutput>, String> {
        let failed = |error: std::io::Error| format!("the process that starts tools: {error}");
        let mut process = match self.0.take() {
            Some(process) => process,
            None => Process::start(COMMAND, 0, None, &Launch::default()).map_err(failed)?,
        };
        match process.ask(task, LIMIT, &mut |_| ()).map_err(failed)? {
            End::Answered(answer) => {
                self.0 = Some(process);
                Ok(Some(answer))
            }
            End::Interrupted => Ok(None),
            End::TimedOut => Err(format!("did not end within {} s", LIMIT.as_secs())),
            End::Died(reason) => Err(reason),
        }
    }
}

/// The measurement of an operation by a tool, run by run.
pub(super) struct ToolMeasurement {
    pub opinion: &'static Opinion,
    /// The corresponding point of Fathom; `None` if this machine has none.
    pub point: Option<Point>,
    pub figures: Vec<f64>,
    /// Trials of Fathom, after each of which it could have run.
    turns: usize,
    /// The reason why it gives no further figures.
    pub failure: Option<String>,
    /// The total duration of its runs, seconds.
    pub took_s: f64,
}

impl ToolMeasurement {
    pub fn of(opinion: &'static Opinion, point: Result<Point, String>) -> Self {
        let failure = installed(opinion.tool).err().or(point.as_ref().err().cloned());
        ToolMeasurement { opinion, point: point.ok(), figures: vec![], turns: 0, failure, took_s: 0.0 }
    }

    /// Runs the tool once, after every trial of Fathom until there is an interval, then after every few; one that failed is not
    /// run again.
    pub fn run_tool(&mut self, runner: &mut ToolRunner, cpus: Cpus, file: &Path) {
        self.turns += 1;
        let is_its_turn = self.figures.len() < MINIMUM_TRIALS || self.turns % TRIALS_A_RUN == 0;
        if self.failure.is_some() || !is_its_turn {
            return;
        }
        match self.figure(runner, cpus, file) {
            Ok(figure) => self.figures.extend(figure),
            Err(reason) => self.failure = Some(reason),
        }
    }

    /// The tool's figure; `None` if the session was interrupted.
    fn figure(&mut self, runner: &mut ToolRunner, cpus: Cpus, file: &Path) -> Result<Option<f64>, String> {
        let Some(ToolOutput { text, took_s }) = runner.run(&self.task(cpus, file)?)? else { return Ok(None) };
        self.took_s += took_s;
        let tool = self.opinion.tool.name;
        let unread = || format!("the output of {tool} is not understood: another version?");
        (self.opinion.read)(&text?).map(Some).ok_or_else(unread)
    }

    fn task(&self, cpus: Cpus, file: &Path) -> Result<ToolTask, String> {
        let port = free_port().map_err(|error| format!("no port of loopback is free: {error}"))?;
        let size = self.point.as_ref().and_then(|point| point.number_of("size"));
        let words = |line: &str| words(line, port, file, size);
        let (home, partner) = (vec![cpus.home], vec![cpus.partner.unwrap_or(cpus.home)]);
        let server = self.opinion.server.as_ref();
        let both =
            server.is_none() && self.point.as_ref().map(Point::placement) == Some(Placement::AcrossCpus);
        Ok(ToolTask {
            client: CommandLine {
                words: words(self.opinion.command),
                cpus: if both { [home, partner.clone()].concat() } else { home },
            },
            server: server.map(|server| (CommandLine { words: words(server.command), cpus: partner }, port)),
            apart: server.is_some_and(|server| server.listens_everywhere),
        })
    }
}

/// A command line with its placeholders replaced; words are split first, so that a path may have spaces.
fn words(line: &str, port: u16, file: &Path, size: Option<u64>) -> Vec<String> {
    let half = size.unwrap_or_default() / 2;
    let filled = |word: &str| {
        word.replace("{port}", &port.to_string())
            .replace("{half}", &half.to_string())
            .replace("{half_mib}", &(half >> 20).to_string())
            .replace("{file}", &file.display().to_string())
    };
    line.split_whitespace().map(filled).collect()
}

/// Whether a tool is installed; otherwise the package that contains it.
pub(super) fn installed(tool: &OtherTool) -> Result<(), String> {
    // The folders in which measuring processes look for programs.
    let is_here = ["/usr/bin", "/bin"].iter().any(|folder| Path::new(folder).join(tool.program).exists());
    if is_here {
        return Ok(());
    }
    Err(format!("{} is not installed (package {} of Debian)", tool.program, tool.package))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opinions::all;

    #[test]
    fn what_is_open_is_filled_in_word_by_word() {
        let found =
            words("mbw -t0 {half_mib} {half} {file} -p {port}", 7, Path::new("/a b/c"), Some(2 << 30));
        assert_eq!(found, ["mbw", "-t0", "1024", "1073741824", "/a b/c", "-p", "7"]);
    }

    #[test]
    fn an_absent_tool_is_named_with_its_package() {
        let tool = OtherTool { name: "n", program: "no-such-program", package: "such" };
        let reason = installed(&tool).unwrap_err();
        assert!(reason.contains("no-such-program") && reason.contains("package such"), "{reason}");
    }

    #[test]
    fn every_command_begins_with_its_tool_and_leaves_nothing_open() {
        for opinion in all() {
            let lines = [Some(opinion.command), opinion.server.as_ref().map(|server| server.command)];
            for line in lines.into_iter().flatten() {
                let found = words(line, 7, Path::new("/x"), Some(2 << 20));
                assert_eq!(found[0], opinion.tool.program);
                assert!(!found.concat().contains('{'), "{found:?}");
            }
        }
    }
}
