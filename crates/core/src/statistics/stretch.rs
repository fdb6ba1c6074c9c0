//! A level whose time is known, where a curve is too uncertain to be cut: between two plateaus that are of other levels.
//!
//! A cut pays for every segment, which a short level before points of wide intervals is not worth: they fit one slope as well. Of a level that
//! is declared, and whose time is published or measured, less has to be learnt. Its points are a stretch that is nearly flat, takes that time,
//! and is for certain less steep than the curve would be if it rose evenly from the plateau before to the next.

use super::measured::Interval;
use super::plateau::{
    Crossing, CurvePoint, EXTENT, NEARLY_FLAT, OF_LEVEL, PLATEAU_VARIATION, POINTS, Plateau, reach_of,
    shows_flatness,
};
use super::plateaus::rise;

/// The standard errors of a 95 % interval.
const ERRORS: f64 = 1.96;

/// Those of the interval of a slope, of 99 %: of the many stretches of a curve that rises evenly some are flat by chance. In 95 of 100 such
/// curves there is none, whatever their noise (simulated in the tests).
const ERRORS_OF_SLOPE: f64 = 2.576;

/// The stretch between two plateaus of a curve in the order of x whose slope is known best of those of a level; `None` if there is none.
pub fn stretch_between(
    curve: &[CurvePoint],
    before: &Plateau,
    next: &Plateau,
    is_of_level: impl Fn(f64) -> bool,
) -> Option<Plateau> {
    let begin = before.rise.map_or(before.to, |rise| rise.at);
    let steepness = (next.value / before.value).ln() / (next.from - begin);
    let points: Vec<CurvePoint> =
        curve.iter().copied().filter(|point| point.0 > begin && point.0 < next.from).collect();
    let all = (0..points.len()).flat_map(|from| (from + POINTS..=points.len()).map(move |to| (from, to)));
    let flat = all.filter_map(|(from, to)| {
        let points = &points[from..to];
        let (slope, plateau) = (StretchSlope::of(points), Plateau::of(points)?);
        let is_of_it = |point: &CurvePoint| {
            let ratio = point.1 / plateau.value;
            (1.0 / OF_LEVEL..=OF_LEVEL).contains(&ratio)
        };
        let is_flat =
            slope.value.abs() <= NEARLY_FLAT && slope.value + ERRORS_OF_SLOPE * slope.error < steepness;
        let extent = plateau.to - plateau.from;
        let is_one =
            extent >= EXTENT && is_flat && shows_flatness(extent, slope.error) && points.iter().all(is_of_it);
        (is_one && is_of_level(plateau.value)).then_some((slope, plateau))
    });
    let (slope, level) = flat.min_by(|one, other| one.0.error.total_cmp(&other.0.error))?;
    Some(with_end(curve, next, &slope.widened(&level)))
}

/// The same with its end: it reaches for certain only to a point that is of it with its whole interval, and is left for certain only where
/// one is too high with its whole interval.
fn with_end(curve: &[CurvePoint], next: &Plateau, level: &Plateau) -> Plateau {
    let most = OF_LEVEL * level.value;
    let is_of_it =
        |point: &&CurvePoint| (level.from..=level.to).contains(&point.0) && reach_of(point).high <= most;
    let is_left = |point: &&CurvePoint| point.0 > level.to && reach_of(point).low > most;
    let high = curve.iter().find(is_left).map_or(next.from, |point| point.0.min(next.from));
    let low = curve.iter().rfind(is_of_it).map_or(level.from, |point| point.0);
    let ends = Interval { low, high };
    let leaves = rise(curve, level, Some(next)).map_or(level.to, |leaves| leaves.at);
    Plateau {
        ends: Some(ends),
        rise: Some(Crossing { at: leaves.min(high), interval: ends }),
        ..level.clone()
    }
}

/// The slope of ln y over some points, and what is known of their mean.
struct StretchSlope {
    value: f64,
    /// Its standard error.
    error: f64,
    /// That of the mean.
    of_mean: f64,
}

impl StretchSlope {
    /// By least squares, each point weighted by its precision.
    fn of(points: &[CurvePoint]) -> Self {
        // A 95 % interval is about four standard deviations wide; a wide one is uneven about its value, but less so in logarithms.
        let noise = |point: &CurvePoint| point.2.map_or(0.0, |of| (of.high / of.low).ln() / 4.0);
        let weight = |point: &CurvePoint| 1.0 / (noise(point).powi(2) + PLATEAU_VARIATION.powi(2));
        let sum = |of: &dyn Fn(&CurvePoint) -> f64| {
            points.iter().map(|point| weight(point) * of(point)).sum::<f64>()
        };
        let weights = sum(&|_| 1.0);
        let (x, y) = (sum(&|point| point.0) / weights, sum(&|point| point.1.ln()) / weights);
        let spread = sum(&|point| (point.0 - x).powi(2));
        let value = sum(&|point| (point.0 - x) * (point.1.ln() - y)) / spread;
        StretchSlope { value, error: spread.sqrt().recip(), of_mean: weights.sqrt().recip() }
    }

