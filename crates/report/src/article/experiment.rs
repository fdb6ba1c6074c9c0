//! The section of one experiment. In the paper its four parts: question and method, prediction, result, analysis. In its appendix:
//! the whole method, every prediction, all results, evidence, limits.

use super::main_rows::MainRows;
use super::method::paragraphs;
use super::sections::{listed, section_of};
use super::works::cited;
use super::{analysis, clauses, evidence, operations, prediction, results, shared_ending};
use crate::figure::{self, DrawnFigure, Figures};
use crate::paper::{Block, Figure, Key, Section, Table, Text, Tone};
use crate::summary::{self, Unmeasured};
use crate::words::plural;
use crate::{cpu_distance, drift, finding, lost, run, verdict};
use fathom_core::experiment::{Finding, Question};
use fathom_core::quantity::Unit;
use fathom_engine::record::{Excerpt, Method};
use fathom_engine::results::{PointResult, Results};

/// The number of missed predictions explained in the paper; the appendix has all.
const MOST_MISSED: usize = 1;

/// The most words of findings in the paper, about a quarter of a page; the rest is in the appendix.
const MOST_WORDS: usize = 145;

/// The section of the experiment at this position in the plan.
pub(super) fn of(results: &Results, name: &str, place: usize) -> Section {
    let key = section_of(name, place);
    let points: Vec<&PointResult> = results.of_experiment(name).collect();
    let recorded = results.method(name);
    let method = recorded.as_deref();
    let question = method.map_or(UNKNOWN, |method| &method.question);
    let without = summary::unmeasured(points.iter().copied());
    let tables = results::tables(&points, &key);
    let few = MainRows::of(results, name);
    let Figures { main, others } = figure::of_experiment(results, name, &few.points());
    // The table below the figure names the table of its data.
    let drawn = |(place, drawn): (usize, DrawnFigure)| {
        numbered(name, key.within(&format!("main-figure-{}", place + 1)), drawn, &[])
    };
    let main = main.into_iter().enumerate().map(drawn).map(Block::from).collect::<Vec<_>>();
    let all: Vec<&Key> = tables.iter().map(|(_, table)| &table.key).collect();
    let others = others
        .into_iter()
        .enumerate()
        .map(|(place, drawn)| numbered(name, key.within(&format!("figure-{}", place + 1)), drawn, &tables));
    let (few_findings, more_findings) = findings(results, name);
    let (missed, more_missed) = missed(results, name);
    let (standing, folded_standing) = standing(&points, &without);
    let drawings = others.map(Block::from).collect();
    let planned: Vec<&PointResult> =
        verdict::planned_points(results).into_iter().filter(|point| point.experiment == name).collect();
    let absent = lost::of_experiment(&points).into_iter().chain(lost::without_time(&planned));
    Section::new(key.clone(), Text::code(name))
        .with(Block::Question(Text::prose(question)))
        .with_all(method.map(method_in_brief))
        .with_all(predicted(results, &few, &points))
        .with_all(main)
        .with_all(few.table(name, key.within("main"), &all).map(Block::from))
        .with_all(few.modes().map(|text| Block::Paragraph(Text::prose(&text))))
        .with_all(analysis::lead(results, &points).map(|text| part_of("Analysis", text)))
        .with_all(few_findings)
        .with_all(drift::of_experiment(&points).map(|text| Block::Paragraph(text.into())))
        .with_all(missed)
        .with_all(absent.map(|text| Block::Aside(Tone::Faint, text.into())))
        .with_all(standing)
        .with_all(evidence::failing(&points))
        .with(Block::Folded {
            summary: "Method, prediction, all results, evidence and limits".into(),
            appendix: true,
            open: false,
            blocks: headed([
                ("Method", self::method(method, points.first().copied())),
                ("Prediction", prediction::blocks(results, &points, &key)),
                (
                    "Results",
                    folded_standing
                        .into_iter()
                        .chain(shown(drawings, tables, trends(results, name), &without))
                        .collect(),
                ),
                ("What else the results say", more_findings),
                ("Why predictions missed", more_missed),
                ("Evidence", evidence::blocks(&points, &key)),
                ("Limits", method.map(limits).unwrap_or_default()),
            ]),
        })
}

/// Parts with their headings; empty parts have none.
fn headed<const PARTS: usize>(parts: [(&str, Vec<Block>); PARTS]) -> Vec<Block> {
    let written = parts.into_iter().filter(|(_, blocks)| !blocks.is_empty());
    written
        .flat_map(|(heading, blocks)| std::iter::once(Block::Heading(heading.to_owned())).chain(blocks))
        .collect()
}

const UNKNOWN: &str =
    "Neither this program nor the run file describes the method that measured these figures.";

/// How the first was predicted, and how many are not, because their inputs were measured at another distance of the CPUs.
fn predicted(results: &Results, few: &MainRows, points: &[&PointResult]) -> Option<Block> {
    let parts = [
        prediction::in_brief(results, &few.points(), points),
        cpu_distance::withdrawn(points).map(Text::from),
    ];
    let parts: Vec<Text> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| part_of("Prediction", Text::joined(parts, " ")))
}

