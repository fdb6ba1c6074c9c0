//! How good the predictions were.

use super::places::{place_of, title};
use crate::report::paper::{Block, Column, Group, Key, Row, Section, Table, Text};
use crate::report::{finding, quantities, words};
use crate::results::{CLOSE, FAIR, Results, Share, Tally};

/// The section; `None` where nothing could be judged.
pub(super) fn of(found: &Results) -> Option<Section> {
    let total = found.accuracy.total.as_ref()?;
    let mut table = Table::new(
        Key::of("accuracy-table"),
        format!(
            "Predictions against results: the share of points within a factor of {CLOSE} and of {FAIR}, with its 95 % \
             interval (Wilson 1927), the median of measured over predicted, and the worst prediction."
        ),
    )
    .columns([
        Column::words("experiment"),
        Column::count("points judged"),
        Column::count("without a prediction").spare(),
        Column::number(format!("within {CLOSE}×"), "%"),
        Column::number(format!("within {FAIR}×"), "%"),
        Column::ratio("median factor"),
        Column::ratio("worst factor"),
        Column::words("the worst").spare(),
    ]);
    for chapter in &found.accuracy.chapters {
        let mine = found.accuracy.experiments.iter();
        let mine = mine.filter(|tally| tally.name.split('/').next() == Some(&*chapter.name));
        let group = Group::named(title(&chapter.name))
            .rows(mine.map(|tally| row(Text::link(&place_of(found, &tally.name), &*tally.name), tally)));
        table = table.group(
            group.row(row(Text::plain("all of them"), chapter).weighing(crate::report::paper::Weight::Sum)),
        );
    }
    let kinds = found.accuracy.by_kind().into_iter();
    let kinds =
        kinds.map(|tally| row(Text::plain(&*tally.name), tally).weighing(crate::report::paper::Weight::Sum));
    let whole = row(Text::plain("the whole run"), total).weighing(crate::report::paper::Weight::Sum);
    let said = format!(
        "{} were predicted before they were measured: {} came within a factor of {FAIR} of the prediction and {} \
         within {CLOSE}{}. Wrong predictions are kept. ",
        words::plural(total.judged, "value"),
        quantities::percent(total.fair.share),
        quantities::percent(total.close.share),
        independent(found)
    );
    let overall = found.overall.iter().map(|said| finding::text(&said.statement));
    let overall = overall.map(|said| Block::Paragraph(Text::prose(&said)));
    Some(
        Section::new(Key::of("accuracy"), "How good the predictions were")
            .say(Text::plain(said).and(Text::to(&table.key)).and(" lists each experiment."))
            .with_all(overall)
            .with(table.group(Group::default().rows(kinds.chain([whole])))),
    )
}

/// How good those were that the run itself had no part in; nothing where these are all or none.
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
