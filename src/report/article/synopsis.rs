//! The run on one page: the main figures of every experiment, rounded, those in doubt marked.

use super::beside::{self, Published};
use super::places::{place_of, title};
use super::synopsis_machine;
use crate::report::main_figures::{self, Main, Source};
use crate::report::paper::{Block, Column, Document, Group, Key, Row, Section, Table, Text};
use crate::report::run::{self, Precision};
use crate::report::{quantities, summary, words};
use crate::results::{FAIR, Outcome, PointResult, Results, TrendResult};
use crate::statistics::Interval;
use std::path::Path;

/// The page by itself, with published figures beside those of the run where they were asked for; `files` tells where the
/// run file and the whole report are.
pub fn alone(found: &Results, published: Option<&Published>, files: &[(&str, &Path)]) -> Document {
    let header = &found.run.header;
    let mut document = Document::new(format!("Synopsis: {}", run::machine(&header.machine)));
    document.date.clone_from(&header.started);
    let name = |experiment: &str| Text::code(experiment);
    let section = Section::new(Key::of("synopsis"), "Main figures");
    document.front.push(section.say(overview(found)).with(table(found, &name)).with_all(doubts(found)));
    document.front.extend([synopsis_machine::machine(found), synopsis_machine::whole(files)]);
    document.front.extend(published.map(|published| beside::of(found, published)));
    "Made by Fathom from the run file.".clone_into(&mut document.foot);
    document
}

/// The same as a section of the paper, with links to the sections of the experiments.
pub(super) fn of(found: &Results) -> Section {
    let name = |experiment: &str| Text::link(&place_of(found, experiment), experiment);
    Section::new(Key::of("synopsis"), "Synopsis")
        .say("The main figures of every experiment, rounded; each links to its section.")
        .with(table(found, &name))
        .with_all(doubts(found))
}

fn overview(found: &Results) -> Text {
    let mut said =
        vec![run::ending(found), run::clock(&found.run.header.clock), Precision::of(found).sentence()];
    if let Some(total) = &found.accuracy.total {
        said.push(format!(
            "{} of {} came within a factor of {FAIR} of the prediction made before measuring.",
            quantities::percent(total.fair.share),
            words::plural(total.judged, "predicted value")
        ));
    }
    said.extend(run::peer(&found.run.header));
    Text::prose(&said.join(" "))
}

fn table(found: &Results, name: &dyn Fn(&str) -> Text) -> Table {
    let mut table = Table::new(
        Key::of("synopsis-table"),
        "Medians over trials, half the 95 % interval as a share of the median, and the prediction.",
    )
    .columns([
        Column::words("experiment"),
        Column::words("figure"),
        Column::mixed("measured"),
        Column::number("±", "% of it"),
        Column::mixed("predicted").spare(),
    ]);
    for (family, experiments) in families(found) {
        let rows = experiments.iter().flat_map(|experiment| rows(found, experiment, name));
        table = table.group(Group::named(title(family)).rows(rows));
    }
    table
}

fn families<'a>(found: &'a Results) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut families: Vec<(&str, Vec<&str>)> = vec![];
    for experiment in found.experiments() {
        let family = experiment.split('/').next().unwrap_or_default();
        match families.iter_mut().find(|(name, _)| *name == family) {
            Some((_, members)) => members.push(experiment),
            None => families.push((family, vec![experiment])),
        }
    }
    families
}

/// A row for each main figure that there is; one that says why, where there is none.
fn rows(found: &Results, name: &str, shown: &dyn Fn(&str) -> Text) -> Vec<Row> {
    let row = |main: Main| match main.source {
        Source::Point(point) => of_point(shown(name), &main.words, point),
        Source::Slope(trend) => sloping(shown(name), &main.words, trend),
    };
    let rows: Vec<Row> = main_figures::of(found, name).into_iter().map(row).collect();
    if rows.is_empty() { vec![without(found, name, shown(name))] } else { rows }
}

fn of_point(name: Text, words: &str, point: &PointResult) -> Row {
    let measured = match &point.outcome {
        Outcome::Value(found) => quantities::rounded(point.unit, found.value, quantities::ends(found)),
        Outcome::BelowResolution { below, .. } => format!("< {}", quantities::value(point.unit, *below)),
        _ => summary::ABSENT.to_owned(),
    };
    let width = run::half_width(point);
    let predicted =
        point.prediction.as_ref().map(|prediction| quantities::value(point.unit, prediction.total()));
    let mut measured = Text::plain(measured);
    for doubt in doubt(point) {
        measured = measured.noted(doubt);
    }
    Row::of([
        name,
        words.into(),
        measured,
        share(width).into(),
        predicted.unwrap_or(summary::ABSENT.to_owned()).into(),
    ])
}

/// Why a figure is not to be trusted as it stands.
fn doubt(point: &PointResult) -> Vec<String> {
    let fails = point.evidence.checks().iter().find(|check| !check.holds);
    let evidence =
        fails.map(|check| format!("Doubtful. Expected: {}; observed: {}.", check.claim, check.seen));
    let not_judged = point.evidence.not_judged().map(|other| format!("Its evidence is not judged: {other}."));
    let has_interval = point.outcome.observed().is_some_and(|found| found.interval.is_some());
    let interval = (!has_interval).then(|| "No interval: fewer than six trials.".to_owned());
    let modes = (point.modes.len() > 1).then(|| "Has more than one mode.".to_owned());
    evidence.into_iter().chain(not_judged).chain(interval).chain(modes).collect()
}

fn sloping(name: Text, words: &str, trend: &TrendResult) -> Row {
    let interval = trend.slope_interval();
    let ends = interval.map(|interval| (interval.low, interval.high));
    let slope = quantities::rounded(trend.unit, trend.slope(), ends);
    let half = interval.map(|Interval { low, high }| (high - low) / 2.0 / trend.slope().abs());
    let half = half.filter(|half| half.is_finite());
    Row::of([name, words.into(), Text::plain(slope), share(half).into(), summary::ABSENT.into()])
}

fn share(half: Option<f64>) -> String {
    match half {
        None => summary::ABSENT.to_owned(),
        Some(half) if half < 0.001 => "< 0.1".to_owned(),
        Some(half) => quantities::significant(half * 100.0, 2),
    }
}

fn without(found: &Results, name: &str, shown: Text) -> Row {
    let reason = found.of_experiment(name).next().map(words::reason).unwrap_or_default();
    let absent = || Text::from(summary::ABSENT);
    Row::of([shown, "no value".into(), absent().noted(Text::prose(&reason)), absent(), absent()])
}

/// What no single figure is to blame for.
fn doubts(found: &Results) -> Option<Block> {
    let doubtful = found.points.iter().filter(|point| point.evidence.fails()).count();
    let failed = found.failures();
    (doubtful + failed > 0).then(|| {
        Block::Paragraph(
            format!(
                "In the whole run, the evidence of {} fails, and {} failed.",
                words::plural(doubtful, "point"),
                words::plural(failed, "point")
            )
            .into(),
        )
    })
}
