//! A comparison of two or more sides: what differs between them, what got better and what worse, by how much, and with what
//! certainty.

mod gate;
mod data;
mod families;
mod overview;
mod rows;
mod usual;
mod with_published;

pub use families::change as family_change;
pub use gate::{GateReport, regression};
pub(crate) use rows::signed;
pub use with_published::PublishedComparison;

use super::form::{Facts, Subject};
use super::paper::{Block, Document, Key, Section, Text, Tone, plain};
use super::run;
use super::text::Style;
use super::words::plural;
use fathom_atlas::Atlas;
use fathom_core::quantities;
use fathom_engine::comparison::{Comparison, FALSE_DISCOVERIES, Margins, Side, Verdict};
use fathom_engine::parallel;
use usual::{BothUsual, SideUsual};

/// The sides to be compared, each with the first.
pub struct ComparisonReport<'a> {
    first: &'a Side,
    others: Vec<(&'a Side, Comparison)>,
    accepted: Vec<String>,
    full: bool,
    atlas: &'a Atlas,
}

impl<'a> ComparisonReport<'a> {
    /// Compares each other side with the first; `accepted` are the names of intended differences that would make a
    /// comparison doubtful.
    pub fn of(first: &'a Side, others: &'a [Side], margins: &Margins, accepted: &[String]) -> Self {
        let any_method = accepted.iter().any(|name| name == "method");
        let compared = |side: &'a Side| (side, Comparison::of(first, side, margins, any_method));
        ComparisonReport {
            first,
            others: parallel::map(others, |_, side| compared(side)),
            accepted: accepted.to_vec(),
            full: false,
            atlas: fathom_atlas::compiled(),
        }
    }

    /// A report of a comparison of two sides that was already computed.
    pub fn with(before: &'a Side, after: &'a Side, comparison: Comparison, accepted: &[String]) -> Self {
        ComparisonReport {
            first: before,
            others: vec![(after, comparison)],
            accepted: accepted.to_vec(),
            full: false,
            atlas: fathom_atlas::compiled(),
        }
    }

    /// In text form, with every row instead of only the most important ones.
    #[must_use]
    pub fn in_full(mut self, full: bool) -> Self {
        self.full = full;
        self
    }

    /// The report with what is usual in another atlas than the program's.
    #[must_use]
    pub fn among(mut self, atlas: &'a Atlas) -> Self {
        self.atlas = atlas;
        self
    }

    /// The comparisons of each side with the first.
    pub fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        self.others.iter().map(|(_, comparison)| comparison)
    }

    /// The comparison as JSON, with the gate's decision.
    fn json_with(&self, decision: &'static str) -> String {
        data::pretty(self.first, &self.others, self.atlas, Some(decision))
    }

    fn document_of(&self, most_rows: usize) -> Document {
        let mut document = Document::new(self.title());
        "Comparison".clone_into(&mut document.kind);
        "Made by Fathom from the run files alone.".clone_into(&mut document.foot);
        document.date = self.others.first().map_or(String::new(), |(side, _)| began(side).to_owned());
        let sections = self.others.iter().enumerate();
        let sections = sections.map(|(place, (side, other))| self.section(place, (side, other), most_rows));
        // The verdict comes first; of several, what all of them say.
        if self.others.len() > 1 {
            document.front.push(overview::matrix(self.first, &self.others));
            document.sections.extend(sections);
        } else {
            document.front.extend(sections);
        }
        document
    }

    fn title(&self) -> String {
        match self.others.as_slice() {
            [(only, _)] => format!("{} against {}", only.name, self.first.name),
            others => format!("{} against {}", plural(others.len(), "side"), self.first.name),
        }
    }

    fn section(&self, place: usize, (side, comparison): (&Side, &Comparison), most_rows: usize) -> Section {
        let key = Key::numbered("against", place + 1);
        let [before, after] = [self.first, side].map(|side| SideUsual::of(side, self.atlas));
        let usual = BothUsual { before: &before, after: &after };
        let several = self.others.len() > 1;
        let title =
            if several { format!("{} against {}", side.name, self.first.name) } else { "Summary".to_owned() };
        let section = judged(Section::new(key.clone(), title), comparison).say(self.machines(side));
        let section = overview::differences(section, comparison, &self.accepted, &key);
        let section = families::judged(section, comparison, &key).say(summary(comparison));
        let section = match usual.sentence(comparison) {
            Some(sentence) => section.say(sentence),
            None => section,
        };
        let section = rows::moved(section, comparison, usual, &key, most_rows);
        let section = families::same_direction(section, comparison);
        let section = section.with(overview::counts(comparison, &key));
        rows::others(section, comparison, usual, &key, most_rows)
    }

    fn machines(&self, side: &Side) -> Text {
        let runs_of = |side: &Side| {
            let machine = side.runs.first().map(|run| run::machine(&run.header.machine)).unwrap_or_default();
            format!("{machine}, {} from {}", plural(side.runs.len(), "run"), began(side))
        };
        Text::strong("Before")
            .and(format!(": {}: {}. ", self.first.name, runs_of(self.first)))
            .and(Text::strong("After"))
            .and(format!(": {}: {}.", side.name, runs_of(side)))
    }
}

