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

use super::cut::{Cut, Segment};
use super::measured::Interval;
use super::plateau::{Crossing, CurvePoint, OF_LEVEL, POINTS, Plateau, reach_of};
use crate::sorting;

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
    for index in 0..plateaus.len() {
        plateaus[index].rise = rise(&curve, &plateaus[index], plateaus.get(index + 1));
    }
    plateaus
}

/// The place at which the curve, in the order of x, leaves a plateau, before the end of the next.
pub(super) fn rise(curve: &[CurvePoint], from: &Plateau, next: Option<&Plateau>) -> Option<Crossing> {
    let height = |own: f64, next: Option<f64>| {
        next.map_or(f64::INFINITY, |next| 0.5 * (own + next)).min(OF_LEVEL * own)
    };
    let (own, beyond) = (from.varied(), next.map(Plateau::varied));
    let least = height(own.low, beyond.map(|beyond| beyond.low));
    let most = height(own.high, beyond.map(|beyond| beyond.high));
    let height = height(from.value, next.map(|next| next.value));
    let is_between = |point: &&CurvePoint| point.0 >= from.from && next.is_none_or(|next| point.0 <= next.to);
    let points: Vec<&CurvePoint> = curve.iter().filter(is_between).collect();
    let first_above = |height: f64| points.iter().position(|point| point.1 >= height);
    let (after, sure) = (first_above(height)?, first_above(least)?);
    let last_below = points.iter().rposition(|point| point.1 <= most)?;
    // What its own interval leaves open on either side, as a point that was as low in one trial and high in the next.
    let (below, above) = (&points[..sure], &points[last_below + 1..]);
    let surely_below = below.iter().rfind(|point| reach_of(point).high < least).or(below.first())?;
    let surely_above = above.iter().find(|point| reach_of(point).low > most).or(points.last())?;
    let (before, here) = (points.get(after.checked_sub(1)?)?, points[after]);
    let share = (height / before.1).ln() / (here.1 / before.1).ln();
    let interval = Interval { low: surely_below.0, high: surely_above.0 };
    Some(Crossing { at: before.0 + share * (here.0 - before.0), interval })
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

    /// Sizes of 1.5 and 1.75 MiB took 14.6 to 293 and 10 to 242 ns, by trial, and the end of 18 ns was told as 1.03 MiB (1.00 to 1.25).
    #[test]
    fn an_end_reaches_over_points_that_may_be_on_either_side() {
        let at = |size: f64, y: f64, reach: f64| {
            (size.log2(), y, Some(Interval { low: y / reach, high: y * reach }))
        };
        let end = |wide: f64| {
            let flat = [0.5, 0.625, 0.75, 0.875, 1.0].map(|size| at(size, 18.0, 1.03));
            let rest = [(1.25, 36.0, wide), (1.5, 61.0, wide), (1.75, 177.0, wide * wide), (2.0, 180.0, 1.2)];
            let rest = rest.map(|(size, y, reach)| at(size, y, reach));
            let far = [2.5, 3.0, 4.0, 6.0].map(|size| at(size, 180.0, 1.1));
            let curve = [&flat[..], &rest, &far].concat();
            let own = Plateau::of(&flat).expect("five points");
            let of = rise(&curve, &own, None).expect("it is left").interval;
            [of.low, of.high].map(f64::exp2)
        };
        let is = |found: [f64; 2], truth: [f64; 2]| {
            found.iter().zip(truth).all(|(one, other)| (one - other).abs() < 1e-9)
        };
        assert!(is(end(1.2), [1.0, 1.25]), "{:?}", end(1.2));
        assert!(is(end(4.3), [1.0, 2.0]), "{:?}", end(4.3));
    }

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
            // A cache of random replacement holds at least four fifths of a set that is so much larger than itself.
            let rise = plateau.rise.unwrap();
            assert!(
                (rise.at - capacity - 0.1).abs() < 0.12 && rise.interval.contains(rise.at),
                "{plateau:?}"
            );
        }
        assert_eq!((result[3].ends, result[3].rise), (None, None));
    }

    #[test]
    fn intervals_hold_the_truth_under_noise() {
        let mut seed = 7;
        let (mut places, mut values, mut rises) = (0, 0, 0);
        for _ in 0..100 {
            let result = plateaus(&curve(&THREE, 110.0, 0.01, &mut seed));
            assert_eq!(result.len(), 4, "{result:#?}");
            let ends = |(plateau, truth): (&Plateau, &(f64, f64))| plateau.ends.unwrap().contains(truth.0);
            places += result.iter().zip(&THREE).filter(|pair| ends(*pair)).count();
            // The places at which a set takes half as long again as on the level, by `cached_share`.
            let risen = [0.155, 0.151, 0.055];
            let rise = |((plateau, truth), beyond): ((&Plateau, &(f64, f64)), &f64)| {
                plateau.rise.unwrap().interval.contains(truth.0 + beyond)
            };
            rises += result.iter().zip(&THREE).zip(&risen).filter(|pair| rise(*pair)).count();
            // The last one is reached only beyond the end of the curve.
            values += result
                .iter()
                .zip(&THREE)
                .filter(|(plateau, truth)| plateau.interval.contains(truth.1))
                .count();
        }
        assert!(places >= 285, "{places} of 300 ends");
        assert!(rises >= 285, "{rises} of 300 rises");
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

    /// Sizes in KiB and the times of loads, with the ends of their intervals, as measured with a neighbour on the core.
    const KIB: [f64; 16] = [
        256.0, 320.0, 384.0, 448.0, 512.0, 640.0, 768.0, 896.0, 1024.0, 1280.0, 1536.0, 2048.0, 2560.0,
        3584.0, 4096.0, 5120.0,
    ];
    const TIMES: [f64; 16] =
        [14.0, 13.7, 13.0, 14.2, 14.9, 19.5, 18.5, 18.0, 26.0, 51.3, 98.8, 60.3, 137.1, 144.8, 143.5, 158.1];
    const LOW: [f64; 16] =
        [10.0, 7.7, 9.1, 11.3, 9.8, 16.6, 17.2, 16.9, 15.6, 23.1, 22.6, 23.5, 92.0, 126.0, 102.8, 144.4];
    const HIGH: [f64; 16] = [
        17.6, 29.3, 18.2, 18.4, 17.8, 34.4, 40.1, 29.1, 118.8, 242.2, 169.4, 147.6, 172.9, 158.4, 163.5,
        174.7,
    ];

    #[test]
    fn no_point_before_the_end_of_a_level_is_twice_as_high() {
        let point = |at: usize| (KIB[at].log2(), TIMES[at], Some(Interval { low: LOW[at], high: HIGH[at] }));
        let curve: Vec<CurvePoint> = (0..KIB.len()).map(point).collect();
        let result = plateaus(&curve);
        let third = result.iter().find(|plateau| (12.0..20.0).contains(&plateau.value)).expect("a level");
        let end = third.rise.expect("an end");
        assert!((896.0..1024.0).contains(&end.at.exp2()) && end.interval.contains(end.at), "{third:#?}");
        for plateau in &result {
            let to = plateau.rise.map_or(plateau.to, |end| end.at.max(plateau.to));
            let within = curve.iter().filter(|point| point.0 >= plateau.from && point.0 <= to);
            assert!(
                within.clone().count() > 2 && within.clone().all(|point| point.1 < 2.0 * plateau.value),
                "{plateau:#?}"
            );
        }
    }

    /// Sizes in KiB and the times of loads with the ends of their intervals, of which those from 5 to 8 MiB are on the way to memory.
    const ON_THE_WAY: [(f64, f64, f64, f64); 37] = [
        (128.0, 3.81, 3.80, 3.81),
        (160.0, 3.81, 3.80, 3.81),
        (192.0, 3.81, 3.80, 3.81),
        (224.0, 3.81, 3.80, 3.81),
        (256.0, 3.81, 3.81, 3.82),
        (320.0, 4.05, 4.05, 4.06),
        (384.0, 4.37, 4.37, 4.38),
        (448.0, 4.61, 4.59, 4.80),
        (512.0, 4.85, 4.77, 5.69),
        (640.0, 5.80, 5.51, 6.01),
        (768.0, 6.76, 6.25, 7.37),
        (896.0, 8.67, 7.16, 9.88),
        (1024.0, 9.15, 8.24, 10.96),
        (1280.0, 10.91, 10.08, 12.80),
        (1536.0, 12.00, 11.68, 13.71),
        (1792.0, 13.03, 12.55, 14.43),
        (2048.0, 23.94, 14.92, 47.68),
        (2560.0, 21.09, 15.67, 98.85),
        (3072.0, 15.94, 14.94, 24.78),
        (3584.0, 23.49, 16.23, 78.35),
        (4096.0, 18.63, 16.19, 26.60),
        (5120.0, 66.34, 26.27, 81.02),
        (6144.0, 46.87, 21.84, 75.22),
        (7168.0, 69.86, 42.78, 114.36),
        (8192.0, 61.42, 32.14, 129.52),
        (10240.0, 113.32, 52.62, 140.88),
        (12288.0, 120.53, 70.26, 131.14),
        (14336.0, 111.87, 57.20, 130.52),
        (16384.0, 134.77, 104.43, 143.97),
        (20480.0, 141.71, 109.54, 153.33),
        (24576.0, 145.93, 135.98, 156.22),
        (28672.0, 146.82, 111.63, 156.35),
        (32768.0, 147.15, 112.62, 161.13),
        (40960.0, 154.98, 134.57, 163.01),
        (49152.0, 157.56, 137.10, 165.42),
        (57344.0, 156.70, 131.05, 164.11),
        (65536.0, 156.07, 130.21, 166.45),
    ];

    #[test]
    fn points_that_a_rise_fits_as_well_are_no_plateau() {
        let curve = ON_THE_WAY.map(|(kib, y, low, high)| (kib.log2(), y, Some(Interval { low, high })));
        let values: Vec<f64> = plateaus(&curve).iter().map(|plateau| plateau.value).collect();
        assert!(values.len() == 2 && values.iter().all(|value| !(5.0..100.0).contains(value)), "{values:?}");
    }

    #[test]
    fn the_interval_of_a_plateau_is_what_its_points_support() {
        let point = |nth: u32| (f64::from(nth) / 4.0, 1.083 + 0.0004 * f64::from(nth % 5), None);
        let result = plateaus(&(0..20).map(point).collect::<Vec<_>>());
        let [level] = result.as_slice() else { panic!("{result:?}") };
        assert!(level.interval.low > 1.083 && level.interval.high < 1.0847, "{level:?}");
        let varied = level.varied();
        assert!(varied.low < 0.99 * level.value && varied.high > 1.01 * level.value, "{varied:?}");
    }

    #[test]
    fn what_is_no_curve_has_no_plateaus() {
        assert!(plateaus(&[(1.0, 1.0, None), (2.0, 1.0, None)]).is_empty());
        assert!(plateaus(&[(1.0, 1.0, None), (2.0, 0.0, None), (3.0, 1.0, None)]).is_empty());
    }
}
