//! Conclusions from figures of several experiments: causes, operations measured more than once, and the accuracy of the
//! predictions.

use super::sections::{linked, listed, title};
use super::works::cited;
use crate::finding;
use crate::paper::{Block, Column, Group, Key, Row, Section, Table, Text, Tone, Weight};
use crate::words::{self, plural};
use fathom_core::experiment::{Finding, family};
use fathom_core::quantities::{self, Measure};
use fathom_engine::results::{
    Agreement, CLOSE, CrossCheck, FAIR, Mechanism, MechanismKind, PointResult, PredictionNearness, Results,
    Share, Tally,
};

/// The section; `None` if nothing was concluded.
pub(super) fn mechanisms(results: &Results) -> Option<Section> {
    let of = |kind: MechanismKind| results.mechanisms.iter().filter(move |one| one.kind == kind);
    let no_cause =
        of(MechanismKind::Identity).chain(of(MechanismKind::Uncaused)).chain(of(MechanismKind::NoEffect));
    let causes = |several: bool| of(MechanismKind::Effect).filter(move |one| one.is_of_several == several);
    let of_several =
        "Causes that join figures of several experiments. Each follows from a rule whose condition was met.";
    let of_one = "Causes that figures of a single experiment show, each by such a rule.";
    let others = "No causes: what follows from a definition, what changes for a reason that was not measured, and what was \
                  looked for and has no effect that shows.";
    (!results.mechanisms.is_empty()).then(|| {
        Section::new(Key::of("mechanisms"), "Mechanisms")
            .with_all(listed(of_several, causes(true).map(mechanism_text)))
            .with_all(listed(of_one, causes(false).map(mechanism_text)))
            .with_all(listed(others, no_cause.map(mechanism_text)))
    })
}

/// A cause, the figures that support it, and its condition.
fn mechanism_text(mechanism: &Mechanism) -> Text {
    let because = format!(" {} ", finding::text(&mechanism.because));
    Text::strong(finding::text(&mechanism.headline))
        .and(cited(&because))
        .and(Text::prose(&format!("Condition: {}.", mechanism.condition)))
}

/// The operations measured more than once; `None` if there are none.
pub(super) fn cross_checks(results: &Results) -> Option<Section> {
    let (agreeing, others): (Vec<&CrossCheck>, Vec<_>) =
        results.cross_checks.iter().partition(|check| check.agreement == Agreement::Agrees);
    let all = agreeing.len() + others.len();
    let list = |checks: &[&CrossCheck]| Block::List(checks.iter().copied().map(checked).collect());
    (all > 0).then(|| {
        let names: Vec<&str> = agreeing.iter().map(|check| check.what).collect();
        let names = if names.is_empty() { String::new() } else { format!(": {}", names.join("; ")) };
        let lead = format!(
            "Operations that several experiments measured, and pairs of operations of which one cannot cost more than the \
             other: {} of {all} agree{names}.",
            agreeing.len()
        );
        let section = Section::new(Key::of("cross-checks"), "Cross-checks").say(lead);
        let section = if others.is_empty() { section } else { section.with(list(&others)) };
        let folded = |blocks| Block::Folded {
            summary: format!("{} that agree", agreeing.len()).into(),
            appendix: true,
            open: false,
            blocks,
        };
        if agreeing.is_empty() { section } else { section.with(folded(vec![list(&agreeing)])) }
    })
}

fn checked(check: &CrossCheck) -> Text {
    let text = finding::text(&check.statement);
    match check.agreement {
        Agreement::Contradicts => {
            Text::toned(Tone::Careful, "Contradiction:").and(" ").and(Text::prose(&text))
        }
        Agreement::Agrees | Agreement::Differs | Agreement::Undecided => Text::prose(&text),
    }
}

/// The number of causes of missed predictions named in the paper, the most far-reaching first; the appendix has all.
const MOST_CAUSES: usize = 5;

/// The section; `None` if nothing could be judged.
pub(super) fn accuracy(results: &Results) -> Option<Section> {
    let total = results.accuracy.total.as_ref()?;
    let (chapters, experiments) = (by_chapter(results, total), by_experiment(results));
    let lead = format!(
        "{} were predicted before their first trials: {} came within a factor of {FAIR} of the prediction and {} within \
         {CLOSE}{}.{} Wrong predictions are kept.{} ",
        plural(total.judged, "value"),
        quantities::percent(total.fair.share),
        quantities::percent(total.close.share),
        independent(results),
        in_one_state(total),
        with_other_inputs(&results.points)
    );
    let paragraph = |cause: &Finding| Block::Paragraph(Text::prose(&finding::text(&cause.statement)));
    let (first, rest) = results.overall.split_at(results.overall.len().min(MOST_CAUSES));
    let rest = (!rest.is_empty()).then(|| Block::Folded {
        summary: plural(rest.len(), "more cause").into(),
        appendix: true,
        open: false,
        blocks: rest.iter().map(paragraph).collect(),
    });
    Some(
        Section::new(Key::of("accuracy"), "How good the predictions were")
            .say(
                Text::plain(lead)
                    .and(Text::to(&chapters.key))
                    .and(" lists each chapter, ")
                    .and(Text::to(&experiments.key))
                    .and(" each experiment."),
            )
            .with_all(first.iter().map(paragraph))
            .with_all(rest)
            .with(chapters)
            .with(Block::Folded {
                summary: "Each experiment".into(),
                appendix: true,
                open: false,
                blocks: vec![experiments.into()],
            }),
    )
}

