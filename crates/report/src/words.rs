//! Points, placements and outcomes in words, the same in every form of the report.

use super::paper::Sign;
use fathom_core::experiment::{AXIS_PLACEMENT, Effort, Placement, Point, Scale, Value, registry};
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Unit;
use fathom_core::sorting;
use fathom_core::statistics::{Estimate, Mode};
use fathom_engine::record::MethodParameter;
use fathom_engine::results::{Evidence, Outcome, PointResult, Results, TrendResult};
use std::borrow::Cow;

/// The sign of a missing figure.
pub const ABSENT: &str = "–";

/// A source of the parameters of points, with the format of their values.
pub trait Declares {
    /// The parameters, in the order of the tables.
    fn parameters(&self) -> Cow<'_, [MethodParameter]>;
}

/// The parameters by the name of an experiment of this program; a recorded result has its own, which may be of another
/// version.
impl Declares for str {
    fn parameters(&self) -> Cow<'_, [MethodParameter]> {
        let known = registry::find(self);
        Cow::Owned(known.map(|experiment| MethodParameter::all(experiment.about())).unwrap_or_default())
    }
}

/// The recorded parameters; a run file of an earlier schema has none, and those of the same name are formatted as today.
fn recorded<'a>(parameters: &'a [MethodParameter], experiment: &'a str) -> Cow<'a, [MethodParameter]> {
    if parameters.is_empty() { experiment.parameters() } else { Cow::Borrowed(parameters) }
}

impl Declares for PointResult {
    fn parameters(&self) -> Cow<'_, [MethodParameter]> {
        recorded(&self.parameters, &self.experiment)
    }
}

impl Declares for TrendResult {
    fn parameters(&self) -> Cow<'_, [MethodParameter]> {
        recorded(&self.parameters, &self.experiment)
    }
}

/// The point's parameters in the order of the tables: `abi · arguments 3 · on one CPU`.
pub fn label<D: Declares + ?Sized>(of: &D, point: &Point) -> String {
    let words: Vec<String> = names(of, point).iter().map(|name| phrase(of, point, name)).collect();
    words.join(" · ")
}

/// The same with the name of every parameter, where no table's heads or title say what a value is of: `method growth · content holes`.
pub(super) fn full_label<D: Declares + ?Sized>(of: &D, point: &Point) -> String {
    let words = names(of, point).into_iter().filter_map(|name| match point.get(&name)? {
        Value::Name(_) if name != AXIS_PLACEMENT.name => {
            Some(format!("{} {}", spelt(&name), phrase(of, point, &name)))
        }
        _ => Some(phrase(of, point, &name)),
    });
    words.collect::<Vec<_>>().join(" · ")
}

/// A value with its interval in the unit of its row: `262 ns (259–266)`.
pub(super) fn with_interval(measure: Measure, estimate: &Estimate) -> String {
    let ends = quantities::ends(estimate);
    let range = ends.map(|(low, high)| format!(" ({})", measure.range(estimate.value, low, high)));
    format!("{} {}{}", measure.number(estimate.value, ends), measure.symbol, range.unwrap_or_default())
}

/// The same without the placement if it is the default one, for the name of a curve or the row of a figure.
pub(super) fn short_label<D: Declares + ?Sized>(of: &D, point: &Point) -> String {
    let usual = point.get(AXIS_PLACEMENT.name).is_some() && point.placement() == Placement::OneCpu;
    let short = if usual { point.without(AXIS_PLACEMENT.name) } else { point.clone() };
    let short = label(of, &short);
    if short.is_empty() { label(of, point) } else { short }
}

/// The same, with the placement wherever another point of the run differs by that only.
pub(super) fn certain_label(results: &Results, of: &PointResult) -> String {
    if results.is_of_several_placements(&of.experiment, &of.point) {
        label(of, &of.point)
    } else {
        short_label(of, &of.point)
    }
}

