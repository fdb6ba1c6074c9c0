//! The fixed run and the run of everything: each is made and read once and each form of its report is written once, whichever
//! and however many tests look at them.

use clap::ValueEnum;
use fathom::record::Run;
use fathom::report::{Facts, Form, RunReport, Style, appendix, render};
use fathom::results::Results;
use std::path::Path;
use std::sync::{LazyLock, OnceLock};

/// The run of fixed numbers and hostile names ([`crate::fixture::golden`]).
pub static FIXED: LazyLock<Reported> = LazyLock::new(|| Reported::of(crate::fixture::golden()));

/// The run over every experiment ([`crate::fixture::everything`]).
pub static EVERYTHING: LazyLock<Reported> = LazyLock::new(|| Reported::of(crate::fixture::everything()));

/// A run with its results and its reports.
pub struct Reported {
    /// The text of its file.
    pub text: String,
    /// Its results.
    pub results: Results<'static>,
    /// By form, in the order of [`Form::value_variants`].
    forms: Vec<OnceLock<String>>,
    appendices: Vec<OnceLock<String>>,
}

/// The files that a report on a terminal names.
pub fn files() -> [(&'static str, &'static Path); 1] {
    [("run file", Path::new("runs/example.jsonl"))]
}

/// A form, of a run that no two tests look at.
pub fn in_form(results: &Results, form: Form) -> String {
    render(&RunReport::of(results).written_to(&files()), form, Style { width: 120, colour: false })
}

/// The one screen of a run.
pub fn on_screen(results: &Results, width: usize, colour: bool) -> String {
    RunReport::of(results).written_to(&files()).text(Style { width, colour })
}

/// A run with all of its tables on a terminal.
pub fn on_terminal(results: &Results, width: usize, colour: bool) -> String {
    RunReport::of(results).written_to(&files()).in_full(true).text(Style { width, colour })
}

fn unwritten() -> Vec<OnceLock<String>> {
    Form::value_variants().iter().map(|_| OnceLock::new()).collect()
}

impl Reported {
    fn of(text: String) -> Self {
        // As long as the tests, which all use it.
        let run: &'static Run = Box::leak(Box::new(crate::fixture::parse(&text)));
        Reported { text, results: Results::of(run), forms: unwritten(), appendices: unwritten() }
    }

    /// Its report in a form.
    pub fn form(&self, form: Form) -> &str {
        self.forms[form as usize].get_or_init(|| in_form(&self.results, form))
    }

    /// The appendix of a form that has one.
    pub fn appendix(&self, form: Form) -> &str {
        let written = || appendix(&RunReport::of(&self.results), form).expect("an appendix");
        self.appendices[form as usize].get_or_init(written)
    }
}
