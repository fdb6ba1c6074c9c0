//! Which plateau of a curve is which declared level: by where it ends, and by the time that its loads take.

use super::level_curve::LevelCurve;
use fathom_core::prelude::*;
use fathom_core::statistics::{Crossing, CurvePoint, Interval, Measured, Plateau, plateaus, rise};

/// A declared limit at which a plateau may end.
pub struct Limit {
    /// Its name, such as `L1`.
    pub name: String,
    pub at: u64,
    /// Its origin: `declared`, or `published for Zen 4`.
    pub origin: String,
    /// Expected latency of the level and of the level beyond it, nanoseconds; `None` if nothing is known.
    pub expected: Option<(f64, f64)>,
}

pub(super) enum LimitMatch<'found> {
    /// A plateau ends near it.
    By(&'found Plateau, Crossing),
    /// No plateau ends near it.
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

/// The factor below the latency of memory from which a point, with its interval, is not of memory alone: noise moves a median by less.
const LESS: f64 = 1.1;

/// A curve in the order of x, and its plateaus.
pub(super) struct ShownCurve<'curve> {
    pub curve: &'curve [CurvePoint],
    pub core: Option<CoreUse>,
    pub plateaus: Vec<Plateau>,
}

/// The end of a plateau: half way to the next level, or, if the curve has no next plateau, the end of its flat part.
pub(super) fn boundary(plateau: &Plateau) -> Option<Crossing> {
    let flat = |ends: Interval| Crossing { at: plateau.to, interval: ends };
    plateau.half_way.or(plateau.ends.map(flat))
}

impl<'curve> ShownCurve<'curve> {
    pub(super) fn of(curve: &'curve LevelCurve) -> Self {
        ShownCurve { curve: &curve.points, core: curve.core, plateaus: plateaus(&curve.points) }
    }

    /// The end of a plateau beyond which another level is expected: half way to that level; if the level has no plateau, as is
    /// common for shared last-level caches, half way to its published latency. A next plateau that is nearer to the slowest
    /// loads than to what is published of the level is of loads that miss it for the most part.
    fn boundary_before(&self, plateau: &Plateau, beyond: f64) -> Option<Crossing> {
        let slowest = self.curve.last()?.1;
        let is_of_level = |next: &Plateau| {
            let is_last = self.plateaus.last().is_some_and(|last| last.from.total_cmp(&next.from).is_eq());
            next.value <= ANOTHER * beyond && (is_last || next.value * next.value <= beyond * slowest)
        };
        if self.plateaus.iter().find(|next| next.from > plateau.to).is_some_and(is_of_level) {
            return boundary(plateau);
        }
        self.half_way_to(beyond, plateau).or_else(|| boundary(plateau))
    }

