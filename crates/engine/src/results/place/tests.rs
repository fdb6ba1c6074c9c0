//! Figures that tests plant for rules to judge.

use super::Place;
use fathom_core::experiment::registry;
use fathom_core::experiment::{Dimension, Found, Known, Point};
use fathom_core::machine::Machine;
use fathom_core::statistics::{Interval, Measured};
use serde_json::{Map, Value, json};

/// A described machine; only the fields that a test sets are relevant.
pub fn machine() -> Machine {
    fathom_described::machine()
}

impl Place {
    /// The point, with these values of the free parameters.
    pub fn point(&self, free: &[(&str, Value)]) -> Point {
        let mut map = Map::new();
        map.insert("placement".to_owned(), json!(self.placement.name()));
        map.extend(self.names.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
        map.extend(self.numbers.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
        map.extend(free.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let point = serde_json::from_value(Value::Object(map)).expect("a point");
        assert!(self.has(&point), "{point} is not meant by {self:?}");
        point
    }

    /// Whether the experiment has such a point on this machine.
    pub fn stands(&self, machine: &Machine) -> bool {
        let experiment = registry::find(self.experiment).expect("an experiment");
        experiment.sweep(machine).iter().any(|point| self.has(point))
    }

    /// Plants a value at this point, with an interval of one in a hundred on each side.
    pub fn plant(&self, known: &mut Known, value: f64) {
        self.plant_at(known, &[], value);
    }

    /// The same at these values of the free parameters.
    pub fn plant_at(&self, known: &mut Known, free: &[(&str, Value)], value: f64) {
        let point = self.point(free);
        let experiment = registry::find(self.experiment).expect("an experiment");
        let dimension = Dimension::Of(experiment.unit(&point));
        let interval = Some(Interval { low: 0.99 * value, high: 1.01 * value });
        known.learn(self.experiment, &point, Found::measured(Measured { value, interval }, dimension));
    }
}