/// The names of the point's parameters: those that the experiment declares in its order, others, and the placement last.
pub(super) fn names<D: Declares + ?Sized>(of: &D, point: &Point) -> Vec<String> {
    let declared = of.parameters();
    let place = |name: &str| match declared.iter().position(|parameter| parameter.name == name) {
        Some(index) => index,
        None if name == AXIS_PLACEMENT.name => usize::MAX,
        None => declared.len(),
    };
    let mut names: Vec<String> = point.parameters().map(|(name, _)| name.to_owned()).collect();
    sorting::by_key(&mut names, |name| place(name));
    names
}

fn phrase<D: Declares + ?Sized>(of: &D, point: &Point, name: &str) -> String {
    let Some(value) = point.get(name) else { return String::new() };
    match value {
        Value::Name(_) => self::value(of, name, value),
        Value::Number(_) => format!("{} {}", spelt(name), self::value(of, name, value)),
    }
}

/// A placement in words.
pub(super) fn placement(placement: Placement) -> &'static str {
    match placement {
        Placement::OneCpu => "on one CPU",
        Placement::AcrossCpus => "on two CPUs",
        Placement::AcrossPackages => "on two packages",
        Placement::Spread => "a CPU each",
        Placement::Free => "not pinned",
    }
}

/// The placement of this name in words; a name that there is not stays.
fn placement_called(name: &str) -> String {
    let known = Placement::ALL.into_iter().find(|placement| placement.name() == name);
    known.map_or_else(|| name.to_owned(), |known| placement(known).to_owned())
}

/// A parameter's name for readers.
pub(super) fn spelt(name: &str) -> String {
    name.replace('_', " ")
}

/// A parameter's value in the format of its scale.
pub(super) fn value<D: Declares + ?Sized>(of: &D, name: &str, value: &Value) -> String {
    match value {
        Value::Number(whole) => number(scale(of, name), *whole),
        Value::Name(variant) if name == AXIS_PLACEMENT.name => placement_called(variant),
        Value::Name(variant) => variant.clone(),
    }
}

pub fn number(scale: Scale, number: u64) -> String {
    match scale {
        Scale::Bytes => quantities::size(number),
        Scale::Nanoseconds => exact_time(number),
        Scale::Count | Scale::Name => quantities::whole(number),
    }
}

/// A configured time is not rounded like a measured one.
fn exact_time(nanoseconds: u64) -> String {
    let steps = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    let fits = |(size, _): &(u64, &str)| nanoseconds >= *size && nanoseconds % (size / 10) == 0;
    match steps.into_iter().find(fits) {
        Some((size, symbol)) => format!("{} {symbol}", nanoseconds as f64 / size as f64),
        None => format!("{nanoseconds} ns"),
    }
}

/// The format of a parameter's values.
pub(super) fn scale<D: Declares + ?Sized>(of: &D, name: &str) -> Scale {
    let declared = of.parameters();
    let parameter = declared.iter().find(|parameter| parameter.name == name);
    parameter.map_or(Scale::Count, |parameter| parameter.scale)
}

/// A parameter with its meaning; the meaning alone if it contains the name.
pub fn parameter<D: Declares + ?Sized>(of: &D, name: &str) -> String {
    let (declared, name) = (of.parameters(), (name, spelt(name)));
    let meaning = declared.iter().find(|parameter| parameter.name == name.0).map(|known| &*known.meaning);
    match meaning {
        Some(meaning) if meaning.contains(&name.1) => meaning.to_owned(),
        Some(meaning) if !meaning.is_empty() => format!("{} ({meaning})", name.1),
        _ => name.1,
    }
}

/// One observation; a time below zero, of which too much was subtracted, is not printed as a time.
pub(super) fn observed(unit: Unit, value: f64) -> String {
    if unit == Unit::Nanoseconds && value < 0.0 {
        return "below zero".to_owned();
    }
    quantities::value(unit, value)
}

