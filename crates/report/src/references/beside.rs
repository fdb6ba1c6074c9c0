//! A run next to a published machine: figures by the same method, here and there.

use super::figure::{Figure, Value};
use super::machine::Machine;
use super::same_method::{SameMethod, same_methods};
use crate::{cpu_distance, states};
use fathom_core::experiment::Point;
use fathom_core::sorting;
use fathom_core::statistics::Interval;
use fathom_engine::results::{PointResult, Results};

/// One figure of a published machine next to the result of the point that repeats its method.
#[derive(Debug, Clone)]
pub struct Beside<'run> {
    pub here: &'run PointResult,
    pub figure: &'static Figure,
    pub machine: &'static Machine,
    /// The figure converted to Fathom's operation, in the point's unit.
    pub there: There,
    /// The result here over the figure there; `None` if one of the two must not be used in a ratio.
    pub ratio: Option<Ratio>,
    /// How the methods differ.
    pub differs: &'static str,
    /// Whether they differ in what was timed, or in the state of the machine: of CPUs that were at several distances no source says at
    /// which they were.
    pub is_unlike: bool,
}

/// A published figure converted to Fathom's operation and unit. Its value may be doubtful.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct There {
    pub value: Value,
    /// The standard deviation that is printed with it.
    pub deviation: Option<f64>,
    /// The factor on the printed figure: 0.5 makes one switch of a round trip.
    pub times: f64,
}

/// The result here over the figure there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The median here over the value there.
    pub value: f64,
    /// The interval of the median here over the value there: published figures have none.
    pub interval: Option<Interval>,
    /// Whether it is computed with the corrected value.
    pub corrected: bool,
}

/// The published figures of these machines whose methods points of the run repeat, in the order of the run; for one point in
/// the order of the machines.
pub fn beside<'run>(results: &'run Results, machines: &[&'static Machine]) -> Vec<Beside<'run>> {
    let mut rows: Vec<(usize, usize, Beside)> = vec![];
    for same in same_methods() {
        let places = candidates(results, same.points.experiment);
        let points: Vec<&Point> = places.iter().map(|place| &results.points[*place].point).collect();
        for figure in &same.figures {
            let whose = machines.iter().position(|machine| machine.id == figure.machine());
            let Some((whose, chosen)) = whose.zip(same.choose(figure, &points, &results.run.header.machine))
            else {
                continue;
            };
            let place = places[chosen];
            let new = row(&results.points[place], same, figure, machines[whose]);
            rows.extend(new.map(|row| (place, whose, row)));
        }
    }
    sorting::by_key(&mut rows, |(place, whose, row)| (*place, *whose, row.figure.id()));
    rows.into_iter().map(|(_, _, row)| row).collect()
}

/// The indices of an experiment's points in the results, those with a value first; none if the version of the method is not
/// the one to which the figures were assigned.
fn candidates(results: &Results, experiment: &str) -> Vec<usize> {
    let of_it = |(_, point): &(usize, &PointResult)| point.experiment == experiment && point.method().is_ok();
    let mut places: Vec<usize> =
        results.points.iter().enumerate().filter(of_it).map(|(place, _)| place).collect();
    sorting::by_key(&mut places, |place| results.points[*place].estimate().is_none());
    places
}

/// A row; `None` if the figure has no value, or another unit than the point.
fn row<'run>(
    here: &'run PointResult,
    same: &'static SameMethod,
    figure: &'static Figure,
    machine: &'static Machine,
) -> Option<Beside<'run>> {
    if figure.unit().quantity() != Some(here.unit) {
        return None;
    }
    let there = There {
        value: figure.value()?.times(same.times),
        deviation: figure.deviation().map(|deviation| deviation * same.times),
        times: same.times,
    };
    Some(Beside {
        here,
        figure,
        machine,
        there,
        ratio: ratio(here, there.value),
        differs: &same.note,
        is_unlike: same.is_unlike || cpu_distance::name(here).is_some(),
    })
}

/// `None` also for a machine in several states, which has no one ratio.
fn ratio(here: &PointResult, there: Value) -> Option<Ratio> {
    let estimate = here.estimate().filter(|_| states::of(here).is_empty())?;
    let against = there.to_reckon_with().filter(|value| *value > 0.0)?;
    let over = |interval: Interval| Interval { low: interval.low / against, high: interval.high / against };
    let corrected = matches!(there, Value::Doubtful { corrected: Some(_), .. });
    Some(Ratio { value: estimate.value / against, interval: estimate.interval.map(over), corrected })
}
