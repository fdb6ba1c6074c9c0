//! The forms for LaTeX, as `pdflatex` reads them: every file is set without an error, and nothing in it runs off the paper. The
//! files stay behind, to be looked at: `latex` in the target folder's `tmp`.

use crate::tier::{Outcome, Test, beside, not_installed};
use fathom::report::{Form, RunReport, Style, appendix, render};
use fathom::results::Results;
use std::path::Path;
use std::process::{Command, Stdio};

pub const TESTS: &[Test] = &beside![the_reviewed_report_is_set, a_report_of_everything_is_set,];

/// Boxes that stick out by less nobody sees.
const SEEN_PT: f64 = 2.0;

/// Tables are as wide as they were the last time, and references stand where they stood: so often a file is set at most.
const MOST_TIMES: usize = 5;

/// Sets a file until nothing in it moves, and gives what was logged the last time; `None` without pdflatex.
fn log_of(folder: &Path, name: &str, text: &str) -> Option<String> {
    std::fs::write(folder.join(name).with_extension("tex"), text).unwrap();
    let log = folder.join(name).with_extension("log");
    for _ in 0..MOST_TIMES {
        let started = Command::new("pdflatex")
            .args(["-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", name])
            .current_dir(folder)
            .stdin(Stdio::null())
            .output();
        let output = match started {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            started => started.unwrap(),
        };
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{name}: {}", &said[said.len().saturating_sub(1500)..]);
        let logged = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
        if !["Rerun LaTeX", "Rerun to get"].iter().any(|again| logged.contains(again)) {
            return Some(logged);
        }
    }
    panic!("{name} is still not settled after {MOST_TIMES} times");
}

fn ensure_set(name: &str, run: &str) -> Outcome {
    let run = crate::fixture::parse(run);
    let results = Results::of(&run);
    let report = RunReport::of(&results);
    let paper = render(&report, Form::Latex, Style::default());
    let files =
        [(name.to_owned(), paper), (format!("{name}-appendix"), appendix(&report, Form::Latex).unwrap())];
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("latex");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        let Some(log) = log_of(&folder, &name, &text) else {
            return not_installed("pdflatex (docs/latex.md names its packages)");
        };
        let boxes = log.lines().filter_map(|line| line.strip_prefix("Overfull \\hbox (")?.split("pt").next());
        let wide: Vec<f64> =
            boxes.filter_map(|points| points.parse().ok()).filter(|wide| *wide > SEEN_PT).collect();
        assert_eq!(wide, Vec::<f64>::new(), "{name} runs off the paper");
        assert!(!log.contains("Overfull \\vbox"), "{name} runs over the end of a page");
        assert!(!log.contains("undefined references"), "{name} refers to what it has not");
    }
    Ok(())
}

/// Its names are those of somebody hostile.
fn the_reviewed_report_is_set() -> Outcome {
    ensure_set("reviewed", &crate::fixture::golden())
}

fn a_report_of_everything_is_set() -> Outcome {
    ensure_set("everything", &crate::fixture::everything())
}
