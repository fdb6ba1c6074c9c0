//! Statements as text: every figure rounded to the first digit that its interval affects, followed by the interval.

use super::words;
use fathom_core::experiment::{Dimension, Figure, Found, Piece, Statement};
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Unit;
use fathom_core::statistics::Measured;

/// The explanation of the mark of a ratio without an interval.
pub(crate) const APPROXIMATE: &str = "~ marks figures from too few trials for an interval.";

/// A statement in one paragraph of plain text.
pub(crate) fn text(statement: &Statement) -> String {
    let rates = rates(statement);
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Figure(figure) => self::figure(figure, rates),
        Piece::Point { experiment, point, is_placed: true } => words::label(experiment.as_str(), point),
        Piece::Point { experiment, point, is_placed: false } => {
            words::short_label(experiment.as_str(), point)
        }
    };
    statement.0.iter().map(piece).collect()
}

/// The measure of all rates of a statement, if they have one.
fn rates(statement: &Statement) -> Option<Measure> {
    let unit = |of: &Found| match of.dimension {
        Dimension::Of(unit) => Some((unit, of.value)),
        _ => None,
    };
    Measure::of_rates(statement.figures().filter_map(|figure| unit(&figure.found)))
}

/// A figure with its interval: `187.2 ns (186.9–187.6)`, `5.2 (5.1–5.3)`; alone if it has none or is exact. A rate has the measure of
/// its statement's rates.
fn figure(figure: &Figure, rates: Option<Measure>) -> String {
    let value = &figure.found;
    let of_rates = rates.filter(|_| value.dimension == Dimension::Of(Unit::BytesPerSecond));
    let measure = of_rates.unwrap_or_else(|| measure(value));
    let ends = value.ends().filter(|(low, high)| low < high);
    if let Some((low, high)) = ends.filter(|ends| is_whole(value, *ends)) {
        let [number, low, high] = [value.value, low, high].map(quantities::plain);
        return format!("{number} ({low}–{high})");
    }
    let is_counted = value.dimension == Dimension::Count && value.value.fract() == 0.0;
    if let Some(side) = value.bound.filter(|_| !is_counted) {
        return in_measure(measure.bound(value.value, side), measure);
    }
    let number = match value.dimension {
        Dimension::Count if ends.is_none() => quantities::plain(value.value),
        // A figure with an interval of zero width is exact.
        Dimension::Of(Unit::Bytes) if ends.is_none() && value.interval.is_some() => {
            return quantities::size(value.value as u64);
        }
        _ => measure.number(value.value, ends),
    };
    if let Some(states) = value.states {
        let others = if value.has_more_states { ", among others" } else { "" };
        return of_states(states, measure) + others;
    }
    let range = ends.map(|(low, high)| measure.range(value.value, low, high));
    // An interval whose ends round to the same number is not printed.
    let range = range.filter(|range| range.split_once('–').is_none_or(|(low, high)| low != high));
    let states = if value.is_mixture { "; of several states" } else { "" };
    let range = range.map(|range| format!(" ({range}{states})"));
    in_measure(number, measure) + &range.unwrap_or_default()
}

fn in_measure(number: String, measure: Measure) -> String {
    if measure.symbol.is_empty() { number } else { format!("{number} {}", measure.symbol) }
}

/// A figure of a machine in several states: the value of each of the two with the most, and its interval where enough trials were in
/// it, `18.5 µs (18.1–18.9) or 38.9 µs`.
fn of_states(states: [Measured; 2], measure: Measure) -> String {
    let [first, second] = states.map(|state| {
        let ends = state.ends().filter(|(low, high)| low < high);
        let range = ends.map(|(low, high)| format!(" ({})", measure.range(state.value, low, high)));
        in_measure(measure.number(state.value, ends), measure) + &range.unwrap_or_default()
    });
    format!("{first} or {second}")
}

/// Whether a figure is a number of whole things, and its ends are: those are never rounded.
fn is_whole(value: &Found, (low, high): (f64, f64)) -> bool {
    value.dimension == Dimension::Count
        && low >= 0.0
        && [value.value, low, high].iter().all(|number| number.fract() == 0.0)
}

/// The unit with prefix of a figure.
fn measure(value: &Found) -> Measure {
    match value.dimension {
        // Of a machine in several states the unit is that of the value of the one with the most.
        Dimension::Of(unit) => match value.states {
            Some([leading, _]) => Measure::of_row(unit, leading.value, leading.ends()),
            None => Measure::of_row(unit, value.value, value.ends()),
        },
        Dimension::Share => Measure { size: 0.01, symbol: "%" },
        Dimension::Cycles => Measure { size: 1.0, symbol: "cycles" },
        Dimension::Ratio | Dimension::Count => Measure { size: 1.0, symbol: "" },
    }
}

