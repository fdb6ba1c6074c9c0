//! The prediction of an experiment's points, term by term.

use super::works;
use crate::cpu_distance;
use crate::occupancy::CAVEAT;
use crate::paper::{Block, Column, Group, Key, Row, Table, Text, Weight};
use crate::words::{self, plural};
use fathom_core::experiment::{CoreUse, Ground, LIMIT_OF_THE_RUN, Part, Prediction, Source, Term};
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Unit;
use fathom_core::statistics::Estimate;
use fathom_engine::results::{CLOSE, PointResult, Results, distance};

/// A sentence and the derivations; empty if nothing was predicted.
pub(super) fn blocks(results: &Results, points: &[&PointResult], key: &Key) -> Vec<Block> {
    let predicted: Vec<(&PointResult, &Prediction)> =
        points.iter().filter_map(|point| Some((*point, point.prediction.as_ref()?))).collect();
    let mut blocks = vec![];
    if !predicted.is_empty() {
        let table = key.within("prediction");
        let lead = format!(
            "{} predicted before the first trial of each: base hardware, software overhead, and their sum; ",
            was(predicted.len())
        );
        blocks.push(Block::Paragraph(Text::plain(lead).and(Text::to(&table)).and(" derives each.")));
        blocks.push(Block::Folded {
            summary: Text::plain("How each operation was predicted, term by term (")
                .and(Text::to(&table))
                .and(")"),
            appendix: true,
            open: false,
            blocks: vec![derivations(results, &predicted, table).into()],
        });
    }
    blocks.extend(unpredicted(points));
    blocks
}

/// The most terms that are named in the paper; the appendix has all.
const MOST_TERMS: usize = 6;

/// How the first of these points was predicted, and what the predictions of all points rest on; `None` without a prediction. Where the
/// main figures are slopes, whose points are predicted, it is the point with the most terms.
pub(super) fn in_brief(results: &Results, few: &[&PointResult], all: &[&PointResult]) -> Option<Text> {
    let (point, prediction) = few.iter().find_map(|point| predicted(point)).or_else(|| {
        all.iter().filter_map(|point| predicted(point)).max_by_key(|(_, prediction)| prediction.terms.len())
    })?;
    let apart = cpu_distance::unless_usual(point).unwrap_or_default();
    let name = words::short_label(point, &point.point) + &apart;
    let measure = Measure::of(point.unit, prediction.total());
    let total = format!("{} {}", measure.number(prediction.total(), None), measure.symbol);
    let of = |part: Part, of: &str| {
        let terms = prediction.terms.iter().enumerate().filter(|(_, term)| term.part == part);
        let terms: Vec<Text> =
            terms.map(|(place, _)| named(results, point, (measure, prediction, place))).collect();
        (!terms.is_empty()).then(|| Text::joined(terms, "; ").and(format!(" ({of})")))
    };
    let parts: Vec<Text> =
        [of(Part::Hardware, "hardware"), of(Part::Software, "software")].into_iter().flatten().collect();
    let derived = match prediction.terms.len() {
        number if number <= MOST_TERMS => Text::joined(parts, "; "),
        number => Text::plain(format!("the sum of {}, which the appendix lists", plural(number, "term"))),
    };
    let by_end = total_by_end(point, prediction).map_or_else(String::new, |total| {
        format!(" (by the end of the run {} {})", measure.number(total, None), measure.symbol)
    });
    Some(
        Text::plain(format!("{name}: "))
            .and(derived)
            .and(format!("; in all {total}{by_end}. {}", grounds(all))),
    )
}

/// The prediction from what its terms are by the end of the run, where one of them became another figure: it says what that changes, which may
/// be nothing, as a term may be taken the more often the less it is.
fn total_by_end(point: &PointResult, before: &Prediction) -> Option<f64> {
    let by_end = point.by_end.as_ref()?;
    let is_other = |(then, now): (&Term, &Term)| distance(now.each / then.each) > CLOSE;
    before.terms.iter().zip(&by_end.terms).any(is_other).then(|| by_end.total())
}

fn predicted(point: &PointResult) -> Option<(&PointResult, &Prediction)> {
    Some((point, point.prediction.as_ref()?))
}

