//! The headline: the median over trials.

use crate::{REPETITIONS, held};
use fathom::statistics::{
    FARTHEST_FROM_ITS_TIMES, between_steps, estimate, estimate_in_proportion, median as middle,
};
use fathom::verify::population::{Between, Chance, Shape, median, trials};

/// Trials and observations in each.
const DESIGNS: &[(usize, usize)] = if cfg!(debug_assertions) {
    &[(4, 20), (6, 20)]
} else {
    &[(4, 20), (4, 100), (5, 20), (5, 100), (6, 20), (6, 100), (10, 20), (10, 100), (30, 20), (30, 100)]
};

fn coverage(shape: Shape, between: Between, (count, size): (usize, usize), truth: f64) -> f64 {
    let mut chance = Chance::new((count * 1000 + size) as u64);
    let repetitions = repetitions(count, size);
    let holds = (0..repetitions).filter(|_| {
        let samples = trials(shape, between, count, size, &mut chance);
        estimate(&samples).and_then(|found| found.interval).is_some_and(|interval| interval.contains(truth))
    });
    100.0 * holds.count() as f64 / repetitions as f64
}

/// Populations of one design are drawn from the same numbers, so that chance moves all of them alike: where drawing is cheap it is
/// repeated until that is a quarter of a time in 100, not half of one.
fn repetitions(count: usize, size: usize) -> usize {
    if cfg!(debug_assertions) {
        4 * REPETITIONS
    } else {
        (12_000_000 / (count * size)).clamp(REPETITIONS, 10_000)
    }
}

/// A number of trials, one of observations in each, and how many times in 100 the interval held the median.
type Found = (usize, usize, f64);

/// The coverages of all designs, printed.
fn coverages(shape: Shape, between: Between) -> Vec<Found> {
    let truth = median(shape, between);
    let found =
        DESIGNS.iter().map(|&(count, size)| (count, size, coverage(shape, between, (count, size), truth)));
    let found: Vec<Found> = found.collect();
    println!("{shape:?} {between:?} {found:?}");
    found
}

/// The coverages that are out of limits.
fn misses(shape: Shape, between: Between) -> Vec<Found> {
    coverages(shape, between).into_iter().filter(|&(_, _, percentage)| !held(percentage)).collect()
}

#[test]
fn intervals_hold_the_median_whatever_the_shape_of_the_observations() {
    for shape in Shape::ALL {
        assert!(misses(shape, Between::None).is_empty(), "{shape:?}");
    }
}

#[test]
fn intervals_hold_the_median_when_trials_differ() {
    for between in [Between::Small, Between::Equal, Between::Large] {
        for shape in [Shape::Normal, Shape::Cauchy, Shape::Interrupted, Shape::Correlated] {
            assert!(misses(shape, between).is_empty(), "{shape:?} {between:?}");
        }
    }
    for shape in [Shape::Pareto, Shape::Lognormal, Shape::Correlated, Shape::CorrelatedSkewed] {
        assert!(misses(shape, Between::Factor).is_empty(), "{shape:?}");
    }
}

/// Of a clock with coarse steps an interval ends on steps: it may hold the median more often than it says, and never less.
#[test]
fn intervals_of_readings_in_steps_hold_the_median_no_less_often() {
    let truth = median(Shape::Quantised, Between::None);
    for &design in DESIGNS {
        let found = coverage(Shape::Quantised, Between::None, design, truth);
        assert!(found >= 93.0, "{design:?} {found}");
    }
}

/// Readings of a counter whose steps are as long as the scatter, or three or ten times, begun at all distances from a step: spread over
/// their steps, and with the allowance that a report makes, they hold the median of the times themselves no less often.
#[test]
fn readings_spread_over_long_steps_hold_the_median_of_the_times() {
    for (shape, between) in [
        (Shape::Normal, Between::None),
        (Shape::Normal, Between::Equal),
        (Shape::Lognormal, Between::None),
        (Shape::Interrupted, Between::Small),
    ] {
        let truth = median(shape, between);
        for (step, &design) in
            [1.0, 3.0, 10.0].into_iter().flat_map(|step| DESIGNS.iter().map(move |design| (step, design)))
        {
            let found = coverage_of_steps(step, design, truth, |chance| {
                trials(shape, between, design.0, design.1, chance)
            });
            assert!(found >= 93.0, "{shape:?} {between:?}, steps of {step}, {design:?}: {found}");
        }
    }
}

