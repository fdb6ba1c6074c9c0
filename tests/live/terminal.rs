//! What a person sees while a run measures, on a terminal that changes its width meanwhile.

use crate::short_run::{lines_of, made_short_run, text, wait_until};
use crate::tier::{Outcome, Test, beside, not_installed};
use std::path::Path;
use std::process::{Command, Output};

pub const TESTS: &[Test] = &beside![
    the_line_of_progress_stays_one_line_when_the_terminal_is_resized,
    what_is_too_long_for_a_terminal_goes_through_a_pager,
];

/// A terminal that tells what it shows; it ends with the test.
struct Terminal(String);

impl Terminal {
    /// Of so many columns, with this command in it; `None` where there is no `tmux`.
    fn with(columns: u32, command: &str) -> Option<Self> {
        let terminal = Terminal(format!("fathom-{}", std::process::id()));
        let columns = columns.to_string();
        let begun = terminal.asked(&["new-session", "-d", "-x", &columns, "-y", "40", command])?;
        assert!(begun.status.success(), "{}", text(&begun.stderr));
        Some(terminal)
    }

    fn asked(&self, arguments: &[&str]) -> Option<Output> {
        Command::new("tmux").args(["-f", "/dev/null", "-L", &self.0]).args(arguments).output().ok()
    }

    fn resize(&self, columns: u32) {
        let done = self.asked(&["resize-window", "-x", &columns.to_string()]).unwrap();
        assert!(done.status.success(), "{}", text(&done.stderr));
    }

    /// Its lines, without empty ones.
    fn lines(&self) -> Vec<String> {
        let shown = text(&self.asked(&["capture-pane", "-p"]).unwrap().stdout);
        shown.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.asked(&["kill-server"]);
    }
}

fn trials(file: &Path) -> usize {
    lines_of(file, "trial").len()
}

fn the_line_of_progress_stays_one_line_when_the_terminal_is_resized() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let program = assert_cmd::cargo::cargo_bin("fathom");
    let run = format!(
        "exec {} run --quick --alongside --budget 60s --trial 4ms system_call context_switch -o {} > /dev/null",
        program.display(),
        file.display()
    );
    let Some(terminal) = Terminal::with(100, &run) else {
        return not_installed("tmux (Debian: tmux)");
    };
    // What is measured is said first: a narrow terminal cuts off the time that is left.
    let is_progress = |line: &String| line.contains("measuring cpu/");
    for columns in [100, 50, 120] {
        terminal.resize(columns);
        let before = trials(&file);
        wait_until("it was drawn again", || trials(&file) > before + 20);
        // Between clearing a line and drawing it again there is none: looked at until it is there.
        let mut lines = vec![];
        wait_until("the line of progress is there", || {
            lines = terminal.lines();
            lines.iter().any(is_progress)
        });
        let progress: Vec<&String> = lines.iter().filter(|line| is_progress(line)).collect();
        assert_eq!(progress.len(), 1, "{columns} columns: {lines:#?}");
        assert_eq!(lines.last(), Some(progress[0]), "{columns} columns: {lines:#?}");
    }
    Ok(())
}

fn what_is_too_long_for_a_terminal_goes_through_a_pager() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    made_short_run(&file);
    // `script` gives it a terminal.
    let shown = |rows: usize, pager: &str| {
        let fathom = assert_cmd::cargo::cargo_bin("fathom");
        let report =
            format!("stty rows {rows} cols 100; {} report --full {}", fathom.display(), file.display());
        let mut command = Command::new("script");
        let output = command.args(["-qec", &report, "/dev/null"]).env("PAGER", pager).output().unwrap();
        text(&output.stdout).lines().filter(|line| !line.trim().is_empty()).count()
    };
    assert_eq!(shown(24, "head -1"), 1);
    // Where it fits, where no pager is wanted, and where there is none of the name, all of it is printed.
    let whole = shown(10_000, "head -1");
    assert!(whole > 24, "{whole}");
    assert_eq!(shown(24, ""), whole);
    assert!(shown(24, "no-such-pager-anywhere") >= whole);
    Ok(())
}