/// A term with its value and where that is from; of one that takes something off a rate what is left of it.
fn named(
    results: &Results,
    point: &PointResult,
    (measure, prediction, place): (Measure, &Prediction, usize),
) -> Text {
    let term = &prediction.terms[place];
    let is_one = (term.times - 1.0).abs() < f64::EPSILON;
    let times = if is_one { String::new() } else { format!("{} × ", quantities::plain(term.times)) };
    // The rates of a sentence have one unit.
    let written = |of: &Prediction| match point.unit {
        Unit::BytesPerSecond => {
            let rate = of_rate(point.unit, of, place);
            let value = if rate.is_left { rate.value } else { of.terms[place].each };
            format!("{} {}", measure.number(value, None), measure.symbol)
        }
        unit => quantities::value(unit, of.terms[place].each),
    };
    let leaves = if of_rate(point.unit, prediction, place).is_left { ", which leaves" } else { "" };
    let what = format!("{}{leaves} {times}{} (", quantities::reworded(&term.what), written(prediction));
    let revised = revised(results, point, place, written);
    let hardware = of_hardware(point.unit, term);
    works::cited(&what).and(source_in_brief(&term.source)).and(hardware).and(revised).and(")")
}

/// What of a term of software is the bare machine's; nothing of others.
fn of_hardware(unit: Unit, term: &Term) -> String {
    let share = |each| format!("; {} of it hardware", quantities::value(unit, each));
    term.of_hardware.map(share).unwrap_or_default()
}

/// A term of a prediction in all.
struct OfRate {
    value: f64,
    /// Whether the value is what a term leaves of a rate that it takes something off: rates do not subtract, so what it takes is no rate.
    is_left: bool,
}

fn of_rate(unit: Unit, prediction: &Prediction, place: usize) -> OfRate {
    let value = prediction.terms[place].value();
    let is_left = unit == Unit::BytesPerSecond && value < 0.0;
    OfRate { value: if is_left { prediction.up_to(place) } else { value }, is_left }
}

/// What a term became by the end of the run, behind its source, where it is written otherwise: the prediction used what was known before
/// the point's first trial.
fn revised(
    results: &Results,
    point: &PointResult,
    place: usize,
    written: impl Fn(&Prediction) -> String,
) -> String {
    let Some((before, by_end)) = point.prediction.as_ref().zip(point.by_end.as_ref()) else {
        return String::new();
    };
    let both = (before.terms.get(place), by_end.terms.get(place), point.by_end_cores.get(place));
    let (Some(term), Some(last), Some(core)) = both else { return String::new() };
    let [then, now] = [before, by_end].map(written);
    if is_of_shared(results, point.unit, term) && core.is_none() {
        return format!("; by trials with the core shared; with it alone {now}");
    }
    let is_near = distance(last.each / term.each) <= CLOSE;
    match core {
        _ if is_near && then == now => String::new(),
        // Two states of the core: the figure need not have become another.
        Some(core) => format!("; by the end of the run {now}{}", core.in_words()),
        None if is_near => format!("; by the end of the run {now}"),
        None => format!("; it became another figure, {now} by the end of the run"),
    }
}

/// Whether a term is a figure that trials with the core shared gave, though the figure is of the core alone by now: its value then shows it.
fn is_of_shared(results: &Results, unit: Unit, term: &Term) -> bool {
    let Source::Measured { experiment, point } = &term.source else { return false };
    let of = results.of_experiment(experiment).find(|result| result.point == *point && result.unit == unit);
    let ends = |estimate: &Estimate| estimate.interval.map(|ends| (ends.low, ends.high));
    // Too few trials for an interval: what is within a twentieth is of them.
    let about = |estimate: &Estimate| (estimate.value / 1.05, estimate.value * 1.05);
    let shared = |estimate: &Estimate| ends(estimate).unwrap_or_else(|| about(estimate));
    let both = of.and_then(|result| Some((result.estimate().and_then(ends)?, result.shared().map(shared)?)));
    both.is_some_and(|(alone, shared)| is_only_of(term.each, shared, alone))
}

/// Whether a value is within one interval and not within another.
fn is_only_of(value: f64, one: (f64, f64), other: (f64, f64)) -> bool {
    let within = |(low, high): (f64, f64)| (low..=high).contains(&value);
    within(one) && !within(other)
}