/// A part of the section, after its name.
fn part_of(name: &str, text: Text) -> Block {
    Block::Paragraph(Text::strong(format!("{name}.")).and(" ").and(text))
}

/// The most words of the method in the paper: two or three sentences; the appendix has all.
const METHOD_WORDS: usize = 30;

/// The operation, the first sentences of the method, and the function that is timed.
fn method_in_brief(method: &Method) -> Block {
    let mut text = Text::prose(&format!("One operation is {}. ", method.operation));
    text = text.and(cited(&sentences(&method.text, METHOD_WORDS)));
    if let Some(timed) = &method.timed {
        text = text.and(" The appendix lists the code that is timed: ");
        if let Some(name) = name_of(&timed.text) {
            text = text.and(Text::code(name)).and(", ");
        }
        text = text.and(Text::prose(&timed.of)).and(".");
    }
    part_of("Method", text)
}

/// The name of the function that an excerpt begins with; a macro or a text for the assembler has none that says something.
fn name_of(excerpt: &str) -> Option<&str> {
    let (_, rest) = excerpt.lines().next()?.split_once("fn ")?;
    rest.split(['(', '<']).next()
}

/// The first sentences of a text, until they have this many words.
fn sentences(text: &str, words: usize) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let mut end = 0;
    for sentence in paragraph.split_inclusive(". ") {
        end += sentence.len();
        if paragraph[..end].split_whitespace().count() >= words {
            break;
        }
    }
    paragraph[..end].trim_end().to_owned()
}

/// The method of the measurement, if it is known, and its version; with this program's version if that differs.
fn method(method: Option<&Method>, first: Option<&PointResult>) -> Vec<Block> {
    let text = method.into_iter().flat_map(|method| paragraphs(&method.text));
    let version = first.map(|point| {
        let mut version = format!("Method version {}.", point.method_version);
        if let (Err(other), Some(_)) = (point.method(), method) {
            version += &format!(" The description is from the run file: {other}.");
        }
        Block::Aside(Tone::Faint, version.into())
    });
    let timed = method.and_then(|method| method.timed.as_ref()).map(excerpt);
    text.map(Block::Paragraph).chain(timed).chain(version).collect()
}

fn excerpt(timed: &Excerpt) -> Block {
    Block::Folded {
        summary: Text::plain("The source code of what is timed: ").and(Text::prose(&timed.of)),
        appendix: false,
        open: false,
        blocks: vec![Block::Listing(timed.text.clone())],
    }
}

/// A figure with its number and a reference to its data.
fn numbered(name: &str, key: Key, drawn: DrawnFigure, tables: &[(Unit, Table)]) -> Figure {
    let data = tables.iter().find(|(unit, _)| *unit == drawn.unit).map(|(_, table)| table.key.clone());
    Figure {
        key,
        caption: Text::code(name).and(": ").and(drawn.caption),
        data,
        drawing: drawn.svg,
        otherwise: drawn.otherwise,
        spread: drawn.spread,
    }
}

/// The other figures, the tables of all figures' data, the lines through sweeps, and the points without a value.
fn shown(
    figures: Vec<Block>,
    tables: Vec<(Unit, Table)>,
    trends: Vec<Text>,
    without: &[Unmeasured],
) -> Vec<Block> {
    let tables = tables.into_iter().map(|(_, table)| Block::from(table));
    let of_trends = "Least-squares fits in every round, with 95 % intervals over rounds:";
    figures
        .into_iter()
        .chain(tables)
        .chain(listed(of_trends, trends))
        .chain(listed("Without a value:", operations::items_without_value(without)))
        .collect()
}

/// The findings: for the paper each of them for which there is still room, and the rest for the appendix. The first stands there however
/// long it is, and so does what answers a part of the question. Levels are found on several curves, and all of them are the answer: together they leave half of the room to the others.
fn findings(results: &Results, name: &str) -> (Vec<Block>, Vec<Block>) {
    let all = results.findings_of(name).iter().filter(|finding| !finding.is_miss());
    // What is published of the operation stands beside its result, however much else is to be said.
    let (beside, mine): (Vec<&Finding>, Vec<_>) =
        all.partition(|finding| finding.question == Question::Prediction);
    let of_clauses = clauses::findings(results, name);
    let is_answer = |finding: &&Finding| {
        let is_of_levels =
            |first: &&Finding| first.question == Question::Caches && first.template() == finding.template();
        mine.first().is_some_and(|first| first == finding || is_of_levels(first))
            || of_clauses.contains(finding)
    };
    let (answer, others): (Vec<&Finding>, Vec<&Finding>) = mine.iter().copied().partition(is_answer);
    let (mut few, mut more): (Vec<String>, Vec<String>) =
        (answer.into_iter().map(sentence).collect(), vec![]);
    let words_of = |text: &String| text.split_whitespace().count();
    let all = few.iter().map(words_of).sum::<usize>();
    let mut words = if few.len() > 1 { all.min(MOST_WORDS / 2) } else { all };
    for text in others.into_iter().map(sentence) {
        let long = words_of(&text);
        if words + long <= MOST_WORDS {
            words += long;
            few.push(text);
        } else {
            more.push(text);
        }
    }
    let mut beside = beside.into_iter().map(sentence);
    few.extend(beside.next());
    (list_of(&few, clauses::others(results, name)), list_of(&beside.chain(more).collect::<Vec<_>>(), vec![]))
}

