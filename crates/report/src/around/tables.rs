//! The dimensions in tables.

use super::sentences::{by_scale, word};
use crate::paper::{Column, Key, Row, Table, Text, Tone};
use crate::words::ABSENT;
use fathom_core::quantities;
use fathom_engine::around::{ChangeScale, DimensionReading, HostDimension, Verdict};

/// The dimensions of the anchors, one row each; `pauses` says whether there were any.
pub(super) fn anchors<'a>(dimensions: impl Iterator<Item = &'a HostDimension>, pauses: bool) -> Table {
    let caption = "Anchors: each operation before and after the work.";
    let table = Table::new(Key::of("anchors"), caption);
    if !pauses {
        let columns = [Column::words("dimension"), Column::ratio("before"), Column::ratio("after")];
        return table.columns(columns).columns(judged()).rows(dimensions.map(|each| row(each, None)));
    }
    let places = ["before", "in pauses", "after"].map(Column::ratio);
    let rows = dimensions.map(|each| {
        let readings = &each.readings;
        row(each, Some(range(each, readings.get(1..readings.len().saturating_sub(1)).unwrap_or_default())))
    });
    table.columns([Column::words("dimension")]).columns(places).columns(judged()).rows(rows)
}

/// The dimensions that were watched meanwhile.
pub(super) fn meanwhile<'a>(dimensions: impl Iterator<Item = &'a HostDimension>) -> Table {
    let caption = "Meanwhile: shares of the time of one CPU, and what has a unit of its own, before the work and while it went on.";
    Table::new(Key::of("meanwhile"), caption)
        .columns([Column::words("dimension"), Column::ratio("before"), Column::ratio("meanwhile")])
        .columns(judged())
        .rows(dimensions.map(|each| row(each, None)))
}

fn judged() -> [Column; 3] {
    [Column::ratio("change"), Column::ratio("margin"), Column::words("verdict")]
}

fn row(dimension: &HostDimension, pauses: Option<String>) -> Row {
    let value = |reading: Option<&Option<DimensionReading>>| {
        let reading = reading.and_then(Option::as_ref);
        Text::plain(reading.map_or_else(|| ABSENT.to_owned(), |reading| shown(dimension, reading)))
    };
    let (before, after) =
        (value(dimension.readings.first()), value(dimension.readings.get(1..).and_then(<[_]>::last)));
    let cells = [Some(Text::plain(&dimension.name)), Some(before), pauses.map(Text::plain), Some(after)];
    let judged = [Text::plain(change(dimension)), Text::plain(margin(dimension)), verdict(dimension)];
    Row::of(cells.into_iter().flatten().chain(judged))
}

/// A value with its unit.
fn shown(dimension: &HostDimension, reading: &DimensionReading) -> String {
    let ends = reading.low.zip(reading.high);
    match (dimension.unit, dimension.scale) {
        (Some(unit), _) => quantities::rounded(unit, reading.value, ends),
        (None, ChangeScale::Points) => quantities::percent(reading.value),
        (None, ChangeScale::Ratio) if reading.value > 1e6 => quantities::frequency(reading.value),
        (None, ChangeScale::Ratio) => quantities::number(reading.value),
    }
}

/// The least and the largest of the readings in pauses.
fn range(dimension: &HostDimension, pauses: &[Option<DimensionReading>]) -> String {
    let all = || pauses.iter().flatten();
    let least = all().min_by(|one, other| one.value.total_cmp(&other.value));
    let most = all().max_by(|one, other| one.value.total_cmp(&other.value));
    match (least, most) {
        (Some(least), Some(most)) if least.value < most.value => {
            format!("{} to {}", shown(dimension, least), shown(dimension, most))
        }
        (Some(only), _) => shown(dimension, only),
        _ => ABSENT.to_owned(),
    }
}

fn change(dimension: &HostDimension) -> String {
    let by = |share| by_scale(dimension.scale, share);
    match &dimension.verdict {
        Verdict::Moved { by: change, low: Some(low), high: Some(high) } => {
            format!("{} ({} to {})", by(*change), by(*low), by(*high))
        }
        Verdict::Moved { by: change, .. } => by(*change),
        Verdict::HeldStill { within } => format!("within {}", dimension.scale.amount(*within)),
        Verdict::CannotSay { .. } => ABSENT.to_owned(),
    }
}

/// The change up to which it held still.
fn margin(dimension: &HostDimension) -> String {
    format!("±{}", dimension.scale.amount(dimension.margin))
}

fn verdict(dimension: &HostDimension) -> Text {
    let word = word(&dimension.verdict);
    match dimension.verdict {
        Verdict::HeldStill { .. } => Text::plain(word),
        Verdict::Moved { .. } if dimension.follows.is_some() => Text::toned(Tone::Careful, "moved with it"),
        Verdict::Moved { .. } => Text::toned(Tone::Bad, word),
        Verdict::CannotSay { .. } => Text::toned(Tone::Careful, word),
    }
}
