//! Predictions: made before measuring, term by term, and kept if they were wrong.

use super::term::{self, Basis, Ground, Part, Source, Term, TermEvent};
use super::{Dimension, Found, Parameter, Point};
use crate::machine::Machine;
use crate::quantities;
use crate::quantity::Cycles;
use crate::statistics::{Interval, Measured, are_telling, fit_line, two_segments};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The fact behind a size that is the memory limit of the run.
pub const LIMIT_OF_THE_RUN: &str = "the limit that this run sets";

/// The prediction of a point, as a sum of terms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Prediction {
    /// The derivation.
    pub terms: Vec<Term>,
}

impl Prediction {
    /// What it rests on: a published machine's proportions before a measurement of the same run, because the factor is the weaker.
    pub fn ground(&self) -> Ground {
        if self.terms.iter().any(Term::is_scaled) {
            Ground::Scaled
        } else if self.has_figures_of_the_run() {
            Ground::ThisRun
        } else {
            Ground::Independent
        }
    }

    /// Whether it takes a measurement of the same run, whatever else it rests on.
    pub fn has_figures_of_the_run(&self) -> bool {
        self.terms.iter().any(Term::is_measured)
    }

    /// Whether it is only the size of a limit that the run set itself, so that a result near it confirms nothing.
    pub fn is_limit_of_the_run(&self) -> bool {
        let is_set =
            |term: &Term| matches!(&term.source, Source::Machine { fact } if fact == LIMIT_OF_THE_RUN);
        !self.terms.is_empty() && self.terms.iter().all(is_set)
    }

    /// A prediction without terms.
    pub fn new() -> Self {
        Prediction::default()
    }

    fn term(mut self, part: Part, what: &str, times: f64, each: Basis) -> Self {
        let Basis { value: each, source, cycle_ns } = each;
        let what = what.to_owned();
        let (event, scaled_from, published_range) = (None, None, None);
        self.terms.push(Term {
            part,
            what,
            times,
            each,
            source,
            event,
            scaled_from,
            published_range,
            cycle_ns,
        });
        self
    }

    fn with_last(mut self, change: impl FnOnce(&mut Term)) -> Self {
        self.terms.last_mut().map(change);
        self
    }