fn began(side: &Side) -> &str {
    side.runs.first().map_or("", |run| &run.header.started)
}

/// The section with the verdict: in a line, then by families.
fn judged(section: Section, comparison: &Comparison) -> Section {
    let toned = |sentence: String| match families::tone(comparison) {
        Some(tone) => Text::toned(tone, sentence),
        None => Text::strong(sentence),
    };
    let section = section.with_all(families::headline(comparison).map(toned).map(Block::Paragraph));
    let sentences = families::sentences(comparison);
    let sentences: Vec<Text> = sentences.iter().map(|sentence| Text::prose(sentence)).collect();
    if sentences.is_empty() { section } else { section.with(Block::List(sentences)) }
}

fn summary(comparison: &Comparison) -> Text {
    let counted =
        |verdict: Verdict| format!("{} {}", quantities::count(comparison.count(verdict)), verdict.name());
    let shown = Verdict::ALL.into_iter().filter(|verdict| comparison.count(*verdict) > 0).map(counted);
    let factor = comparison.repeatability.overall();
    let compared = plural(comparison.rows.len(), "point");
    let list = shown.collect::<Vec<_>>().join(", ");
    let moved = if comparison.interleaved {
        " Both were measured alternately. A ratio is the mean over pairs of trials of the same round, so drift of the \
         machine affects both alike."
            .to_owned()
    } else if factor > 1.0 {
        format!(
            " These runs vary more than their trials alone would suggest: variances are {} times as large, and the \
             intervals are widened accordingly.",
            quantities::number(factor)
        )
    } else {
        String::new()
    };
    let margins = rows::margins(comparison);
    let text = Text::plain(format!(
        "{compared} compared by themselves ({margins}): {list}. At most {} of the reported differences are expected to be false \
         (false discovery rate over families and points).{moved}",
        quantities::percent(FALSE_DISCOVERIES)
    ));
    if comparison.rows.is_empty() {
        Text::toned(Tone::Careful, "The two sides have no point that can be compared.")
    } else {
        text
    }
}

/// The number of rows of each verdict on one screen.
const ROWS_ON_A_SCREEN: usize = 8;

impl Facts for ComparisonReport<'_> {
    fn text(&self, style: Style) -> String {
        let most = if self.full { usize::MAX } else { ROWS_ON_A_SCREEN };
        plain::render(&self.document_of(most), style.width)
    }

    fn json(&self) -> String {
        data::pretty(self.first, &self.others, self.atlas, None)
    }
}

impl Subject for ComparisonReport<'_> {
    fn rows(&self) -> String {
        data::rows(self.first, &self.others, self.atlas)
    }

    fn document(&self) -> Document {
        let mut document = self.document_of(usize::MAX);
        for (place, (side, comparison)) in self.others.iter().enumerate() {
            document.sections.extend(overview::curves([&self.first.name, &side.name], comparison, place));
        }
        document
    }

    fn synopsis(&self) -> Document {
        self.document_of(ROWS_ON_A_SCREEN)
    }
}
