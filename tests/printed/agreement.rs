//! Rules over what is said of one thing in several places: rows and sentences, trials and medians, lines and their points.

use super::{Findings, rows};
use fathom::experiment::{Dimension, Finding, MainFigure, Statement};
use fathom::quantity::Unit;
use fathom::results::{Explanation, PointResult, Results};
use std::collections::BTreeSet;

/// All rules; `full` is the text of all operations.
pub fn look(results: &Results, full: &str, findings: &mut Findings) {
    for point in &results.points {
        states(point, full, findings);
        ticks(point, results.run.header.clock.ticks_per_second, findings);
    }
    for experiment in results.experiments() {
        let said: Vec<&Statement> = results
            .findings_of(experiment)
            .iter()
            .filter(|of| !of.is_miss())
            .map(|of| &of.statement)
            .collect();
        names(experiment, &main_rows(results, experiment), &said, findings);
        lines(results, experiment, &said, findings);
        misses(results, experiment, findings);
    }
    everything_stands_out(full, findings);
    if results.run.header.machine.processor.microarchitecture.value().is_none() {
        full.lines().for_each(|line| design(line, findings));
    }
}

/// Names of operations are readable on a terminal of usual width: no line of a table is a part of a word.
pub fn room(text: &str, findings: &mut Findings) {
    let is_part = |line: &&str| {
        let mut letters = line.trim().chars();
        letters.next().is_some_and(|letter| letter.is_alphabetic() && letter != 'a')
            && letters.next().is_none()
    };
    let broken = text.lines().find(is_part);
    if let Some(line) = broken {
        findings.add("full text of 100 columns", "a word that is broken", line);
    }
}

/// The design of a core is named as published of it only with the reason, where the machine does not name it; a citation may name it.
pub fn design(line: &str, findings: &mut Findings) {
    if line.contains("Golden Cove") && !line.contains("not named") && !line.contains("since Zen 2") {
        findings.add("full text", "a design that the machine does not name", line);
    }
}

/// Trials that fall into two groups with a gap between them as wide as each, twice over, have a row with two values, never with the
/// median between them.
pub fn states(point: &PointResult, full: &str, findings: &mut Findings) {
    let Some(estimate) = point.estimate() else { return };
    let mut trials: Vec<f64> = point.by_round.iter().map(|(_, median)| *median).collect();
    trials.sort_by(f64::total_cmp);
    if is_between(&trials, estimate.value) && point.mixture.is_none() {
        let place = format!("{} {} of {trials:?}", point.experiment, estimate.value);
        findings.add("full text", "a median that no trial has", &place);
    }
    let Some(mixture) = &point.mixture else { return };
    let printed = |value: f64| {
        let leading = mixture.leading().unwrap_or(estimate.value);
        let measure = fathom::quantities::Measure::of(point.unit, leading);
        rows::plain(full).contains(&rows::plain(&measure.number(value, None)))
    };
    if !mixture.values().into_iter().all(printed) {
        findings.add("full text", "a state without its value", &format!("{} {mixture:?}", point.experiment));
    }
}

/// Whether a median lies between two groups of at least two trials, each closer together than the groups are.
pub fn is_between(ascending: &[f64], median: f64) -> bool {
    let place = ascending.partition_point(|trial| *trial < median);
    if ascending.len() < 6 || place < 2 || ascending.len() - place < 2 || ascending[0] <= 0.0 {
        return false;
    }
    let gap = ascending[place] / ascending[place - 1];
    let within = (ascending[place - 1] / ascending[0]).max(ascending[ascending.len() - 1] / ascending[place]);
    gap > 1.25 && gap > within.powi(3)
}

/// A time that is read in whole ticks has an interval of at least half of one: how the readings are spread over two tells no more.
fn ticks(point: &PointResult, hertz: f64, findings: &mut Findings) {
    let Some(ends) = point.estimate().and_then(fathom::quantities::ends) else { return };
    let observations: Vec<f64> = point.samples.iter().flatten().copied().collect();
    if point.unit == Unit::Nanoseconds && point.baseline.is_none() && is_thinner(&observations, hertz, ends) {
        findings.add(
            "full text",
            "an interval thinner than half a tick",
            &format!("{} {ends:?}", point.experiment),
        );
    }
}

