//! Everything that stands in the page, put together and numbered: tables, figures and sections get their numbers here
//! and nowhere else, so that no caption can stand under another's table (R-FIX-49).

use super::experiment::{self, Section, Without};
use super::references::References;
use crate::machine::Warning;
use crate::report::description::{self, Row};
use crate::report::quantities;
use crate::report::run::{self, Precision};
use crate::report::summary;
use crate::report::words;
use crate::results::{Outcome, PointResult, Results};
use serde::Serialize;

/// How many tables and figures there are so far.
#[derive(Default)]
pub(super) struct Numbers {
    pub tables: usize,
    pub figures: usize,
}

/// The whole page.
#[derive(Serialize)]
pub(super) struct Page {
    pub machine: String,
    pub started: String,
    pub lead: Vec<Key>,
    pub overview: Vec<Overview>,
    pub facts: Vec<Facts>,
    pub warnings: Vec<Warning>,
    pub disturbances: Vec<String>,
    pub method: Vec<String>,
    pub summary: Summary,
    pub experiments: Vec<Section>,
    pub without: Vec<Without>,
    pub doubts: Vec<Doubt>,
    pub settings: Settings,
    pub references: Vec<String>,
}

/// A figure of the overview.
#[derive(Serialize)]
pub(super) struct Key {
    pub value: String,
    pub meaning: String,
}

/// What an experiment says, with where it says it.
#[derive(Serialize)]
pub(super) struct Overview {
    pub number: String,
    pub anchor: String,
    pub name: String,
    pub sentence: String,
}

/// A table of the machine.
#[derive(Serialize)]
pub(super) struct Facts {
    pub number: usize,
    pub title: String,
    pub rows: Vec<Row>,
}

/// The summary table.
#[derive(Serialize)]
pub(super) struct Summary {
    pub number: usize,
    pub groups: Vec<Group>,
}

#[derive(Serialize)]
pub(super) struct Group {
    pub name: String,
    pub anchor: String,
    pub placement: Option<&'static str>,
    pub rows: Vec<Operation>,
}

#[derive(Serialize)]
pub(super) struct Operation {
    pub parameters: String,
    /// Predictions and medians with their units.
    pub cells: [String; 6],
    pub evidence: &'static str,
}

#[derive(Serialize)]
pub(super) struct Doubt {
    pub experiment: String,
    pub sentence: String,
}

