//! The conclusion: what this machine is good and bad at beside the nearest published ones, and what nobody expected of it.

use super::assessment;
use super::nearest::{Nearest, OF_THE_METHOD, written_with_state};
use super::quotable;
use super::sections::{linked, listed, title};
use super::standing::Balance;
use super::works::cited;
use crate::paper::{Block, Key, Section, Text};
use crate::usual::UsualFigures;
use crate::{cpu_distance, finding, occupancy, words};
use fathom_core::experiment::{Found, family, statement};
use fathom_core::quantities;
use fathom_core::quantity::Kind;
use fathom_core::sorting;
use fathom_engine::results::{CLOSE, Explanation, FurthestMisses, PointResult, Results};

/// The number of strengths and of weaknesses.
const EACH: usize = 3;

/// The number of surprises.
const SURPRISES: usize = 5;

pub(super) fn of(results: &Results, nearest: &Nearest, usual: &UsualFigures) -> Section {
    // Of a size neither more nor less is better: the file cache may be as large as a limit that was set.
    let sized = |point: &PointResult| point.unit.kind() == Kind::Size;
    let says_more_of_the_method =
        |(point, merit): &(&PointResult, f64)| nearest.is_of_the_method(point, *merit);
    let merits = nearest.merits().into_iter();
    let merits = merits.filter(|(point, _)| !sized(point));
    let (of_method, merits): (Vec<_>, Vec<_>) = merits.partition(says_more_of_the_method);
    let merits = distinct(merits);
    let (good, bad): (Vec<_>, Vec<_>) = merits.iter().partition(|(_, merit)| *merit > 1.0);
    let good = first(good, nearest);
    let bad = first(bad.into_iter().rev().collect(), nearest);
    // The figures of the table, and no mean over them.
    let item = |(point, merit): &(&PointResult, f64)| {
        let compared = format!(
            ": {}; {} ({}). ",
            written_with_state(point),
            nearest.others(point),
            timed_alike(nearest.number_alike(point))
        );
        named(results, point).and(compared).and(Text::prose(&reason(nearest, point, *merit)))
    };
    let missed = FurthestMisses::of(&results.points);
    let (furthest, explained) = surprises(&missed.of_operations);
    let lead = surprises_of(&missed, explained.is_some());
    let verdict = if nearest.comparable().is_empty() {
        "No figure of this run is comparable with a published machine's, so nothing is said of what it is good or bad at.".to_owned()
    } else {
        balance(nearest)
    };
    Section::new(Key::of("conclusion"), "Conclusion")
        .say(assessment::of(results, nearest, usual))
        .say(verdict)
        .with_all(listed(&headed("better", good.len()), good.into_iter().map(item)))
        .with_all(listed(&headed("worse", bad.len()), bad.into_iter().map(item)))
        .with_all(left_out(results, nearest, &of_method).map(Block::Paragraph))
        .with_all(not_compared(results, nearest).map(|text| Block::Paragraph(text.into())))
        .with_all(listed(
            "What a program can choose, as on any Linux machine, with what either way takes here, the greatest differences \
             first:",
            results.choices.iter().map(|choice| cited(&finding::text(&choice.finding.statement))),
        ))
        .with_all(listed(&lead, furthest.into_iter().chain(explained).map(|point| surprise(results, point))))
        .with_all(quotable::verdict(results))
        .with_all((missed.number() == 0).then(|| Block::Paragraph("No prediction missed for certain.".into())))
}

/// In how many operations this machine is better and worse than the nearest published ones, and what is said of these below.
fn balance(nearest: &Nearest) -> String {
    let balance = nearest.balance();
    let Balance { better, worse, all, .. } = balance;
    format!(
        "Beside the nearest published machines ({}) this machine is better by more than a factor of {CLOSE} in {} of {} that their sources timed alike, and worse in {}{}, each with its whole interval beyond that factor. Below stand the furthest, one of an experiment, with the ratio of this machine over that one, and what this run measures that bears on it.",
        nearest.names(),
        words::none_or(better),
        words::plural(all, "operation"),
        words::none_or(worse),
        balance.more_while_shared()
    )
}

/// The figures further from a published machine than methods that differ can show, so that the greatest ratios are not missed.
fn left_out(results: &Results, nearest: &Nearest, merits: &[(&PointResult, f64)]) -> Option<Text> {
    let of_one = |(point, _): &(&PointResult, f64)| {
        named(results, point).and(format!(": {}; {}", written_with_state(point), nearest.others(point)))
    };
    let lead = format!(
        "Neither a strength nor a weakness, because their sources' methods differ and the ratio is beyond {OF_THE_METHOD}: "
    );
    (!merits.is_empty())
        .then(|| Text::plain(lead).and(Text::joined(merits.iter().map(of_one), ". ")).and("."))
}

/// The chapters of which no source timed an operation alike, so that nobody takes silence for a verdict; `None` without one.
fn not_compared(results: &Results, nearest: &Nearest) -> Option<String> {
    let mut families: Vec<&str> = vec![];
    for name in results.experiments() {
        if !families.contains(&family(name)) {
            families.push(family(name));
        }
    }
    let compared = families.len();
    families.retain(|of| !nearest.compares(of));
    let names: Vec<String> = families.iter().map(|of| title(of).to_lowercase()).collect();
    let is_some = !names.is_empty() && names.len() < compared;
    is_some.then(|| {
        format!(
            "Of {} these sources timed no operation as this run did, so nothing is said of it beside them.",
            names.join(" and ")
        )
    })
}

/// The head of a list, which has left others out only where it is full.
fn headed(how: &str, number: usize) -> String {
    if number < EACH {
        format!("It is {how} in:")
    } else {
        format!("It is {how} in (the first {EACH} of them, where there are more):")
    }
}

