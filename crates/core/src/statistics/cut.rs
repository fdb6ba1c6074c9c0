//! The cut of a curve into segments with the least squares and penalty, as described in `plateaus`.

use super::measured::Interval;
use super::plateau::{
    CurvePoint, EXTENT, NEARLY_FLAT, OF_LEVEL, PLATEAU_VARIATION, POINTS, Plateau, shows_flatness,
};
use crate::sorting;

/// Plateaus nearer than this in ln y are one: a fifth to a quarter.
const MERGE_DISTANCE: f64 = 0.22;

/// Twice the logarithm of the likelihood ratio that a test with one degree of freedom at 95 % accepts.
const ACCEPTED: f64 = 3.84;

/// Points `begin..end` of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Segment {
    pub begin: usize,
    pub end: usize,
}

/// A curve cut into segments.
pub(super) struct Cut<'curve> {
    curve: &'curve [CurvePoint],
    sums: Vec<[f64; 6]>,
    penalty: f64,
    /// The least cost of the points before each place, and the start of their last segment.
    before: Vec<(f64, usize)>,
    /// The least cost of the points from each place on.
    after: Vec<f64>,
}

impl<'curve> Cut<'curve> {
    pub(super) fn best(curve: &'curve [CurvePoint]) -> Self {
        let n = curve.len();
        let penalty = (n as f64).ln();
        let mut cut =
            Cut { curve, sums: sums(curve), penalty, before: vec![(0.0, 0)], after: vec![0.0; n + 1] };
        for end in 1..=n {
            let to_here = |begin: usize| (cut.before[begin].0 + cut.cost(Segment { begin, end }), begin);
            let best = (0..end).map(to_here).min_by(|one, other| one.0.total_cmp(&other.0));
            cut.before.extend(best);
        }
        for begin in (0..n).rev() {
            let from_here = |end| cut.cost(Segment { begin, end }) + cut.after[end];
            cut.after[begin] = (begin + 1..=n).map(from_here).fold(f64::INFINITY, f64::min);
        }
        cut
    }

    pub(super) fn segments(&self) -> Vec<Segment> {
        let mut end = self.curve.len();
        let mut segments = vec![];
        while end > 0 {
            let begin = self.before[end].1;
            segments.push(Segment { begin, end });
            end = begin;
        }
        segments.reverse();
        segments
    }

    /// The weighted sums over a segment: 1, x, y, xx, xy, yy.
    fn over(&self, segment: Segment) -> [f64; 6] {
        std::array::from_fn(|index| self.sums[segment.end][index] - self.sums[segment.begin][index])
    }

    /// The cheaper of a flat segment (a value and a place) and a slope (one parameter more).
    fn cost(&self, segment: Segment) -> f64 {
        let flat = self.squares(segment, 0.0) + 2.0 * self.penalty;
        if segment.end - segment.begin < POINTS {
            return flat;
        }
        flat.min(self.squares(segment, self.slope(segment)) + 3.0 * self.penalty)
    }

    /// The slope of a segment by weighted least squares.
    fn slope(&self, segment: Segment) -> f64 {
        let [w, x, y, xx, xy, _] = self.over(segment);
        let spread = xx - x * x / w;
        if spread > 0.0 { (xy - x * y / w) / spread } else { 0.0 }
    }

    /// Weighted squares of the residuals from the best line of a slope.
    fn squares(&self, segment: Segment, slope: f64) -> f64 {
        let [w, x, y, xx, xy, yy] = self.over(segment);
        let residual = (yy - y * y / w) - 2.0 * slope * (xy - x * y / w) + slope * slope * (xx - x * x / w);
        residual.max(0.0)
    }

    pub(super) fn is_level(&self, segment: Segment) -> bool {
        let points = &self.curve[segment.begin..segment.end];
        let extent = points[points.len() - 1].0 - points[0].0;
        let is_flat =
            self.slope(segment).abs() <= NEARLY_FLAT && shows_flatness(extent, self.slope_error(segment));
        points.len() >= POINTS && extent >= EXTENT && is_flat
    }

    /// The standard error of the slope of a segment, from the precision of its points.
    fn slope_error(&self, segment: Segment) -> f64 {
        let [w, x, _, xx, ..] = self.over(segment);
        (xx - x * x / w).max(0.0).sqrt().recip()
    }

    fn mean(&self, segment: Segment) -> f64 {
        let [w, _, y, ..] = self.over(segment);
        y / w
    }

    pub(super) fn alike(&self, one: Segment, other: Segment) -> bool {
        (self.mean(one) - self.mean(other)).abs() < MERGE_DISTANCE
    }

    pub(super) fn plateau(&self, level: Segment) -> Option<Plateau> {
        let points = self.without_rise(level);
        let to = points.last()?.0;
        let ends = self.ends(level).map(|ends| Interval { low: ends.low.min(to), ..ends });
        Some(Plateau { ends, ..Plateau::of(points)? })
    }

    /// The points of a level without its last ones that are too high for it: what is known badly has little weight in the cut.
    fn without_rise(&self, level: Segment) -> &'curve [CurvePoint] {
        let points = &self.curve[level.begin..level.end];
        if level.end == self.curve.len() {
            return points;
        }
        let mut values: Vec<f64> = points.iter().map(|point| point.1).collect();
        sorting::numbers(&mut values);
        let most = OF_LEVEL * values[(values.len() - 1) / 2];
        let last = points.iter().rposition(|point| point.1 <= most).unwrap_or(0);
        &points[..=last]
    }

    /// Every place at which the level could end by its likelihood, with everything else fitted best.
    fn ends(&self, level: Segment) -> Option<Interval> {
        if level.end == self.curve.len() {
            return None;
        }
        let begin = self.segments().into_iter().find(|segment| segment.end == level.end)?.begin;
        let cost =
            |end| self.squares(Segment { begin, end }, self.slope_of_level(begin, end)) + self.after[end];
        let places: Vec<(usize, f64)> = (begin + 1..self.curve.len()).map(|end| (end, cost(end))).collect();
        let least = places.iter().map(|place| place.1).fold(f64::INFINITY, f64::min);
        let accepted = || places.iter().filter(|place| place.1 <= least + ACCEPTED).map(|place| place.0);
        Some(Interval { low: self.curve[accepted().min()? - 1].0, high: self.curve[accepted().max()?].0 })
    }

    /// The slope of a level, limited to the steepest that a level may have.
    fn slope_of_level(&self, begin: usize, end: usize) -> f64 {
        if end - begin < POINTS {
            return 0.0;
        }
        let slope = self.slope(Segment { begin, end });
        if slope.abs() <= NEARLY_FLAT { slope } else { 0.0 }
    }
}

/// Running sums of 1, x, y, xx, xy and yy (y the logarithm), each weighted by the point's own precision.
fn sums(curve: &[CurvePoint]) -> Vec<[f64; 6]> {
    let mut sums = vec![[0.0; 6]];
    let mut sum = [0.0; 6];
    for (x, y, interval) in curve {
        // A 95 % interval is about four standard deviations wide.
        let noise = interval.map_or(0.0, |interval| (interval.high - interval.low) / 4.0 / y);
        let (weight, y) = (1.0 / (noise * noise + PLATEAU_VARIATION * PLATEAU_VARIATION), y.ln());
        let terms = [1.0, *x, y, x * x, x * y, y * y];
        sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
        sums.push(sum);
    }
    sums
}
