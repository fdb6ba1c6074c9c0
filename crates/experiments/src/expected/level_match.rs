//! Which plateau of a curve is which declared level: by where it ends, and by the time that its loads take.

use super::level_curve::LevelCurve;
use fathom_core::prelude::*;
use fathom_core::statistics::{
    Crossing, CurvePoint, Interval, Measured, OF_LEVEL, Plateau, plateaus, stretch_between,
};

/// A declared limit at which a plateau may end.
pub struct Limit {
    /// Its name, such as `L1`.
    pub name: String,
    pub at: u64,
    /// Its origin: `declared`, or `published for Zen 4`.
    pub origin: String,
    /// Expected latency of the level and of the level beyond it, nanoseconds; `None` if nothing is known.
    pub expected: Option<(f64, f64)>,
    /// Whether the latency of the level is one that a curve of this run shows.
    pub is_measured: bool,
}

impl Limit {
    /// Whether a latency is too far above that of the level to be its own.
    fn is_exceeded_by(&self, value: f64) -> bool {
        let another = if self.is_measured { ANOTHER_THAN_MEASURED } else { ANOTHER };
        self.expected.is_some_and(|(own, _)| value > another * own)
    }
}

pub(super) enum LimitMatch {
    /// A plateau takes the time of its level, or ends near it.
    By(Plateau, Crossing),
    /// No plateau is of its level.
    ByNone,
    /// The curve ends before it.
    Beyond,
}

/// Maximum distance of a level's end from its declared limit, in octaves: earlier because of other data in the cache, sharing
/// with other cores, and sets that fill unevenly; later because of replacement that is not strictly by age.
const EARLIER: f64 = 0.75;
const LATER: f64 = 0.5;

/// Factor above the published latency of a level from which a plateau is not that level's; likewise a next plateau this much
/// above the published latency of the next level is not that level's, which then has none.
const ANOTHER: f64 = 3.0;

/// The same above one that this run measured: levels are at least a factor of 2 apart.
const ANOTHER_THAN_MEASURED: f64 = 2.0;

/// The factor below the latency of memory from which a point, with its interval, is not of memory alone: noise moves a median by less.
const LESS: f64 = 1.1;

/// A curve in the order of x, and its plateaus.
pub(super) struct ShownCurve<'curve> {
    pub curve: &'curve [CurvePoint],
    pub core: Option<CoreUse>,
    /// Points with the core alone, of a curve that is of the core shared.
    alone: &'curve [CurvePoint],
    pub plateaus: Vec<Plateau>,
}

/// The end of a plateau: where the curve leaves its level, or, if it never does, the end of its flat part.
pub(super) fn boundary(plateau: &Plateau) -> Option<Crossing> {
    let flat = |ends: Interval| Crossing { at: plateau.to, interval: ends };
    plateau.rise.or(plateau.ends.map(flat))
}

impl<'curve> ShownCurve<'curve> {
    pub(super) fn of(curve: &'curve LevelCurve) -> Self {
        let plateaus = plateaus(&curve.points);
        ShownCurve { curve: &curve.points, core: curve.core, alone: &curve.alone, plateaus }
    }

    /// The largest setting up to a limit whose load takes the time of a plateau with the core alone, and for certain more with it shared; none
    /// where one before it takes more with the core alone as well.
    pub(super) fn alone_up_to(&self, plateau: &Plateau, limit: &Limit) -> Option<f64> {
        let most = OF_LEVEL * plateau.value;
        let is_within =
            |point: &&CurvePoint| point.0 >= plateau.from && point.0.exp2() <= limit.at as f64 + 0.5;
        let is_held = |point: &&CurvePoint| point.2.is_some_and(|of| of.high <= most);
        let held = self.alone.iter().filter(is_within).take_while(is_held).last()?.0;
        let shared = self.curve.iter().find(|point| point.0.total_cmp(&held).is_eq())?;
        shared.2.is_some_and(|of| of.low > most).then_some(held)
    }

