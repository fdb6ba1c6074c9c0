//! The statistics: simulated populations with a known truth, halves of one run that do not differ, and an added 2 %.

use super::population::{Between, Chance, Shape, median, trials};
use super::prelude::*;
use super::spin;
use fathom_core::statistics::{MINIMUM_TRIALS, difference, estimate, fit_line, ratio};

pub static RIG: Rig = Rig::of_known_work(
    "statistics",
    "known populations, two halves of one run, and a shift of 2 %",
    Duration::from_secs(3),
    |_| Ok(vec![spin::single(), spin::longer()]),
    judge,
);

/// The number of draws from all populations per question, so that the share is known to half a per cent. This takes seconds,
/// while `tests/statistics` takes minutes and tests the populations one by one.
const DRAWS: u64 = if cfg!(debug_assertions) { 1_500 } else { 12_000 };

/// The number of trials, and of observations in each: the fewest that have an interval.
const DESIGN: (usize, usize) = (MINIMUM_TRIALS, 20);

/// The share of intervals that must contain the truth, and the tolerance: 93 to 97 in 100.
const LEVEL: f64 = 0.95;
const NEAR: f64 = 0.02;

/// The probability below which a number of differing halves is no coincidence.
const SELDOM: f64 = 1e-3;

/// The added share; it must be found to be distinguishable from zero and from twice as much.
const ADDED: f64 = 0.02;

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    vec![
        share(rig, "intervals that contain the median, all populations", (LEVEL, NEAR), medians()),
        share(rig, "intervals that contain a difference", (LEVEL, NEAR), differences()),
        share(rig, "intervals that contain a slope", (LEVEL, NEAR), slopes()),
        share(rig, "equal runs found to differ, at most 5 %", (0.0, 1.0 - LEVEL), equal_runs()),
        halves(rig, results),
        added(rig, results),
    ]
}

/// The number of hits, and of draws.
type Counted = (u64, u64);

fn share(rig: &Rig, what: &str, (set, near): (f64, f64), (hits, all): Counted) -> Truth {
    let claim = Claim::share(rig, what, set).within(1e6 * near);
    claim.judged(TruthFigure::share(hits, all).ok_or_else(|| NoFigure::inconclusive("nothing was drawn")))
}

/// Counts hits over draws of every population.
fn over<T: Copy>(populations: &[T], mut holds: impl FnMut(T, &mut Chance) -> bool) -> Counted {
    let (mut hits, draws) = (0, DRAWS / populations.len() as u64);
    for (place, population) in populations.iter().enumerate() {
        let mut chance = Chance::new(place as u64);
        hits += (0..draws).filter(|_| holds(*population, &mut chance)).count() as u64;
    }
    (hits, draws * populations.len() as u64)
}

/// Populations without and with variation between trials.
fn populations() -> Vec<(Shape, Between, f64)> {
    let alike = Shape::ALL.map(|shape| (shape, Between::None));
    let unlike = [
        (Shape::Normal, Between::Equal),
        (Shape::Interrupted, Between::Large),
        (Shape::Lognormal, Between::Factor),
        (Shape::Normal, Between::States),
    ];
    alike.into_iter().chain(unlike).map(|(shape, between)| (shape, between, median(shape, between))).collect()
}

fn medians() -> Counted {
    over(&populations(), |(shape, between, truth), chance| {
        let drawn = trials(shape, between, DESIGN.0, DESIGN.1, chance);
        estimate(&drawn).and_then(|estimate| estimate.interval).is_some_and(|ends| ends.contains(truth))
    })
}

/// An operation that costs 0.3 over a baseline, where the effect of a trial on both is about as large as the scatter of
/// each.
fn differences() -> Counted {
    const COST: f64 = 0.3;
    let shapes = [Shape::Normal, Shape::Exponential, Shape::Lognormal, Shape::Interrupted, Shape::Bimodal];
    over(&shapes, |shape, chance| {
        let mut operation = trials(shape, Between::None, DESIGN.0, DESIGN.1, chance);
        operation.iter_mut().flatten().for_each(|value| *value += COST);
        let baseline = trials(shape, Between::None, DESIGN.0, DESIGN.1, chance);
        let without_baseline = difference(&operation, &baseline).and_then(|difference| difference.interval);
        without_baseline.is_some_and(|ends| ends.contains(COST))
    })
}

