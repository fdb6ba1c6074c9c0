//! Figures that tests plant for rules to judge.

use super::{CoreState, CpuDistance, Disturbance, Evidence, Outcome, PointCore, PointDistance, PointResult};
use crate::record::{BlockVisit, Trial, TrialOutcome};
use fathom_core::experiment::registry;
use fathom_core::experiment::{At, Dimension, Known, Placement, Point, Prediction, Selector};
use fathom_core::machine::{Fact, Machine};
use fathom_core::quantity::Unit;
use fathom_core::sampling::Sample;
use fathom_core::statistics::Estimate;
use serde_json::{Map, Value, json};

/// A described machine, and the experiments of `fathom run` made known; only the fields that a test sets are relevant.
pub fn machine() -> Machine {
    fathom_experiments::register();
    fathom_described::machine()
}

/// A machine with one cache of this declared capacity.
pub fn declaring(bytes: u64) -> Machine {
    let mut machine = machine();
    let fact = |number: u64| json!({ "value": number, "source": "a test" });
    let instances = [machine.measured_cpu().to_string()];
    let cache = json!({
        "level": 3, "kind": "unified", "size_bytes": fact(bytes), "ways": fact(8), "line_bytes": fact(64),
        "sets": fact(bytes / 512), "instances": instances,
    });
    let caches = serde_json::from_value(json!([cache])).expect("a cache");
    machine.caches = Fact::known(caches, "a test");
    machine
}

/// A point with this result and prediction, of one experiment without parameters.
pub fn result(experiment: &str, estimate: Estimate, prediction: Option<Prediction>) -> PointResult {
    let trials = (estimate.trials, estimate.trials);
    PointResult {
        experiment: experiment.to_owned(),
        method_version: 1,
        point: Point::new(),
        parameters: vec![],
        unit: Unit::Nanoseconds,
        outcome: Outcome::Value(estimate),
        bound: None,
        core_cycles: None,
        baseline: None,
        core: None,
        cpu_distance: None,
        samples: vec![],
        by_round: vec![],
        at_frequency: None,
        at_device: None,
        waited_for_the_device: false,
        each: false,
        percentiles: vec![],
        modes: vec![],
        mixture: None,
        negative: 0,
        published: None,
        outliers: None,
        prediction,
        by_end: None,
        by_end_cores: vec![],
        unpredicted: None,
        evidence: Evidence::judged(vec![]),
        trials,
        left_out: 0,
        disturbance: Disturbance::default(),
        processor_time: None,
        explanation: None,
        because: None,
        explained_part: None,
        influence: None,
        miss_mechanism: None,
        denied_by: None,
        by_preemption: None,
    }
}

/// CPUs between which a line takes this, near where it is less than 100 ns, as at most times.
pub fn cpus_apart(line_ns: f64) -> CpuDistance {
    CpuDistance { line_ns, share: 0.5, looks: 100, is_usual: line_ns < 100.0 }
}

/// The distances of a point with a figure at the first, and another at the second if there is one.
pub fn at_distances(near_ns: f64, far: Option<(f64, Estimate)>) -> Option<PointDistance> {
    Some(PointDistance {
        at: cpus_apart(near_ns),
        of_several: true,
        trials: 9,
        other: far.map(|(line_ns, estimate)| (cpus_apart(line_ns), estimate.clone(), estimate.trials)),
        predicted_there: None,
        medians: [vec![], vec![]],
    })
}

/// The core of a point in this state, shared for half of the time.
pub fn core(state: CoreState) -> PointCore {
    PointCore {
        state,
        is_told_apart: true,
        shared_share: Some(0.5),
        alone: None,
        shared: None,
        shared_as_observed: None,
        observations: [50, 50, 0],
    }
}

/// A trial of one experiment, in which this was observed.
pub fn trial(experiment: &str, took_s: f64, block: BlockVisit, sample: Sample) -> Trial {
    Trial {
        experiment: experiment.to_owned(),
        point: Point::new(),
        round: 1,
        seed: 1,
        began_s: 0.0,
        took_s,
        block: Some(block),
        outcome: TrialOutcome::Measured { sample },
    }
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
