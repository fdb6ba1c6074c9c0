//! The operations of the machine's picture, each with its prediction and what is known about the reason if it missed.

use super::sections::linked;
use crate::paper::{Column, Key, Row, Table, Text};
use crate::summary::ABSENT;
use crate::{figure, finding};
use fathom_core::experiment::Prediction;
use fathom_core::quantities;
use fathom_engine::results::{FAIR, PointResult, Results};

/// A row for each operation of the picture.
pub(super) fn table(results: &Results) -> Option<Table> {
    let rows: Vec<Row> =
        figure::operations(results).into_iter().map(|(name, point)| row(results, name, point)).collect();
    (!rows.is_empty()).then(|| {
        let caption = "The operations of the picture: predicted, measured, and the cause where they differ.";
        let columns = [
            Column::words("operation"),
            Column::words("experiment"),
            Column::mixed("predicted"),
            Column::mixed("measured"),
            Column::ratio("measured / predicted"),
            Column::words("cause"),
        ];
        Table::new(Key::of("causes"), caption).columns(columns).rows(rows)
    })
}

fn row(results: &Results, name: &str, point: &PointResult) -> Row {
    let predicted = point.prediction.as_ref().map(|prediction| {
        let unit =
            quantities::Measure::of(point.unit, point.estimate().map_or(0.0, |estimate| estimate.value));
        format!("{} {}", unit.number(Prediction::total(prediction), None), unit.symbol)
    });
    let measured = point.estimate().map(|estimate| quantities::with_interval(point.unit, estimate));
    let or_absent = |text: Option<String>| text.unwrap_or_else(|| ABSENT.to_owned());
    Row::of([
        Text::plain(name),
        linked(results, &point.experiment),
        or_absent(predicted).into(),
        Text::strong(or_absent(measured)),
        or_absent(point.factor().map(quantities::factor)).into(),
        Text::prose(&cause(point)),
    ])
}

fn cause(point: &PointResult) -> String {
    match (&point.because, point.factor()) {
        (Some(because), _) => finding::text(because),
        (None, Some(_)) => format!("As predicted, within a factor of {FAIR}."),
        (None, None) => "Not judged: it has no value, or no prediction.".to_owned(),
    }
}