/// How many times in 100 readings in steps hold the median of the times; those of which a trial does not tell where between two steps
/// it lies are not counted.
fn coverage_of_steps(
    step: f64,
    (count, size): (usize, usize),
    truth: f64,
    drawn: impl Fn(&mut Chance) -> Vec<Vec<f64>>,
) -> f64 {
    let mut chance = Chance::new((count * 1000 + size) as u64);
    let (mut told, mut held) = (0_u32, 0_u32);
    for _ in 0..repetitions(count, size) {
        let times = drawn(&mut chance);
        let mut read = |time: &f64| (time / step + chance.uniform()).floor() * step;
        let mut spread = |trial: &Vec<f64>| {
            let readings: Vec<f64> = trial.iter().map(&mut read).collect();
            between_steps(&readings, step)
        };
        let Some(spread) = times.iter().map(&mut spread).collect::<Option<Vec<_>>>() else { continue };
        let Some(interval) = estimate(&spread).and_then(|found| found.interval) else { continue };
        let allowed = FARTHEST_FROM_ITS_TIMES * step;
        told += 1;
        held += u32::from(interval.low - allowed <= truth && truth <= interval.high + allowed);
    }
    assert!(told > 0, "no trial tells anything");
    100.0 * f64::from(held) / f64::from(told)
}

#[test]
fn intervals_hold_the_median_of_lopsided_observations_in_trials_that_differ() {
    for (shape, between) in [
        (Shape::Pareto, Between::Equal),
        (Shape::Lognormal, Between::Equal),
        (Shape::CorrelatedSkewed, Between::Equal),
        (Shape::Lognormal, Between::Large),
        (Shape::Exponential, Between::Small),
        (Shape::Bimodal, Between::Small),
        (Shape::Bimodal, Between::Large),
    ] {
        assert!(misses(shape, between).is_empty(), "{shape:?} {between:?}");
    }
    // With a gap beside the median, few trials hold it more often than they say, and never less.
    let found = coverages(Shape::Edge, Between::Small);
    assert!(found.iter().all(|found| (93.0..=99.0).contains(&found.2)), "{found:?}");
}

/// Costs of trials that differ by a factor, of 1.02 to 2.7 in the standard deviation; their median is one.
#[test]
fn intervals_of_costs_hold_the_median_of_trials_that_differ_by_a_factor() {
    for spread in [0.02, 0.3, 1.0] {
        for &(count, size) in DESIGNS {
            let mut chance = Chance::new((count * 1000 + size) as u64);
            let repetitions = repetitions(count, size);
            let holds = (0..repetitions).filter(|_| {
                let cost = |sample: Vec<f64>| sample.into_iter().map(|x| (0.25 * spread * x).exp()).collect();
                let samples = trials(Shape::Normal, Between::Large, count, size, &mut chance);
                let costs: Vec<Vec<f64>> = samples.into_iter().map(cost).collect();
                let interval = estimate_in_proportion(&costs).and_then(|found| found.interval);
                interval.is_some_and(|interval| interval.contains(1.0))
            });
            let percentage = 100.0 * holds.count() as f64 / repetitions as f64;
            println!("factor {spread} {count} {size} {percentage:.1}");
            assert!(held(percentage), "{spread} {count} {size}: {percentage}");
        }
    }
}

/// What few trials cannot show: that their effects are lopsided. Six of them often hold none of the few that lie far off.
#[test]
fn lopsided_trials_are_held_from_ten_on_and_fewer_no_less_often_than_documented() {
    for (shape, least) in [(Shape::Normal, 92.0), (Shape::Lognormal, 88.5)] {
        for (count, size, percentage) in coverages(shape, Between::Skewed) {
            let least = if count < 10 { least } else { 93.0 };
            assert!((least..=97.0).contains(&percentage), "{shape:?} {count} {size}: {percentage}");
        }
    }
}

/// A state of the machine that no trial met is in no interval; of trials that met both, it holds the median.
#[test]
fn trials_in_two_states_hold_the_median_if_they_met_both() {
    let truth = median(Shape::Normal, Between::States);
    for &(count, size) in DESIGNS {
        let mut chance = Chance::new((count * 1000 + size) as u64);
        let (mut both, mut hits) = (0, 0);
        for _ in 0..REPETITIONS {
            let samples = trials(Shape::Normal, Between::States, count, size, &mut chance);
            // The states are four times the scatter apart, so that the middle between them tells them.
            let slow =
                samples.iter().filter(|sample| middle(sample).is_some_and(|middle| middle > 2.0)).count();
            if (1..count).contains(&slow) {
                both += 1;
                let found = estimate(&samples).and_then(|found| found.interval);
                hits += usize::from(found.is_some_and(|interval| interval.contains(truth)));
            }
        }
        let percentage = 100.0 * hits as f64 / f64::from(both);
        println!("both states {count} {size} {percentage:.1} of {both}");
        assert!(percentage >= 93.0, "{count} {size}: {percentage}");
    }
}
