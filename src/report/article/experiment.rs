//! The section of one experiment: question, method, prediction, results, evidence, analysis, limits.

use super::places::section_of;
use super::works::paragraphs;
use super::{evidence, prediction, results, without};
use crate::experiment::Finding;
use crate::quantity::Unit;
use crate::record::{Excerpt, Method};
use crate::report::paper::{Block, Figure, Key, Section, Table, Text, Tone};
use crate::report::{figure, finding, run};
use crate::results::{PointResult, Results};

/// The section of the experiment at this place among all.
pub(super) fn of(found: &Results, name: &str, place: usize) -> Section {
    let key = section_of(place);
    let points: Vec<&PointResult> = found.of_experiment(name).collect();
    let recorded = found.method(name);
    let question = recorded.as_ref().map_or(UNKNOWN, |method| &method.question);
    Section::new(key.clone(), Text::code(name))
        .with(Block::Question(Text::prose(question)))
        .under("Method", method(recorded.as_deref(), points.first().copied()))
        .under("Prediction", prediction::blocks(&points, &key))
        .under("Results", shown(found, name, &points, &key))
        .under("Evidence", evidence::blocks(&points, &key))
        .under("Analysis", analysis(found, name))
        .under("Limits", recorded.as_deref().map(limits).unwrap_or_default())
}

const UNKNOWN: &str =
    "Neither this program nor the run file describes the method that measured these figures.";

/// The method that measured, where it is known; and its version, with that of this program where it is another.
fn method(method: Option<&Method>, first: Option<&PointResult>) -> Vec<Block> {
    let text = method.into_iter().flat_map(|method| {
        let operation = Text::prose(&format!(" is {}.", method.operation));
        std::iter::once(Text::strong("One operation").and(operation)).chain(paragraphs(&method.text))
    });
    let version = first.map(|point| {
        let mut said = format!("Method version {}.", point.method_version);
        if let (Err(other), Some(_)) = (point.method(), method) {
            said += &format!(" The description is from the run file: {other}.");
        }
        Block::Aside(Tone::Faint, said.into())
    });
    let timed = method.and_then(|method| method.timed.as_ref()).map(excerpt);
    text.map(Block::Paragraph).chain(timed).chain(version).collect()
}

fn excerpt(timed: &Excerpt) -> Block {
    Block::Folded {
        summary: Text::plain("The source code of what is timed: ").and(Text::prose(&timed.of)),
        long: false,
        open: false,
        blocks: vec![Block::Listing(timed.text.clone())],
    }
}

/// Figures, then the tables that they are drawn from, then what has no value.
fn shown(found: &Results, name: &str, points: &[&PointResult], key: &Key) -> Vec<Block> {
    let tables = results::tables(points, key);
    let figures = figures(found, name, key, &tables);
    let mut blocks = vec![];
    if !tables.is_empty() {
        blocks.push(Block::Paragraph(pointer(&tables, &figures)));
    }
    blocks.extend(figures.into_iter().map(Block::from));
    blocks.extend(tables.into_iter().map(|(_, table)| Block::from(table)));
    let missing = without::items(found, Some(name));
    if !missing.is_empty() {
        blocks.push(Block::Paragraph("Without a value:".into()));
        blocks.push(Block::List(missing));
    }
    blocks
}

/// "Table 3 and Figure 2 show what was found."
fn pointer(tables: &[(Unit, Table)], figures: &[Figure]) -> Text {
    let all = |keys: Vec<&Key>| Text::joined(keys.into_iter().map(Text::to), ", ");
    let of_tables = all(tables.iter().map(|(_, table)| &table.key).collect());
    if figures.is_empty() {
        let verb = if tables.len() > 1 { " have" } else { " has" };
        return of_tables.and(verb).and(" what was found.");
    }
    let drawn = all(figures.iter().map(|figure| &figure.key).collect());
    let verb = if figures.len() > 1 { " show" } else { " shows" };
    drawn.and(verb).and(" what was found; the figures are in ").and(of_tables).and(".")
}

fn figures(found: &Results, name: &str, key: &Key, tables: &[(Unit, Table)]) -> Vec<Figure> {
    let data = |unit: Unit| tables.iter().find(|(of, _)| *of == unit).map(|(_, table)| table.key.clone());
    let numbered = |(place, drawn): (usize, figure::Figure)| Figure {
        key: key.within(&format!("figure-{}", place + 1)),
        caption: Text::code(name).and(": ").and(drawn.caption),
        data: data(drawn.unit),
        drawing: drawn.svg,
        otherwise: drawn.otherwise,
        spread: drawn.spread,
    };
    figure::of_experiment(found, name).into_iter().enumerate().map(numbered).collect()
}

/// What the results say, and the lines through the sweeps.
fn analysis(found: &Results, name: &str) -> Vec<Block> {
    let (missed, said): (Vec<&Finding>, Vec<&Finding>) =
        found.findings_of(name).iter().partition(|said| said.is_miss());
    let approximate = said.iter().any(|said| finding::text(&said.statement).contains('~'));
    let texts = |said: Vec<&Finding>| -> Vec<Text> {
        said.into_iter().map(|said| Text::prose(&finding::text(&said.statement))).collect()
    };
    let (missed, said) = (texts(missed), texts(said));
    let trends: Vec<Text> = found
        .trends
        .iter()
        .filter(|trend| trend.experiment == name)
        .map(|trend| {
            let (label, text) = (run::trend_label(trend), run::trend(trend));
            if label.is_empty() { text.into() } else { Text::strong(label).and(format!(": {text}")) }
        })
        .collect();
    let mut blocks = vec![];
    if !said.is_empty() {
        blocks.push(Block::List(said));
        blocks.extend(approximate.then(|| Block::Aside(Tone::Faint, finding::APPROXIMATE.into())));
    }
    if !missed.is_empty() {
        let lead = "Predictions that missed by more than a factor of two, and why:";
        blocks.push(Block::Paragraph(lead.into()));
        blocks.push(Block::List(missed));
    }
    if !trends.is_empty() {
        blocks.push(Block::Paragraph(
            "Least-squares fits in every round, with 95 % intervals over rounds:".into(),
        ));
        blocks.push(Block::List(trends));
    }
    blocks
}

fn limits(method: &Method) -> Vec<Block> {
    paragraphs(&method.caveats).map(|paragraph| Block::Aside(Tone::Careful, paragraph)).collect()
}
