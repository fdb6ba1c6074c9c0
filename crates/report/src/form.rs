//! The single entry to every report: a subject, a form, and the match that combines them.
//!
//! A form that is written from the document is a file in [`paper`](super::paper), a variant of [`Form`] and an arm of
//! [`render`]; subjects do not know of it.

use super::figure::Svg;
use super::paper::{Document, html, latex, markdown, picture};
use super::text::Style;
use clap::ValueEnum;
use fathom_core::message::escaped_json;
use serde::Serialize;

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// One screen for a terminal; of a replication, its table.
    Text,
    /// One web page that needs no network.
    Html,
    /// The paper for a wiki or an issue; with `--output`, its appendix is a second file and its figures are a folder beside it.
    Markdown,
    /// The paper for pdflatex, with its figures, and its appendix in a second file.
    Latex,
    /// One page with the main figures, in Markdown that reads as plain text too.
    Synopsis,
    /// The machine in one picture, for a slide: its main operations with their intervals and predictions, in SVG.
    Picture,
    /// Everything, for programs; its shape is stable.
    Json,
    /// A row a point, for spreadsheets and data frames.
    Csv,
}

/// The forms of what is no document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FactsForm {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// A subject for people and for programs: a machine, a published figure.
pub trait Facts {
    fn text(&self, style: Style) -> String;

    /// The JSON, ending in a line feed.
    fn json(&self) -> String;
}

/// A subject with a document: a run, a replication.
pub trait Subject: Facts {
    fn document(&self) -> Document;

    /// Its figures as comma-separated values, one row each.
    fn rows(&self) -> String;

    /// The document on one page; the whole document if that is short.
    fn synopsis(&self) -> Document {
        self.document()
    }

    /// The subject in one picture, if it has one.
    fn picture(&self) -> Option<Svg> {
        None
    }

    /// Its data as JSON on one line, if its page contains them.
    fn embedded(&self) -> Option<String> {
        None
    }
}

/// The subject in a form. The style is that of the terminal, and affects text only.
pub fn render(subject: &dyn Subject, form: Form, style: Style) -> String {
    match form {
        Form::Text => searchable(&subject.text(style)),
        Form::Html => html::render(&subject.document(), subject.embedded().as_deref()),
        Form::Markdown => searchable(&markdown::render(&subject.document())),
        Form::Latex => latex::render(&subject.document()),
        Form::Synopsis => searchable(&markdown::whole(&subject.synopsis())),
        Form::Picture => subject.picture().map_or_else(String::new, |drawing| picture::render(&drawing)),
        Form::Json => escaped_json(&subject.json()),
        Form::Csv => subject.rows(),
    }
}

/// Whether the subject has this form: only a run of which any main operation was measured has a picture.
pub fn has(subject: &dyn Subject, form: Form) -> bool {
    form != Form::Picture || subject.picture().is_some()
}

/// The part of the paper that this form writes to a second file; `None` if there is none.
pub fn appendix(subject: &dyn Subject, form: Form) -> Option<String> {
    match form {
        Form::Markdown => markdown::appendix(&subject.document(), None).map(|text| searchable(&text)),
        Form::Latex => latex::appendix(&subject.document()),
        _ => None,
    }
}

/// A report in files beside each other.
pub struct ReportFiles {
    /// The report itself.
    pub text: String,
    /// What it leaves to a second file, if anything.
    pub appendix: Option<String>,
    /// Its figures, by the names of their files.
    pub figures: Vec<(String, String)>,
}

/// The subject in a form, in files; the figures that are files are in a folder of this name beside the report.
pub fn render_files(subject: &dyn Subject, form: Form, style: Style, folder: &str) -> ReportFiles {
    if form != Form::Markdown {
        let (text, appendix) = (render(subject, form, style), appendix(subject, form));
        return ReportFiles { text, appendix, figures: vec![] };
    }
    let document = subject.document();
    ReportFiles {
        text: searchable(&markdown::with_figures(&document, folder)),
        appendix: markdown::appendix(&document, Some(folder)).map(|text| searchable(&text)),
        figures: markdown::figures(&document),
    }
}

/// Text with non-breaking spaces, which keep words together during line breaking, replaced by plain ones for searching.
fn searchable(text: &str) -> String {
    text.replace(['\u{a0}', '\u{202f}'], " ")
}

pub fn render_facts(facts: &dyn Facts, form: FactsForm, style: Style) -> String {
    match form {
        FactsForm::Text => searchable(&facts.text(style)),
        FactsForm::Json => escaped_json(&facts.json()),
    }
}

/// Data as indented JSON, ending in a line feed.
pub fn pretty(data: &impl Serialize) -> String {
    // Serializing cannot fail: these are plain structures of numbers and texts with text keys.
    serde_json::to_string_pretty(data).unwrap_or_default() + "\n"
}
