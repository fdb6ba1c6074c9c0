//! Points of a machine in several states, of which a row has the value of each: the median over both may be of neither.

use super::words::{ABSENT, plural};
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Unit;
use fathom_core::statistics::Mode;
use fathom_engine::results::{MachineState, Mixture, PointResult, StatePart};

/// The meaning of two values in one row.
pub(super) const LEGEND: &str =
    "a or b: the machine was in several states, each with its value and its own interval (–: too few trials)";

/// The measure of a point's row: of a machine in several states, that of the value of the one with the most, or, where the values are so far
/// apart that it would be too large for the least, of their geometric middle.
pub(super) fn measure(point: &PointResult, median: f64) -> Measure {
    match common_to(&of(point)) {
        Some(value) => Measure::of(point.unit, value),
        None => Measure::of_row(point.unit, median, point.estimate().and_then(quantities::ends)),
    }
}

/// The value whose unit all of these have in a row; `None` without any.
fn common_to(values: &[f64]) -> Option<f64> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let are_far_apart = least > 0.0 && most > FAR_APART * least;
    values.first().map(|leading| if are_far_apart { (least * most).sqrt() } else { *leading })
}

/// The factor between one unit and the next.
const FAR_APART: f64 = 1000.0;

/// The value of each state in a measure, without its unit: `4.12 or 35.2`; `None` for a point of one state.
pub(super) fn values(point: &PointResult, measure: Measure) -> Option<String> {
    let states = point.mixture.as_ref()?.states();
    Some(listed(states.into_iter().map(|state| measure.number(state.value, state.measured().ends())), "or"))
}

/// The states from which a name has their number: the count of each would take its room.
const MANY: usize = 3;

/// The interval of each state in a measure, without its unit: `4.03–4.21 or –`; `None` for a point of one state.
pub(super) fn intervals(point: &PointResult, measure: Measure) -> Option<String> {
    let range = |state: MachineState| {
        let ends = state.measured().ends();
        ends.map_or(ABSENT.to_owned(), |(low, high)| measure.range(state.value, low, high))
    };
    let ranges: Vec<String> = point.mixture.as_ref()?.states().into_iter().map(range).collect();
    let none = ranges.iter().all(|range| range == ABSENT);
    Some(if none { ABSENT.to_owned() } else { listed(ranges.into_iter(), "or") })
}

/// The interval of each state with the unit: `4.03–4.21 or 5.01–5.22 µs`, `4.03–4.21 µs or –`; `None` for a point of one state.
pub(super) fn intervals_with_unit(point: &PointResult, measure: Measure) -> Option<String> {
    let range =
        |(value, ends): (f64, Option<(f64, f64)>)| ends.map(|(low, high)| measure.range(value, low, high));
    point.mixture.as_ref()?;
    Some(with_unit(with_ends(point).into_iter().map(range).collect(), measure.symbol))
}

/// A unit behind the last range, or behind each where a state has none: a unit behind nothing would be no interval.
fn with_unit(ranges: Vec<Option<String>>, symbol: &str) -> String {
    match ranges.iter().flatten().count() {
        0 => ABSENT.to_owned(),
        all if all == ranges.len() => format!("{} {symbol}", listed(ranges.into_iter().flatten(), "or")),
        _ => {
            let each = |range: Option<String>| match range {
                Some(range) => format!("{range} {symbol}"),
                None => ABSENT.to_owned(),
            };
            listed(ranges.into_iter().map(each), "or")
        }
    }
}

/// How far the farther end of each state's interval is from its value, as a share of it; empty for a point of one state.
pub(super) fn reaches(point: &PointResult) -> Vec<Option<f64>> {
    let reach = |state: MachineState| {
        let (low, high) = state.measured().ends()?;
        let share = (high - state.value).max(state.value - low) / state.value.abs();
        share.is_finite().then_some(share)
    };
    point.mixture.as_ref().map_or(vec![], |mixture| mixture.states().into_iter().map(reach).collect())
}

/// The values of the states, that with the most first; empty for a point of one state.
pub(super) fn of(point: &PointResult) -> Vec<f64> {
    point.mixture.as_ref().map(Mixture::values).unwrap_or_default()
}

/// The value of each state with the ends of its interval, that with the most first; empty for a point of one state.
pub(super) fn with_ends(point: &PointResult) -> Vec<(f64, Option<(f64, f64)>)> {
    let of = |state: MachineState| (state.value, state.measured().ends());
    point.mixture.as_ref().map_or(vec![], |mixture| mixture.states().into_iter().map(of).collect())
}

/// The values of the states with their unit, `4.12 or 35.2 µs`; `None` for a point of one state.
pub(super) fn written(point: &PointResult) -> Option<String> {
    let measure = measure(point, point.estimate()?.value);
    Some(format!("{} {}", values(point, measure)?, measure.symbol))
}