    /// A plateau of these points whose interval is no narrower than the precision of the points allows.
    fn widened(&self, level: &Plateau) -> Plateau {
        let reach = (ERRORS * self.of_mean).exp();
        let Interval { low, high } = level.interval;
        let interval = Interval { low: low.min(level.value / reach), high: high.max(level.value * reach) };
        Plateau { interval, ..level.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::distribution::normal_quantile;
    use super::super::plateaus::plateaus;
    use super::*;
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    /// Sizes in KiB with the times of loads and the ends of their intervals, as measured with a neighbour on the core.
    const POINTS_OF_LOADS: [(f64, f64, f64, f64); 22] = [
        (64.0, 4.0, 3.97, 4.01),
        (96.0, 4.04, 4.0, 4.14),
        (128.0, 4.54, 4.33, 7.06),
        (160.0, 4.59, 4.02, 9.91),
        (192.0, 7.46, 4.94, 15.9),
        (224.0, 7.07, 5.13, 13.1),
        (256.0, 10.6, 7.91, 14.5),
        (320.0, 16.3, 11.8, 17.0),
        (384.0, 15.7, 13.0, 16.9),
        (448.0, 16.6, 15.2, 25.8),
        (512.0, 16.8, 12.4, 43.0),
        (640.0, 35.5, 18.6, 135.0),
        (768.0, 23.8, 14.4, 81.7),
        (896.0, 20.3, 17.1, 105.0),
        (1280.0, 47.2, 22.4, 176.0),
        (1536.0, 55.6, 25.6, 208.0),
        (2048.0, 98.1, 27.0, 149.0),
        (3072.0, 147.0, 120.0, 159.0),
        (4096.0, 146.0, 118.0, 185.0),
        (5120.0, 166.0, 150.0, 174.0),
        (6144.0, 163.0, 150.0, 175.0),
        (8192.0, 165.0, 155.0, 172.0),
    ];

    /// The curve, and its plateaus before and after the third level, which no cut shows.
    fn curve() -> (Vec<CurvePoint>, Plateau, Plateau) {
        let point = |(kib, y, low, high): (f64, f64, f64, f64)| (kib.log2(), y, Some(Interval { low, high }));
        let curve: Vec<CurvePoint> = POINTS_OF_LOADS.into_iter().map(point).collect();
        let all = plateaus(&curve);
        let is_third = |plateau: &Plateau| (12.0..25.0).contains(&plateau.value);
        assert!(all.len() == 2 && !all.iter().any(is_third), "{all:#?}");
        (curve, all[0].clone(), all[1].clone())
    }

    #[test]
    fn a_level_of_a_known_time_is_found_before_uncertain_points() {
        let (curve, before, next) = curve();
        let level =
            stretch_between(&curve, &before, &next, |ns| (10.0..25.0).contains(&ns)).expect("a level");
        assert_eq!((level.from.exp2().round(), level.to.exp2().round()), (320.0, 512.0), "{level:#?}");
        assert!((level.value - 16.3).abs() < 0.5 && level.interval.contains(16.6), "{level:#?}");
        let end = level.rise.expect("an end").interval;
        // The intervals of 448 and 512 KiB reach to 25.8 and 43.0.
        assert!((end.low.exp2().round(), end.high.exp2().round()) == (384.0, 1536.0), "{end:?}");
        assert_eq!(stretch_between(&curve, &before, &next, |ns| ns > 25.0), None, "of another time");
    }

    #[test]
    fn a_curve_that_rises_evenly_has_no_level_of_any_time() {
        let (_, before, next) = curve();
        let begin = before.rise.map_or(before.to, |rise| rise.at);
        let share = |x: f64| ((x - begin) / (next.from - begin)).clamp(0.0, 1.0);
        let y = |x: f64| before.value * (next.value / before.value).powf(share(x));
        for width in [1.02, 1.2, 2.0, 5.0] {
            // Even where noise makes three points alike.
            let rising = POINTS_OF_LOADS.map(|(kib, ..)| {
                let even = y(kib.log2());
                let ns = if (320.0..=512.0).contains(&kib) && width > 1.9 { y(400_f64.log2()) } else { even };
                (kib.log2(), ns, Some(Interval { low: ns / width, high: ns * width }))
            });
            assert_eq!(stretch_between(&rising, &before, &next, |_| true), None, "{width}");
        }
    }

    /// With 1.96 errors of the slope 92 of the curves that differ by 20 % have one.
    #[test]
    fn few_curves_that_rise_evenly_have_a_level_by_chance() {
        let (_, before, next) = curve();
        let begin = before.rise.map_or(before.to, |rise| rise.at);
        let steepness = (next.value / before.value).ln() / (next.from - begin);
        let mut chance = SplitMix64::seed_from_u64(1);
        let mut uniform = || (chance.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        for deviation in [0.1, 0.2, 0.3_f64] {
            let mut with_a_level = 0;
            for _ in 0..CURVES {
                let noisy = POINTS_OF_LOADS.map(|(kib, ..)| {
                    let even = before.value.ln() + steepness * (kib.log2() - begin);
                    let y = deviation.mul_add(normal_quantile(uniform()), even).exp();
                    let width = (2.0 * deviation).exp();
                    (kib.log2(), y, Some(Interval { low: y / width, high: y * width }))
                });
                let level = stretch_between(&noisy, &before, &next, |ns| (10.0..25.0).contains(&ns));
                with_a_level += usize::from(level.is_some());
            }
            assert!(with_a_level * 20 <= CURVES, "{with_a_level} of {CURVES} that differ by {deviation}");
        }
    }

    const CURVES: usize = 1000;
}
