//! Figures that tests plant for rules to judge.

use fathom_core::experiment::registry;
use fathom_core::experiment::{At, Dimension, Known, Placement, Point, Selector};
use fathom_core::machine::Machine;
use serde_json::{Map, Value, json};

/// A described machine, and the experiments of `fathom run` made known; only the fields that a test sets are relevant.
pub fn machine() -> Machine {
    fathom_experiments::register();
    fathom_described::machine()
}

/// Plants figures at the points of a selector.
pub trait Plant {
    /// The point, with these values of the parameters that may have any.
    fn point(&self, free: &[(&str, Value)]) -> Point;

    /// Whether the experiment has such a point on this machine.
    fn exist(&self, machine: &Machine) -> bool;

    /// Plants a value at these values of the free parameters, with an interval of one in a hundred on each side.
    fn plant_at(&self, known: &mut Known, free: &[(&str, Value)], value: f64);

    /// The same where no parameter is free.
    fn plant(&self, known: &mut Known, value: f64) {
        self.plant_at(known, &[], value);
    }
}

impl Plant for Selector {
    fn point(&self, free: &[(&str, Value)]) -> Point {
        let mut map = Map::new();
        map.insert("placement".to_owned(), json!(self.placement.unwrap_or(Placement::OneCpu).name()));
        for (name, at) in self.settings.0 {
            match at {
                At::Name(value) => map.insert((*name).to_owned(), json!(value)),
                At::Number(value) => map.insert((*name).to_owned(), json!(value)),
                _ => None,
            };
        }
        map.extend(free.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let point = serde_json::from_value(Value::Object(map)).expect("a point");
        assert!(self.selects(self.experiment, &point, &machine()), "{point} is not meant by {self:?}");
        point
    }

    fn exist(&self, machine: &Machine) -> bool {
        let experiment = registry::find(self.experiment).expect("an experiment");
        !self.among(&experiment.sweep(machine), machine).is_empty()
    }

    fn plant_at(&self, known: &mut Known, free: &[(&str, Value)], value: f64) {
        let point = self.point(free);
        let experiment = registry::find(self.experiment).expect("an experiment");
        let dimension = Dimension::Of(experiment.unit(&point));
        known.learn(self.experiment, &point, fathom_described::found(value, dimension));
    }
}
