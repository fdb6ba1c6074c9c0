//! Points of a machine in several states, of which a row has the value of each: the median over both may be of neither.

use fathom_core::quantities::{self, Measure};
use fathom_engine::results::{MachineState, Mixture, PointResult, StatePart};

/// The meaning of two values in one row.
pub(super) const LEGEND: &str = "a or b: the machine was in several states, each with its value; the interval is that of the median over all.";

/// The value of each state in a measure, without its unit: `4.12 or 35.2`; `None` for a point of one state.
pub(super) fn values(point: &PointResult, measure: Measure) -> Option<String> {
    let values = point.mixture.as_ref()?.values();
    Some(listed(values.into_iter().map(|value| measure.number(value, None)), "or"))
}

/// The values of the states, that with the most first; empty for a point of one state.
pub(super) fn of(point: &PointResult) -> Vec<f64> {
    point.mixture.as_ref().map(Mixture::values).unwrap_or_default()
}

/// The values of the states with their unit, `4.12 or 35.2 µs`; `None` for a point of one state.
pub(super) fn written(point: &PointResult) -> Option<String> {
    let ends = point.estimate().and_then(quantities::ends);
    let measure = Measure::of_row(point.unit, point.estimate()?.value, ends);
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

/// The interval of the median over all states, marked as such.
pub(super) fn of_all(point: &PointResult, interval: String) -> String {
    if point.mixture.is_some() { format!("of all: {interval}") } else { interval }
}

/// A point's name with the counts of its states.
pub(super) fn named(point: &PointResult, name: String) -> String {
    match counts(point) {
        Some(counts) => format!("{name} ({counts})"),
        None => name,
    }
}

/// `a, b and c`.
fn listed(texts: impl Iterator<Item = String>, last: &str) -> String {
    let texts: Vec<String> = texts.collect();
    match texts.split_last() {
        Some((one, rest)) if !rest.is_empty() => format!("{} {last} {one}", rest.join(", ")),
        _ => texts.concat(),
    }
}