/// The unit of a figure in JSON.
pub(super) fn unit(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Of(Unit::Nanoseconds) => "nanoseconds",
        Dimension::Of(Unit::BytesPerSecond) => "bytes_per_second",
        Dimension::Of(Unit::Bytes) => "bytes",
        Dimension::Of(Unit::PartsPerMillion) => "parts_per_million",
        Dimension::Ratio => "ratio",
        Dimension::Share => "share",
        Dimension::Count => "count",
        Dimension::Cycles => "cycles",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::statement;
    use fathom_core::statistics::Interval;

    fn found(value: f64, low: f64, high: f64, dimension: Dimension) -> Found {
        Found::measured(Measured { value, interval: Some(Interval { low, high }) }, dimension)
    }

    #[test]
    fn figures_stop_where_their_intervals_begin_to_matter_and_carry_them() {
        let time = found(187.234, 186.91, 187.63, Dimension::Of(Unit::Nanoseconds));
        let other = found(36.0, 34.9, 37.1, Dimension::Of(Unit::Nanoseconds));
        let statement = statement!(
            "It takes {time}, {ratio}.",
            time = time.named("it"),
            ratio = time.times_as("long", other, "ratio")
        );
        assert_eq!(text(&statement), "It takes 187 ns (186–188), 5.20 (5.04–5.37) times as long.");
        assert_eq!(
            text(&statement!("{ratio}", ratio = time.times_as("long", time, "ratio"))),
            "the two are not significantly different"
        );
    }

    /// Of 16.05 and more "at least 16.1" was said.
    #[test]
    fn a_bound_is_rounded_to_its_side() {
        let lines = found(18.0, 16.05, 20.04, Dimension::Count);
        let time = found(1_800.0, 1_605.0, 2_004.0, Dimension::Of(Unit::Nanoseconds));
        let said = |found: Found| text(&statement!("{found}", found = found.named("a figure")));
        let of = |found: Found| {
            [found.lower_bound(), found.upper_bound(), found.lower_bound().scaled(2.0)].map(said)
        };
        assert_eq!(of(lines), ["16.0", "20.1", "32.1"]);
        assert_eq!(of(time), ["1.60 µs", "2.01 µs", "3.21 µs"]);
        assert_eq!(said(found(9.0, 8.0, 9.5, Dimension::Count).lower_bound()), "8");
        assert_eq!(quantities::factor_at_least(1.3299), "1.32×");
    }

    #[test]
    fn two_of_more_states_are_not_said_to_be_all() {
        let time = found(19.5, 18.1, 20.9, Dimension::Of(Unit::Nanoseconds));
        let two = [10.0, 40.1].map(|value| Measured { value, interval: None });
        let of = |has_more_states| {
            let found = Found { is_mixture: true, states: Some(two), has_more_states, ..time };
            text(&statement!("{found}", found = found.named("a figure")))
        };
        assert_eq!([of(false), of(true)], ["10.0 ns or 40.1 ns", "10.0 ns or 40.1 ns, among others"]);
    }

    #[test]
    fn a_ratio_to_a_figure_of_two_states_has_a_value_for_each() {
        let two = [2.0, 8.0].map(Measured::exact);
        let time = found(5.0, 2.0, 8.0, Dimension::Of(Unit::Nanoseconds));
        let time = Found { is_mixture: true, states: Some(two), ..time };
        let whole = Found::exact(16.0, Dimension::Of(Unit::Nanoseconds));
        let written = |found: Found| text(&statement!("{found}", found = found.named("a figure")));
        assert_eq!(written(whole.over(time)), "8.00 or 2.00");
        assert_eq!(written(time.share_of(whole)), "12.5 % or 50.0 %");
    }

    #[test]
    fn every_dimension_has_its_unit() {
        let written = |found: Found| text(&statement!("{found}", found = found.named("a figure")));
        assert_eq!(written(found(0.1234, 0.12, 0.127, Dimension::Share)), "12.3 % (12.0–12.7)");
        assert_eq!(written(found(3.02, 2.9, 3.1, Dimension::Cycles)), "3.02 cycles (2.90–3.10)");
        let pages = Measured { value: 1024.0, interval: Some(Interval { low: 1016.0, high: 2048.0 }) };
        let pages = Found::measured(pages, Dimension::Count);
        assert_eq!(written(pages), "1\u{202f}024 (1\u{202f}016–2\u{202f}048)");
        assert_eq!(written(Found::exact(4096.0, Dimension::Count)), "4\u{202f}096");
        assert_eq!(written(Found::bare(2.0 / 3.0, Dimension::Ratio)), "0.667");
        assert_eq!(
            written(found(9.4123e9, 9.39e9, 9.43e9, Dimension::Of(Unit::BytesPerSecond))),
            "9.41 GB/s (9.39–9.43)"
        );
        assert_eq!(written(Found::bare(f64::from(3 << 19), Dimension::Of(Unit::Bytes))), "1.50 MiB");
    }
}
