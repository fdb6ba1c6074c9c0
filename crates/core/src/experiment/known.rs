//! What a prediction may rest on: the machine, and what the run has measured so far.

use super::term::{self, Basis};
use super::{Dimension, Found, Parameter, Point};
use crate::machine::Machine;
use crate::quantities;
use crate::quantity::Cycles;
use crate::statistics::{Interval, Measured, fit_line, two_segments};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The knowledge for predicting a point: the machine, and earlier results of this run.
#[derive(Clone)]
pub struct Known<'run> {
    /// The machine's description.
    pub machine: &'run Machine,
    /// The core frequency observed by calibrated instruction chains, hertz.
    pub core_hz: Option<f64>,
    /// The ends of its interval, hertz: what numbers of cycles owe to the frequency.
    pub core_hz_ends: Option<Interval>,
    /// Whether the run's second host is this machine under another name.
    pub virtual_peer: bool,
    /// The distances at which the run's two CPUs were looked at, that of most of the time first; empty without looks.
    pub line_looks: Vec<LineLooks>,
    /// The figures by which what a report says once is decided, where these are others of the same run: those with the core shared must not
    /// choose another best setting, or show another level, than the tables do.
    pub decided_by: Option<&'run Known<'run>>,
    learnt: Cow<'run, Learnt>,
    lines: BTreeMap<LineKey, Option<(Found, Found)>>,
    bends: BTreeMap<LineKey, Bend>,
    preempted: BTreeMap<(String, Point), f64>,
}

/// An experiment, a setting of its other parameters, and the parameter of a sweep.
type LineKey = (String, Point, String);

/// One distance of the run's two CPUs: a host may move virtual CPUs to cores that are nearer or further apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineLooks {
    /// Time of a cache line's hand-over, nanoseconds: the median of the looks.
    pub line_ns: f64,
    /// The share of the time, 0 to 1.
    pub share: f64,
    /// The number of looks that found it.
    pub looks: usize,
}

/// Two lines that fit a sweep better than one: where they meet, and the slopes on either side.
#[derive(Debug, Clone, Copy)]
pub struct Bend {
    /// The place along the parameter.
    pub at: Found,
    /// The slope before it, in the points' unit per one of the parameter.
    pub before: Found,
    /// The slope beyond it.
    pub after: Found,
}

/// The results of a run, by experiment and point: updated during the run, and lent to [`Known`].
#[derive(Debug, Clone, Default)]
pub struct Learnt(BTreeMap<String, BTreeMap<Point, Figure>>);

/// A result, with its place among those of the run: they are learnt in the order of the plan.
#[derive(Debug, Clone, Copy)]
struct Figure {
    place: usize,
    found: Found,
}

impl Learnt {
    /// Records the result of a point; `None` removes it.
    pub fn learn(&mut self, experiment: &str, point: &Point, figure: Option<Found>) {
        if !self.0.contains_key(experiment) {
            self.0.insert(experiment.to_owned(), BTreeMap::new());
        }
        let Some(mine) = self.0.get_mut(experiment) else { return };
        let Some(found) = figure else {
            mine.remove(point);
            return;
        };
        // What is learnt again keeps its place.
        let next = || mine.values().map(|other| other.place + 1).max().unwrap_or(0);
        let place = mine.get(point).map_or_else(next, |known| known.place);
        mine.insert(point.clone(), Figure { place, found });
    }
}

/// The share of a process's switches by preemption from which its turns are not those of one that always sleeps.
pub const OFTEN_PREEMPTED: f64 = 0.1;

impl<'run> Known<'run> {
    /// Knowledge of the machine alone.
    pub fn new(machine: &'run Machine, core_hz: Option<f64>) -> Self {
        let learnt = Cow::Owned(Learnt::default());
        let (lines, bends, preempted) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let line_looks = vec![];
        let (core_hz_ends, virtual_peer, decided_by) = (None, false, None);
        Known {
            machine,
            core_hz,
            core_hz_ends,
            virtual_peer,
            line_looks,
            decided_by,
            learnt,
            lines,
            bends,
            preempted,
        }
    }

    /// Knowledge of the machine and of the results so far.
    pub fn of(machine: &'run Machine, core_hz: Option<f64>, learnt: &'run Learnt) -> Self {
        Known { learnt: Cow::Borrowed(learnt), ..Known::new(machine, core_hz) }
    }