    /// The place half way from a plateau to a published latency.
    fn half_way_to(&self, published: f64, plateau: &Plateau) -> Option<Crossing> {
        let around = Interval { low: published * 0.8, high: published * 1.25 };
        rise(self.curve, plateau, published, around).filter(|_| published > plateau.value)
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

    /// Where the latency of memory is reached: the last plateau, and its first point that takes as long and from which on none takes
    /// less for certain. Those before are of a transition, also where the curve is nearly flat in it. `None` if even the largest set takes less.
    pub(super) fn memory_reached(&self, limits: &[Limit]) -> Option<(&Plateau, f64)> {
        let from = self.memory_from(limits)?;
        let last = self.plateaus.last().filter(|last| last.from >= from)?;
        let is_less = |(_, latency, _): &CurvePoint| latency * LESS < last.value;
        let takes_less = |point: &CurvePoint| is_less(point) && point.2.is_none_or(|of| of.high < last.value);
        let own = self.curve.iter().rev().take_while(|point| point.0 >= last.from && !takes_less(point));
        // One that may take as long by a wide interval alone is no beginning.
        Some((last, own.filter(|point| !is_less(point)).last()?.0))
    }

    /// The plateau before memory that no limit explains: that of the last level, if it ends before its declared limit. One whose
    /// loads take the time of another level is not.
    fn last_before(&self, memory: f64, limits: &[Limit], claimed: &[f64]) -> Option<(&Plateau, Crossing)> {
        let last_claimed = claimed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let slowest = self.curve.last()?.1;
        let is_last = |plateau: &&Plateau| {
            let between = plateau.from > last_claimed && plateau.from < memory;
            between && is_of_the_last(plateau.value, limits, slowest)
        };
        let plateau = self.plateaus.iter().rev().find(is_last)?;
        Some((plateau, boundary(plateau)?))
    }

    /// Whether a plateau that begins before a limit, or where the rise beyond it would end, goes on beyond twice the limit.
    pub(super) fn crosses(&self, limit: &Limit) -> bool {
        let at = (limit.at as f64).log2();
        let goes_on = |plateau: &Plateau| boundary(plateau).is_some_and(|ends| ends.interval.low > at + 1.0);
        self.plateaus.iter().any(|plateau| plateau.from <= at + LATER && goes_on(plateau))
    }

    /// The plateau that ends near a limit; of several, the nearest.
    fn matched(&self, limit: &Limit, claimed: &[f64], memory: f64) -> LimitMatch<'_> {
        let at = (limit.at as f64).log2();
        if self.curve.last().is_none_or(|last| at >= last.0) {
            return LimitMatch::Beyond;
        }
        let candidate = |plateau: &&Plateau| {
            let own = limit.expected.is_none_or(|(own, _)| plateau.value <= ANOTHER * own);
            // A plateau belongs to one level: one without an end of its own cannot be told from its neighbour.
            plateau.from < at.min(memory) && own && !claimed.contains(&plateau.from)
        };
        let near = self.plateaus.iter().filter(candidate);
        let near = near.filter_map(|plateau| {
            let ends = match limit.expected {
                Some((_, beyond)) => self.boundary_before(plateau, beyond),
                None => boundary(plateau),
            }?;
            let fits = ends.interval.high >= at - EARLIER && ends.interval.low <= at + LATER;
            fits.then_some((plateau, ends))
        });
        let nearest = near.min_by(|one, other| (one.1.at - at).abs().total_cmp(&(other.1.at - at).abs()));
        nearest.map_or(LimitMatch::ByNone, |(plateau, ends)| LimitMatch::By(plateau, ends))
    }
}

/// Whether a latency is nearer, as a ratio, to what is published of the last level than to the level before it and to the slowest
/// load of the curve; so if nothing is published.
fn is_of_the_last(value: f64, limits: &[Limit], slowest: f64) -> bool {
    let expected = |limit: &Limit| limit.expected.map(|(own, _)| own);
    let Some(own) = limits.last().and_then(expected) else { return true };
    let before = limits.iter().rev().nth(1).and_then(expected);
    before.is_none_or(|before| value * value > before * own) && value * value < own * slowest.max(own)
}

/// The match of each limit, in the order of the limits. If the last is not matched, the plateau before memory is its level's.
pub(super) fn matches<'curve>(
    shown: &'curve ShownCurve,
    limits: &[Limit],
    memory: Option<f64>,
) -> Vec<LimitMatch<'curve>> {
    let mut claimed: Vec<f64> = vec![];
    let mut matches = vec![];
    for (index, limit) in limits.iter().enumerate() {
        let mut matched = shown.matched(limit, &claimed, memory.unwrap_or(f64::INFINITY));
        let is_last = index + 1 == limits.len();
        let unmatched = is_last && !matches!(matched, LimitMatch::By(..));
        if let Some((plateau, ends)) =
            memory.filter(|_| unmatched).and_then(|memory| shown.last_before(memory, limits, &claimed))
        {
            matched = LimitMatch::By(plateau, ends);
        }
        if let LimitMatch::By(plateau, _) = matched {
            claimed.push(plateau.from);
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
    let end = Found { core, ..Found::measured(measured, Dimension::Of(Unit::Bytes)) };
    is_known(ends).then_some(end)
}

/// Whether an end is told well enough to be one.
pub(super) fn is_known(ends: Crossing) -> bool {
    ends.interval.high - ends.interval.low <= UNKNOWN_END
}

/// What is said of a level that ends far below what is declared.
pub(super) const FAR_BELOW: &str =
    ", of which the larger part is not to be seen here (others may use it, or it may not be available)";

/// Whether a level ends below half of its limit, with its whole interval.
pub(super) fn is_far_below(ends: Crossing, limit: &Limit) -> bool {
    is_known(ends) && ends.interval.high < (limit.at as f64).log2() - 1.0
}
