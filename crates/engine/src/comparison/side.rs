//! The sides of a comparison: runs, reduced to the necessary data, so that thousands fit into memory.

use super::equal_frequency;
use crate::record::{Header, MethodParameter, Run};
use crate::results::{AtUsual, CoreState, Outcome, PointDistance, PointResult, Results};
use fathom_core::experiment::Point;
use fathom_core::quantity::Unit;
use fathom_core::sorting;
use fathom_core::statistics::{self, Estimate, LogLevel};
use std::collections::BTreeMap;

/// One side of a comparison: a run, or several of the same machine under the same settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Its name: the files' names.
    pub name: String,
    /// Its runs; at least one.
    pub runs: Vec<ReducedRun>,
}

/// A run, reduced to the data of comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct ReducedRun {
    /// Its header, without plan and methods.
    pub header: Header,
    /// The share of the time in which another hardware thread used the core, 0 to 1; `None` if it is not known.
    pub core_shared: Option<f64>,
    /// The logarithm of the frequency of the core over the run, hertz, with its error; `None` if it was not observed.
    pub core_frequency: Option<LogLevel>,
    /// The usual frequency of the core, to which its figures were moved that follow it, hertz; `None` if it was not observed.
    pub usual_hz: Option<f64>,
    /// The points of its plan, in its order.
    pub levels: Vec<Level>,
}

/// The result of one point of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Name of the experiment.
    pub experiment: String,
    /// Version of its method.
    pub method_version: u32,
    /// The setting of its parameters.
    pub point: Point,
    /// The parameters declared by its method.
    pub parameters: Vec<MethodParameter>,
    /// The unit of its numbers.
    pub unit: Unit,
    /// Its outcome.
    pub outcome: Outcome,
    /// The state of the core during its observations; `None` if it is not known.
    pub core: Option<CoreState>,
    /// The same with the core shared, for short work that was measured in both states.
    pub shared: Option<Estimate>,
    /// The distance of the CPUs of work on two, with its value at another; `None` of other work, and if it was not looked at.
    pub cpu_distance: Option<PointDistance>,
    /// Whether evidence was judged and some of it does not hold.
    pub refuted: bool,
    /// The least step between two of its observations, in the unit, which limits the precision of a median read from a clock
    /// with whole steps. `None` if all are equal.
    pub step: Option<f64>,
    /// The median of each of its trials with its round as it was observed, in the unit.
    pub by_round: Vec<(u32, f64)>,
    /// How the figure was moved to the usual frequency of its run; `None` if it is as it was observed.
    pub at_frequency: Option<LevelAtFrequency>,
    /// The frequency of the core in trials that observed it with their rounds, hertz.
    pub core_hz: Vec<(u32, f64)>,
}

/// How the figure of a point was moved to the usual frequency of the core in its run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelAtFrequency {
    /// The frequency, hertz.
    pub hz: f64,
    /// The share of the cost that follows the frequency, 0 to 1.
    pub share: f64,
    /// Its standard error; 0 where the share is known from the kind of the operation.
    pub error: f64,
}

impl LevelAtFrequency {
    fn of(moved: &AtUsual) -> Self {
        LevelAtFrequency { hz: moved.usual, share: moved.share, error: moved.share_error() }
    }
}

impl Side {
    /// One run.
    pub fn of_run(name: impl Into<String>, run: ReducedRun) -> Self {
        Side { name: name.into(), runs: vec![run] }
    }

    /// The results of its runs for each point, by experiment and point.
    pub(super) fn by_point(&self) -> BTreeMap<(&str, &Point), Vec<&Level>> {
        let mut levels_by_point: BTreeMap<(&str, &Point), Vec<&Level>> = BTreeMap::new();
        for level in self.runs.iter().flat_map(|run| &run.levels) {
            levels_by_point.entry((&level.experiment, &level.point)).or_default().push(level);
        }
        levels_by_point
    }
}

impl Level {
    /// The logarithm of the frequency of its figure: the usual one of the run to which it was moved, or the mean of its trials'; `None` if
    /// none was observed.
    pub(super) fn log_hz(&self) -> Option<f64> {
        let of_trials = || {
            let logs: Vec<f64> = self.core_hz.iter().map(|(_, hz)| hz.ln()).collect();
            statistics::mean(&logs).map(|mean| mean.value)
        };
        self.at_frequency.map(|moved| moved.hz.ln()).or_else(of_trials)
    }

    /// The logarithm of its value, with an uncertainty of at least half a step; `None` if it has no interval above zero, or
    /// its evidence does not hold.
    pub fn logarithm(&self) -> Option<LogLevel> {
        self.logarithm_of(self.outcome.estimate())
    }

    /// The same with the core shared.
    pub(super) fn logarithm_shared(&self) -> Option<LogLevel> {
        self.logarithm_of(self.shared.as_ref())
    }

    /// The same at this distance of the CPUs.
    pub(super) fn logarithm_at(&self, line_ns: f64) -> Option<LogLevel> {
        let own = self.outcome.estimate()?;
        self.logarithm_of(self.cpu_distance.as_ref()?.value_at(line_ns, own))
    }

    fn logarithm_of(&self, estimate: Option<&Estimate>) -> Option<LogLevel> {
        let estimate = estimate.filter(|_| !self.refuted)?;
        let half_a_step = self.step.map_or(0.0, |step| step / 2.0 / estimate.value);
        LogLevel::of(estimate).map(|level| level.known_no_better_than(half_a_step, level.freedom))
    }
}

/// The least relative difference of two distinct observations; smaller ones come from the conversion from ticks.
const OF_CONVERSION: f64 = 1e-5;

fn step(samples: &[Vec<f64>]) -> Option<f64> {
    let mut all = samples.concat();
    sorting::numbers(&mut all);
    let steps = all.windows(2).map(|pair| (pair[1] - pair[0], pair[1].abs()));
    steps.filter(|(step, at)| *step > OF_CONVERSION * at).map(|(step, _)| step).reduce(f64::min)
}

impl ReducedRun {
    /// Reduces a run, from its results.
    pub fn of(results: &Results) -> Self {
        let frequencies = equal_frequency::by_point(results.run);
        ReducedRun {
            header: bare(&results.run.header),
            core_shared: results.core_shared.as_ref().map(|shared| shared.share),
            core_frequency: equal_frequency::over(results.run),
            usual_hz: results.core_hz,
            levels: results.points.iter().map(|point| level(point, &frequencies)).collect(),
        }
    }

    /// Reduces a run file.
    pub fn of_run(run: &Run) -> Self {
        ReducedRun::of(&Results::of(run))
    }
}

fn bare(header: &Header) -> Header {
    Header { plan: vec![], methods: vec![], ..header.clone() }
}

fn level(point: &PointResult, frequencies: &equal_frequency::FrequenciesByPoint) -> Level {
    let observed = frequencies.get(&(point.experiment.as_str(), &point.point));
    Level {
        experiment: point.experiment.clone(),
        method_version: point.method_version,
        point: point.point.clone(),
        parameters: point.parameters.clone(),
        unit: point.unit,
        outcome: point.outcome.clone(),
        core: point.core.as_ref().map(|core| core.state),
        shared: point.core.as_ref().and_then(|core| core.shared.clone()),
        cpu_distance: point.cpu_distance.clone(),
        refuted: point.evidence.fails(),
        step: step(&point.samples),
        by_round: point.as_observed().to_vec(),
        at_frequency: point.at_frequency.as_ref().map(LevelAtFrequency::of),
        core_hz: observed.cloned().unwrap_or_default(),
    }
}
