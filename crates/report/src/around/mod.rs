//! Whether the host held still while something ran: the verdict, the dimensions behind it, and how they were judged.

mod sentences;
mod tables;

use crate::csv;
use crate::form::{self, Facts, Subject};
use crate::paper::{Block, Document, Key, Section, Text, Tone, plain};
use crate::text::Style;
use fathom_core::quantities;
use fathom_core::sampling::HostSlice;
use fathom_engine::around::{ChangeScale, HostDimension, Source, Surroundings, Verdict, Whole};
use fathom_engine::record::Tool;
use fathom_engine::run::PhaseSpan;
use serde::Serialize;

/// What ran between the phases.
#[derive(Debug, Clone, Default, Serialize)]
pub struct WorkDone {
    /// The command and its arguments; empty for work of a program.
    pub command: Vec<String>,
    /// Its exit status, as a shell reports it.
    pub status: Option<u8>,
}

/// The report of a measurement around work.
pub struct AroundReport<'a> {
    surroundings: &'a Surroundings,
    work: WorkDone,
    dimensions: Vec<HostDimension>,
}

impl<'a> AroundReport<'a> {
    pub fn of(surroundings: &'a Surroundings, work: WorkDone) -> Self {
        AroundReport { surroundings, work, dimensions: surroundings.dimensions() }
    }

    /// The verdict on the host.
    pub fn verdict(&self) -> Whole {
        Whole::of(&self.dimensions)
    }

    /// The verdict in words.
    pub fn sentence(&self) -> String {
        sentences::verdict(&self.dimensions, self.surroundings.interrupted)
    }

    fn tone(&self) -> Tone {
        match self.verdict() {
            Whole::HeldStill => Tone::Good,
            Whole::CannotSay => Tone::Careful,
            Whole::Moved => Tone::Bad,
        }
    }

    fn with(&self, source: Source) -> impl Iterator<Item = &HostDimension> {
        self.dimensions.iter().filter(move |dimension| dimension.source == source)
    }

    fn lasted_s(&self) -> f64 {
        self.surroundings.during.iter().map(|slice| slice.lasted_s).sum()
    }

    /// What ran, for how long, and what was measured around it.
    fn facts(&self) -> Text {
        let name = if self.work.command.is_empty() {
            Text::plain("The work")
        } else {
            Text::code(self.work.command.join(" "))
        };
        let status = self.work.status.map(|status| format!(" with status {status}")).unwrap_or_default();
        let phases = self.surroundings.phases.len();
        let pauses = match phases.saturating_sub(2) {
            0 => String::new(),
            pauses => format!(", and in {}", crate::words::plural(pauses, "pause")),
        };
        name.and(format!(
            " ended{status} after {}. Anchors were measured for {} before it{}{pauses}.",
            quantities::roughly(self.lasted_s()),
            quantities::roughly(self.length(0)),
            if phases > 1 {
                format!(", for {} after it", quantities::roughly(self.length(phases - 1)))
            } else {
                String::new()
            },
        ))
    }

    fn length(&self, phase: usize) -> f64 {
        self.surroundings.phases.get(phase).map_or(0.0, |phase| phase.ended_s - phase.began_s)
    }
}

impl Facts for AroundReport<'_> {
    fn text(&self, style: Style) -> String {
        plain::render(&self.document(), style.width)
    }

    fn json(&self) -> String {
        let run = &self.surroundings.run;
        form::pretty(&Data {
            sentence: self.sentence(),
            verdict: self.verdict(),
            interrupted: self.surroundings.interrupted,
            work: &self.work,
            lasted_s: self.lasted_s(),
            dimensions: &self.dimensions,
            phases: &self.surroundings.phases,
            before: &self.surroundings.before,
            during: &self.surroundings.during,
            started: &run.header.started,
            folder: &run.header.settings.folder,
            tool: &run.header.tool,
        })
    }
}

/// The data for programs.
#[derive(Serialize)]
struct Data<'a> {
    sentence: String,
    verdict: Whole,
    interrupted: bool,
    #[serde(flatten)]
    work: &'a WorkDone,
    lasted_s: f64,
    dimensions: &'a [HostDimension],
    phases: &'a [PhaseSpan],
    before: &'a [HostSlice],
    during: &'a [HostSlice],
    started: &'a str,
    folder: &'a str,
    tool: &'a Tool,
}

impl Subject for AroundReport<'_> {
    fn rows(&self) -> String {
        csv::table(self.dimensions.iter().map(DimensionRow::of))
    }

    fn document(&self) -> Document {
        let mut document = Document::new(self.sentence());
        "Around".clone_into(&mut document.kind);
        document.date.clone_from(&self.surroundings.run.header.started);
        let summary = Section::new(Key::of("summary"), "What was measured")
            .with(Block::Aside(self.tone(), self.facts()))
            .with(tables::anchors(self.with(Source::Anchors), self.surroundings.phases.len() > 2))
            .with(tables::meanwhile(self.with(Source::Meanwhile)))
            .with_all(sentences::reasons(&self.dimensions))
            .say(sentences::JUDGED);
        document.sections = vec![summary];
        let tool = &self.surroundings.run.header.tool;
        document.foot = format!("Made by {} {} around a command.", tool.name, tool.version);
        document
    }
}

/// A dimension as a row of values.
#[derive(Serialize)]
struct DimensionRow<'a> {
    dimension: &'a str,
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
}

impl<'a> DimensionRow<'a> {
    fn of(dimension: &'a HostDimension) -> Self {
        let value = |reading: Option<&Option<fathom_engine::around::DimensionReading>>| {
            Some(reading?.as_ref()?.value)
        };
        let (change, low, high) = match dimension.verdict {
            Verdict::Moved { by, low, high } => (Some(by), low, high),
            _ => (None, None, None),
        };
        let within = match dimension.verdict {
            Verdict::HeldStill { within } => Some(within),
            _ => None,
        };
        DimensionRow {
            dimension: &dimension.name,
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
        }
    }
}
