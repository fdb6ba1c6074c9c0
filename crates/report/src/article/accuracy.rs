//! The section on the accuracy of the predictions.

use super::places::{place_of, title};
use crate::paper::{Block, Column, Group, Key, Row, Section, Table, Text, Weight};
use crate::words::plural;
use crate::{finding, words};
use fathom_core::experiment::Finding;
use fathom_core::experiment::family;
use fathom_core::quantities;
use fathom_engine::results::{CLOSE, FAIR, Results, Share, Tally};

/// The number of causes of missed predictions named in the paper, the most far-reaching first; the appendix has all.
const MOST_CAUSES: usize = 5;

/// The section; `None` if nothing could be judged.
pub(super) fn of(found: &Results) -> Option<Section> {
    let total = found.accuracy.total.as_ref()?;
    let (chapters, experiments) = (by_chapter(found, total), by_experiment(found));
    let said = format!(
        "{} were predicted before they were measured: {} came within a factor of {FAIR} of the prediction and {} within \
         {CLOSE}{}. Wrong predictions are kept. ",
        plural(total.judged, "value"),
        quantities::percent(total.fair.share),
        quantities::percent(total.close.share),
        independent(found)
    );
    let told = |said: &Finding| Block::Paragraph(Text::prose(&finding::text(&said.statement)));
    let (first, rest) = found.overall.split_at(found.overall.len().min(MOST_CAUSES));
    let rest = (!rest.is_empty()).then(|| Block::Folded {
        summary: plural(rest.len(), "more cause").into(),
        long: true,
        open: false,
        blocks: rest.iter().map(told).collect(),
    });
    Some(
        Section::new(Key::of("accuracy"), "How good the predictions were")
            .say(
                Text::plain(said)
                    .and(Text::to(&chapters.key))
                    .and(" lists each chapter, ")
                    .and(Text::to(&experiments.key))
                    .and(" each experiment."),
            )
            .with_all(first.iter().map(told))
            .with_all(rest)
            .with(chapters)
            .with(Block::Folded {
                summary: "Each experiment".into(),
                long: true,
                open: false,
                blocks: vec![experiments.into()],
            }),
    )
}

/// A row for each chapter, each kind of prediction, and the whole run.
fn by_chapter(found: &Results, total: &Tally) -> Table {
    let chapters = found.accuracy.chapters.iter();
    let chapters = chapters.map(|chapter| row(Text::plain(title(&chapter.name)), chapter));
    let kinds = found.accuracy.by_kind().into_iter();
    let kinds = kinds.map(|tally| row(Text::plain(&*tally.name), tally));
    let whole = row(Text::plain("the whole run"), total).weighing(Weight::Sum);
    table("accuracy-table", "experiments").rows(chapters.chain(kinds).chain([whole]))
}

/// A row for each experiment.
fn by_experiment(found: &Results) -> Table {
    let mut table = table("accuracy-of-each", "experiment");
    for chapter in &found.accuracy.chapters {
        let mine = found.accuracy.experiments.iter();
        let mine = mine.filter(|tally| family(&tally.name) == chapter.name);
        let rows = mine.map(|tally| row(Text::link(&place_of(found, &tally.name), &*tally.name), tally));
        table = table.group(Group::named(title(&chapter.name)).rows(rows));
    }
    table
}

fn table(key: &str, of: &str) -> Table {
    let caption = format!(
        "Predictions against results: the share of points within a factor of {CLOSE} and of {FAIR}, with its 95 % interval \
         (Wilson 1927), the median of measured over predicted, and the worst prediction."
    );
    Table::new(Key::of(key), caption).columns([
        Column::words(of),
        Column::count("points judged"),
        Column::count("without a prediction").spare(),
        Column::number(format!("within {CLOSE}×"), "%"),
        Column::number(format!("within {FAIR}×"), "%"),
        Column::ratio("median factor"),
        Column::ratio("worst factor"),
        Column::words("the worst").spare(),
    ])
}

/// The accuracy of the predictions that do not use the run's own measurements; empty if these are all or none.
fn independent(found: &Results) -> String {
    found.accuracy.by_kind().first().map_or(String::new(), |tally| {
        format!(
            "; of the {} whose predictions use no measurement of the same run, {} came within a factor of {FAIR}",
            tally.judged,
            quantities::percent(tally.fair.share)
        )
    })
}

fn row(name: Text, tally: &Tally) -> Row {
    Row::of([
        name,
        quantities::count(tally.judged).into(),
        quantities::count(tally.unpredicted).into(),
        share(&tally.close).into(),
        share(&tally.fair).into(),
        quantities::factor(tally.median_factor).into(),
        quantities::factor(tally.worst.factor).into(),
        words::short_label(tally.worst.experiment.as_str(), &tally.worst.point).into(),
    ])
}

/// A share with its interval, both in per cent.
fn share(share: &Share) -> String {
    let percent = |share: f64| quantities::significant(share * 100.0, 2);
    match share.interval {
        Some(interval) => {
            format!("{} ({}–{})", percent(share.share), percent(interval.low), percent(interval.high))
        }
        None => percent(share.share),
    }
}
