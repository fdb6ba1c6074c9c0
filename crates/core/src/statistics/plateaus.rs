//! Plateaus of a curve: stretches over which a quantity hardly changes, and their ends.
//!
//! The curve is cut into segments, each flat or a slope in the logarithm of y, with or without a jump between them. The cut with
//! the least sum of squares plus penalty is found exactly, by optimal partitioning (Jackson et al. 2005, "An algorithm for
//! optimal partitioning of data on an interval"; Bellman 1961 for lines). The penalty is that of the Bayesian information
//! criterion, ln n for every value, slope and place of a cut, with which the number of change points is found consistently (Yao
//! 1988, "Estimating the number of change-points via Schwarz' criterion").
//!
//! A plateau is a segment that is flat, or nearly so, and long enough. Steep slopes, and points that fit no segment, connect
//! plateaus and belong to none: a curve that rises throughout has none, whatever the machine declares.
//!
//! The end of a plateau is given with the set of places that a likelihood-ratio test at 95 % does not reject (Hinkley 1970,
//! "Inference about the change-point in a sequence of random variables"). The plateau reaches at least to its last point and ends
//! before the next one, so the interval is never narrower than a step of the sweep.

use super::distribution::student_quantile;
use super::measured::Interval;
use crate::sorting;

/// The share by which a plateau may vary besides the noise of its points: the ways of a cache are not filled evenly.
const PLATEAU_VARIATION: f64 = 0.02;

/// The steepest slope of a plateau, in ln y per unit of x: with x in octaves, a fifth per doubling.
const NEARLY_FLAT: f64 = 0.2;

/// Plateaus nearer than this in ln y are one: a fifth to a quarter.
const MERGE_DISTANCE: f64 = 0.22;

/// The least extent of a plateau in units of x, and its fewest points.
const EXTENT: f64 = 0.55;
const POINTS: usize = 3;

/// Twice the logarithm of the likelihood ratio that a test with one degree of freedom at 95 % accepts.
const ACCEPTED: f64 = 3.84;

/// A point of the curve: x, a y above zero, and y's 95 % interval where there is one.
pub type CurvePoint = (f64, f64, Option<Interval>);

/// A stretch over which y hardly changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plateau {
    /// The first x of it.
    pub from: f64,
    /// The last x of it.
    pub to: f64,
    /// The geometric mean of its y.
    pub value: f64,
    /// The 95 % interval of the level, from the scatter of its points and the variation that a plateau may have.
    pub interval: Interval,
    /// The 95 % interval of its end, in units of x: not before the lower, and before the upper end; `None` for a plateau that
    /// continues to the end of the curve.
    pub ends: Option<Interval>,
    /// The place at which the curve is half way from this plateau to the next, higher one; `None` for the last.
    pub half_way: Option<Crossing>,
    /// The number of its points.
    pub points: usize,
}

/// A crossing of a height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The place, between two points of the curve by interpolation in ln y.
    pub at: f64,
    /// The points of the curve between which it lies for every height within the height's interval.
    pub interval: Interval,
}

/// The plateaus of a curve, in the order of x; none where it has fewer than three points, or where a y is not above zero.
pub fn plateaus(curve: &[CurvePoint]) -> Vec<Plateau> {
    let sound = |(x, y, _): &CurvePoint| x.is_finite() && y.is_finite() && *y > 0.0;
    if curve.len() < POINTS || !curve.iter().all(sound) {
        return vec![];
    }
    let mut curve = curve.to_vec();
    sorting::by_number(&mut curve, |(x, ..)| *x);
    let cut = Cut::best(&curve);
    let segments = cut.segments().into_iter().filter(|segment| cut.is_level(*segment));
    let joined = segments.fold(vec![], |mut levels: Vec<Segment>, segment| {
        match levels.last_mut().filter(|last| cut.alike(**last, segment)) {
            Some(last) => last.end = segment.end,
            None => levels.push(segment),
        }
        levels
    });
    let mut plateaus: Vec<Plateau> = joined.into_iter().filter_map(|level| cut.plateau(level)).collect();
    for next in 1..plateaus.len() {
        plateaus[next - 1].half_way = half_way(&curve, &plateaus[next - 1], &plateaus[next]);
    }
    plateaus
}

/// The place at which the curve is half way from one plateau up to the next.
fn half_way(curve: &[CurvePoint], one: &Plateau, next: &Plateau) -> Option<Crossing> {
    let within = |point: &&CurvePoint| point.0 <= next.to;
    let between: Vec<CurvePoint> = curve.iter().filter(within).copied().collect();
    rise(&between, one, next.value, next.interval)
}