#[derive(Serialize)]
pub(super) struct Settings {
    pub number: usize,
    pub rows: Vec<(&'static str, String)>,
    pub command: String,
}

impl Page {
    /// Of a run.
    pub(super) fn of(results: &Results) -> Self {
        let header = &results.run.header;
        let (mut numbers, mut references) = (Numbers::default(), References::default());
        let facts = facts(results, &mut numbers);
        let summary = summary(results, &mut numbers);
        let names = results.experiments().into_iter().enumerate();
        let experiments: Vec<Section> = names
            .map(|(index, name)| Section::of(results, name, index + 1, &mut numbers, &mut references))
            .collect();
        numbers.tables += 1;
        Page {
            machine: run::machine(&header.machine),
            started: header.started.clone(),
            lead: lead(results),
            overview: overview(&experiments),
            facts,
            warnings: header.machine.warnings(),
            disturbances: run::disturbances(results),
            method: method(results),
            summary,
            without: experiment::without(results, None),
            doubts: doubts(results),
            settings: settings(results, numbers.tables),
            experiments,
            references: references.list(),
        }
    }
}

fn lead(results: &Results) -> Vec<Key> {
    let points = &results.points;
    let count = |of: &dyn Fn(&Outcome) -> bool| points.iter().filter(|point| of(&point.outcome)).count();
    let values = count(&|outcome| *outcome == Outcome::Value);
    let below = count(&|outcome| matches!(outcome, Outcome::BelowResolution { .. }));
    let skipped = count(&|outcome| matches!(outcome, Outcome::Skipped { .. }));
    let judged = points.iter().filter(|point| !point.evidence.is_empty());
    let holding = judged.clone().filter(|point| point.evidence_holds()).count();
    let precision = Precision::of(results);
    let key = |value: String, meaning: String| Key { value, meaning };
    let mut lead = vec![
        key(
            format!("{values} of {}", quantities::count(points.len())),
            format!(
                "points have a value; {below} below resolution, {skipped} skipped, {} failed",
                results.failures()
            ),
        ),
        key(
            format!("{holding} of {}", judged.count()),
            "points with evidence: all of it holds, the operation was the one named".to_owned(),
        ),
        key(
            format!("{} of {}", precision.reached, precision.values),
            format!("values as precise as wished, {} or better", quantities::plus_minus(precision.wished)),
        ),
    ];
    lead.extend(factors(results));
    lead
}

/// How far the predictions were off: the two ends, named.
fn factors(results: &Results) -> Option<Key> {
    let mut factors: Vec<f64> = results.points.iter().filter_map(PointResult::factor).collect();
    factors.sort_unstable_by(f64::total_cmp);
    let (lowest, highest) = (*factors.first()?, *factors.last()?);
    Some(Key {
        value: format!("{} to {}", quantities::factor(lowest), quantities::factor(highest)),
        meaning: "what was measured over what was predicted, lowest and highest".to_owned(),
    })
}

/// The first finding of each experiment.
fn overview(experiments: &[Section]) -> Vec<Overview> {
    let entry = |section: &Section| Overview {
        number: section.number.clone(),
        anchor: section.anchor.clone(),
        name: section.name.clone(),
        sentence: section.findings.first().cloned().unwrap_or_else(|| section.question.clone()),
    };
    experiments.iter().map(entry).collect()
}

fn facts(results: &Results, numbers: &mut Numbers) -> Vec<Facts> {
    let header = &results.run.header;
    let peer = header.peer.as_deref().map(description::of_peer).unwrap_or_default();
    let sections = description::sections(&header.machine).into_iter().chain(peer);
    let numbered = |section: description::Section| {
        numbers.tables += 1;
        Facts { number: numbers.tables, title: section.title, rows: section.rows }
    };
    sections.filter(|section| !section.rows.is_empty()).map(numbered).collect()
}

fn method(results: &Results) -> Vec<String> {
    let header = &results.run.header;
    let mut said = vec![
        run::clock(&header.clock),
        format!(
            "Every trial is a fresh process that observes for {} (in the first round; later ones by what is left of the \
             time), with random environment, stack and buffer offsets. Points are visited in rounds: the first in the \
             order of this report, because predictions stand on what was found before, the others in an order shuffled \
             anew each time. Small operations are timed in batches, large ones \
             one by one; where an operation has a baseline, the same work without it runs interleaved in the same trial \
             and is subtracted.",
            quantities::value(crate::quantity::Unit::Nanoseconds, header.settings.trial_ns as f64)
        ),
        "The figure of a point is the median over its trials, of which there must be six for a 95 % interval: it holds \
         every value for which Student's test over trials does not reject that half of a trial lies below it, and is never \
         narrower than the clock allows. “Best observed” is the smallest observation and never that of a difference. No \
         observation is removed: outliers and more than one mode are noted. Percentiles appear where the sample is large \
         enough for them. A difference that its interval does not tell from zero is “below resolution”, with its upper \
         limit."
            .to_owned(),
        format!(
            "What each operation should cost was written to the run file before it was measured: base hardware plus \
             software overhead, term by term. All randomness comes from the seed {}; the same run file gives this page \
             byte for byte.",
            header.settings.seed
        ),
        run::ending(results) + " " + &Precision::of(results).sentence(),
    ];
    said.extend(run::peer(header));
    said
}

fn summary(results: &Results, numbers: &mut Numbers) -> Summary {
    numbers.tables += 1;
    let names = results.experiments();
    let place = |name: &str| names.iter().position(|known| *known == name).map_or(0, |index| index + 1);
    let group = |group: summary::Group| Group {
        name: group.experiment.to_owned(),
        anchor: experiment::anchor(place(group.experiment)),
        placement: group.placement,
        rows: group.rows.into_iter().map(operation).collect(),
    };
    Summary { number: numbers.tables, groups: summary::groups(results).into_iter().map(group).collect() }
}

fn operation(row: summary::Row) -> Operation {
    Operation {
        parameters: row.operation,
        cells: [row.hardware, row.software, row.predicted, row.measured, row.interval, row.factor],
        evidence: row.evidence,
    }
}

fn doubts(results: &Results) -> Vec<Doubt> {
    let doubts = run::doubts(results).into_iter();
    doubts
        .map(|doubt| Doubt { experiment: doubt.experiment.to_owned(), sentence: doubt.sentence() })
        .collect()
}

fn settings(results: &Results, number: usize) -> Settings {
    let header = &results.run.header;
    let (asked, tool) = (&header.settings, &header.tool);
    let selection =
        if asked.selection.is_empty() { "everything".to_owned() } else { asked.selection.join(" ") };
    let partner = asked.partner.map_or("none: there is one CPU only".to_owned(), |cpu| cpu.to_string());
    let mut rows = vec![
        ("Selection", selection),
        ("Effort", words::effort(asked.effort).to_owned()),
        ("Budget", quantities::duration(asked.budget_s)),
        ("Wished precision", quantities::plus_minus(asked.precision)),
        ("Seed", asked.seed.to_string()),
        ("A trial observes for", quantities::duration(asked.trial_ns as f64 / 1e9)),
        ("CPU of pinned work", asked.home.to_string()),
        ("CPU of the other side", partner),
        ("Folder for files", asked.folder.clone()),
        ("Program", format!("{} {}, {} build for {}", tool.name, tool.version, tool.build, tool.target)),
        ("SHA-256 of the binary", tool.binary_sha256.clone()),
        ("Schema of the run file", header.schema.to_string()),
    ];
    for resumed in &results.run.resumed {
        rows.push((
            "Taken up again",
            format!("{}, for {}", resumed.at, quantities::duration(resumed.budget_s)),
        ));
    }
    Settings { number, rows, command: command(results) }
}

/// What to type to repeat the run.
fn command(results: &Results) -> String {
    let asked = &results.run.header.settings;
    let effort = match asked.effort {
        crate::experiment::Effort::Quick => Some("--quick"),
        crate::experiment::Effort::Standard => None,
        crate::experiment::Effort::Thorough => Some("--thorough"),
    };
    let mut words = vec!["fathom run".to_owned()];
    words.extend(asked.selection.iter().map(|name| format!("'{}'", name.replace('\'', "'\\''"))));
    words.extend(effort.map(str::to_owned));
    words.push(format!("--seed {}", asked.seed));
    words.join(" ")
}