/// The first of these: a ratio of the same method says the most, one of another method may be the method's.
fn first<'merits, 'run>(
    mut all: Vec<&'merits (&'run PointResult, f64)>,
    nearest: &Nearest,
) -> Vec<&'merits (&'run PointResult, f64)> {
    sorting::by_key(&mut all, |(point, _)| !nearest.differences(point).is_empty());
    all.truncate(EACH);
    all
}

/// Where the time of a figure that is worse goes, as far as a mechanism of this run says it; else how the source measured.
fn reason(nearest: &Nearest, point: &PointResult, merit: f64) -> String {
    match assessment::great_part(point, merit) {
        Some(part) => format!("By this run {part}, more than the whole operation takes there."),
        None => match nearest.differences(point).as_slice() {
            [] => String::new(),
            notes => format!("How it was measured there: {}", words::uncapitalised(&notes.join(" "))),
        },
    }
}

/// The best or worst point of each experiment only, so that a sweep is no list of strengths.
fn distinct(merits: Vec<(&PointResult, f64)>) -> Vec<(&PointResult, f64)> {
    let is_end = |place: usize, merits: &[(&PointResult, f64)]| {
        let same = |(point, _): &&(&PointResult, f64)| point.experiment == merits[place].0.experiment;
        let (before, after) = (&merits[..place], &merits[place + 1..]);
        if merits[place].1 >= 1.0 {
            !before.iter().any(|one| same(&one))
        } else {
            !after.iter().any(|one| same(&one))
        }
    };
    let ends: Vec<bool> = (0..merits.len()).map(|place| is_end(place, &merits)).collect();
    merits.into_iter().zip(ends).filter_map(|(merit, is_end)| is_end.then_some(merit)).collect()
}

/// How many of the machines a ratio is of.
fn timed_alike((alike, all): (usize, usize)) -> String {
    match (alike, all) {
        (_, 1) => "the only machine".to_owned(),
        (alike, all) if alike == all => format!("all {all} timed it alike"),
        (alike, all) => format!("{alike} of the {all} timed it alike"),
    }
}

/// The furthest of each experiment, and what one measurement accounts for once; and the furthest with a cause, if none of them has one, so
/// that a reader sees both.
fn surprises<'run>(missed: &[&'run PointResult]) -> (Vec<&'run PointResult>, Option<&'run PointResult>) {
    let mut chosen: Vec<&PointResult> = vec![];
    for point in missed.iter().copied() {
        let is_new =
            |other: &&PointResult| other.experiment != point.experiment && !is_same_cause(other, point);
        if chosen.len() < SURPRISES && chosen.iter().all(is_new) {
            chosen.push(point);
        }
    }
    let has_cause = |point: &&PointResult| matches!(point.explanation, Some(Explanation::Cause { .. }));
    let explained = missed.iter().copied().find(has_cause).filter(|_| !chosen.iter().any(has_cause));
    if explained.is_some() {
        chosen.truncate(SURPRISES - 1);
    }
    (chosen, explained)
}

/// What the list of them is of.
fn surprises_of(missed: &FurthestMisses, is_any_explained: bool) -> String {
    let others = match missed.of_other_work.len() {
        0 => String::new(),
        others => format!(
            "; {} of them {} of cpu/noise, which predicts a CPU without other work, and {} not listed",
            quantities::count(others),
            if others == 1 { "is" } else { "are" },
            if others == 1 { "is" } else { "are" }
        ),
    };
    let accounts = match missed.of_distance {
        0 => "no changed input",
        _ => "neither a changed input nor the distance of the CPUs",
    };
    format!(
        "Surprises: of the {} that missed for certain, for which {accounts} accounts, the furthest by the end of the interval that is nearest to the prediction, one of an experiment{}{others}:",
        words::plural(missed.number(), "prediction"),
        if is_any_explained { ", and the furthest that this run explains" } else { "" }
    )
}

/// Whether one measurement accounts for both.
fn is_same_cause(one: &PointResult, other: &PointResult) -> bool {
    match (&one.explanation, &other.explanation) {
        (Some(Explanation::Cause { mechanism, .. }), Some(Explanation::Cause { mechanism: same, .. })) => {
            mechanism == same
        }
        _ => false,
    }
}

/// A prediction that was far off, in one measure with what was measured.
fn surprise(results: &Results, point: &PointResult) -> Text {
    let because = match &point.explanation {
        Some(Explanation::NotExplained) => point.explained_part.as_ref().map_or_else(
            || "Not explained.".to_owned(),
            |part| format!("Explained in part: {}; the rest is not.", finding::text(part)),
        ),
        _ => point.because.as_ref().map(finding::text).unwrap_or_default(),
    };
    let both = point.figure().zip(point.prediction.as_ref()).map(|(measured, prediction)| {
        statement!(
            "{apart}: {measured}{state}, where {predicted} was predicted ({factor}{by_end}). ",
            apart = cpu_distance::unless_usual(point).unwrap_or_default(),
            measured = measured.named("measured"),
            state =
                occupancy::beside_a_neighbour(point).map(|state| format!(" ({state})")).unwrap_or_default(),
            predicted = Found::exact(prediction.total(), measured.dimension).named("predicted"),
            factor = point.factor().map(quantities::factor).unwrap_or_default(),
            by_end = words::by_end(point).map(|by_end| format!("; {by_end}")).unwrap_or_default()
        )
    });
    named(results, point).and(both.as_ref().map(finding::text).unwrap_or_default()).and(Text::prose(&because))
}

fn named(results: &Results, point: &PointResult) -> Text {
    linked(results, &point.experiment).and(format!(", {}", words::certain_label(results, point)))
}
