//! The cells of a replication's table: a figure with its unit, or a dash with the reason in a note.

use crate::table::{Compared, NoRatio};
use crate::{ReplicatedFigure, Row, Theirs};
use fathom_core::quantities::{self, Measure};
use fathom_report::paper::Text;
use fathom_report::references::{self, Figure, Kind, Value};
use fathom_report::words::ABSENT;

/// The quantity of a row: `file read, sequential, per block`.
pub(super) fn operation(row: &Row) -> String {
    if row.per.is_empty() { row.operation.to_owned() } else { format!("{}, per {}", row.operation, row.per) }
}

/// The report's figure, with its doubt.
pub(super) fn printed(compared: &Compared) -> Text {
    match (compared.theirs, &compared.row.theirs) {
        (Some(figure), _) => of_figure(figure, compared.row),
        (None, Theirs::NotPrinted(reason)) => absent(reason),
        (None, Theirs::Printed(id)) => absent(&format!("no such figure: {id}")),
    }
}

/// The report's own prediction of its figure: printed beside it, or beside another figure of the same operation.
pub(super) fn predicted(compared: &Compared) -> Text {
    let value = compared.theirs.and_then(prediction);
    let unit = compared.theirs.and_then(|figure| figure.unit().quantity());
    value.zip(unit).map_or(Text::plain(ABSENT), |(value, unit)| Text::plain(quantities::value(unit, value)))
}

/// What the report predicted for a figure, in the figure's unit.
pub(super) fn prediction(figure: &'static Figure) -> Option<f64> {
    let is_same = |other: &&Figure| {
        other.operation() == figure.operation()
            && other.variant() == figure.variant()
            && other.unit() == figure.unit()
            && (other.parameter() == figure.parameter() || other.parameter().is_none())
    };
    let others = || references::of_report(figure.source()).filter(is_same);
    let beside = || others().find_map(Figure::predicted);
    let estimated = || others().find(|other| other.kind() == Kind::Estimate)?.value().map(Value::printed);
    figure.predicted().or_else(beside).or_else(estimated)
}

fn of_figure(figure: &'static Figure, row: &Row) -> Text {
    let cell = match (figure.value(), figure.unit().quantity()) {
        (Some(value), Some(unit)) => {
            let measure = Measure::of(unit, value.printed());
            let sd = figure.deviation().map(|sd| format!(" ± {}", measure.beside(sd, value.printed(), None)));
            Text::plain(format!(
                "{}{} {}",
                measure.number(value.printed(), None),
                sd.unwrap_or_default(),
                measure.symbol
            ))
        }
        _ => return with_doubt(Text::plain(figure.printed().to_string()), figure, row),
    };
    with_doubt(if figure.doubt().is_some() { cell.and("?") } else { cell }, figure, row)
}

fn with_doubt(cell: Text, figure: &'static Figure, row: &Row) -> Text {
    match doubt(figure, row) {
        Some(doubt) => cell.noted(doubt),
        None => cell,
    }
}

/// A note on the doubt, with the correct value.
fn doubt(figure: &'static Figure, row: &Row) -> Option<Text> {
    let doubt = figure.doubt()?;
    let note = figure.doubt_note().unwrap_or_default().trim_end_matches('.');
    let corrected = match figure.value() {
        Some(Value::Doubtful { corrected: Some(right), .. }) => {
            format!(" Corrected: {}.", quantities::value(row.unit, right))
        }
        _ => String::new(),
    };
    Some(Text::plain(format!("Doubtful ({}): {note}.{corrected}", doubt.name())))
}

/// The result of the report's method here, with the deviation by the report's formula.
pub(super) fn replicated(compared: &Compared) -> Text {
    match &compared.replicated {
        Ok(summary) => of_summary(summary, compared.row),
        Err(reason) => absent(reason),
    }
}

fn of_summary(summary: &ReplicatedFigure, row: &Row) -> Text {
    let measure = Measure::of(row.unit, summary.value);
    let beside = |sd| format!(" ± {}", measure.beside(sd, summary.value, summary.interval));
    let deviation = summary.deviation.map(beside).unwrap_or_default();
    let number = measure.number(summary.value, summary.interval);
    Text::plain(format!("{number}{deviation} {}", measure.symbol))
}

/// Fathom's median, with its interval.
pub(super) fn by_fathom(compared: &Compared) -> Text {
    match &compared.fathom {
        Ok(estimate) => {
            let measure = Measure::of(compared.row.unit, estimate.value);
            let range =
                estimate.ends().map(|(low, high)| format!(" [{}]", measure.range(estimate.value, low, high)));
            let number = measure.number(estimate.value, estimate.ends());
            Text::plain(format!("{number}{} {}", range.unwrap_or_default(), measure.symbol))
        }
        Err(reason) => absent(reason),
    }
}

/// The ratio of the report's method to Fathom's.
pub(super) fn ratio(compared: &Compared) -> Text {
    let ratio = match &compared.ratio {
        Ok(ratio) => ratio,
        // The cell of the missing figure has the reason.
        Err(NoRatio::Missing) => return Text::plain(ABSENT),
        Err(why) => return absent(why.reason()),
    };
    let ends = ratio.interval.map(|interval| (interval.low, interval.high));
    let range = ratio
        .interval
        .map(|interval| format!(" [{}]", quantities::number_range(ratio.value, interval.low, interval.high)));
    Text::plain(quantities::number_within(ratio.value, ends) + &range.unwrap_or_default())
}

fn absent(reason: &str) -> Text {
    Text::plain(ABSENT).noted(Text::prose(reason))
}