    /// From where on loads are of memory for the most part (or of page walks), whatever a data sheet declares: the first plateau above half of the latency of the
    /// largest set, in a sweep that goes beyond every limit or shows far more than the published latency of the last level.
    pub(super) fn memory_from(&self, limits: &[Limit]) -> Option<f64> {
        let (furthest, most, _) = self.curve.last()?;
        let last = limits.last()?;
        let beyond = *furthest >= (last.at as f64).log2() + 1.0;
        let slow = last.expected.is_some_and(|(own, _)| *most > ANOTHER * own);
        let first = self.plateaus.iter().find(|plateau| 2.0 * plateau.value > *most)?;
        (beyond || slow).then_some(first.from)
    }

    /// Where the latency of memory is reached: the last plateau from its first point that takes as long and from which on none takes
    /// less, or, of a curve whose largest sets scatter, none for certain. Those before are of a transition, also where the curve is nearly flat
    /// in it, and no part of its level where enough points are left. `None` if even the largest set takes less.
    pub(super) fn memory_reached(&self, limits: &[Limit]) -> Option<(Plateau, f64)> {
        let from = self.memory_from(limits)?;
        let last = self.plateaus.last().filter(|last| last.from >= from)?;
        let is_less = |(_, latency, _): &CurvePoint| latency * LESS < last.value;
        let takes_less = |point: &CurvePoint| is_less(point) && point.2.is_none_or(|of| of.high < last.value);
        let own = || self.curve.iter().rev().take_while(|point| point.0 >= last.from);
        // One that may take as long by a wide interval alone is no beginning.
        let surely = own().take_while(|point| !is_less(point)).last();
        let reached = surely
            .or_else(|| own().take_while(|point| !takes_less(point)).filter(|point| !is_less(point)).last())?
            .0;
        let held: Vec<CurvePoint> = self.curve.iter().copied().filter(|point| point.0 >= reached).collect();
        Some((Plateau::of(&held).unwrap_or_else(|| last.clone()), reached))
    }

    /// Whether a plateau that begins too far before a limit to be of the next level, and is not of that by its time, continues beyond twice
    /// the limit.
    pub(super) fn crosses(&self, limit: &Limit) -> bool {
        let at = (limit.at as f64).log2();
        let continues =
            |plateau: &Plateau| boundary(plateau).is_some_and(|ends| ends.interval.low > at + 1.0);
        let is_nearer = |value: f64| limit.expected.is_none_or(|(own, beyond)| value * value < own * beyond);
        let crosses = |plateau: &Plateau| {
            plateau.from <= at - EARLIER && is_nearer(plateau.value) && continues(plateau)
        };
        self.plateaus.iter().any(crosses)
    }

    /// The plateau of a limit's level, after those of the levels before: one that takes the time of the level, wherever before the limit it
    /// ends, or else one that ends near the limit; of several, the one that ends nearest to it. Where there is none, a stretch that takes the
    /// time of the level.
    fn matched(
        &self,
        limits: &[Limit],
        index: usize,
        claimed: &[Plateau],
        memory: Option<f64>,
    ) -> LimitMatch {
        let limit = &limits[index];
        let at = (limit.at as f64).log2();
        let is_beyond = self.curve.last().is_none_or(|last| at >= last.0);
        let candidate = |plateau: &&Plateau| {
            let is_possible = !limit.is_exceeded_by(plateau.value);
            // A plateau belongs to one level: one without an end of its own cannot be told from its neighbour.
            let is_after = claimed.iter().all(|before| plateau.from > before.from);
            plateau.from < at.min(memory.unwrap_or(f64::INFINITY)) && is_possible && is_after
        };
        let of_level = |plateau: &Plateau| {
            // Without memory in the curve the last level cannot be told from it.
            (index + 1 < limits.len() || memory.is_some()) && self.is_time_of(plateau.value, limits, index)
        };
        let candidates = self.plateaus.iter().filter(candidate).filter_map(|plateau| {
            let ends = boundary(plateau)?;
            let (is_of_level, low, high) = (of_level(plateau), ends.interval.low, ends.interval.high);
            let fits = low <= at + LATER && (is_of_level || (!is_beyond && high >= at - EARLIER));
            fits.then_some((!is_of_level, plateau, ends))
        });
        let distance = |ends: Crossing| (ends.at - at).abs();
        let nearest = candidates
            .min_by(|one, other| one.0.cmp(&other.0).then(distance(one.2).total_cmp(&distance(other.2))));
        match nearest {
            Some((_, plateau, ends)) => LimitMatch::By(plateau.clone(), ends),
            None => match self.stretch(limits, index, claimed, memory) {
                Some((plateau, ends)) => LimitMatch::By(plateau, ends),
                None if is_beyond => LimitMatch::Beyond,
                None => LimitMatch::ByNone,
            },
        }
    }