/// Each value over the prediction; `None` for a point of one state, or without a prediction.
pub(super) fn factors(point: &PointResult) -> Option<String> {
    let predicted = point.prediction.as_ref()?.total();
    let values = point.mixture.as_ref().filter(|_| predicted > 0.0)?.values();
    let factors = values.into_iter().map(|value| quantities::number(value / predicted));
    Some(listed(factors, "or") + "×")
}

/// What is counted of each state, behind the name of a point: `4 and 2 trials`; `None` for a point of one state.
pub(super) fn counts(point: &PointResult) -> Option<String> {
    let states = point.mixture.as_ref()?.states();
    if states.len() >= MANY {
        return Some(plural(states.len(), "state"));
    }
    let counted = states.iter().map(|state| match state.part {
        StatePart::Trials(part, _) => part.to_string(),
        StatePart::Observations(share) => quantities::percent(share),
    });
    let of = match states.first()?.part {
        StatePart::Trials(..) => "trials",
        StatePart::Observations(_) => "of the observations",
    };
    Some(format!("{} {of}", listed(counted, "and")))
}

/// The meaning of a row for each state.
pub(super) const LEGEND_OF_ROWS: &str = "n of m trials, % of the observations: the machine was in several states, each with its value, and with an interval where four trials or more were in it; a median over all would be of none.";

/// The states with what is counted of each, `4 of 6 trials`, that with the most first; empty for a point of one state.
pub(super) fn each(point: &PointResult) -> Vec<(MachineState, String)> {
    let counted = |state: MachineState| {
        let part = match state.part {
            StatePart::Trials(part, all) => format!("{part} of {all} trials"),
            StatePart::Observations(share) => format!("{} of the observations", quantities::percent(share)),
        };
        (state, part)
    };
    point.mixture.as_ref().map_or(vec![], |mixture| mixture.states().into_iter().map(counted).collect())
}

/// A point's name with the counts of its states.
pub(super) fn named(point: &PointResult, name: String) -> String {
    match counts(point) {
        Some(counts) => format!("{name} ({counts})"),
        None => name,
    }
}

/// The levels between which its interval leaves a point's value open, behind its name; nothing for others.
pub(super) fn open_levels(point: &PointResult) -> String {
    levels(point.unit, &point.open_levels()).map_or_else(String::new, |levels| format!(" ({levels})"))
}

/// Levels with their shares: `levels 39.6 and 49.5 µs: 44 % and 56 %`; `None` without any.
pub(super) fn levels(unit: Unit, levels: &[Mode]) -> Option<String> {
    if let [only] = levels {
        return Some(format!("one level, {}", quantities::value(unit, only.centre)));
    }
    let measure = Measure::of(unit, common_to(&levels.iter().map(|mode| mode.centre).collect::<Vec<_>>())?);
    let values = listed(levels.iter().map(|mode| measure.number(mode.centre, None)), "and");
    let shares = listed(levels.iter().map(|mode| quantities::percent_of_few(mode.share)), "and");
    Some(format!("levels {values} {}: {shares}", measure.symbol))
}

/// `a, b and c`.
fn listed(texts: impl Iterator<Item = String>, last: &str) -> String {
    let texts: Vec<String> = texts.collect();
    match texts.split_last() {
        Some((one, rest)) if !rest.is_empty() => format!("{} {last} {one}", rest.join(", ")),
        _ => texts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_between_two_levels_is_named_with_both() {
        let levels = [(39_576.0, 0.44), (49_490.0, 0.56)].map(|(centre, share)| Mode { centre, share });
        assert_eq!(
            super::levels(Unit::Nanoseconds, &levels).as_deref(),
            Some("levels 39.6 and 49.5 µs: 44 % and 56 %")
        );
        let one = super::levels(Unit::Nanoseconds, &levels[..1]);
        assert_eq!(one.as_deref(), Some("one level, 39.6 µs"));
        assert_eq!(super::levels(Unit::Nanoseconds, &[]), None);
    }

    #[test]
    fn a_unit_stands_behind_ranges_and_never_behind_none() {
        let some = |range: &str| Some(range.to_owned());
        assert_eq!(with_unit(vec![some("4–5"), some("7–9")], "µs"), "4–5 or 7–9 µs");
        assert_eq!(with_unit(vec![some("4–5"), None], "µs"), "4–5 µs or –");
        assert_eq!(with_unit(vec![None, None], "µs"), "–");
    }

    #[test]
    fn states_far_apart_have_the_unit_of_their_middle_and_others_that_of_the_first() {
        let is = |values: &[f64], expected: f64| {
            let value = common_to(values).unwrap();
            assert!((value / expected - 1.0).abs() < 1e-3, "{value}");
        };
        is(&[39_600.0, 121_000.0], 39_600.0);
        // A gap of 4.02 ms, 2.71 µs, 22.1 µs or 264 ns.
        is(&[4.02e6, 2.71e3, 22.1e3, 264.0], 32_577.0);
        assert_eq!(common_to(&[]), None);
    }
}
