//! One mode or more.

use crate::percentage;
use fathom::statistics::modes;
use fathom::verify::population::{Between, Chance, Shape, trials};

fn sample(shape: Shape, size: usize, chance: &mut Chance) -> Vec<f64> {
    trials(shape, Between::None, 1, size, chance).concat()
}

/// What a clock of the given step makes of a time.
fn quantised(sample: Vec<f64>, step: f64) -> Vec<f64> {
    sample.into_iter().map(|value| (value / step).floor() * step).collect()
}

const SIZES: &[usize] = if cfg!(debug_assertions) { &[60] } else { &[20, 60, 200, 1000] };

#[test]
fn one_mode_is_rarely_taken_for_more() {
    for shape in [Shape::Normal, Shape::Pareto, Shape::Lognormal, Shape::Cauchy, Shape::Interrupted] {
        for &size in SIZES {
            for step in [0.0, 0.05, 0.3, 1.0] {
                let mut chance = Chance::new(size as u64);
                let alarms = percentage(|| {
                    let sample = sample(shape, size, &mut chance);
                    modes(&if step > 0.0 { quantised(sample, step) } else { sample }).len() > 1
                });
                println!("false modes {shape:?} {size} step {step}: {alarms:.1}");
                assert!(alarms <= 5.0, "{shape:?} {size} {step}: {alarms}");
            }
        }
    }
}

#[test]
fn even_a_flat_distribution_has_one_mode() {
    for &size in SIZES {
        let mut chance = Chance::new(size as u64);
        let alarms = percentage(|| modes(&(0..size).map(|_| chance.uniform()).collect::<Vec<_>>()).len() > 1);
        println!("LIMIT false modes flat {size}: {alarms:.1}");
        assert!(alarms <= 5.0, "{size}: {alarms}");
    }
}

#[test]
fn a_mixture_of_seventy_and_thirty_is_found() {
    for &size in SIZES.iter().filter(|&&size| size >= 60) {
        for step in [0.0, 0.05, 0.3] {
            let mut chance = Chance::new(size as u64);
            let found = percentage(|| {
                let sample = sample(Shape::Bimodal, size, &mut chance);
                let found = modes(&if step > 0.0 { quantised(sample, step) } else { sample });
                found.len() == 2 && (found[0].share - 0.7).abs() < 0.25
            });
            println!("modes found {size} step {step}: {found:.1}");
            assert!(found >= 95.0, "{size} {step}: {found}");
        }
    }
}