    /// Records the result of a point.
    pub fn learn(&mut self, experiment: &str, point: &Point, figure: Found) {
        self.learnt.to_mut().learn(experiment, point, Some(figure));
    }

    /// The result of a point in this run.
    pub fn found(&self, experiment: &str, point: &Point) -> Option<Found> {
        self.figure(experiment, point).map(|figure| figure.found)
    }

    fn figure(&self, experiment: &str, point: &Point) -> Option<&Figure> {
        self.learnt.0.get(experiment)?.get(point)
    }

    /// The place of a point among those of its experiment, in the order of the plan.
    pub(super) fn place(&self, experiment: &str, point: &Point) -> Option<usize> {
        self.figure(experiment, point).map(|figure| figure.place)
    }

    /// The points of an experiment with a result, in their order.
    pub fn points(&self, experiment: &str) -> impl Iterator<Item = &Point> {
        self.learnt.0.get(experiment).into_iter().flat_map(BTreeMap::keys)
    }

    /// The median of a point in this run, in the point's unit.
    pub fn median(&self, experiment: &str, point: &Point) -> Option<f64> {
        self.found(experiment, point).map(|figure| figure.value)
    }

    /// Medians of an experiment along one parameter, all others as in `group`: for findings over a sweep.
    pub fn along(&self, experiment: &str, group: &Point, parameter: &Parameter) -> Vec<(u64, f64)> {
        let figures = self.found_along(experiment, group, parameter);
        figures.into_iter().map(|(number, figures)| (number, figures.value)).collect()
    }

    /// The same with intervals.
    pub fn found_along(&self, experiment: &str, group: &Point, parameter: &Parameter) -> Vec<(u64, Found)> {
        let group = group.without(parameter.name);
        let all = self.learnt.0.get(experiment).into_iter().flatten();
        let mine = all.filter(|(point, _)| point.without(parameter.name) == group);
        mine.map(|(point, figure)| (point.number(parameter), figure.found)).collect()
    }

    /// Records the line along a parameter: its slope and intercept; `None` if the points do not lie on a line.
    pub fn learn_line(&mut self, experiment: &str, group: &Point, along: &str, line: Option<(Found, Found)>) {
        self.lines.insert((experiment.to_owned(), group.without(along), along.to_owned()), line);
    }

    /// The slope and the intercept of the line along a parameter, in the points' unit per one of the parameter. If no line was
    /// recorded it is the least-squares line through the results, without intervals: the points alone do not show the correlation
    /// of their trials. `None` with fewer than three points, and for points that do not lie on a line.
    pub fn line(&self, experiment: &str, group: &Point, parameter: &Parameter) -> Option<(Found, Found)> {
        let key = (experiment.to_owned(), group.without(parameter.name), parameter.name.to_owned());
        self.lines.get(&key).copied().unwrap_or_else(|| {
            let figures = self.found_along(experiment, group, parameter);
            let points: Vec<(f64, f64)> = figures.iter().map(|(x, y)| (*x as f64, y.value)).collect();
            let line = fit_line(&points).filter(|_| points.len() >= 3)?;
            let bare = |value| Found::bare(value, figures[0].1.dimension);
            Some((bare(line.slope), bare(line.intercept)))
        })
    }

    /// Records two lines along a parameter.
    pub fn learn_bend(&mut self, experiment: &str, group: &Point, along: &str, bend: Bend) {
        self.bends.insert((experiment.to_owned(), group.without(along), along.to_owned()), bend);
    }

    /// The two lines along a parameter that fit better than one. If none were recorded they are those of the results, without
    /// intervals; `None` if one line is preferred.
    pub fn bend(&self, experiment: &str, group: &Point, parameter: &Parameter) -> Option<Bend> {
        let key = (experiment.to_owned(), group.without(parameter.name), parameter.name.to_owned());
        self.bends.get(&key).copied().or_else(|| {
            let figures = self.found_along(experiment, group, parameter);
            let points: Vec<(f64, f64)> = figures.iter().map(|(x, y)| (*x as f64, y.value)).collect();
            let two = two_segments(&points)?;
            let bare = |value| Found::bare(value, figures[0].1.dimension);
            let at = Found::bare(two.break_at, Dimension::Count);
            Some(Bend { at, before: bare(two.slope_before), after: bare(two.slope_after) })
        })
    }