/// How many values of the core alone are judged by predictions that rest on trials with it shared; nothing if none is.
pub(super) fn of_unlike_states(results: &Results, points: &[&PointResult]) -> String {
    let is_one = |point: &&&PointResult| {
        let is_alone = point.figure().is_some_and(|figure| figure.core == Some(CoreUse::Alone));
        let mut terms = point.prediction.iter().flat_map(|prediction| &prediction.terms);
        is_alone && terms.any(|term| is_of_shared(results, point.unit, term))
    };
    unlike_states(points.iter().filter(is_one).count())
}

fn unlike_states(number: usize) -> String {
    match number {
        0 => String::new(),
        1 => format!(
            " 1 value of the core alone is judged by a prediction that rests on trials with it shared ({CAVEAT})."
        ),
        _ => format!(
            " {number} values of the core alone are judged by predictions that rest on trials with it shared ({CAVEAT})."
        ),
    }
}

/// A source in a word or two: the number of its work, the experiment of this run.
fn source_in_brief(of: &Source) -> Text {
    match of {
        Source::Machine { fact } if fact == LIMIT_OF_THE_RUN => LIMIT_OF_THE_RUN.into(),
        Source::Machine { .. } => "a fact of this machine".into(),
        Source::Measured { experiment, .. } => Text::plain("measured before: ").and(Text::code(experiment)),
        Source::Assumed { .. } => "assumed".into(),
        Source::Published { citation } => {
            let (cycles, work) = citation.split_once(" ns: ").unwrap_or(("", citation));
            let cycles = if cycles.is_empty() {
                "published".to_owned()
            } else {
                format!("{} ns", quantities::reworded(cycles))
            };
            match works::numbers(work).as_slice() {
                [] => Text::plain(quantities::reworded(work)),
                works => works.iter().fold(Text::plain(cycles), |text, work| text.cite(*work)),
            }
        }
    }
}

