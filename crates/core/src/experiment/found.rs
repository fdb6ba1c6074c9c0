//! Results of a run: a value with its interval and dimension. Findings are computed with these, and rounded only by the report.

use super::BesideUsual;
use crate::quantities::{self, BoundSide};
use crate::quantity::{Kind, Unit};
use crate::statistics::{self, Estimate, Measured, ModeList};
use std::ops::Deref;

/// The dimension of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// The unit of a point.
    Of(Unit),
    /// A ratio of two values.
    Ratio,
    /// A part of a whole that is 1.
    Share,
    /// A number of things.
    Count,
    /// Core cycles.
    Cycles,
}

impl From<Unit> for Dimension {
    fn from(unit: Unit) -> Self {
        Dimension::Of(unit)
    }
}

/// Whether another hardware thread used the core while short work was observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreUse {
    /// None did.
    Alone,
    /// One did.
    Shared,
    /// Its observations are of both, because too few show either.
    Mixture,
    /// It is computed from values of unlike ones: of a difference, part is the neighbour's.
    Both,
}

impl CoreUse {
    /// Behind a figure of short work: ` with the core shared`.
    pub const fn in_words(self) -> &'static str {
        match self {
            CoreUse::Alone => " with the core alone",
            CoreUse::Shared => " with the core shared",
            CoreUse::Mixture => " with the core alone or shared",
            CoreUse::Both => " from unlike states of the core",
        }
    }

    /// Of what is computed from two values; a value without a state is the same in both.
    pub fn of_both(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) if one != other => Some(CoreUse::Both),
            (one, other) => one.or(other),
        }
    }
}

/// A result of this run, of a point or computed from such results: a measured value with its dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The value, of a point its median, with its interval.
    pub measured: Measured,
    /// Its dimension.
    pub dimension: Dimension,
    /// Whether it is a median over observations of two states, which may be of neither.
    pub is_mixture: bool,
    /// The values of the two states with the most, each with its own interval, that with the most first; `None` of one state, and of
    /// what is computed of two that have several.
    pub states: Option<[Measured; 2]>,
    /// Whether there are states besides these two.
    pub has_more_states: bool,
    /// The state of the core, of short work; `None` of other work, and where too few trials show it.
    pub core: Option<CoreUse>,
    /// The share of the time in which the core of other work was shared, 0 to 1, of what is computed of several the largest; `None` if it
    /// never was, and where no figure of other work is in it. Such a value is of whatever the core did: beside one of a known state, part
    /// of their difference may be the neighbour's.
    pub whatever_shared: Option<f64>,
    /// The one frequency of the core at which it is stated, hertz, of a time that follows it: its cycles are counted by that, and then
    /// these are stated by it. `None` of times at whatever frequency the core had.
    pub at_hz: Option<f64>,
    /// The modes of its observations; none of what is computed of several figures, and of a difference.
    pub modes: ModeList,
    /// Which end of an interval it is, of a figure that is said to be the least or the most; it is rounded to that side.
    pub bound: Option<BoundSide>,
}

/// Its value and interval are read as those of a measured value; only sums and products have to consider the dimension.
impl Deref for Found {
    type Target = Measured;

    fn deref(&self) -> &Measured {
        &self.measured
    }
}

impl Found {
    /// The result with this estimate.
    pub fn of(estimate: &Estimate, unit: Unit) -> Self {
        Found::measured(estimate.measured(), unit)
    }

    /// A value without an interval.
    pub fn bare(value: f64, dimension: impl Into<Dimension>) -> Self {
        Found::measured(Measured { value, interval: None }, dimension)
    }

    /// A number that is certain: declared, or counted.
    pub fn exact(value: f64, dimension: impl Into<Dimension>) -> Self {
        Found::measured(Measured::exact(value), dimension)
    }

    /// A value with an interval that was computed elsewhere.
    pub fn measured(measured: Measured, dimension: impl Into<Dimension>) -> Self {
        let dimension = dimension.into();
        Found {
            measured,
            dimension,
            is_mixture: false,
            states: None,
            has_more_states: false,
            core: None,
            whatever_shared: None,
            at_hz: None,
            modes: ModeList::default(),
            bound: None,
        }
    }

