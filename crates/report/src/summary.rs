//! The rows of the summary table, from the same records as everything else (R-FIX-65): one row per operation with base
//! hardware, software overhead, prediction and measurement, and a list of the points without a value, with the reason.

use super::words::ABSENT;
use super::{at_usual, cpu_distance, occupancy, states, words};
use fathom_core::experiment::{AXIS_PLACEMENT, Part, Prediction};
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Unit;
use fathom_core::statistics::Estimate;
use fathom_engine::results::{MachineState, Outcome, PointResult, Results};

/// The rows of one experiment.
pub(super) struct OperationGroup<'run> {
    pub experiment: &'run str,
    /// The placement, if all of its points share one.
    pub placement: Option<&'static str>,
    /// Its points that have a value or an upper limit.
    pub rows: Vec<OperationRow<'run>>,
}

/// One operation. Every text has its unit; an absent figure is `–`.
pub(super) struct OperationRow<'run> {
    pub point: &'run PointResult,
    pub operation: String,
    pub of: RowOf,
    /// The predicted cost of the bare hardware.
    pub hardware: String,
    /// The predicted overhead of the operating system.
    pub software: String,
    pub predicted: String,
    /// The median, or `< limit` below resolution.
    pub measured: String,
    pub interval: String,
    /// Half the interval as a share of the median.
    pub half_width: String,
    /// Measured over predicted.
    pub factor: String,
    pub evidence: &'static str,
}

/// Which value of a point a row has; all but the first stand below that of the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowOf {
    /// The figure, or the value of the state of the machine with the most trials.
    Figure,
    /// Another state of the machine.
    OtherState,
    /// The core shared.
    CoreShared,
    /// Another distance of the two CPUs.
    OtherDistance,
    /// The commonest time of the device.
    AtDevice,
}

/// Points of one experiment without a value, for one reason.
pub(super) struct Unmeasured<'run> {
    pub experiment: &'run str,
    /// `skipped`, `failed`, …
    pub outcome: &'static str,
    pub reason: String,
    /// Whether something went wrong.
    pub failure: bool,
    pub points: Vec<String>,
}

pub(super) fn groups<'run>(results: &'run Results) -> Vec<OperationGroup<'run>> {
    let groups = results.experiments().into_iter().map(|experiment| {
        let points: Vec<&PointResult> =
            results.of_experiment(experiment).filter(|point| is_in_table(point)).collect();
        let placement = shared_placement(results.of_experiment(experiment));
        let rows = points.iter().flat_map(|point| rows(point, placement.is_some())).collect();
        OperationGroup { experiment, placement, rows }
    });
    groups.filter(|group| !group.rows.is_empty()).collect()
}

/// Those of the points that are missing from the table, grouped by reason.
pub(super) fn unmeasured<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> Vec<Unmeasured<'run>> {
    let mut groups: Vec<Unmeasured> = vec![];
    for point in points.into_iter().filter(|point| !is_in_table(point)) {
        let (outcome, reason) = (words::outcome(&point.outcome), words::reason(point));
        let label = words::label(point, &point.point);
        let alike = groups.iter_mut().find(|group| {
            group.experiment == point.experiment && group.outcome == outcome && group.reason == reason
        });
        match alike {
            Some(group) => group.points.push(label),
            None => groups.push(Unmeasured {
                experiment: &point.experiment,
                outcome,
                reason,
                failure: point.outcome.is_failure(),
                points: vec![label],
            }),
        }
    }
    groups
}

/// Whether the point has a figure that may be used.
pub(super) fn is_in_table(point: &PointResult) -> bool {
    matches!(point.outcome, Outcome::Value(_) | Outcome::BelowResolution { .. })
}

/// The usable figure of a point: its median or its upper limit.
pub(super) fn figure(point: &PointResult) -> Option<f64> {
    match &point.outcome {
        Outcome::Value(estimate) => Some(estimate.value),
        Outcome::BelowResolution { below, .. } => Some(*below),
        _ => None,
    }
}

/// The placement of all points of an experiment, to be printed once.
pub(super) fn shared_placement<'run>(
    points: impl Iterator<Item = &'run PointResult>,
) -> Option<&'static str> {
    let mut placements = points.map(|point| point.point.placement());
    let first = placements.next()?;
    placements.all(|placement| placement == first).then(|| first.name())
}