/// A list of sentences, with the explanation of marks in them, and of others behind them. What all of them end with, as the state of the core that
/// their values are of, stands once before them.
fn list_of(sentences: &[String], others: Vec<Text>) -> Vec<Block> {
    let approximate = sentences.iter().any(|sentence| sentence.contains('~'));
    let note = approximate.then(|| Block::Aside(Tone::Faint, finding::APPROXIMATE.into()));
    // What stands before a list is of all of it.
    let once = shared_ending::of(sentences).filter(|_| others.is_empty());
    let (lead, sentences) =
        once.map_or_else(|| (None, sentences.to_vec()), |(lead, rest)| (Some(lead), rest));
    let all: Vec<Text> = sentences.iter().map(|sentence| cited(sentence)).chain(others).collect();
    let lead = lead.map(|text| Block::Paragraph(text.into()));
    let list = (!all.is_empty()).then_some(Block::List(all));
    lead.into_iter().chain(list).chain(note).collect()
}

fn sentence(finding: &Finding) -> String {
    finding::text(&finding.statement)
}

/// What leads the list of misses: not all of them are certain.
const FAR: &str = "Further than a factor of two from the prediction";

/// The reasons for missed predictions: the first few for the paper, and all of them for the appendix if there are more.
fn missed(results: &Results, name: &str) -> (Vec<Block>, Vec<Block>) {
    let misses = results.findings_of(name).iter().filter(|finding| finding.is_miss());
    let all: Vec<Text> = misses.map(|miss| Text::prose(&sentence(miss))).collect();
    let few: Vec<Text> = all.iter().take(MOST_MISSED).cloned().collect();
    let more = all.len() - few.len();
    let lead = match more {
        0 => format!("{FAR}:"),
        _ => format!(
            "{FAR} ({} of {} kinds; first what missed for certain, the furthest by the end of its interval that is nearest to the prediction before the others):",
            few.len(),
            all.len()
        ),
    };
    (listed(&lead, few), if more == 0 { vec![] } else { vec![Block::List(all)] })
}

fn trends(results: &Results, name: &str) -> Vec<Text> {
    let mine = results.trends.iter().filter(|trend| trend.experiment == name);
    mine.map(|trend| {
        let (label, text) = (run::trend_label(trend), run::trend(trend));
        if label.is_empty() { text.into() } else { Text::strong(label).and(format!(": {text}")) }
    })
    .collect()
}

/// The beginning of the reason of a point that only longer runs measure.
const BY_QUICK: &str = "left out by --quick";

/// The number of points with a figure, the reasons of the others, and the share of the evidence that holds.
/// In the paper only where something failed or nothing was measured, otherwise in the appendix.
fn standing(points: &[&PointResult], without: &[Unmeasured]) -> (Option<Block>, Option<Block>) {
    let is_notable =
        without.iter().any(|group| group.failure) || !points.iter().any(|point| summary::is_in_table(point));
    let block = standing_of(points, without);
    if is_notable { (Some(block), None) } else { (None, Some(block)) }
}

fn standing_of(points: &[&PointResult], without: &[Unmeasured]) -> Block {
    if without.iter().all(|group| group.reason.starts_with(BY_QUICK) && group.points.len() == points.len())
        && !without.is_empty()
    {
        return Block::Aside(Tone::Faint, Text::plain("Not measured by --quick."));
    }
    let shown = points.iter().filter(|point| summary::is_in_table(point)).count();
    let mut text = Text::plain(valued(shown, points.len()));
    if let Some(reasons) = operations::reasons_without_value(without) {
        text = text.and("Without one: ").and(reasons).and(" ");
    }
    if let Some(evidence) = evidence::judged(points) {
        text = text.and(evidence);
    }
    Block::Aside(Tone::Faint, text)
}

/// How many points have a value, in a sentence.
fn valued(shown: usize, all: usize) -> String {
    match (shown, all) {
        (0, 1) => "The only point has no value. ".to_owned(),
        (1, 1) => "The only point has a value. ".to_owned(),
        (0, all) => format!("None of the {} has a value. ", plural(all, "point")),
        (shown, all) if shown == all => format!("All {} have a value. ", plural(all, "point")),
        (1, all) => format!("1 of {} has a value. ", plural(all, "point")),
        (shown, all) => format!("{shown} of {} have a value. ", plural(all, "point")),
    }
}

fn limits(method: &Method) -> Vec<Block> {
    paragraphs(&method.caveats).map(|paragraph| Block::Aside(Tone::Careful, paragraph)).collect()
}
