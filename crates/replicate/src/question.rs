//! The point where Fathom asks the same question as a row of a report, or the value that it computes from several points.

use super::sweep::SweptPoint;
use fathom_core::experiment::{Dimension, Found, Known, Point, registry};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointOf {
    pub experiment: String,
    pub point: SweptPoint,
}

/// Where Fathom asks the *same question* by a method that answers it correctly, so that the result of the report's method can be
/// compared with the correct one. The points that use the *same method* as a published figure are another relation
/// ([`SameMethod`](fathom_report::references::SameMethod)): a `close` that does not wait for the other side has such a point, but the
/// time until a connection has ended is asked elsewhere.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum SameQuestion {
    Nowhere {
        nowhere: String,
    },
    /// In the slope along a parameter; the point has all others.
    Slope {
        experiment: String,
        /// The other parameters.
        point: SweptPoint,
        along: String,
    },
    Point(PointOf),
    /// In a value computed from points.
    Computed(Computed),
}

/// A value computed from the values of points, in the unit of the row.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Computed {
    At {
        experiment: String,
        point: SweptPoint,
        /// What the value is divided into, if it is: a rate from a time, a time from a rate.
        inverse: Option<f64>,
        #[serde(default = "once")]
        times: f64,
    },
    /// A sum; a summand is subtracted where its factor is negative.
    Sum {
        sum: Vec<Computed>,
        #[serde(default = "once")]
        times: f64,
    },
    /// The greatest of the points that have these parameters.
    Best { experiment: String, best: SweptPoint },
    /// The mean factor from each of some values of a parameter to the next, over several groups of points.
    Growth { growth: Vec<PointOf>, along: String, over: Vec<u64> },
}

fn once() -> f64 {
    1.0
}

/// Points with the names of their experiments.
pub type Points = Vec<(&'static str, Point)>;

impl SameQuestion {
    /// Whether the figure is a difference of values, or computed from several: it may be negative.
    pub fn is_difference(&self) -> bool {
        matches!(self, SameQuestion::Slope { .. } | SameQuestion::Computed(_))
    }

    pub fn points(&self, machine: &Machine) -> Points {
        match self {
            SameQuestion::Point(of) => vec![at(&of.experiment, &of.point, machine)],
            SameQuestion::Slope { experiment, point, along } => {
                let group = point.nearest(experiment, machine).without(along);
                let sweep = sweep(experiment, machine);
                let mine =
                    |(_, point): &(_, Point)| point.get(along).is_some() && point.without(along) == group;
                sweep.into_iter().filter(mine).collect()
            }
            SameQuestion::Computed(computed) => distinct(computed.points(machine)),
            SameQuestion::Nowhere { .. } => vec![],
        }
    }
}

/// The points, each once.
pub fn distinct(all: impl IntoIterator<Item = (&'static str, Point)>) -> Points {
    let mut points = vec![];
    for point in all {
        if !points.contains(&point) {
            points.push(point);
        }
    }
    points
}

fn sweep(experiment: &str, machine: &Machine) -> Points {
    let Some(experiment) = registry::find(experiment) else { return vec![] };
    experiment.sweep(machine).into_iter().map(|point| (experiment.about().name, point)).collect()
}

fn at(experiment: &str, point: &SweptPoint, machine: &Machine) -> (&'static str, Point) {
    let name = registry::find(experiment).map_or("", |experiment| experiment.about().name);
    (name, point.nearest(experiment, machine))
}

impl Computed {
    fn points(&self, machine: &Machine) -> Points {
        match self {
            Computed::At { experiment, point, .. } => vec![at(experiment, point, machine)],
            Computed::Sum { sum, .. } => sum.iter().flat_map(|part| part.points(machine)).collect(),
            Computed::Best { experiment, best } => {
                let mut sweep = sweep(experiment, machine);
                sweep.retain(|(_, point)| best.is_of(point, machine));
                sweep
            }
            Computed::Growth { growth, along, over } => {
                let group = |group: &PointOf| {
                    let each = over.iter().map(|number| group.point.and(along, *number));
                    each.map(|point| at(&group.experiment, &point, machine)).collect::<Points>()
                };
                growth.iter().flat_map(group).collect()
            }
        }
    }

    /// The value, in a unit; `None` where a point that is needed has no value.
    pub fn value(&self, known: &Known, unit: Unit) -> Option<Found> {
        let points = self.points(known.machine).into_iter();
        let mut results = points.map(|(name, point)| known.found(name, &point));
        match self {
            Computed::At { inverse, times, .. } => {
                let value = results.next()??;
                let value = inverse.map_or(value, |scale| value.inverse(scale, Dimension::Of(unit)));
                Some(value.scaled(*times))
            }
            Computed::Sum { sum, times } => {
                let parts: Option<Vec<Found>> = sum.iter().map(|part| part.value(known, unit)).collect();
                Some(parts?.into_iter().reduce(Found::plus)?.scaled(*times))
            }
            Computed::Best { .. } => results.flatten().max_by(|one, other| one.value.total_cmp(&other.value)),
            Computed::Growth { over, .. } => {
                let values: Option<Vec<f64>> = results.map(|result| Some(result?.value)).collect();
                let (values, millionths) = (values?, 1e6);
                let factors: Vec<f64> = values
                    .chunks(over.len())
                    .flat_map(|group| group.windows(2))
                    .map(|pair| pair[1] / pair[0] * millionths)
                    .collect();
                let mean = factors.iter().sum::<f64>() / factors.len() as f64;
                Some(Found::bare(mean, Dimension::Of(unit)))
            }
        }
    }
}