/// The parameters of a point; without the placement if that is printed elsewhere.
pub(super) fn operation(point: &PointResult, placement_said: bool) -> String {
    let rest = point.point.without(AXIS_PLACEMENT.name);
    let label = words::label(point, if placement_said { &rest } else { &point.point });
    if label.is_empty() { words::label(point, &point.point) } else { label }
}

/// The rows of one point, whose placement is named.
pub(super) fn of_point(point: &PointResult) -> Vec<OperationRow<'_>> {
    rows(point, false)
}

/// The range of the published figures on which a prediction rests, in the unit of its row; `None` if it rests on single ones.
pub(super) fn range(point: &PointResult, prediction: &Prediction) -> Option<String> {
    let (low, high) = prediction.range()?;
    let value = figure(point).unwrap_or_else(|| prediction.total());
    Some(states::measure(point, value).range(prediction.total(), low, high))
}

/// The row of a point, or of each of its states, and another for its value while the core was shared, at another distance of its CPUs, or at the commonest time of
/// the device. The unit of all figures is that of
/// the median.
fn rows(point: &PointResult, placement_said: bool) -> Vec<OperationRow<'_>> {
    let value = figure(point).unwrap_or(0.0);
    let measure = states::measure(point, value);
    let second = |state: &str, of, estimate: &Estimate| OperationRow {
        of,
        ..of_second(point, state, estimate, measure)
    };
    let shared = point.shared().map(|estimate| second(occupancy::SHARED, RowOf::CoreShared, estimate));
    let elsewhere = point.at_other_distance().map(|(at, estimate)| {
        let row = second(&cpu_distance::of_another(at, estimate), RowOf::OtherDistance, estimate);
        match point.predicted_at_other_distance() {
            Some((prediction, factor)) => OperationRow {
                predicted: expected(point, prediction.total(), measure),
                factor: quantities::factor(factor),
                ..row
            },
            None => row,
        }
    });
    let row = row(point, measure, placement_said);
    let at_device = point.at_device.as_ref();
    let at_device =
        at_device.map(|at| second(&at_usual::while_the_device(at), RowOf::AtDevice, &at.estimate));
    of_states(row, measure).into_iter().chain(shared).chain(elsewhere).chain(at_device).collect()
}

/// The row of a point of several states as a row for each of them: beside each other they would take the room of the names.
fn of_states(row: OperationRow<'_>, measure: Measure) -> Vec<OperationRow<'_>> {
    let states = states::each(row.point);
    let absent = || ABSENT.to_owned();
    let predicted = row.point.prediction.as_ref().map(Prediction::total).filter(|total| *total > 0.0);
    let of = |(place, (state, count)): (usize, (MachineState, String))| {
        let (value, ends) = (state.value, state.interval.map(|ends| (ends.low, ends.high)));
        let range = |(low, high)| format!("{} {}", measure.range(value, low, high), measure.symbol);
        OperationRow {
            point: row.point,
            operation: if place == 0 {
                format!("{} ({count})", row.operation)
            } else {
                format!("· {count}")
            },
            of: if place == 0 { RowOf::Figure } else { RowOf::OtherState },
            hardware: if place == 0 { row.hardware.clone() } else { absent() },
            software: if place == 0 { row.software.clone() } else { absent() },
            predicted: if place == 0 { row.predicted.clone() } else { absent() },
            measured: format!("{} {}", measure.number(value, ends), measure.symbol),
            interval: ends.map_or_else(absent, range),
            half_width: ends.map_or_else(absent, |ends| measure.half_width(value, ends)),
            factor: predicted.map_or_else(absent, |predicted| quantities::factor(value / predicted)),
            evidence: if place == 0 { row.evidence } else { ABSENT },
        }
    };
    let of_each: Vec<OperationRow> = states.into_iter().enumerate().map(of).collect();
    if of_each.is_empty() { vec![row] } else { of_each }
}

/// The row of a point's second value, in another state of the machine than its figure.
fn of_second<'run>(
    point: &'run PointResult,
    state: &str,
    estimate: &Estimate,
    measure: Measure,
) -> OperationRow<'run> {
    let ends = quantities::ends(estimate);
    let absent = || ABSENT.to_owned();
    let range = |(low, high)| format!("{} {}", measure.range(estimate.value, low, high), measure.symbol);
    OperationRow {
        point,
        operation: format!("· {state}"),
        of: RowOf::Figure,
        hardware: absent(),
        software: absent(),
        predicted: absent(),
        measured: format!("{} {}", measure.number(estimate.value, ends), measure.symbol),
        interval: ends.map_or_else(absent, range),
        half_width: ends.map_or_else(absent, |ends| measure.half_width(estimate.value, ends)),
        factor: absent(),
        evidence: ABSENT,
    }
}