    /// The lower end of its interval as a figure: what something is at least.
    #[must_use]
    pub fn lower_bound(self) -> Self {
        Found { bound: Some(BoundSide::Lower), ..self.end(self.at_least()) }
    }

    /// The upper end of its interval as a figure: what something is at most.
    #[must_use]
    pub fn upper_bound(self) -> Self {
        Found { bound: Some(BoundSide::Upper), ..self.end(self.upper_end()) }
    }

    fn end(self, value: f64) -> Self {
        Found { measured: Measured::exact(value), states: None, ..self }
    }

    /// Whether it has one value: a machine in several states has one for each, and no ratio to another.
    pub fn is_of_one_state(&self) -> bool {
        self.states.is_none()
    }

    /// Whether it is of several states of which not all are known.
    pub fn has_unknown_states(&self) -> bool {
        self.is_mixture && (self.is_of_one_state() || self.has_more_states)
    }

    /// It in each of the states of which it has a value, of one state itself: what is said of it has to be true in each.
    pub fn in_each_state(self) -> Vec<Found> {
        let of = |measured| Found { measured, is_mixture: false, states: None, ..self };
        self.states.map_or_else(|| vec![self], |states| states.map(of).to_vec())
    }

    /// The value by which it is judged: of several states that of the one with the most.
    pub fn leading(&self) -> Measured {
        self.states.map_or(self.measured, |[most, _]| most)
    }

    /// Whether both are of one state of the core, or both of work of which none is known: of unlike ones a ratio may be the neighbour's.
    pub fn is_of_the_state_of(&self, other: &Found) -> bool {
        self.core == other.core
    }

    /// The value multiplied by a factor.
    #[must_use]
    pub fn scaled(self, by: f64) -> Self {
        let (states, modes) = (self.states_by(by), ModeList::default());
        // Of a negative factor the other end is the bound.
        let bound = self.bound.filter(|_| by > 0.0);
        Found { measured: self.measured.scaled(by), states, modes, bound, ..self }
    }

    /// The value multiplied by a factor, in another dimension.
    #[must_use]
    pub fn counted(self, by: f64, dimension: impl Into<Dimension>) -> Self {
        let dimension = dimension.into();
        Found { dimension, ..self.scaled(by) }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Found) -> Self {
        self.with(other, Measured::plus)
    }

    /// The difference to the other.
    #[must_use]
    pub fn minus(self, other: Found) -> Self {
        self.with(other, Measured::minus)
    }

    fn with(self, other: Found, of: impl Fn(Measured, Measured) -> Measured) -> Self {
        let (is_mixture, core) = (self.mixes(other), CoreUse::of_both(self.core, other.core));
        let at_hz = self.at_hz.filter(|_| self.at_hz == other.at_hz);
        let shares = self.whatever_shared.into_iter().chain(other.whatever_shared);
        let whatever_shared = shares.reduce(f64::max);
        let (measured, states) = (of(self.measured, other.measured), self.states_with(other, of));
        let has_more_states = self.has_more_states || other.has_more_states;
        let modes = ModeList::default();
        let bound = None;
        Found {
            measured,
            is_mixture,
            states,
            has_more_states,
            core,
            whatever_shared,
            at_hz,
            modes,
            bound,
            ..self
        }
    }

    /// What it is beyond a lesser one; `None` unless the difference lies above zero with its whole interval, so that no sentence
    /// calls a difference below zero a cost.
    pub fn beyond(self, lesser: Found) -> Option<Self> {
        Some(self.minus(lesser)).filter(Found::is_positive)
    }