/// A row for each chapter, each kind of prediction, and the whole run.
fn by_chapter(results: &Results, total: &Tally) -> Table {
    let chapters = results.accuracy.chapters.iter();
    let chapters = chapters.map(|chapter| accuracy_row(Text::plain(title(&chapter.name)), chapter));
    let kinds = results.accuracy.by_ground().into_iter();
    let kinds = kinds.map(|tally| accuracy_row(Text::plain(&*tally.name), tally));
    let whole = accuracy_row(Text::plain("the whole run"), total).weighing(Weight::Sum);
    accuracy_table("accuracy-table", "experiments").rows(chapters.chain(kinds).chain([whole]))
}

fn by_experiment(results: &Results) -> Table {
    let mut table = accuracy_table("accuracy-of-each", "experiment");
    for chapter in &results.accuracy.chapters {
        let mine = results.accuracy.experiments.iter();
        let mine = mine.filter(|tally| family(&tally.name) == chapter.name);
        let rows = mine.map(|tally| accuracy_row(linked(results, &tally.name), tally));
        table = table.group(Group::named(title(&chapter.name)).rows(rows));
    }
    table
}

fn accuracy_table(key: &str, of: &str) -> Table {
    let caption = format!(
        "Predictions against results: the share of points within a factor of {CLOSE} and of {FAIR}, with its 95 % interval \
         (Wilson 1927), the median of measured over predicted (of rates the inverse: more than one is worse than predicted), and the prediction that is the furthest off, for certain or not. \
         A point with several states is within a factor if each of its values is; as the furthest off it counts with the value that is nearest to its prediction."
    );
    Table::new(Key::of(key), cited(&caption)).columns([
        Column::words(of),
        Column::count("points judged"),
        Column::count("without a prediction").optional(),
        Column::number(format!("within {CLOSE}×"), "%"),
        Column::number(format!("within {FAIR}×"), "%"),
        Column::count(format!("within {FAIR}× in one state only")).optional(),
        Column::ratio("median factor"),
        Column::ratio("worst factor"),
        Column::words("the worst").optional(),
    ])
}

/// The accuracy of the predictions that do not use the run's own measurements; empty if these are all or none.
fn independent(results: &Results) -> String {
    results.accuracy.by_ground().first().map_or(String::new(), |tally| {
        format!(
            "; of the {} that are {}, {} came within a factor of {FAIR}",
            tally.judged,
            tally.name,
            quantities::percent(tally.fair.share)
        )
    })
}

/// How many came within the factor in one state of the machine only.
fn in_one_state(tally: &Tally) -> String {
    match tally.fair_in_one_state {
        0 => String::new(),
        number => format!(
            " {} did so in one state of the machine and not in another: neither a hit nor a miss.",
            plural(number, "more value")
        ),
    }
}

/// How many predictions took a figure of the run that became another, and what that makes of hits and misses.
fn with_other_inputs(points: &[PointResult]) -> String {
    let moved: Vec<[PredictionNearness; 2]> = points
        .iter()
        .filter_map(|point| Some([point.nearness(FAIR)?, point.nearness_by_end(FAIR)?]))
        .collect();
    let number = |was: PredictionNearness, is: PredictionNearness| {
        moved.iter().filter(|both| **both == [was, is]).count()
    };
    if moved.is_empty() {
        return String::new();
    }
    format!(
        " {} took a figure of this run that became another: from what the whole run gave for it the prediction differs by more than a factor of {CLOSE}. So predicted, {} of those that came within a factor of {FAIR} would have missed, and {} of those that missed would not.",
        plural(moved.len(), "prediction"),
        words::none_or(number(PredictionNearness::Within, PredictionNearness::Beyond)),
        words::none_or(number(PredictionNearness::Beyond, PredictionNearness::Within))
    )
}

fn accuracy_row(name: Text, tally: &Tally) -> Row {
    Row::of([
        name,
        quantities::count(tally.judged).into(),
        quantities::count(tally.unpredicted).into(),
        share(&tally.close).into(),
        share(&tally.fair).into(),
        quantities::count(tally.fair_in_one_state).into(),
        quantities::factor(tally.median_cost_factor).into(),
        quantities::factor(tally.worst.factor).into(),
        words::short_label(tally.worst.experiment.as_str(), &tally.worst.point).into(),
    ])
}

/// A share with its interval, both in per cent.
fn share(share: &Share) -> String {
    let percent = Measure { size: 0.01, symbol: "%" };
    let ends = share.interval.map(|interval| (interval.low, interval.high));
    let range = ends.map(|(low, high)| format!(" ({})", percent.range(share.share, low, high)));
    percent.number(share.share, ends) + &range.unwrap_or_default()
}