/// The place at which the curve, in the order of x, is half way from a plateau up to a height, which lies somewhere in `around`;
/// `None` if it never is.
pub fn rise(curve: &[CurvePoint], from: &Plateau, to: f64, around: Interval) -> Option<Crossing> {
    let half = |low: f64, high: f64| 0.5 * (low + high);
    let height = half(from.value, to);
    let (least, most) = (half(from.interval.low, around.low), half(from.interval.high, around.high));
    let points: Vec<&CurvePoint> = curve.iter().filter(|point| point.0 >= from.from).collect();
    let first_above = |height: f64| points.iter().position(|point| point.1 >= height);
    let (after, sure) = (first_above(height)?, first_above(least)?);
    let last_below = points.iter().rposition(|point| point.1 <= most)?;
    let (before, here) = (points.get(after.checked_sub(1)?)?, points[after]);
    let share = (height / before.1).ln() / (here.1 / before.1).ln();
    let interval = Interval { low: points.get(sure.checked_sub(1)?)?.0, high: points.get(last_below + 1)?.0 };
    Some(Crossing { at: before.0 + share * (here.0 - before.0), interval })
}

/// Points `begin..end` of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Segment {
    begin: usize,
    end: usize,
}

/// A curve cut into segments.
struct Cut<'curve> {
    curve: &'curve [CurvePoint],
    sums: Vec<[f64; 6]>,
    penalty: f64,
    /// The least cost of the points before each place, and the start of their last segment.
    before: Vec<(f64, usize)>,
    /// The least cost of the points from each place on.
    after: Vec<f64>,
}