fn row(point: &PointResult, measure: Measure, placement_said: bool) -> OperationRow<'_> {
    let unitised = |number: String| format!("{number} {}", measure.symbol);
    let predicted =
        |value: Option<f64>| value.map_or(ABSENT.to_owned(), |value| expected(point, value, measure));
    let prediction = point.prediction.as_ref();
    let usable = point.estimate();
    let interval = |estimate: &Estimate| {
        let (low, high) = quantities::ends(estimate)?;
        Some(unitised(measure.range(estimate.value, low, high)))
    };
    OperationRow {
        point,
        operation: [occupancy::state(point).map(str::to_owned), cpu_distance::name(point)]
            .into_iter()
            .flatten()
            .fold(operation(point, placement_said), |name, state| format!("{name} ({state})")),
        of: RowOf::Figure,
        hardware: part(point, Part::Hardware, measure),
        software: part(point, Part::Software, measure),
        predicted: predicted(prediction.map(Prediction::total)),
        measured: measured(point, measure),
        interval: usable.and_then(interval).unwrap_or(ABSENT.to_owned()),
        half_width: usable
            .and_then(|estimate| Some(measure.half_width(estimate.value, quantities::ends(estimate)?)))
            .unwrap_or(ABSENT.to_owned()),
        factor: factor(point),
        evidence: words::evidence_mark(point),
    }
}

/// What a prediction rests on, in a word or two: a size that the run set itself rests on nothing.
pub(super) fn ground(prediction: &Prediction) -> &'static str {
    if prediction.is_limit_of_the_run() { SET_BY_THE_RUN } else { prediction.ground().short_name() }
}

/// What is written beside a size that is a limit of the run: it is no prediction that can hit or miss.
pub(super) const SET_BY_THE_RUN: &str = "a limit set by this run";

/// Measured over predicted, of each state of the machine; `–` without a prediction.
pub(super) fn factor(point: &PointResult) -> String {
    let of_one = || point.factor().map_or(ABSENT.to_owned(), quantities::factor);
    states::factors(point).unwrap_or_else(of_one)
}

/// A predicted value in the unit of its row; a size, which is declared in its own, in that.
fn expected(point: &PointResult, value: f64, measure: Measure) -> String {
    if point.unit == Unit::Bytes {
        return quantities::value(point.unit, value);
    }
    format!("{} {}", measure.number(value, None), measure.symbol)
}

/// A part of a prediction, in the unit of its row.
pub(super) fn part(point: &PointResult, part: Part, measure: Measure) -> String {
    let of = |prediction: &Prediction| prediction.part(part);
    match point.prediction.as_ref().and_then(of) {
        Some(value) if point.unit == Unit::Bytes => expected(point, value, measure),
        _ => part_number(point, part, measure, &|number| format!("{number} {}", measure.symbol)),
    }
}

/// A part of a prediction in the measure of its row or column, as `written` writes a number. Of software that takes something off a rate
/// it is the factor that leaves the rest: rates do not subtract.
pub(super) fn part_number(
    point: &PointResult,
    part: Part,
    measure: Measure,
    written: &dyn Fn(String) -> String,
) -> String {
    let of = |prediction: &Prediction| Some((prediction.part(part)?, prediction.total()));
    match point.prediction.as_ref().and_then(of) {
        None => ABSENT.to_owned(),
        Some((value, whole)) if value < 0.0 => factor_of_rate(whole - value, whole),
        Some((value, whole)) => written(measure.part(value, whole)),
    }
}

/// What is left of a rate, as a factor of it, which needs no unit of its column.
fn factor_of_rate(rate: f64, remaining: f64) -> String {
    format!("×{}", quantities::number(remaining / rate))
}

fn measured(point: &PointResult, measure: Measure) -> String {
    let number = match &point.outcome {
        Outcome::Value(estimate) => measure.number(estimate.value, quantities::ends(estimate)),
        Outcome::BelowResolution { below, .. } => format!("< {}", measure.number(*below, None)),
        _ => return ABSENT.to_owned(),
    };
    format!("{number} {}", measure.symbol)
}