/// Whether an interval of times in whole ticks is thinner than half of one, in nanoseconds.
pub fn is_thinner(observations: &[f64], hertz: f64, (low, high): (f64, f64)) -> bool {
    let tick = 1e9 / hertz;
    let is_whole = |time: &f64| ((time / tick) - (time / tick).round()).abs() < 1e-6 && *time > 0.0;
    !observations.is_empty() && observations.iter().all(is_whole) && high - low < 0.49 * tick
}

/// A row by the words of its name.
pub type NamedRow = (BTreeSet<String>, f64);

/// The main rows of an experiment.
fn main_rows(results: &Results, experiment: &str) -> Vec<NamedRow> {
    let Some(method) = results.experiment(experiment) else { return vec![] };
    let shown = method.about().shown;
    let landmarks = (shown.landmarks)(&results.run.header.machine);
    let value = |figure: &MainFigure| {
        if figure.slope {
            let trends = || results.trends.iter().filter(|of| of.experiment == experiment && of.is_line());
            let group = figure.choose(trends().map(|trend| &trend.group), &landmarks)?;
            return Some(trends().find(|trend| trend.group == *group)?.slope());
        }
        let measured = || results.of_experiment(experiment).filter(|point| point.estimate().is_some());
        let of = |place: &fathom::experiment::Point| measured().find(|point| point.point == *place);
        let worth = |place: &_| of(place).and_then(PointResult::worth);
        Some(
            of(figure.choose_best(measured().map(|point| &point.point), &landmarks, worth).first()?)?
                .estimate()?
                .value,
        )
    };
    shown.main_figures.iter().filter_map(|figure| Some((words(figure.words), value(figure)?))).collect()
}

/// Words that name nothing.
const LITTLE: &[&str] = &["a", "an", "the", "of", "each", "one", "in", "on", "by", "and", "with", "more"];

pub fn words(name: &str) -> BTreeSet<String> {
    let all = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    all.map(str::to_lowercase).filter(|word| !LITTLE.contains(&word.as_str())).collect()
}

/// A figure quoted in a sentence equals the row of the same name.
pub fn names(experiment: &str, rows: &[NamedRow], said: &[&Statement], findings: &mut Findings) {
    for figure in said.iter().flat_map(|statement| statement.figures()) {
        let Dimension::Of(_) = figure.found.dimension else { continue };
        for (_, value) in rows.iter().filter(|(row, _)| *row == words(&figure.name)) {
            findings.values += 1;
            if (value - figure.found.value).abs() > 1e-9 * value.abs() {
                let text = format!("{experiment}, {}: {} and {value}", figure.name, figure.found.value);
                findings.add("sentence", "a figure that its row does not have", &text);
            }
        }
    }
}

/// No sentence quotes the slope of a line on which its points do not lie.
fn lines(results: &Results, experiment: &str, said: &[&Statement], findings: &mut Findings) {
    let none = results.trends.iter().filter(|trend| trend.experiment == experiment && !trend.is_line());
    for trend in none {
        quoted(trend.line.slope, said, findings);
    }
}

/// A slope among the figures of sentences.
pub fn quoted(slope: f64, said: &[&Statement], findings: &mut Findings) {
    let mut figures = said.iter().flat_map(|statement| statement.figures());
    if let Some(figure) =
        figures.find(|figure| (figure.found.value.abs() - slope.abs()).abs() < 1e-9 * slope.abs())
    {
        findings.add("sentence", "the slope of points that lie on no line", &figure.name);
    }
}

/// An experiment with a miss of no shared cause lists it, whatever version of the method predicted it.
fn misses(results: &Results, experiment: &str, findings: &mut Findings) {
    let missed = results.of_experiment(experiment).filter(|point| {
        point.explanation.as_ref().is_some_and(|of| !matches!(of, Explanation::Cause { .. }))
    });
    listed(missed.count(), results.findings_of(experiment), experiment, findings);
}

/// Misses without a list of them.
pub fn listed(missed: usize, said: &[Finding], experiment: &str, findings: &mut Findings) {
    if missed > 0 && !said.iter().any(Finding::is_miss) {
        findings.add(
            "Markdown",
            "misses that are counted and not listed",
            &format!("{experiment}: {missed}"),
        );
    }
}

/// What the screen leaves for the full text is in it.
pub fn everything_stands_out(full: &str, findings: &mut Findings) {
    if !full.contains("\nWhat stands out\n") && (full.contains("\nMechanisms\n") || full.contains('✗')) {
        findings.add("full text", "what stands out is not in it", "");
    }
}