impl<'curve> Cut<'curve> {
    fn best(curve: &'curve [CurvePoint]) -> Self {
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

    fn segments(&self) -> Vec<Segment> {
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

    fn is_level(&self, segment: Segment) -> bool {
        let points = &self.curve[segment.begin..segment.end];
        let extent = points[points.len() - 1].0 - points[0].0;
        points.len() >= POINTS && extent >= EXTENT && self.slope(segment).abs() <= NEARLY_FLAT
    }

    fn mean(&self, segment: Segment) -> f64 {
        let [w, _, y, ..] = self.over(segment);
        y / w
    }

    fn alike(&self, one: Segment, other: Segment) -> bool {
        (self.mean(one) - self.mean(other)).abs() < MERGE_DISTANCE
    }

    fn plateau(&self, level: Segment) -> Option<Plateau> {
        let points = &self.curve[level.begin..level.end];
        let logarithms: Vec<f64> = points.iter().map(|point| point.1.ln()).collect();
        let n = logarithms.len() as f64;
        let mean = logarithms.iter().sum::<f64>() / n;
        let squares: f64 = logarithms.iter().map(|y| (y - mean).powi(2)).sum();
        // The uncertainty of the mean, and that of the level itself where it varies: its ends are mixed with its neighbours.
        let reach =
            (student_quantile(0.975, n - 1.0) * (squares / (n - 1.0) / n).sqrt()).hypot(PLATEAU_VARIATION);
        Some(Plateau {
            from: points.first()?.0,
            to: points.last()?.0,
            value: mean.exp(),
            interval: Interval { low: (mean - reach).exp(), high: (mean + reach).exp() },
            ends: self.ends(level),
            half_way: None,
            points: points.len(),
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise with the standard deviation `share`, from a seed: twelve uniform numbers are nearly normal.
    fn noise(seed: &mut u64, share: f64) -> f64 {
        let uniform = |seed: &mut u64| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        1.0 + share * ((0..12).map(|_| uniform(seed)).sum::<f64>() - 6.0)
    }

    /// x in octaves, four steps to each.
    fn octaves(from: u32, to: u32) -> impl Iterator<Item = f64> {
        (from * 4..=to * 4).map(|quarter| {
            let (octave, part) = (f64::from(quarter / 4), f64::from(quarter % 4));
            octave + (1.0 + part / 4.0).log2()
        })
    }

    /// The share that a cache of random replacement keeps of a set that is read in circles (see `hierarchy`).
    fn cached_share(capacity: f64, x: f64) -> f64 {
        let crowding = (x - capacity).exp2();
        if crowding <= 1.0 {
            return 1.0;
        }
        (0..200).fold(0.0, |share: f64, _| (-crowding * (1.0 - share)).exp())
    }

    /// The latency curve of caches (log2 capacity, latency) before a memory.
    fn curve(caches: &[(f64, f64)], memory: f64, share: f64, seed: &mut u64) -> Vec<CurvePoint> {
        let at = |x: f64| {
            let (mut held, mut sum) = (0.0, 0.0);
            for (capacity, latency) in caches {
                let share = cached_share(*capacity, x).max(held);
                sum += (share - held) * latency;
                held = share;
            }
            sum + (1.0 - held) * memory
        };
        octaves(12, 29).map(|x| (x, at(x) * noise(seed, share), None)).collect()
    }

    const THREE: [(f64, f64); 3] = [(15.0, 1.1), (20.0, 3.9), (25.0, 14.0)];

    #[test]
    fn four_levels_are_found_where_they_are() {
        let mut seed = 1;
        let result = plateaus(&curve(&THREE, 110.0, 0.0, &mut seed));
        let values: Vec<f64> = result.iter().map(|plateau| plateau.value).collect();
        assert_eq!(values.len(), 4, "{result:#?}");
        for (value, truth) in values.iter().zip([1.1, 3.9, 14.0, 110.0]) {
            assert!((value / truth - 1.0).abs() < 0.03, "{values:?}");
        }
        for (plateau, capacity) in result.iter().zip([15.0, 20.0, 25.0]) {
            assert!(plateau.ends.unwrap().contains(capacity), "{plateau:?}");
            // A cache of random replacement holds half of a set that is ln 2 / 0.5 times as large as itself.
            let half = plateau.half_way.unwrap();
            assert!(
                (half.at - capacity - 0.47).abs() < 0.1 && half.interval.contains(half.at),
                "{plateau:?}"
            );
        }
        assert_eq!((result[3].ends, result[3].half_way), (None, None));
    }

    #[test]
    fn intervals_hold_the_truth_under_noise() {
        let mut seed = 7;
        let (mut places, mut values, mut halves) = (0, 0, 0);
        for _ in 0..100 {
            let result = plateaus(&curve(&THREE, 110.0, 0.01, &mut seed));
            assert_eq!(result.len(), 4, "{result:#?}");
            let ends = |(plateau, truth): (&Plateau, &(f64, f64))| plateau.ends.unwrap().contains(truth.0);
            places += result.iter().zip(&THREE).filter(|pair| ends(*pair)).count();
            let half = |(plateau, truth): (&Plateau, &(f64, f64))| {
                plateau.half_way.unwrap().interval.contains(truth.0 + 0.47)
            };
            halves += result.iter().zip(&THREE).filter(|pair| half(*pair)).count();
            // The last one is reached only beyond the end of the curve.
            values += result
                .iter()
                .zip(&THREE)
                .filter(|(plateau, truth)| plateau.interval.contains(truth.1))
                .count();
        }
        assert!(places >= 285, "{places} of 300 ends");
        assert!(halves >= 285, "{halves} of 300 half ways");
        assert!(values >= 285, "{values} of 300 values");
    }

    #[test]
    fn a_level_without_a_step_is_not_claimed() {
        // A shared last level: from the second level's end on latency rises steadily into memory.
        let mut seed = 3;
        let rising = |x: f64| match x {
            x if x <= 15.0 => 1.1,
            x if x <= 20.0 => 3.9,
            x => (3.9_f64.ln() + (x - 20.0) / 7.0 * (110.0_f64 / 3.9).ln()).exp().min(110.0),
        };
        let curve: Vec<CurvePoint> =
            octaves(12, 29).map(|x| (x, rising(x) * noise(&mut seed, 0.01), None)).collect();
        let values: Vec<f64> = plateaus(&curve).iter().map(|plateau| plateau.value).collect();
        assert_eq!(values.len(), 3, "{values:?}");
        assert!((values[2] / 110.0 - 1.0).abs() < 0.02, "{values:?}");
    }

    #[test]
    fn a_flat_curve_is_one_plateau_and_three_levels_are_three() {
        let mut seed = 5;
        let flat: Vec<CurvePoint> =
            octaves(12, 20).map(|x| (x, 2.0 * noise(&mut seed, 0.01), None)).collect();
        assert_eq!(plateaus(&flat).len(), 1);
        assert_eq!(plateaus(&curve(&THREE[..2], 80.0, 0.01, &mut seed)).len(), 3);
    }

    #[test]
    fn one_disturbed_point_does_not_cut_a_plateau() {
        let mut seed = 9;
        let mut points = curve(&THREE, 110.0, 0.01, &mut seed);
        points[24].1 *= 1.3;
        assert_eq!(plateaus(&points).len(), 4);
    }

    #[test]
    fn what_is_no_curve_has_no_plateaus() {
        assert!(plateaus(&[(1.0, 1.0, None), (2.0, 1.0, None)]).is_empty());
        assert!(plateaus(&[(1.0, 1.0, None), (2.0, 0.0, None), (3.0, 1.0, None)]).is_empty());
    }
}
