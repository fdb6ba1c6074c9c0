//! Slopes and breaks.

use crate::population::Chance;
use crate::{held, percentage};
use fathom::statistics::{fit_line, theil_sen, two_segments};

/// Points on `y = 5 + 2x`, with noise of the given kind.
fn points(count: u32, noise: fn(&mut Chance) -> f64, chance: &mut Chance) -> Vec<(f64, f64)> {
    (0..count).map(|x| (f64::from(x), 5.0 + 2.0 * f64::from(x) + noise(chance))).collect()
}

fn heavy(chance: &mut Chance) -> f64 {
    (std::f64::consts::PI * (chance.uniform() - 0.5)).tan()
}

#[test]
fn least_squares_holds_slope_and_intercept_under_normal_noise() {
    for count in [5, 8, 20] {
        let mut chance = Chance::new(u64::from(count));
        let mut intercepts = 0.0;
        let slopes = percentage(|| {
            let line = fit_line(&points(count, Chance::normal, &mut chance)).expect("a line");
            intercepts +=
                f64::from(u8::from(line.intercept_interval.is_some_and(|interval| interval.contains(5.0))));
            line.slope_interval.is_some_and(|interval| interval.contains(2.0))
        });
        let intercepts = 100.0 * intercepts / crate::REPETITIONS as f64;
        println!("line {count} slope {slopes:.1} intercept {intercepts:.1}");
        assert!(held(slopes) && held(intercepts), "{count}: {slopes} {intercepts}");
    }
}

#[test]
fn theil_sen_holds_the_slope_under_noise_without_a_mean() {
    // Its ranks come in steps, so with few points it holds more than it promises, never less.
    for (count, most) in [(5, 100.0), (8, 98.5), (20, 97.0), (45, 97.0)] {
        let mut chance = Chance::new(u64::from(count));
        let found = percentage(|| {
            let line = theil_sen(&points(count, heavy, &mut chance)).expect("a line");
            line.slope_interval.is_some_and(|interval| interval.contains(2.0))
        });
        println!("Theil and Sen {count} {found:.1}");
        assert!((93.0..=most).contains(&found), "{count}: {found}");
    }
}

#[test]
fn one_line_is_rarely_taken_for_two() {
    for count in [6, 8, 12, 20, 50] {
        let mut chance = Chance::new(u64::from(count));
        let broken = percentage(|| two_segments(&points(count, Chance::normal, &mut chance)).is_some());
        println!("false breaks {count} {broken:.1}");
        assert!(broken <= 5.0, "{count}: {broken}");
    }
}

#[test]
fn a_knee_is_found_where_it_is() {
    let mut chance = Chance::new(3);
    let found = percentage(|| {
        let bent = points(12, |chance| 0.5 * chance.normal(), &mut chance);
        let bent: Vec<_> = bent.into_iter().map(|(x, y)| (x, y + 3.0 * (x - 4.5_f64).max(0.0))).collect();
        two_segments(&bent).is_some_and(|found| (found.break_at - 4.5).abs() < 1.0)
    });
    println!("knees {found:.1}");
    assert!(found >= 95.0, "{found}");
}
