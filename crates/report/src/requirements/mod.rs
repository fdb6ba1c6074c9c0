//! Requirements, judged: whether they are met, each with its value, its interval and its margin, and the machine's own limits.

mod data;
mod rows;
mod words;

use crate::csv;
use crate::form::{self, Facts, Subject};
use crate::paper::{Block, Document, Key, Section, Text, Tone, plain};
use crate::text::Style;
use fathom_core::quantities;
use fathom_engine::record::Header;
use fathom_engine::requirements::{Assessment, Demand, Judgement, Requirements};

/// The requirements of a file, judged by a run.
pub struct CheckReport<'a> {
    requirements: &'a Requirements,
    judged: &'a [Assessment],
    header: &'a Header,
    run_file: Option<String>,
    took_s: Option<f64>,
}

impl<'a> CheckReport<'a> {
    /// The report of what a run with this header decided; `judged` has one entry for each requirement, in their order.
    pub fn of(requirements: &'a Requirements, judged: &'a [Assessment], header: &'a Header) -> Self {
        CheckReport { requirements, judged, header, run_file: None, took_s: None }
    }

    /// The same with the file that the trials are in, and the time that they took, seconds.
    #[must_use]
    pub fn measured(mut self, run_file: Option<&str>, took_s: Option<f64>) -> Self {
        self.run_file = run_file.map(str::to_owned);
        self.took_s = took_s;
        self
    }

    /// What was decided of all requirements together: met if each is, not met if any is not.
    pub fn judgement(&self) -> Judgement {
        self.judged.iter().map(|judged| judged.judgement).max().unwrap_or(Judgement::Undecided)
    }

    fn pairs(&self) -> impl Iterator<Item = (&'a Demand, &'a Assessment)> {
        self.requirements.demands.iter().zip(self.judged)
    }

    /// The reasons of what is undecided, and what should be known of the others.
    fn reasons(&self) -> Vec<Block> {
        let undecided: Vec<Text> =
            self.pairs().filter_map(|(demand, judged)| words::reason(demand, judged)).collect();
        if undecided.is_empty() {
            return vec![];
        }
        vec![Block::Heading("Undecided".to_owned()), Block::List(undecided)]
    }

    fn notes(&self) -> Vec<Block> {
        let noted = self.pairs().filter(|(demand, _)| !demand.note.is_empty());
        let notes: Vec<Text> =
            noted.map(|(demand, _)| Text::strong(&demand.name).and(format!(": {}", demand.note))).collect();
        if notes.is_empty() { vec![] } else { vec![Block::Heading("Notes".to_owned()), Block::List(notes)] }
    }

    fn limits(&self) -> Section {
        Section::new(Key::of("limits"), "This machine's own limits")
            .with(Block::List(words::limits(&self.header.machine, self.judged)))
    }

    fn sources(&self) -> Section {
        let items = self.requirements.publications.iter().map(words::publication).collect();
        Section::new(Key::of("sources"), "Where the limits are from").with(Block::List(items))
    }

    fn method() -> Section {
        Section::new(Key::of("method"), "How it was decided").say(METHOD)
    }
}

const METHOD: &str = "Trials of what is open were made in rounds, each in a fresh process, until it was decided. A \
                      requirement counts as met or not met where the share of observations that keep the limit, trial by \
                      trial, is shown to be greater or smaller than it asks for, by a test that may be looked at after \
                      every trial. For a machine that is exactly at its limits, a requirement is called met in at most 5 of \
                      100 such measurements, and any of the file is called not met in at most 5 of 100: each has its part \
                      of that. The end of an interval beyond which a requirement would fail is therefore wider, and the whole holds \
                      the figure with a probability of at least 90 %, at all looks together.";

impl Facts for CheckReport<'_> {
    fn text(&self, style: Style) -> String {
        plain::render(&self.document_of(false), style.width)
    }

    fn json(&self) -> String {
        form::pretty(&data::entry(self))
    }
}

impl CheckReport<'_> {
    fn document_of(&self, whole: bool) -> Document {
        let verdict = words::verdict(&self.requirements.demands, self.judged);
        let mut document = Document::new(&verdict);
        "Requirements".clone_into(&mut document.kind);
        document.date.clone_from(&self.header.started);
        let mut results = Section::new(Key::of("requirements"), &*self.requirements.title);
        if whole {
            results = results.with(Block::Aside(tone(self.judgement()), Text::plain(verdict)));
        }
        if !self.requirements.about.is_empty() {
            results = results.say(self.requirements.about.trim());
        }
        let results = results.with(rows::table(self)).with_all(self.reasons());
        document.sections = vec![results.with_all(if whole { self.notes() } else { vec![] }), self.limits()];
        if whole {
            document.sections.push(self.sources());
            document.sections.push(Self::method());
        }
        document.foot = self.foot();
        document
    }

    fn foot(&self) -> String {
        let tool = &self.header.tool;
        let took = self.took_s.map(|seconds| format!(" in {}", quantities::duration(seconds)));
        let file = self.run_file.as_ref().map(|file| format!(" Run file: {file}"));
        format!(
            "Made by {} {}{}.{}",
            tool.name,
            tool.version,
            took.unwrap_or_default(),
            file.unwrap_or_default()
        )
    }
}

impl Subject for CheckReport<'_> {
    fn document(&self) -> Document {
        self.document_of(true)
    }

    fn synopsis(&self) -> Document {
        self.document_of(false)
    }

    fn rows(&self) -> String {
        csv::table(self.pairs().map(|(demand, judged)| data::DemandCells::of(demand, judged)))
    }
}

fn tone(judgement: Judgement) -> Tone {
    match judgement {
        Judgement::Meets => Tone::Good,
        Judgement::Fails => Tone::Bad,
        Judgement::Undecided => Tone::Careful,
    }
}