    /// Adds a cost of the operating system for which published machines differ: the geometric mean of their values, with its range.
    ///
    /// # Panics
    /// If there are no values: they are constants of the program.
    #[must_use]
    pub fn software_of(self, what: &str, values: &[f64], citation: &str) -> Self {
        let mean = (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp();
        let ends = values.iter().copied().reduce(f64::min).zip(values.iter().copied().reduce(f64::max));
        let (least, most) = ends.expect("published values");
        let range = (least < most).then_some([least, most]);
        self.software(what, 1.0, Basis::published(mean, citation)).within(range)
    }

    /// Says that the factor of the term that was added last is the ratio of two figures of this published machine.
    #[must_use]
    pub fn scaled_from(self, machine: &str) -> Self {
        self.with_last(|term| term.scaled_from = Some(machine.to_owned()))
    }

    /// Says what happens in the term that was added last.
    #[must_use]
    pub fn being(self, event: impl Into<Option<TermEvent>>) -> Self {
        self.with_last(|term| term.event = event.into())
    }

    /// Whether one of its terms is such an event.
    pub fn contains(&self, event: TermEvent) -> bool {
        self.terms.iter().any(|term| term.event == Some(event))
    }

    /// Adds a cost of the bare machine.
    #[must_use]
    pub fn hardware(self, what: &str, times: f64, each: Basis) -> Self {
        self.term(Part::Hardware, what, times, each)
    }

    /// Adds a cost of the operating system and the libraries.
    #[must_use]
    pub fn software(self, what: &str, times: f64, each: Basis) -> Self {
        self.term(Part::Software, what, times, each)
    }

    /// The sum of one part; `None` if the part has no term.
    pub fn part(&self, part: Part) -> Option<f64> {
        let terms: Vec<f64> = self.terms.iter().filter(|term| term.part == part).map(Term::value).collect();
        (!terms.is_empty()).then(|| terms.iter().sum())
    }

    /// What the terms up to this place come to, of a rate what is left of it: rates do not subtract, so what a term takes off one is no rate.
    pub fn up_to(&self, place: usize) -> f64 {
        self.terms.iter().take(place + 1).map(Term::value).sum()
    }

    /// Says how many times the term that was added last enters.
    #[must_use]
    pub fn times(self, times: f64) -> Self {
        self.with_last(|term| term.times = times)
    }

    /// Says within which values published devices or machines have the term that was added last.
    #[must_use]
    pub fn within(self, range: Option<[f64; 2]>) -> Self {
        self.with_last(|term| {
            term.published_range = range.filter(|_| !matches!(term.source, Source::Measured { .. }));
        })
    }

    /// The least and the greatest total that the published values allow; `None` if no term has a range.
    pub fn range(&self) -> Option<(f64, f64)> {
        self.terms.iter().any(|term| term.published_range.is_some()).then(|| {
            let end = |place: usize| {
                let of =
                    |term: &Term| term.published_range.map_or(term.each, |range| range[place]) * term.times;
                self.terms.iter().map(of).sum()
            };
            (end(0), end(1))
        })
    }

    /// Whether a result lies, with its interval, in the range of the published values behind it, and that says something: not of a range in
    /// which nearly every result would lie.
    pub fn is_range_of(&self, measured: &Measured) -> bool {
        let range = self.range().filter(|range| are_telling(*range));
        range.zip(measured.ends()).is_some_and(|(of, ends)| of.0 <= ends.0 && ends.1 <= of.1)
    }

    /// The same at another frequency of the core, hertz: terms that are a number of its cycles keep that number. Of a `rate`, if all are.
    #[must_use]
    pub fn at_frequency(&self, hz: f64, is_rate: bool) -> Self {
        Prediction { terms: term::at_cycle(&self.terms, Cycles(1.0).nanoseconds(hz).0, is_rate) }
    }

    /// The sum of all terms.
    pub fn total(&self) -> f64 {
        self.terms.iter().map(Term::value).sum()
    }
}

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
pub struct Learnt(BTreeMap<String, BTreeMap<Point, Found>>);

impl Learnt {
    /// Records the result of a point; `None` removes it.
    pub fn learn(&mut self, experiment: &str, point: &Point, figure: Option<Found>) {
        if !self.0.contains_key(experiment) {
            self.0.insert(experiment.to_owned(), BTreeMap::new());
        }
        let Some(mine) = self.0.get_mut(experiment) else { return };
        match figure {
            Some(figure) => mine.insert(point.clone(), figure),
            None => mine.remove(point),
        };
    }
}

impl<'run> Known<'run> {
    /// Knowledge of the machine alone.
    pub fn new(machine: &'run Machine, core_hz: Option<f64>) -> Self {
        let learnt = Cow::Owned(Learnt::default());
        let (lines, bends) = (BTreeMap::new(), BTreeMap::new());
        let line_looks = vec![];
        let (core_hz_ends, virtual_peer, decided_by) = (None, false, None);
        Known { machine, core_hz, core_hz_ends, virtual_peer, line_looks, decided_by, learnt, lines, bends }
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
        self.learnt.0.get(experiment)?.get(point).copied()
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
        mine.map(|(point, figure)| (point.number(parameter), *figure)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prediction_rests_on_its_weakest_term() {
        let measured = || Basis::measured(3.0, "cpu/system_call", Point::new());
        let independent = Prediction::new().hardware("a load", 1.0, Basis::published(1.0, "a table"));
        let of_run = independent.clone().software("a call", 2.0, measured());
        let scaled = of_run.clone().software("a process", 577.0, measured()).scaled_from("report 000");
        let grounds = [independent, of_run, scaled].map(|prediction| prediction.ground());
        assert_eq!(grounds, [Ground::Independent, Ground::ThisRun, Ground::Scaled]);
        let earlier =
            Prediction::new().software("fork, in null writes as in report 000 (1 / 2)", 1.0, measured());
        assert_eq!(earlier.ground(), Ground::Scaled);
    }

    #[test]
    fn published_machines_that_differ_give_a_range() {
        let prediction = Prediction::new().software_of("a process", &[40.0, 90.0], "two reports").software(
            "a call",
            2.0,
            Basis::published(1.5, "a paper"),
        );
        assert!((prediction.total() - 63.0).abs() < 1e-9);
        assert_eq!(prediction.range(), Some((43.0, 93.0)));
        let within = |low, high| {
            let interval = Some(Interval { low, high });
            prediction.is_range_of(&Measured { value: 0.5 * (low + high), interval })
        };
        assert!(within(50.0, 90.0) && !within(50.0, 94.0) && !within(42.0, 50.0), "with its whole interval");
        assert_eq!(Prediction::new().software_of("a thread", &[8.0], "a report").range(), None);
        let wide = Prediction::new().software_of("a connection", &[8.3, 108.2], "two reports");
        let measured = Measured { value: 20.9, interval: Some(Interval { low: 20.6, high: 22.2 }) };
        assert!(!wide.is_range_of(&measured), "nearly every result would lie in it");
    }

    #[test]
    fn a_size_that_the_run_sets_is_told_from_one_that_it_predicts() {
        let of = |fact: &str| Prediction::new().hardware("memory", 1.0, Basis::fact(512.0, fact));
        assert!(of(LIMIT_OF_THE_RUN).is_limit_of_the_run());
        assert!(!of("memory that this process could have").is_limit_of_the_run());
        assert!(!Prediction::new().is_limit_of_the_run(), "nothing is no limit");
        let less = of(LIMIT_OF_THE_RUN).hardware("what programs use", -1.0, Basis::assumed(9.0, "a guess"));
        assert!(!less.is_limit_of_the_run(), "one term of it is predicted");
    }

    #[test]
    fn parts_add_up_and_a_part_without_terms_is_none() {
        let prediction = Prediction::new()
            .software("two mode switches", 2.0, Basis::published(50.0, "a paper"))
            .software("a call", 1.0, Basis::published(1.5, "a paper"));
        assert_eq!(prediction.part(Part::Hardware), None);
        assert_eq!(prediction.part(Part::Software), Some(101.5));
        assert!((prediction.total() - 101.5).abs() < 1e-12);
    }
}