/// How many of the predictions rest on what.
fn grounds(points: &[&PointResult]) -> String {
    let predictions: Vec<&Prediction> = points.iter().filter_map(|point| point.prediction.as_ref()).collect();
    let (limits, predictions): (Vec<&Prediction>, Vec<_>) =
        predictions.into_iter().partition(|prediction| prediction.is_limit_of_the_run());
    let all: Vec<Ground> = predictions.into_iter().map(Prediction::ground).collect();
    let counted = Ground::ALL.into_iter().filter_map(|ground| {
        let number = all.iter().filter(|of| **of == ground).count();
        let verb = if number == 1 { "is" } else { "are" };
        (number > 0).then(|| format!("{number} {verb} {}", ground.name()))
    });
    let counted = counted.collect::<Vec<_>>().join(", ");
    let (all, set) =
        (if counted.is_empty() { "" } else { "Of all predictions " }, set_by_the_run(limits.len()));
    let end = if counted.is_empty() { "" } else { "." };
    [format!("{all}{counted}{end}"), set]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// What is said of sizes that the run set itself; nothing without any.
fn set_by_the_run(number: usize) -> String {
    match number {
        0 => String::new(),
        1 => "1 is a limit that this run sets, and is not judged.".to_owned(),
        _ => format!("{number} are limits that this run sets, and are not judged."),
    }
}

fn was(number: usize) -> String {
    format!("{} {}", plural(number, "point"), if number == 1 { "was" } else { "were" })
}

fn derivations(results: &Results, predicted: &[(&PointResult, &Prediction)], key: Key) -> Table {
    let mut table = Table::new(key, "Predictions, as recorded before each point's first trial.").columns([
        Column::words("part"),
        Column::words("term"),
        Column::count("times"),
        Column::mixed("each"),
        Column::mixed("in all"),
        Column::words("source"),
    ]);
    for (point, prediction) in predicted {
        table = table.group(derivation(results, point, prediction));
    }
    table
}

fn derivation(results: &Results, point: &PointResult, prediction: &Prediction) -> Group {
    let apart = cpu_distance::unless_usual(point).unwrap_or_default();
    let head = words::short_label(point, &point.point) + &apart;
    let places = 0..prediction.terms.len();
    let group = Group::named(head).rows(places.map(|place| row(results, point, prediction, place)));
    if prediction.terms.len() == 1 {
        return group;
    }
    let total = quantities::value(point.unit, prediction.total());
    group.row(Row::of(["total", "", "", "", &total, ""]).weighing(Weight::Sum))
}

fn row(results: &Results, point: &PointResult, prediction: &Prediction, place: usize) -> Row {
    let term = &prediction.terms[place];
    let part = match term.part {
        Part::Hardware => "hardware",
        Part::Software => "software",
    };
    Row::of([
        part.into(),
        Text::plain(quantities::reworded(&term.what)),
        quantities::plain(term.times).into(),
        amount(point.unit, prediction, place, |term| term.each).into(),
        amount(point.unit, prediction, place, Term::value).into(),
        source(&term.source)
            .and(of_hardware(point.unit, term))
            .and(revised(results, point, place, |of| amount(point.unit, of, place, |term| term.each))),
    ])
}

/// A term's value, by `of`; of one that takes something off a rate what is left of it.
fn amount(unit: Unit, prediction: &Prediction, place: usize, of: fn(&Term) -> f64) -> String {
    match of_rate(unit, prediction, place) {
        OfRate { value, is_left: true } => format!("leaves {}", quantities::value(unit, value)),
        _ => quantities::value(unit, of(&prediction.terms[place])),
    }
}

/// A source in words; a publication is cited.
fn source(source: &Source) -> Text {
    match source {
        Source::Machine { fact } => Text::plain(format!("this machine: {}", quantities::reworded(fact))),
        Source::Measured { experiment, point } => Text::plain(format!(
            "measured before in this run: {experiment}, {}",
            words::label(experiment.as_str(), point)
        )),
        Source::Assumed { reason } => Text::plain(format!("assumed: {}", quantities::reworded(reason))),
        // A citation may begin with the conversion of cycles to a time: `2 cycles of 0.3846 ns: a book`.
        Source::Published { citation } => match citation.split_once(" ns: ") {
            Some((cycles, work)) => {
                Text::plain(format!("{} ns: ", quantities::reworded(cycles))).and(works::cited(work))
            }
            // A citation may begin with a range, which is none of the value beside it.
            None => Text::plain("published: ").and(works::cited(citation)),
        },
    }
}

/// The points without a prediction, with the reasons.
fn unpredicted(points: &[&PointResult]) -> Option<Block> {
    let mut reasons: Vec<(&str, usize)> = vec![];
    for reason in points.iter().filter_map(|point| point.unpredicted.as_deref()) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, number)) => *number += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let item = |(reason, number): (&str, usize)| {
        Text::plain(format!("{} not predicted: ", was(number))).and(Text::prose(reason))
    };
    let items: Vec<Text> = reasons.into_iter().map(item).collect();
    (!items.is_empty()).then_some(Block::List(items))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Basis;

    #[test]
    fn a_term_is_of_the_shared_core_only_if_its_value_is_not_also_that_of_the_core_alone() {
        let (alone, shared) = ((9.0, 11.0), (10.5, 15.0));
        assert!(is_only_of(12.0, shared, alone));
        assert!(!is_only_of(10.8, shared, alone), "it may be of either");
        assert!(!is_only_of(20.0, shared, alone));
    }

    /// 20 GB/s and twice the time is 10 GB/s: no rate of 10 GB/s was taken from it.
    #[test]
    fn a_term_that_takes_something_off_a_rate_says_what_it_leaves() {
        let of = |rate: f64| Basis::published(rate, "a paper");
        let copied = Prediction::new().hardware("copies", 1.0, of(20e9));
        let sent = copied.software("minus a", 1.0, of(-10e9)).software("minus b", 1.0, of(-5e9));
        let all = [0, 1, 2].map(|place| amount(Unit::BytesPerSecond, &sent, place, Term::value));
        assert_eq!(all, ["20.0 GB/s", "leaves 10.0 GB/s", "leaves 5.00 GB/s"]);
        assert_eq!(
            amount(Unit::Nanoseconds, &sent, 1, Term::value),
            quantities::value(Unit::Nanoseconds, -10e9)
        );
    }

    #[test]
    fn comparisons_of_unlike_states_and_limits_that_were_set_are_counted() {
        assert_eq!([unlike_states(0), set_by_the_run(0)], ["", ""]);
        assert!(unlike_states(1).contains("1 value of the core alone is judged"));
        assert!(unlike_states(3).contains("3 values of the core alone are judged"));
        assert!(
            set_by_the_run(1).starts_with("1 is a limit") && set_by_the_run(2).starts_with("2 are limits")
        );
    }
}
