//! The headline: the median over trials.

use crate::{held, percentage};
use fathom::statistics::estimate;
use fathom::verify::population::{Between, Chance, Shape, median, trials};

/// Trials and observations in each.
const DESIGNS: &[(usize, usize)] = if cfg!(debug_assertions) {
    &[(4, 20), (6, 20)]
} else {
    &[
        (4, 20),
        (4, 100),
        (5, 20),
        (5, 100),
        (6, 20),
        (6, 100),
        (10, 20),
        (10, 100),
        (30, 20),
        (30, 100),
    ]
};

fn coverage(shape: Shape, between: Between, (count, size): (usize, usize), truth: f64) -> f64 {
    let mut chance = Chance::new((count * 1000 + size) as u64);
    percentage(|| {
        let samples = trials(shape, between, count, size, &mut chance);
        estimate(&samples).and_then(|found| found.interval).is_some_and(|interval| interval.contains(truth))
    })
}

/// The coverages of all designs, printed; those that are out of limits, returned.
fn misses(shape: Shape, between: Between) -> Vec<(usize, usize, f64)> {
    let truth = median(shape, between);
    let found =
        DESIGNS.iter().map(|&(count, size)| (count, size, coverage(shape, between, (count, size), truth)));
    let found: Vec<(usize, usize, f64)> = found.collect();
    println!("{shape:?} {between:?} {found:?}");
    found.into_iter().filter(|&(_, _, percentage)| !held(percentage)).collect()
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

#[test]
fn intervals_hold_the_median_of_lopsided_observations_in_trials_that_differ() {
    for (shape, between) in [
        (Shape::Lognormal, Between::Equal),
        (Shape::Pareto, Between::Equal),
        (Shape::CorrelatedSkewed, Between::Equal),
        (Shape::Lognormal, Between::Large),
        (Shape::Exponential, Between::Small),
        (Shape::Bimodal, Between::Small),
        (Shape::Bimodal, Between::Large),
        (Shape::Normal, Between::Skewed),
    ] {
        assert!(misses(shape, between).is_empty(), "{shape:?} {between:?}");
    }
}