    /// A stretch that takes the time of the level of a limit, from the plateau of the level before it to the next plateau.
    fn stretch(
        &self,
        limits: &[Limit],
        index: usize,
        claimed: &[Plateau],
        memory: Option<f64>,
    ) -> Option<(Plateau, Crossing)> {
        let limit = limits.get(index).filter(|limit| limit.expected.is_some())?;
        // Without memory in the curve the last level cannot be told from it.
        memory.filter(|_| claimed.len() == index)?;
        let before = claimed.last()?;
        let next = self.plateaus.iter().find(|plateau| plateau.from > before.to)?;
        let is_of_level = |value: f64| !limit.is_exceeded_by(value) && self.is_time_of(value, limits, index);
        let plateau = stretch_between(self.curve, before, next, is_of_level)?;
        let ends = boundary(&plateau)?;
        (ends.interval.low <= (limit.at as f64).log2() + LATER).then_some((plateau, ends))
    }

    /// Whether a time of loads is nearer, as a ratio, to what is known of this level than of its neighbours; the last
    /// one's next are the slowest loads of the curve. Of the last level alone so if nothing is known of it.
    fn is_time_of(&self, value: f64, limits: &[Limit], index: usize) -> bool {
        let expected = |limit: &Limit| limit.expected.map(|(own, _)| own);
        let Some(own) = expected(&limits[index]) else { return index + 1 == limits.len() };
        let before = index.checked_sub(1).and_then(|before| expected(&limits[before]));
        let slowest = self.curve.last().map_or(own, |last| last.1.max(own));
        let beyond = limits.get(index + 1).map_or(Some(slowest), expected);
        let square = value * value;
        before.is_none_or(|before| square > before * own) && beyond.is_none_or(|beyond| square < own * beyond)
    }
}

/// The match of each limit, in the order of the limits.
pub(super) fn matches(shown: &ShownCurve, limits: &[Limit], memory: Option<f64>) -> Vec<LimitMatch> {
    let mut claimed: Vec<Plateau> = vec![];
    let mut matches = vec![];
    for index in 0..limits.len() {
        let matched = shown.matched(limits, index, &claimed, memory);
        if let LimitMatch::By(plateau, _) = &matched {
            claimed.push(plateau.clone());
        }
        matches.push(matched);
    }
    matches
}

/// The widest interval of an end, in octaves: caches of neighbouring levels are at least as far apart, and one that reaches from the one
/// to the other says of neither where it ends.
const UNKNOWN_END: f64 = 2.0;

/// The end of a level in bytes; `None` if it is too uncertain to be one.
pub(super) fn end_of_level(ends: Crossing, core: Option<CoreUse>) -> Option<Found> {
    let [value, low, high] = [ends.at, ends.interval.low, ends.interval.high].map(|log| log.exp2().round());
    let measured = Measured { value, interval: Some(Interval { low, high }) };
    let end = Found { core, ..Found::measured(measured, Unit::Bytes) };
    is_known(ends).then_some(end)
}

/// Whether an end is told well enough to be one.
pub(super) fn is_known(ends: Crossing) -> bool {
    ends.interval.high - ends.interval.low <= UNKNOWN_END
}

/// What is said of a level that ends far below what is declared.
pub(super) fn far_below(core: Option<CoreUse>) -> &'static str {
    match core {
        Some(CoreUse::Shared) => {
            ", of which the larger part is not to be seen with the core shared (the neighbour uses it as well, others may, or it may not be \
             available)"
        }
        _ => {
            ", of which the larger part is not to be seen here (others may use it, or it may not be available)"
        }
    }
}

/// Whether a level ends below half of its limit, with its whole interval.
pub(super) fn is_far_below(ends: Crossing, limit: &Limit) -> bool {
    is_known(ends) && ends.interval.high < (limit.at as f64).log2() - 1.0
}