    /// Records the share of a point's context switches by which the scheduler took the CPU away, 0 to 1.
    pub fn learn_preempted(&mut self, experiment: &str, point: &Point, share: f64) {
        self.preempted.insert((experiment.to_owned(), point.clone()), share);
    }

    /// That share, if it is so large that the switches are not those of work that always sleeps.
    pub fn often_preempted(&self, experiment: &str, point: &Point) -> Option<f64> {
        let share = self.preempted.get(&(experiment.to_owned(), point.clone())).copied()?;
        (share >= OFTEN_PREEMPTED).then_some(share)
    }

    /// The result of a point in this run as a basis; `None` if there is none.
    pub fn measured(&self, experiment: &str, point: &Point) -> Option<Basis> {
        self.median(experiment, point).map(|value| Basis::measured(value, experiment, point.clone()))
    }

    /// The result of this run, else a published figure.
    pub fn measured_or(&self, experiment: &str, point: &Point, value: f64, citation: &str) -> Basis {
        self.measured(experiment, point).unwrap_or_else(|| Basis::published(value, citation))
    }

    /// The result of this run, else an assumed value.
    pub fn measured_or_assumed(&self, experiment: &str, point: &Point, value: f64, reason: &str) -> Basis {
        self.measured(experiment, point).unwrap_or_else(|| Basis::assumed(value, reason))
    }

    /// The shortest possible core cycle on this machine, nanoseconds, for bounds. A core may run faster than observed, by a
    /// quarter at most or up to its declared maximum; for an unknown core, 7 GHz is above any on the market.
    pub fn shortest_cycle(&self) -> f64 {
        let observed = self.core_hz.map(|hz| hz * 1.25);
        let fastest = observed.into_iter().chain(self.machine.max_hz()).reduce(f64::max);
        Cycles(1.0).nanoseconds(fastest.unwrap_or(7e9)).0
    }

    /// The length of one core cycle in nanoseconds: observed, else declared, else assumed at 3 GHz.
    pub fn cycle(&self) -> Basis {
        match (self.core_hz, self.machine.nominal_hz()) {
            (Some(hz), _) => {
                let ns = Cycles(1.0).nanoseconds(hz).0;
                Basis::fact(ns, term::BY_CHAINS).of_cycle(ns)
            }
            (None, Some(hz)) => {
                Basis::fact(Cycles(1.0).nanoseconds(hz).0, "core cycle at the declared nominal frequency")
            }
            (None, None) => Basis::assumed(1.0 / 3.0, "a core cycle at 3 GHz: no frequency is known"),
        }
    }

    /// The core frequency with its interval, hertz; `None` if it was not observed. Without its own ends it counts as exact.
    pub fn frequency(&self) -> Option<Measured> {
        let exact = |hz| Interval { low: hz, high: hz };
        let of = |hz| Measured { value: hz, interval: Some(self.core_hz_ends.unwrap_or_else(|| exact(hz))) };
        self.core_hz.map(of)
    }

    /// A time in core cycles at the frequency at which it is stated, else at the observed one, whose error is then in the interval; `None`
    /// without a frequency.
    pub fn counted_in_cycles(&self, time: Found) -> Option<Found> {
        let frequency = time.at_hz.map(Measured::exact).or_else(|| self.frequency())?;
        let measured = time.measured.times(frequency.scaled(1e-9));
        Some(Found { core: time.core, at_hz: time.at_hz, ..Found::measured(measured, Dimension::Cycles) })
    }

    /// The time of a number of cycles, nanoseconds, by a publication.
    pub fn cycles(&self, cycles: f64, citation: &str) -> Basis {
        self.in_cycles(cycles, citation, Basis::published)
    }

    /// The time of a number of cycles, nanoseconds, assumed.
    pub fn assumed_cycles(&self, cycles: f64, reason: &str) -> Basis {
        self.in_cycles(cycles, reason, Basis::assumed)
    }

    fn in_cycles(&self, cycles: f64, reason: &str, basis: fn(f64, &str) -> Basis) -> Basis {
        let (cycle, number) = (self.cycle().value, quantities::plain(cycles));
        let unit = if number == "1" { "cycle" } else { "cycles" };
        let length = quantities::number(cycle);
        basis(cycles * cycle, &format!("{number} {unit} of {length} ns: {reason}")).of_cycle(cycle)
    }
}
