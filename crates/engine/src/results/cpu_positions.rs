//! What lies at each position of the run's two CPUs beside each other, as a cache line between them shows it: the trials, those that no value
//! has, and whether the two slow each other's instructions there, as hardware threads of one core do.

use super::cpu_distance::{CpuDistances, is_of_both};
use super::{CpuDistance, PointDistance, PointResult};
use crate::record::{Run, Trial};
use fathom_core::experiment::Point;
use fathom_core::quantity::Unit;
use fathom_core::statistics::{self, Levels};
use std::collections::{BTreeMap, BTreeSet};

/// The experiment that asks whether the two CPUs share a core, which another distance may answer otherwise.
pub const WHAT_CPUS_SHARE: &str = "cpu/shared_core";

/// A position of the run's two CPUs, and what lies at it.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuPosition {
    /// The distance.
    pub at: CpuDistance,
    /// Whether it lasts too little of the time for values of its own.
    pub is_seldom: bool,
    /// The trials of work on both CPUs between two looks that found it.
    pub trials: usize,
    /// Those of them that count for no value: their operation has values at other distances, or none.
    pub left_out: usize,
    /// How the work there slows the stream of instructions beside it; `None` if that was read beside no trial.
    pub slowing: Option<StreamSlowing>,
    /// What [`WHAT_CPUS_SHARE`] found there; `None` without a trial of it.
    pub load: Option<LoadSlowing>,
}

/// In how many trials of work on both CPUs a stream of instructions beside it takes longer than on a core alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StreamSlowing {
    /// The trials in which it does, by a quarter or more, and all in which it was read.
    pub trials: [usize; 2],
    /// The same of the stays at the position: of looks in a row that found it, those in most of whose trials it does.
    pub stays: [usize; 2],
    /// The same of the trials at all other positions.
    pub elsewhere: [usize; 2],
    /// How many times as long as on the core alone it takes in those trials, in the median.
    pub times: f64,
}

/// In how much of the time load on the one CPU slows the other, by the experiment that asks it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadSlowing {
    /// The share of the time, 0 to 1, in the median of the trials.
    pub share: f64,
    /// The trials.
    pub trials: usize,
}

/// The growth from which a stream counts as slowed, as [`WHAT_CPUS_SHARE`] has it: threads of one core slow each other at least so much.
const SLOWED_FROM: f64 = 1.25;

/// The stays from which the work there is told from a neighbour that came and went by itself.
const FEWEST_STAYS: usize = 3;

impl StreamSlowing {
    /// Whether the two CPUs are then probably hardware threads of one core: most trials at the position are slowed, in several stays at it, and
    /// more often than elsewhere, where a neighbour may be the cause, with the whole intervals of both shares.
    pub fn is_of_one_core(&self) -> bool {
        let share = |[slowed, all]: [usize; 2]| statistics::share_interval(slowed as u64, all as u64);
        let is_more = share(self.stays)
            .is_some_and(|here| here.low > share(self.elsewhere).map_or(0.0, |elsewhere| elsewhere.high));
        is_more && self.is_of_several_stays() && 2 * self.trials[0] > self.trials[1]
    }

    /// Whether it was read in as many stays as tell the work there from a neighbour.
    pub fn is_of_several_stays(&self) -> bool {
        self.stays[1] >= FEWEST_STAYS
    }
}

impl CpuPosition {
    /// Whether the two CPUs are probably hardware threads of one core while they are at it.
    pub fn is_of_one_core(&self) -> bool {
        self.slowing.is_some_and(|slowing| slowing.is_of_one_core())
    }

    /// All positions of a run, first those of most of the time; none if it has one, or its CPUs were not looked at.
    pub(super) fn all(
        run: &Run,
        points: &[PointResult],
        distances: Option<&CpuDistances>,
        levels: Option<&Levels>,
    ) -> Vec<Self> {
        let Some(distances) = distances.filter(|distances| distances.positions().count() > 1) else {
            return vec![];
        };
        let points: PointsByName =
            points.iter().map(|point| ((&*point.experiment, &point.point), point)).collect();
        let is_mine = |trial: &&Trial| trial.observed() && is_of_both(&run.header, &trial.point);
        let placed = run.trials.iter().filter(is_mine);
        let placed = placed.filter_map(|trial| Some((distances.position_during(trial.began_s)?, trial)));
        let placed: Vec<(usize, &Trial)> = placed.collect();
        let read = levels.map_or_else(Vec::new, |levels| readings(&placed, distances, levels.alone));
        let position = |(place, at): (usize, &CpuDistance)| {
            let here = || placed.iter().filter(move |(of, _)| *of == place).map(|(_, trial)| *trial);
            CpuPosition {
                at: *at,
                is_seldom: place >= distances.distances.len(),
                trials: number(here()),
                left_out: number(here().filter(|trial| !is_in_a_value(trial, &points, at))),
                slowing: slowing(place, &read),
                load: load(here(), &points),
            }
        };
        distances.positions().enumerate().map(position).collect()
    }
}

/// The points of a run by their names.
type PointsByName<'run> = BTreeMap<(&'run str, &'run Point), &'run PointResult>;

fn result<'run>(trial: &Trial, points: &PointsByName<'run>) -> Option<&'run PointResult> {
    points.get(&(&*trial.experiment, &trial.point)).copied()
}

/// The number of trials: each of several figures has one line for each.
fn number<'run>(trials: impl Iterator<Item = &'run Trial>) -> usize {
    trials.map(key).collect::<BTreeSet<_>>().len()
}