    /// What is said of a time that is not [`beyond`](Found::beyond) another.
    pub fn not_beyond(&self, other: &Found) -> &'static str {
        match self.differs_from(other) {
            Some(true) => "it takes no longer",
            _ => "the two are not significantly different",
        }
    }

    /// Whether it is not computed from values of unlike states of the core, whose difference is in part the neighbour's.
    pub fn is_of_one_core_state(&self) -> bool {
        self.core != Some(CoreUse::Both)
    }

    /// Whether its interval holds a value; never without one.
    pub fn holds(&self, value: f64) -> bool {
        self.ends().is_some_and(|(low, high)| (low..=high).contains(&value))
    }

    /// Whether it lies above zero, with its whole interval where it has one.
    pub fn is_positive(&self) -> bool {
        self.value > 0.0 && self.measured.ends().is_none_or(|(low, _)| low > 0.0)
    }

    /// The ratio to the other.
    #[must_use]
    pub fn over(self, other: Found) -> Self {
        let ratio = self.with(other, Measured::over);
        Found { dimension: Dimension::Ratio, at_hz: None, ..ratio }
    }

    /// The share of the other.
    #[must_use]
    pub fn share_of(self, other: Found) -> Self {
        Found { dimension: Dimension::Share, ..self.over(other) }
    }

    /// The remainder of the whole: 1 minus this share.
    #[must_use]
    pub fn rest(self) -> Self {
        let rest = |share| Measured::exact(1.0).minus(share);
        Found { measured: rest(self.measured), states: self.states.map(|states| states.map(rest)), ..self }
    }

    /// `scale` divided by the value: a rate from a time, a time from a rate.
    #[must_use]
    pub fn inverse(self, scale: f64, dimension: impl Into<Dimension>) -> Self {
        let inverse = |of| Measured::exact(scale).over(of);
        Found {
            measured: inverse(self.measured),
            dimension: dimension.into(),
            states: self.states.map(|states| states.map(inverse)),
            at_hz: None,
            modes: ModeList::default(),
            bound: None,
            ..self
        }
    }

    /// The values of its states, multiplied by a factor.
    fn states_by(self, by: f64) -> Option<[Measured; 2]> {
        self.states.map(|states| states.map(|state| state.scaled(by)))
    }

    /// What is computed of each state, where one of both has two and the other is the same in these; of two with states each, nothing tells
    /// which go together.
    fn states_with(self, other: Found, of: impl Fn(Measured, Measured) -> Measured) -> Option<[Measured; 2]> {
        match (self.states, other.states) {
            (Some(states), None) if !other.is_mixture => Some(states.map(|state| of(state, other.measured))),
            (None, Some(states)) if !self.is_mixture => Some(states.map(|state| of(self.measured, state))),
            _ => None,
        }
    }

    /// Whether what is computed of both is of a mixture.
    fn mixes(self, other: Found) -> bool {
        self.is_mixture || other.is_mixture
    }

    /// The upper end of its interval as a figure, of a part that is not shown to exist; `None` of one that is, or lies below zero.
    pub fn at_most(&self) -> Option<Self> {
        let (low, high) = self.measured.ends()?;
        (low <= 0.0 && high > 0.0).then(|| self.upper_bound())
    }

    /// The lower end of its interval, or the value without one.
    pub fn at_least(&self) -> f64 {
        self.measured.ends().map_or(self.measured.value, |(low, _)| low)
    }

    /// The upper end of its interval, or the value without one.
    pub fn upper_end(&self) -> f64 {
        self.measured.ends().map_or(self.measured.value, |(_, high)| high)
    }

    /// What it is worth, more being better: of a rate the lower end of the interval, of what one would rather have less of the upper end,
    /// negated. It is the quality that it has at least: the median would prefer, of several settings, those that vary most.
    pub fn merit(&self) -> f64 {
        match self.dimension {
            Dimension::Of(unit) if unit.kind() != Kind::Rate => -self.upper_end(),
            _ => self.at_least(),
        }
    }

    /// What it is [worth](Found::merit) at least and at most.
    pub fn worth(&self) -> [f64; 2] {
        let most = match self.dimension {
            Dimension::Of(unit) if unit.kind() != Kind::Rate => -self.at_least(),
            _ => self.upper_end(),
        };
        [self.merit(), most]
    }

    /// Whether the intervals show a difference, also as they are printed; `None` if either has none. That none is shown does not show that there
    /// is none: for that ask [`Found::is_like`].
    pub fn differs_from(&self, other: &Found) -> Option<bool> {
        let differs = self.measured.differs_from(other.measured)?;
        Some(differs && quantities::are_apart_as_printed(self.measured, other.measured))
    }

    /// What the intervals and the modes show of it beside another.
    pub fn beside_usual(&self, usual: &Found) -> BesideUsual {
        match self.differs_from(usual) {
            _ if self.is_mixture || usual.is_mixture => BesideUsual::OfStates,
            None => BesideUsual::Unknown,
            Some(false) => BesideUsual::Alike,
            Some(true) if self.differs_in_shares_alone(usual) => BesideUsual::InShares,
            Some(true) if self.value < usual.value => BesideUsual::Less,
            Some(true) => BesideUsual::More,
        }
    }

    /// Whether the two are of the same levels, each of all of them, or their medians are at one level: then how often each was met may be all that
    /// differs. A figure at one level alone, which the other is at for a part of the time, is met there for another reason.
    pub(super) fn differs_in_shares_alone(&self, other: &Found) -> bool {
        let medians_at_one = self.modes.has_the_levels_of(&other.modes)
            && statistics::are_of_one_level(self.value, other.value);
        medians_at_one || self.modes.has_exactly_the_levels_of(&other.modes)
    }

    /// The same where no neighbour's part is in the difference: `None` also for figures of unlike states of the core. A statement that
    /// judges figures without showing them asks this; one that shows them is marked by its figures.
    pub fn differs_in_one_core_state(&self, other: &Found) -> Option<bool> {
        self.differs_from(other).filter(|_| self.minus(*other).is_of_one_core_state())
    }

    /// Whether the intervals show that the two are equal for practical purposes: the whole interval of their ratio is within a factor
    /// of 1.25 of one (a test of equivalence: Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power
    /// approach for assessing the equivalence of average bioavailability").
    pub fn is_like(&self, other: &Found) -> bool {
        const ALIKE: f64 = 1.25;
        let ratio = self.measured.over(other.measured);
        ratio.ends().is_some_and(|(low, high)| 1.0 / ALIKE <= low && high <= ALIKE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 8,221 reads through the cache one took as little as four of five past it, and the two were "not distinguished".
    #[test]
    fn what_is_never_at_a_level_of_the_other_is_distinguished_from_it() {
        use crate::statistics::{Interval, Mode};
        let found = |value: f64, modes: &[(f64, f64)]| {
            let modes: Vec<Mode> =
                modes.iter().map(|(centre, share)| Mode { centre: *centre, share: *share }).collect();
            let measured =
                Measured { value, interval: Some(Interval { low: 0.98 * value, high: 1.02 * value }) };
            Found { modes: ModeList::of(&modes), ..Found::measured(measured, Unit::Nanoseconds) }
        };
        let (through, past) = (found(48.0, &[(48.0, 1.0)]), found(39.3, &[(39.6, 0.56), (48.7, 0.44)]));
        assert_eq!(past.beside_usual(&through), BesideUsual::Less);
        let (both, quick) = (found(130.0, &[(124.9, 0.68), (161.0, 0.32)]), found(123.0, &[(123.2, 1.0)]));
        assert_eq!(quick.beside_usual(&both), BesideUsual::InShares, "the medians are at one level");
        let slow = found(158.0, &[(124.9, 0.3), (161.0, 0.7)]);
        assert_eq!(both.beside_usual(&slow), BesideUsual::InShares, "of all levels of each other");
    }

    /// A median of 5 over observations at 2 and at 8 is of neither, and so is its ratio to anything.
    #[test]
    fn what_is_computed_of_two_states_is_of_each_of_them() {
        let found = |value| Found::exact(value, Dimension::Ratio);
        let states = Some([2.0, 8.0].map(Measured::exact));
        let two = Found { is_mixture: true, states, ..found(5.0) };
        let of = |found: Found| found.states.map(|states| states.map(|state| state.value));
        assert_eq!(of(two.over(found(4.0))), Some([0.5, 2.0]));
        assert_eq!(of(found(4.0).over(two)), Some([2.0, 0.5]));
        assert_eq!(of(two.share_of(found(16.0)).rest()), Some([0.875, 0.5]));
        assert_eq!(of(found(9.0).minus(two)), Some([7.0, 1.0]));
        assert_eq!(of(two.inverse(16.0, Dimension::Count)), Some([8.0, 2.0]));
        assert_eq!(of(two.over(two)), None, "nothing tells which go together");
        assert_eq!(
            of(two.plus(Found { is_mixture: true, ..found(1.0) })),
            None,
            "of states that are unknown"
        );
    }
}