fn slopes() -> Counted {
    over(&[5_u32, 8, 20], |count, chance| {
        let points: Vec<(f64, f64)> =
            (0..count).map(|x| (f64::from(x), 5.0 + 2.0 * f64::from(x) + chance.normal())).collect();
        fit_line(&points).and_then(|line| line.slope_interval).is_some_and(|ends| ends.contains(2.0))
    })
}

/// Two runs of one population with a part of the scatter between trials.
fn equal_runs() -> Counted {
    let shapes = [Shape::Normal, Shape::Exponential, Shape::Interrupted, Shape::Correlated];
    over(&shapes, |shape, chance| {
        let mut run = || {
            let mut drawn = trials(shape, Between::Small, DESIGN.0, DESIGN.1, chance);
            // Far from zero, as a cost is.
            drawn.iter_mut().flatten().for_each(|value| *value += 50.0);
            Some(estimate(&drawn)?.measured())
        };
        let ratio_of_runs = run().zip(run()).and_then(|(one, other)| ratio(one, other)?.interval);
        ratio_of_runs.is_some_and(|ends| !ends.contains(1.0))
    })
}

/// Interleaved halves of this same run: every other trial of a point compared with the rest.
fn halves(rig: &Rig, results: &Results) -> Truth {
    let differing: Vec<bool> = results.points.iter().filter_map(differs_from_itself).collect();
    let differ = differing.iter().filter(|differs| **differs).count();
    let most = most_by_chance(differing.len(), 1.0 - LEVEL);
    let claim = Claim::of(rig, "points whose alternate trials differ", None, 0.0);
    claim.within(most as f64).judged(if differing.is_empty() {
        Err(NoFigure::inconclusive("no point has twelve trials"))
    } else {
        Ok(TruthFigure::exactly(differ as f64))
    })
}

/// Whether the halves of a point's trials differ significantly; `None` if one has too few.
fn differs_from_itself(point: &PointResult) -> Option<bool> {
    let half = |odd: usize| {
        let trials: Vec<[f64; 1]> =
            point.by_round.iter().skip(odd).step_by(2).map(|(_, median)| [*median]).collect();
        Some(estimate(&trials)?.measured()).filter(|half| half.interval.is_some())
    };
    let ends = ratio(half(0)?, half(1)?)?.interval?;
    Some(!ends.contains(1.0))
}

/// The greatest number of coincidences among `all`, each with this probability, that is exceeded at most once in a thousand
/// times (the binomial distribution).
fn most_by_chance(all: usize, probability: f64) -> usize {
    let mut term = (1.0 - probability).powi(all as i32);
    let mut below = term;
    let mut most = 0;
    while below < 1.0 - SELDOM && most < all {
        term *= (all - most) as f64 / (most + 1) as f64 * probability / (1.0 - probability);
        below += term;
        most += 1;
    }
    most
}

/// A spin of 102 µs compared with one of 100 µs.
fn added(rig: &Rig, results: &Results) -> Truth {
    let claim = Claim::share(rig, "an added 2 %", ADDED).within(0.5e6 * ADDED);
    let both = result(results, &spin::single()).and_then(|one| Ok([one, result(results, &spin::longer())?]));
    claim.judged(both.and_then(|both| by_rounds(both, |[one, more]| 1e6 * (more / one - 1.0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_has_one_of_five_differ_now_and_then_and_five_never() {
        assert_eq!(most_by_chance(0, 0.05), 0);
        // Of five, three or more differ 1.2 times in a thousand, four or more 0.03 times.
        assert_eq!(most_by_chance(5, 0.05), 3);
        assert_eq!(most_by_chance(1, 0.05), 1);
    }

    #[test]
    fn an_interval_that_is_too_narrow_is_found_out() {
        let [right, narrow] = [(9_480, 10_000), (9_000, 10_000)]
            .map(|counted| share(&RIG, "intervals", (LEVEL, NEAR), counted).verdict);
        assert_eq!(right, fathom_engine::record::Verdict::Right);
        assert_eq!(narrow, fathom_engine::record::Verdict::Wrong);
    }

    #[test]
    fn the_middle_of_a_known_population_is_found() {
        let normal = trials(Shape::Normal, Between::None, 100, 100, &mut Chance::new(1));
        assert!(fathom_core::statistics::median(&normal.concat()).unwrap().abs() < 0.05);
        assert!((median(Shape::Exponential, Between::None) - std::f64::consts::LN_2).abs() < 0.02);
    }
}
