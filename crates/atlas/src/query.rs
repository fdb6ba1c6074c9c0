//! A figure for which the usual values are asked.

use super::entry::{Figure, Validity};
use fathom_core::quantity::Unit;
use fathom_core::statistics::{Estimate, Interval};
use fathom_engine::comparison::Level;
use fathom_engine::results::{CoreState, PointDistance, PointResult};

/// A figure of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Query<'a> {
    /// Name of the experiment.
    pub experiment: &'a str,
    /// Version of its method.
    pub version: u32,
    /// Its point, as the atlas names it.
    pub point: String,
    /// What it represents on any machine.
    pub role: Option<&'a str>,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The state of the core in its observations.
    pub core: Option<CoreState>,
    /// The median.
    pub value: f64,
    /// Its interval.
    pub interval: Option<Interval>,
    /// Whether it is of one of several distances of two CPUs: no figure of the atlas names its distance.
    pub is_of_a_distance: bool,
}

impl<'a> Query<'a> {
    /// A result; `None` if it is no value, or one that is compared with nothing.
    pub fn of(point: &'a PointResult, role: Option<&'a str>) -> Option<Self> {
        let is_sound = point.evidence_holds() && point.mixture.is_none();
        Query::new(
            point.estimate().filter(|_| is_sound)?,
            (&point.experiment, point.method_version),
            point.unit,
        )
        .named(point.point.on_any_machine().to_string(), role)
        .at_a_distance(point.cpu_distance.as_ref())
        .in_state(point.core.as_ref().map(|core| core.state))
    }

    /// A result of a side of a comparison.
    pub fn of_level(level: &'a Level) -> Option<Self> {
        let estimate = level.outcome.estimate().filter(|_| !level.refuted)?;
        Query::new(estimate, (&level.experiment, level.method_version), level.unit)
            .named(level.point.on_any_machine().to_string(), None)
            .at_a_distance(level.cpu_distance.as_ref())
            .in_state(level.core)
    }

    fn new(estimate: &Estimate, (experiment, version): (&'a str, u32), unit: Unit) -> Self {
        let (value, interval) = (estimate.value, estimate.interval);
        let (point, is_of_a_distance) = (String::new(), false);
        Query { experiment, version, point, role: None, unit, core: None, value, interval, is_of_a_distance }
    }

    fn at_a_distance(self, distance: Option<&PointDistance>) -> Self {
        Query { is_of_a_distance: distance.is_some_and(|distance| distance.of_several), ..self }
    }

    fn named(self, point: String, role: Option<&'a str>) -> Self {
        Query { point, role, ..self }
    }

    /// `None` for a mixture of both states, which is of neither.
    fn in_state(self, core: Option<CoreState>) -> Option<Self> {
        (core != Some(CoreState::Mixed)).then_some(Query { core, ..self })
    }

    /// The median and the ends of a figure of the atlas by the same method, in the same state of the core; `None` if it is another.
    pub(super) fn matching(&self, figure: &Figure) -> Option<[f64; 3]> {
        let is_same = match (self.role, &figure.role) {
            (Some(role), Some(other)) => role == other && counts(&self.point).eq(counts(&figure.point)),
            _ => self.point == figure.point,
        };
        let is_same = is_same && self.version == figure.version && self.unit == figure.unit;
        let is_sound = matches!(figure.validity, Validity::Holds | Validity::Unchecked);
        (is_same && is_sound).then(|| self.in_the_same_state(figure)).flatten()
    }

    fn in_the_same_state(&self, figure: &Figure) -> Option<[f64; 3]> {
        let is = |state: CoreState| figure.core.as_deref() == Some(state.name());
        let own = [figure.value, figure.low, figure.high];
        match (self.core == Some(CoreState::Shared), is(CoreState::Shared)) {
            _ if is(CoreState::Mixed) => None,
            (true, false) => figure.shared,
            (false, true) => None,
            _ => Some(own),
        }
    }
}

/// Numbers of what works side by side: a machine with more CPUs has another figure under the same role.
fn counts(point: &str) -> impl Iterator<Item = &str> {
    const COUNTS: [&str; 3] = ["threads=", "processes=", "streams="];
    point.split(' ').filter(|word| COUNTS.iter().any(|name| word.starts_with(name)))
}
