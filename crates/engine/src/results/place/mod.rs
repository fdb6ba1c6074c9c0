//! References to points for rules over several experiments: by the names of their parameters, because the sizes depend on
//! the machine and the constructors belong to the experiments.

use fathom_core::experiment::{AXIS_PLACEMENT, Found, Known, Placement, Point, Value};

/// The points of an experiment that have these parameters and no others except the free ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    experiment: &'static str,
    placement: Placement,
    names: &'static [(&'static str, &'static str)],
    numbers: &'static [(&'static str, u64)],
    free: &'static [&'static str],
}

impl Place {
    /// Points on one CPU with these variants.
    pub(super) const fn of(experiment: &'static str, names: &'static [(&'static str, &'static str)]) -> Self {
        Place { experiment, placement: Placement::OneCpu, names, numbers: &[], free: &[] }
    }

    /// The same with another placement.
    pub(super) const fn at(self, placement: Placement) -> Self {
        Place { placement, ..self }
    }

    /// The same with these numbers.
    pub(super) const fn with(self, numbers: &'static [(&'static str, u64)]) -> Self {
        Place { numbers, ..self }
    }

    /// The same with any value of these parameters.
    pub(super) const fn any(self, free: &'static [&'static str]) -> Self {
        Place { free, ..self }
    }

    fn has(&self, point: &Point) -> bool {
        let named = |(name, value): (&str, &Value)| match value {
            _ if name == AXIS_PLACEMENT.name => true,
            _ if self.free.contains(&name) => true,
            Value::Name(value) => self.names.contains(&(name, value.as_str())),
            Value::Number(value) => self.numbers.contains(&(name, *value)),
        };
        let parameters = self.names.len() + self.numbers.len() + self.free.len();
        point.placement() == self.placement
            && point.parameters().count() == parameters + 1
            && point.parameters().all(named)
    }

    /// Every matching point of the run, with its figure.
    pub(super) fn all<'a>(&'a self, known: &'a Known) -> impl Iterator<Item = (&'a Point, Found)> {
        let points = known.points(self.experiment).filter(|point| self.has(point));
        points.filter_map(|point| Some((point, known.found(self.experiment, point)?)))
    }

    /// The figure, if exactly one point matches.
    pub(super) fn found(&self, known: &Known) -> Option<Found> {
        let mut all = self.all(known).map(|(_, found)| found);
        all.next().filter(|_| all.next().is_none())
    }

    /// The figures along a free parameter that is a number, in ascending order of that number.
    pub(super) fn along(&self, parameter: &str, known: &Known) -> Vec<(u64, Found)> {
        let number = |point: &Point| match point.get(parameter) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        };
        let mut curve: Vec<(u64, Found)> =
            self.all(known).filter_map(|(point, found)| Some((number(point)?, found))).collect();
        curve.sort_by_key(|(number, _)| *number);
        curve
    }

    /// The greatest figure.
    pub(super) fn most(&self, known: &Known) -> Option<Found> {
        self.all(known).map(|(_, found)| found).max_by(|one, other| one.value.total_cmp(&other.value))
    }

    /// The experiment's name.
    pub(super) fn experiment(&self) -> &'static str {
        self.experiment
    }

    /// Whether a point of this experiment matches.
    pub(super) fn means(&self, experiment: &str, point: &Point) -> bool {
        self.experiment == experiment && self.has(point)
    }
}

#[cfg(test)]
pub(super) mod tests;