/// A mode below this share of the farthest is what rounding leaves of no difference.
const NOTHING: f64 = 1e-6;

/// The modes of a point's observations, each with its share of them.
pub(super) fn modes(point: &PointResult) -> String {
    let most = point.modes.last().map_or(0.0, |mode| mode.centre);
    let of = |mode: &Mode| {
        let is_nothing = mode.centre.abs() < NOTHING * most;
        let at = if is_nothing { "no difference".to_owned() } else { observed(point.unit, mode.centre) };
        format!("{at} ({})", quantities::percent(mode.share))
    };
    point.modes.iter().map(of).collect::<Vec<_>>().join(", ")
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

pub(super) fn evidence_sign(point: &PointResult) -> Sign {
    match &point.evidence {
        Evidence::NotJudged(_) => Sign::NotJudged,
        Evidence::Judged { checks, .. } if checks.is_empty() => Sign::Unasked,
        Evidence::Judged { .. } if point.evidence_holds() => Sign::Holds,
        Evidence::Judged { .. } => Sign::Fails,
    }
}

/// ✓ if all evidence holds, ✗ if some does not, – if there is none, ? if it is not judged.
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

pub(super) fn effort(effort: Effort) -> &'static str {
    match effort {
        Effort::Quick => "quick",
        Effort::Standard => "standard",
        Effort::Thorough => "thorough",
    }
}

/// `1 point`, `20 points`.
pub fn plural(number: usize, word: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {word}{ending}", quantities::count(number))
}

/// `none`, `3`.
pub(super) fn none_or(number: usize) -> String {
    if number == 0 { "none".to_owned() } else { quantities::count(number) }
}

/// The parameters with the same value at all of these points, of which there is at least one.
pub(super) fn shared_parameters(points: &[&PointResult]) -> Vec<String> {
    let names = points[0].point.parameters().map(|(name, _)| name.to_owned());
    let same = |name: &String| points.iter().all(|point| point.point.get(name) == points[0].point.get(name));
    names.filter(same).collect()
}

/// The point without the shared parameters, in words; a point that shares all of them keeps them.
pub(super) fn differing_label(point: &PointResult, shared: &[String]) -> String {
    let rest = shared.iter().fold(point.point.clone(), |rest, name| rest.without(name));
    label(point, if rest.parameters().next().is_some() { &rest } else { &point.point })
}

/// The shared parameters, in words.
pub(super) fn shared_label(point: &PointResult, shared: &[String]) -> String {
    let others =
        point.point.parameters().map(|(name, _)| name.to_owned()).filter(|name| !shared.contains(name));
    label(point, &others.fold(point.point.clone(), |rest: Point, name| rest.without(&name)))
}

/// What a ratio to a prediction is from what its inputs became during the run; `None` where none of them became another figure.
pub(crate) fn by_end(point: &PointResult) -> Option<String> {
    let factor = point.factor_by_end()?;
    Some(format!("{} from what its inputs became during the run", quantities::factor(factor)))
}

/// A sentence that goes on after a colon; an abbreviation keeps its letters.
pub(crate) fn uncapitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next();
    match first.filter(|_| !letters.as_str().starts_with(char::is_uppercase)) {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Parameter;

    #[test]
    fn a_full_label_says_what_each_value_is_of() {
        const METHOD: Parameter = Parameter::of("how_sized", "", &["growth"]);
        let point = Point::at(Placement::OneCpu).named(&METHOD, "growth");
        assert_eq!(full_label("none/such", &point), "how sized growth · on one CPU");
        assert_eq!(label("none/such", &point), "growth · on one CPU");
    }

    #[test]
    fn a_sentence_goes_on_and_an_abbreviation_keeps_its_letters() {
        assert_eq!(uncapitalised("The mean."), "the mean.");
        assert_eq!(uncapitalised("NVMe. The mean."), "NVMe. The mean.");
        assert_eq!(uncapitalised(""), "");
    }
}
