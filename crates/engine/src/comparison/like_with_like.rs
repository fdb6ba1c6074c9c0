//! A point on one side of a comparison, and the state of the machine in which both sides have it.

use super::equal_frequency::EqualFrequency;
use super::{Level, Obstacle};
use crate::results::{CoreState, PointDistance, cpu_distance};
use fathom_core::quantity::Kind;
use fathom_core::statistics::{self, LogLevel};

/// One point of a side, with the results of its runs.
pub(super) struct LevelsOfSide<'a> {
    pub levels: &'a [&'a Level],
}

/// What compares a point of both sides.
pub(super) struct Alike {
    /// The logarithm of a value, in the same state of the machine.
    pub logarithm: LogarithmOf,
    /// The frequency of the core to which it is moved; `None` if it is as it was observed.
    pub frequency: Option<EqualFrequency>,
}

/// What compares a point in one state of the machine.
pub(super) type LogarithmOf = Box<dyn Fn(&Level) -> Option<LogLevel>>;

/// The values of two sides that are of the same state of the machine: their estimates, or, where only one of them is for the core alone,
/// those with the core shared; of work on two CPUs those at a distance at which both were; and at one frequency, that whose logarithm is the
/// reference, where they follow it. The obstacle if there is no such state.
pub(super) fn like_with_like(
    before: &LevelsOfSide,
    after: &LevelsOfSide,
    reference: Option<f64>,
) -> Result<Alike, Obstacle> {
    let as_it_is = |logarithm: LogarithmOf| Ok(Alike { logarithm, frequency: None });
    let states =
        || before.levels.iter().chain(after.levels).filter(|level| level.outcome.estimate().is_some());
    let distances: Option<Vec<&PointDistance>> = states().map(|level| level.cpu_distance.as_ref()).collect();
    if let Some([first, others @ ..]) = distances.as_deref() {
        let is_at =
            |line_ns: f64, of: &&PointDistance| of.lines_ns().any(|at| cpu_distance::is_same(at, line_ns));
        let common = first.lines_ns().find(|line_ns| others.iter().all(|other| is_at(*line_ns, other)));
        let line_ns = common.ok_or(Obstacle::OtherCpuDistance)?;
        if !others.iter().chain([first]).all(|of| cpu_distance::is_same(of.at.line_ns, line_ns)) {
            return as_it_is(Box::new(move |level| level.logarithm_at(line_ns)));
        }
    }
    let is_alone = |level: &&&Level| level.core == Some(CoreState::Alone);
    let is_shared = |level: &&&Level| matches!(level.core, Some(CoreState::Shared | CoreState::Mixed));
    if states().find(is_alone).is_none() || states().find(is_shared).is_none() {
        return Ok(at_one_frequency(&states().copied().collect::<Vec<_>>(), reference));
    }
    if states().all(|level| level.shared.is_some()) {
        as_it_is(Box::new(Level::logarithm_shared))
    } else {
        Err(Obstacle::OtherCoreState)
    }
}

/// The levels' own values, at one frequency of the core if they follow it.
fn at_one_frequency(levels: &[&Level], reference: Option<f64>) -> Alike {
    let frequency = reference.and_then(|reference| EqualFrequency::of_point(levels, reference));
    let logarithm = move |level: &Level| {
        let own = level.logarithm()?;
        let Some(frequency) = frequency else { return Some(own) };
        let (moved, error) = frequency.of_figure(level);
        let moved = if level.unit.kind() == Kind::Rate { -moved } else { moved };
        let joined = |own: f64| own.hypot(error);
        let (below, above) = (joined(own.below), joined(own.above));
        Some(LogLevel { value: own.value + moved, below, above, ..own })
    };
    Alike { logarithm: Box::new(logarithm), frequency }
}

impl LevelsOfSide<'_> {
    pub fn has_value(&self) -> bool {
        self.levels.iter().any(|level| level.outcome.estimate().is_some())
    }

    pub fn is_refuted(&self) -> bool {
        self.levels.iter().all(|level| level.refuted || level.outcome.estimate().is_none())
    }

    /// The level over all runs, with the uncertainty from their trials and from the differences between runs.
    pub fn level(&self, factor: f64, logarithm: &LogarithmOf) -> Option<LogLevel> {
        let logarithms: Vec<LogLevel> = self.levels.iter().filter_map(|level| logarithm(level)).collect();
        let mean = LogLevel::mean(&logarithms)?.widened(factor.sqrt());
        let values: Vec<f64> = logarithms.iter().map(|level| level.value).collect();
        let count = logarithms.len() as f64;
        // A point that varies more from run to run than others is no more certain than its own runs agree.
        let spread = statistics::mean(&values)?.deviation.map_or(0.0, |deviation| deviation / count.sqrt());
        Some(mean.known_no_better_than(spread, count - 1.0))
    }
}
