//! What was asked, of which machine, and where the answers are: the introduction, made of facts of the run.

use super::quotable;
use super::sections::{has_section, linked, title};
use super::works::cited;
use crate::cpu_distance;
use crate::finding;
use crate::main_figures::{self, FigureSource, Main, Ranked};
use crate::occupancy;
use crate::paper::{Key, Section, Text};
use crate::precision::USEFUL;
use crate::run;
use crate::words::{self, ABSENT, plural};
use fathom_core::experiment::{Found, family};
use fathom_core::quantities::{self, Measure};
use fathom_core::statistics::Estimate;
use fathom_engine::results::{CpuDistance, MechanismKind, PointResult, Results, distance};

pub(super) fn of(results: &Results) -> Section {
    let header = &results.run.header;
    let questions = format!(
        "What do the operations of an operating system cost on this machine, what should they cost, and why do they differ? {} \
         ask it of {}.",
        plural(measured(results).count(), "experiment"),
        chapters(results)
    );
    let machine = format!(
        "The machine is {}. It was measured at {} by {} {} ({}), pinned to CPU {}, with nothing of it changed.",
        run::machine_in_full(&header.machine),
        header.started,
        header.tool.name,
        header.tool.version,
        header.tool.compiler.as_deref().unwrap_or("compiler not recorded"),
        header.settings.home
    );
    let section = Section::new(Key::of("introduction"), "Introduction")
        .say(format!("{questions} {machine}{}", main_results(&main_figures::all(results))));
    let neighbour = occupancy::share_of_time(results).map(|text| Text::plain(text + OF_WHICH_STATE));
    let moved = cpu_distance::moved(results).map(Text::plain);
    let sentences = [
        Some(predicted(results)),
        why(results),
        neighbour,
        moved,
        most_moved(results),
        quotable::count(results),
        Some(places(results)),
    ];
    section.say(Text::joined(sentences.into_iter().flatten(), " "))
}

/// Of each chapter the main figure that is furthest from its prediction, of those that are known well, with its interval and what was
/// predicted. Empty if there are none.
fn main_results(all: &[Ranked]) -> String {
    let is_known = |figure: &&Ranked| figure.main.reach_of_all().is_some_and(|reach| reach <= USEFUL);
    let mut furthest: Vec<(&Ranked, f64)> = vec![];
    for figure in all.iter().filter(is_known) {
        let FigureSource::Point(point) = figure.main.source else { continue };
        let Some(distance) = point.factor().map(distance) else { continue };
        match furthest.iter_mut().find(|(other, _)| other.family() == figure.family()) {
            Some(nearer) if nearer.1 < distance => *nearer = (figure, distance),
            Some(_) => {}
            None => furthest.push((figure, distance)),
        }
    }
    let named: Vec<String> = furthest.into_iter().map(|(figure, _)| result(&figure.main)).collect();
    if named.is_empty() {
        return String::new();
    }
    format!(
        " Furthest from what was predicted, of each chapter's main figures that are known well: {}.",
        named.join("; ")
    )
}

/// A figure with its interval, and as a multiple of its prediction.
fn result(main: &Main) -> String {
    let written = main.written();
    let factor = match written.factor.as_str() {
        ABSENT => String::new(),
        factor => format!(", {factor} of what was predicted"),
    };
    format!("{}, {} ({}){factor}", main.reader_label(), written.median, written.interval)
}

/// How the state of the core is told.
const OF_WHICH_STATE: &str = " Figures of short work are of the core alone where it was alone often enough.";

/// The operation on both CPUs that their distance changes the most, of those for which that is certain; `None` if there is none.
fn most_moved(results: &Results) -> Option<Text> {
    let changed = |point: &'_ PointResult| {
        let values = point.near_and_far()?.map(|(_, estimate)| Found::of(estimate, point.unit));
        let [near, far] = values;
        let (low, high) = far.over(near).ends()?;
        let least = if low > 1.0 { low } else { 1.0 / high };
        (least > 1.0).then_some(least)
    };
    // What the distance is told by differs with it by definition.
    let others = results.points.iter().filter(|point| point.experiment != "cpu/core_to_core");
    let all = others.filter_map(|point| Some((point, changed(point)?)));
    let (point, _) = all.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let at = |(at, estimate): (&CpuDistance, &Estimate)| {
        format!(
            "{} at {}",
            words::with_interval(Measure::of(point.unit, estimate.value), estimate),
            cpu_distance::line(at)
        )
    };
    let [near, far] = point.near_and_far()?.map(at);
    let text = Text::plain("That changes work on both, the most for certain ")
        .and(linked(results, &point.experiment))
        .and(format!(", {}: {near}, {far} (", words::short_label(point, &point.point)))
        .and(Text::to(&Key::of("distance")))
        .and(").");
    Some(text)
}

/// The experiments with a value.
fn measured<'run>(results: &'run Results) -> impl Iterator<Item = &'run str> {
    results.experiments().into_iter().filter(|name| has_section(results, name))
}

/// The chapters with the number of their experiments: "processor and services (12), memory (11) and file system (6)".
fn chapters(results: &Results) -> String {
    let mut counted: Vec<(&str, usize)> = vec![];
    for name in measured(results) {
        match counted.iter_mut().find(|(of, _)| *of == family(name)) {
            Some((_, number)) => *number += 1,
            None => counted.push((family(name), 1)),
        }
    }
    let named = |(family, number): &(&str, usize)| format!("{} ({number})", title(family).to_lowercase());
    counted.iter().map(named).collect::<Vec<_>>().join(", ")
}

fn predicted(results: &Results) -> Text {
    let estimates = || results.points.iter().filter_map(|point| point.estimate());
    let values = estimates().count();
    let with_interval = estimates().filter(|estimate| estimate.interval.is_some()).count();
    let intervals = if with_interval == values {
        "with its interval".to_owned()
    } else {
        format!("{} of them with an interval", quantities::count(with_interval))
    };
    let cost = results.accuracy.total.as_ref().map_or(String::new(), |total| {
        format!(
            " {} of them were predicted, each before its own first trial, and {} of these came within a factor of two.",
            quantities::count(total.judged),
            quantities::percent(total.fair.share)
        )
    });
    Text::plain(format!(
        "The run gave {}, each a median of fresh processes, {intervals}.{cost}",
        plural(values, "value")
    ))
}

/// The number of causes that the introduction names.
const CAUSES: usize = 2;

/// Why operations cost what they do: the first causes that the run found, the others in their section; `None` without any.
fn why(results: &Results) -> Option<Text> {
    let effects = || results.mechanisms.iter().filter(|one| one.kind == MechanismKind::Effect);
    let first: Vec<Text> = effects().take(CAUSES).map(|one| cited(&finding::text(&one.headline))).collect();
    let more = match effects().count() - first.len() {
        0 => Text::plain(""),
        more => Text::plain(format!(" {} more stand in ", quantities::count(more)))
            .and(Text::to(&Key::of("mechanisms")))
            .and("."),
    };
    (!first.is_empty()).then(|| Text::plain("Causes that it found: ").and(Text::joined(first, " ")).and(more))
}

/// Where what is.
fn places(results: &Results) -> Text {
    let to = |name: &str| Text::to(&Key::of(name));
    let text = to("machine")
        .and(" describes the machine, ")
        .and(to("method"))
        .and(" the method that all experiments share; then each experiment has its question and method, its prediction, its result and \
              its analysis. ");
    let text = if super::one_page::operations(results).is_empty() {
        text
    } else {
        text.and(to("one-page")).and(" has the operations of the published reports on a page, ")
    };
    text.and(to("conclusion")).and(" what this machine is good and bad at.")
}
