//! Whether the host held still while something ran: the verdict, the dimensions behind it, and how they were judged.

mod sentences;
mod tables;

use crate::csv;
use crate::form::{self, Facts, Subject};
use crate::paper::{Block, Document, Key, Section, Text, Tone, plain};
use crate::text::Style;
use fathom_core::quantities;
use fathom_core::sampling::HostSlice;
use fathom_engine::around::{
    self, ChangeScale, DimensionReading, HostDimension, Source, Surroundings, Verdict, Whole,
};
use fathom_engine::record::Tool;
use fathom_engine::run::PhaseSpan;
use serde::{Deserialize, Serialize};

/// What ran between the phases.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct WorkDone {
    /// The command and its arguments; empty for work of a program.
    pub command: Vec<String>,
    /// Its exit status, as a shell reports it.
    pub status: Option<u8>,
}

/// The report of a measurement around work, which is all of its own data: what was written as JSON is read again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AroundReport {
    /// The verdict in words; what a file has of it is not believed.
    sentence: String,
    verdict: Whole,
    interrupted: bool,
    #[serde(flatten)]
    work: WorkDone,
    lasted_s: f64,
    /// CPU time of the thread that watched while the work went on, seconds.
    #[serde(default)]
    watching_s: f64,
    dimensions: Vec<HostDimension>,
    phases: Vec<PhaseSpan>,
    before: Vec<HostSlice>,
    during: Vec<HostSlice>,
    started: String,
    folder: String,
    tool: Tool,
}

impl AroundReport {
    pub fn of(surroundings: &Surroundings, work: WorkDone) -> Self {
        let header = &surroundings.run.header;
        let during = &surroundings.during;
        AroundReport {
            sentence: String::new(),
            verdict: Whole::CannotSay,
            interrupted: surroundings.interrupted,
            work,
            lasted_s: during.iter().map(|slice| slice.lasted_s).sum(),
            watching_s: during.iter().map(|slice| slice.watching_s).sum(),
            dimensions: surroundings.dimensions(),
            phases: surroundings.phases.clone(),
            before: surroundings.before.clone(),
            during: during.clone(),
            started: header.started.clone(),
            folder: header.settings.folder.clone(),
            tool: header.tool.clone(),
        }
        .concluded()
    }

    /// A report that was written as JSON.
    ///
    /// # Errors
    /// It is no such report; the reason in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut report: AroundReport = serde_json::from_str(text)
            .map_err(|error| format!("it is no report of `fathom around --format json`: {error}"))?;
        report.dimensions = around::attributed(report.dimensions);
        Ok(report.concluded())
    }

    /// The same with the verdict that its dimensions have.
    fn concluded(mut self) -> Self {
        self.verdict = Whole::of(&self.dimensions);
        self.sentence = sentences::verdict(&self.dimensions, self.interrupted);
        self
    }

    /// The verdict on the host.
    pub fn verdict(&self) -> Whole {
        self.verdict
    }

    /// The verdict in words.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    fn tone(&self) -> Tone {
        match self.verdict {
            Whole::HeldStill => Tone::Good,
            Whole::CannotSay => Tone::Careful,
            Whole::Moved => Tone::Bad,
        }
    }

    fn with(&self, source: Source) -> impl Iterator<Item = &HostDimension> {
        self.dimensions.iter().filter(move |dimension| dimension.source == source)
    }

    /// What ran, for how long, and what was measured around it.
    fn facts(&self) -> Text {
        let name = if self.work.command.is_empty() {
            Text::plain("The work")
        } else {
            Text::code(self.work.command.join(" "))
        };
        let status = self.work.status.map(|status| format!(" with status {status}")).unwrap_or_default();
        let phases = self.phases.len();
        let pauses = match phases.saturating_sub(2) {
            0 => String::new(),
            pauses => format!(", and in {}", crate::words::plural(pauses, "pause")),
        };
        name.and(format!(
            " ended{status} after {}. Anchors were measured for {} before it{}{pauses}.{}",
            quantities::roughly(self.lasted_s),
            quantities::roughly(self.length(0)),
            if phases > 1 {
                format!(", for {} after it", quantities::roughly(self.length(phases - 1)))
            } else {
                String::new()
            },
            self.cost(),
        ))
    }

    /// What watching cost the machine while the work went on: no more of a CPU than that can the work have missed.
    fn cost(&self) -> String {
        if self.watching_s <= 0.0 || self.lasted_s <= 0.0 {
            return String::new();
        }
        let share = quantities::percent(self.watching_s / self.lasted_s);
        format!(" Watching took {share} of the time of one CPU meanwhile.")
    }

    fn length(&self, phase: usize) -> f64 {
        self.phases.get(phase).map_or(0.0, |phase| phase.ended_s - phase.began_s)
    }
}

impl Facts for AroundReport {
    fn text(&self, style: Style) -> String {
        plain::render(&self.document(), style.width)
    }

    fn json(&self) -> String {
        form::pretty(self)
    }
}

impl Subject for AroundReport {
    fn rows(&self) -> String {
        csv::table(self.dimensions.iter().map(DimensionRow::of))
    }

    fn document(&self) -> Document {
        let mut document = Document::new(self.sentence());
        "Around".clone_into(&mut document.kind);
        document.date.clone_from(&self.started);
        let summary = Section::new(Key::of("summary"), "What was measured")
            .with(Block::Aside(self.tone(), self.facts()))
            .with(tables::anchors(self.with(Source::Anchors), self.phases.len() > 2))
            .with(tables::meanwhile(self.with(Source::Meanwhile)))
            .with_all(sentences::reasons(&self.dimensions))
            .say(sentences::JUDGED);
        document.sections = vec![summary];
        document.foot = format!("Made by {} {} around a command.", self.tool.name, self.tool.version);
        document
    }
}

/// A dimension as a row of values.
#[derive(Serialize)]
struct DimensionRow {
    dimension: String,
    source: Source,
    scale: ChangeScale,
    before: Option<f64>,
    after: Option<f64>,
    verdict: &'static str,
    change: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    within: Option<f64>,
    margin: f64,
    /// The dimension that moved as well and can have moved this one.
    follows: Option<String>,
}

impl DimensionRow {
    fn of(dimension: &HostDimension) -> Self {
        let value = |reading: Option<&Option<DimensionReading>>| Some(reading?.as_ref()?.value);
        let (change, low, high) = match dimension.verdict {
            Verdict::Moved { by, low, high } => (Some(by), low, high),
            _ => (None, None, None),
        };
        let within = match dimension.verdict {
            Verdict::HeldStill { within } => Some(within),
            _ => None,
        };
        DimensionRow {
            dimension: csv::cell(&dimension.name),
            source: dimension.source,
            scale: dimension.scale,
            before: value(dimension.readings.first()),
            after: value(dimension.readings.last()),
            verdict: sentences::word(&dimension.verdict),
            change,
            low,
            high,
            within,
            margin: dimension.margin,
            follows: dimension.follows.as_deref().map(csv::cell),
        }
    }
}
