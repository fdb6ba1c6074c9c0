//! Points, placements and outcomes in words, the same in every form of the report.

use super::paper::Sign;
use super::quantities;
use crate::experiment::{
    AXIS_PLACEMENT, About, Effort, Experiment, Parameter, Placement, Point, Scale, Value,
};
use crate::experiments;
use crate::quantity::Unit;
use crate::results::{Evidence, Outcome, PointResult};

/// The header of an experiment of this name; `None` for one that this program does not know.
fn about(experiment: &str) -> Option<&'static About> {
    experiments::find(experiment).map(Experiment::about)
}

/// The point's parameters in the order of the tables: `abi · arguments 3 · one-cpu`.
pub(super) fn label(experiment: &str, point: &Point) -> String {
    let words: Vec<String> =
        names(experiment, point).iter().map(|name| phrase(experiment, point, name)).collect();
    words.join(" · ")
}

/// The same without the placement where it is the common one, for the heading of a curve or the row of a figure.
pub(super) fn short_label(experiment: &str, point: &Point) -> String {
    let usual = point.get(AXIS_PLACEMENT.name).is_some() && point.placement() == Placement::OneCpu;
    let short = if usual { point.without(AXIS_PLACEMENT.name) } else { point.clone() };
    let short = label(experiment, &short);
    if short.is_empty() { label(experiment, point) } else { short }
}

/// The names of the point's parameters: those that the experiment declares in its order, others, and the placement last.
pub(super) fn names(experiment: &str, point: &Point) -> Vec<String> {
    let declared = about(experiment).map_or(&[] as &[Parameter], |about| about.parameters);
    let place = |name: &str| match declared.iter().position(|parameter| parameter.name == name) {
        Some(index) => index,
        None if name == AXIS_PLACEMENT.name => usize::MAX,
        None => declared.len(),
    };
    let mut names: Vec<String> = point.parameters().map(|(name, _)| name.to_owned()).collect();
    names.sort_by_key(|name| place(name));
    names
}

fn phrase(experiment: &str, point: &Point, name: &str) -> String {
    let Some(given) = point.get(name) else { return String::new() };
    match given {
        Value::Name(variant) => variant.clone(),
        Value::Number(_) => format!("{name} {}", value(experiment, name, given)),
    }
}

/// A parameter's value as its scale wants it.
pub(super) fn value(experiment: &str, name: &str, value: &Value) -> String {
    match (value, scale(experiment, name)) {
        (Value::Number(bytes), Scale::Bytes) => quantities::size(*bytes),
        (Value::Number(time), Scale::Nanoseconds) => exact_time(*time),
        (value, _) => value.to_string(),
    }
}

/// A time that somebody chose is not rounded as a measured one is.
fn exact_time(nanoseconds: u64) -> String {
    let steps = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    let fits = |(size, _): &(u64, &str)| nanoseconds >= *size && nanoseconds.is_multiple_of(size / 10);
    match steps.into_iter().find(fits) {
        Some((size, symbol)) => format!("{} {symbol}", nanoseconds as f64 / size as f64),
        None => format!("{nanoseconds} ns"),
    }
}

/// How a parameter's values are written.
pub(super) fn scale(experiment: &str, name: &str) -> Scale {
    let parameter =
        about(experiment).and_then(|about| about.parameters.iter().find(|parameter| parameter.name == name));
    parameter.map_or(Scale::Count, |parameter| parameter.scale)
}

/// A parameter with what it means, where that is more than its name.
pub(super) fn parameter(experiment: &str, name: &str) -> String {
    let declared =
        about(experiment).and_then(|about| about.parameters.iter().find(|parameter| parameter.name == name));
    match declared {
        Some(parameter) if parameter.meaning != name => format!("{name} ({})", parameter.meaning),
        _ => name.to_owned(),
    }
}

/// The head of a column of measured values.
pub(super) fn quantity(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "time",
        Unit::BytesPerSecond => "rate",
        Unit::Bytes => "size",
        Unit::PartsPerMillion => "share of time",
    }
}

/// What became of a point's evidence.
pub(super) fn evidence_sign(point: &PointResult) -> Sign {
    match &point.evidence {
        Evidence::NotJudged(_) => Sign::NotJudged,
        Evidence::Judged(checks) if checks.is_empty() => Sign::Unasked,
        judged if judged.holds() => Sign::Holds,
        _ => Sign::Fails,
    }
}

/// ✓ where all evidence holds, ✗ where some does not, – where there is none, ? where it is not judged.
pub(super) fn evidence_mark(point: &PointResult) -> &'static str {
    evidence_sign(point).mark()
}

/// The outcome in a word or two.
pub(super) fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Value(_) => "measured",
        Outcome::BelowResolution { .. } => "below resolution",
        Outcome::Skipped { .. } => "skipped",
        Outcome::Failed { .. } => "failed",
        Outcome::TimedOut { .. } => "timed out",
        Outcome::Disturbed { .. } => "disturbed",
        Outcome::Implausible { .. } => "implausible",
    }
}

/// The reason of an outcome, with the figure that an implausible result had.
pub(super) fn reason(point: &PointResult) -> String {
    match &point.outcome {
        Outcome::Implausible { bound, unusable } => format!(
            "{} was seen, and {} is the limit: {}",
            quantities::estimate(point.unit, unusable),
            quantities::value(point.unit, bound.limit),
            bound.because
        ),
        other => other.reason().unwrap_or_default(),
    }
}

/// What the run was asked for.
pub(super) fn effort(effort: Effort) -> &'static str {
    match effort {
        Effort::Quick => "quick",
        Effort::Standard => "standard",
        Effort::Thorough => "thorough",
    }
}

/// `1 point`, `20 points`.
pub(super) fn plural(number: usize, word: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {word}{ending}", quantities::count(number))
}