fn key(trial: &Trial) -> (&str, u64) {
    (&trial.experiment, trial.began_s.to_bits())
}

/// Whether a value of its operation is of trials at this distance, or of all its trials.
fn is_in_a_value(trial: &Trial, points: &PointsByName, at: &CpuDistance) -> bool {
    let of_value = result(trial, points).filter(|point| point.estimate().is_some());
    let is_there = |of: &PointDistance| of.lines_ns().any(|line_ns| line_ns.total_cmp(&at.line_ns).is_eq());
    of_value.is_some_and(|point| point.cpu_distance.as_ref().is_none_or(is_there))
}

/// What was read beside a trial.
struct ReadBeside {
    place: usize,
    stay: usize,
    /// The stream over that of the core alone.
    times: f64,
}

fn readings(placed: &[(usize, &Trial)], distances: &CpuDistances, alone: f64) -> Vec<ReadBeside> {
    let mut seen = BTreeSet::new();
    let first_of_each = placed.iter().filter(|(_, trial)| seen.insert(key(trial)));
    let read = first_of_each.filter_map(|(place, trial)| {
        let quotients: Vec<f64> = trial.sample()?.core.as_ref()?.quotients().collect();
        let times = statistics::median(&quotients)? / alone;
        times.is_finite().then(|| ReadBeside { place: *place, stay: distances.stay(trial.began_s), times })
    });
    read.collect()
}

/// How many are slowed, of all.
fn slowed<'read>(read: impl Iterator<Item = &'read ReadBeside>) -> [usize; 2] {
    read.fold([0, 0], |[slowed, all], beside| [slowed + usize::from(beside.times >= SLOWED_FROM), all + 1])
}

fn slowing(place: usize, read: &[ReadBeside]) -> Option<StreamSlowing> {
    let here = || read.iter().filter(|beside| beside.place == place);
    let stays: BTreeSet<usize> = here().map(|beside| beside.stay).collect();
    let is_slowed = |stay: &&usize| {
        let [slowed, all] = slowed(here().filter(|beside| beside.stay == **stay));
        2 * slowed > all
    };
    let times: Vec<f64> = here().map(|beside| beside.times).filter(|times| *times >= SLOWED_FROM).collect();
    (!stays.is_empty()).then(|| StreamSlowing {
        trials: slowed(here()),
        stays: [stays.iter().filter(is_slowed).count(), stays.len()],
        elsewhere: slowed(read.iter().filter(|beside| beside.place != place)),
        times: statistics::median(&times).unwrap_or(1.0),
    })
}

fn load<'run>(trials: impl Iterator<Item = &'run Trial>, points: &PointsByName) -> Option<LoadSlowing> {
    let is_share = |trial: &&Trial| {
        trial.experiment == WHAT_CPUS_SHARE
            && result(trial, points).is_some_and(|point| point.unit == Unit::PartsPerMillion)
    };
    let share = |trial: &Trial| {
        let shares = trial.sample()?.observations.operation(Unit::PartsPerMillion, 1.0);
        Some(statistics::median(&shares)? / 1e6)
    };
    let shares: Vec<f64> = trials.filter(is_share).filter_map(share).collect();
    Some(LoadSlowing { share: statistics::median(&shares)?, trials: shares.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slowing(stays: [usize; 2], trials: [usize; 2], elsewhere: [usize; 2]) -> StreamSlowing {
        StreamSlowing { trials, stays, elsewhere, times: 1.7 }
    }

    #[test]
    fn a_core_is_common_if_each_of_several_stays_is_slowed_and_hardly_anything_elsewhere() {
        let is_of_one_core = |of: StreamSlowing| of.is_of_one_core();
        assert!(is_of_one_core(slowing([7, 7], [23, 25], [72, 1826])));
        assert!(is_of_one_core(slowing([6, 7], [20, 25], [72, 1826])), "one of work that sleeps");
        assert!(!is_of_one_core(slowing([2, 2], [20, 20], [72, 1826])), "a neighbour may come twice");
        assert!(!is_of_one_core(slowing([0, 7], [1, 25], [72, 1826])), "nothing is slowed");
        assert!(!is_of_one_core(slowing([4, 7], [14, 25], [900, 1800])), "as often as elsewhere");
        assert!(!is_of_one_core(slowing([5, 9], [10, 25], [0, 1800])), "the fewer of the trials");
    }

    /// Readings of trials at two places, of so many stays each with a trial.
    fn beside(place: usize, times: &[f64]) -> impl Iterator<Item = ReadBeside> + '_ {
        times.iter().enumerate().map(move |(stay, times)| ReadBeside { place, stay, times: *times })
    }

    #[test]
    fn the_work_at_a_position_is_counted_beside_that_of_all_others() {
        let far = [1.0; 40];
        let read: Vec<ReadBeside> = beside(0, &far)
            .chain(beside(1, &[1.0, 1.72, 1.0]))
            .chain(beside(2, &[1.7, 1.71, 1.69, 1.0]))
            .collect();
        let of = super::slowing(2, &read).expect("it was read");
        assert_eq!((of.trials, of.stays, of.elsewhere), ([3, 4], [3, 4], [1, 43]));
        assert!((of.times - 1.7).abs() < 1e-9 && of.is_of_one_core(), "{of:?}");
        let usual = super::slowing(0, &read).expect("it was read");
        assert!(!usual.is_of_one_core(), "{usual:?}");
        assert_eq!(super::slowing(3, &read), None, "nothing lies there");
    }
}
