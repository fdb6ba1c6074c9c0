//! Levels at a reference of a covariate, such as the frequency of the core.

use crate::{held, percentage};
use fathom::statistics::{CovariateFit, Estimate, Interval, estimate, median};
use fathom::verify::population::Chance;

/// Slopes that are possible: a cost falls by at most as much as the frequency rises.
const POSSIBLE: Interval = Interval { low: -1.0, high: 0.0 };

/// Trials whose level follows the logarithm of a covariate, which is at its reference in the middle of its population.
#[derive(Clone, Copy, Debug)]
struct Population {
    trials: usize,
    slope: f64,
    /// The deviation of the covariate's logarithm.
    covariate: f64,
    /// The deviation of the trials' levels beside it, as a share.
    noise: f64,
    /// The deviation of the observations of a trial.
    within: f64,
    /// The range of slopes that is known beforehand.
    known: Option<Interval>,
}

const LEVEL: f64 = 120.0;
const OBSERVATIONS: usize = 20;

impl Population {
    /// The trials as observed, with the distance of each from the reference.
    fn draw(self, chance: &mut Chance) -> Vec<(f64, Vec<f64>)> {
        let mut trial = || {
            let distance = self.covariate * chance.normal();
            let level = LEVEL * (self.slope * distance + self.noise * chance.normal()).exp();
            (distance, (0..OBSERVATIONS).map(|_| level * (1.0 + self.within * chance.normal())).collect())
        };
        (0..self.trials).map(|_| trial()).collect()
    }

    /// The estimate at the reference.
    fn at_reference(self, chance: &mut Chance) -> Estimate {
        let mut trials = self.draw(chance);
        let places: Vec<(f64, f64)> = trials
            .iter()
            .map(|(distance, observed)| (*distance, median(observed).expect("observed").ln()))
            .collect();
        let fit = CovariateFit::of(&places, POSSIBLE, self.known);
        if let Some(fit) = fit {
            for (distance, observed) in &mut trials {
                for value in observed {
                    *value *= fit.factor(*distance);
                }
            }
        }
        let observed: Vec<Vec<f64>> = trials.into_iter().map(|(_, observed)| observed).collect();
        let moved = estimate(&observed).expect("sound");
        fit.map_or(moved.clone(), |fit| fit.widened(moved))
    }
}

#[test]
fn the_level_at_the_reference_is_held_whatever_share_of_it_follows() {
    let numbers: &[usize] = if cfg!(debug_assertions) { &[4, 6, 10] } else { &[4, 5, 6, 8, 10, 30] };
    let mut failures = vec![];
    for &trials in numbers {
        let exactly = Some(Interval { low: -1.0, high: -1.0 });
        let nearly = Some(Interval { low: -1.0, high: -0.9 });
        for (slope, known) in [
            (0.0, None),
            (-0.3, None),
            (-0.7, None),
            (-1.0, None),
            (-1.0, exactly),
            (-1.0, nearly),
            (-0.95, nearly),
            (-0.9, nearly),
            (-0.8, nearly),
        ] {
            for (covariate, noise) in
                [(0.004, 0.01), (0.02, 0.003), (0.04, 0.003), (0.04, 0.02), (0.04, 0.06), (0.04, 0.0005)]
            {
                let population = Population { trials, slope, covariate, noise, within: 0.003, known };
                let mut chance = Chance::new((trials * 1000) as u64 + (100.0 * covariate) as u64);
                let (mut widths, mut bias) = (vec![], 0.0);
                let share = percentage(|| {
                    let estimate = population.at_reference(&mut chance);
                    let ends = estimate.interval.expect("four or more");
                    widths.push((ends.high - ends.low) / 2.0 / LEVEL);
                    bias += estimate.value / LEVEL - 1.0;
                    ends.contains(LEVEL)
                });
                bias /= crate::REPETITIONS as f64;
                let width = median(&widths).expect("drawn");
                println!("{population:?}: {share:.1} ± {:.2} % bias {:.3} %", 100.0 * width, 100.0 * bias);
                // At the end of what is possible a slope is cut off, and the interval counts all of its error. A known range counts
                // beside what a slope within it leaves of the scatter: where trials have hardly another, the interval is too wide.
                let is_cut = slope <= POSSIBLE.low && known.is_none() && share <= 98.5;
                let is_wide = known == nearly && covariate > noise;
                let is_held = held(share) || ((is_cut || is_wide) && share > 97.0);
                if !is_held || bias.abs() > 0.003 {
                    failures.push(format!("{population:?}: {share} {bias}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_covariate_that_moves_the_trials_makes_the_interval_narrower() {
    let population =
        Population { trials: 6, slope: -1.0, covariate: 0.04, noise: 0.002, within: 0.003, known: None };
    let mut chance = Chance::new(9);
    let narrower = percentage(|| {
        let ends = population.at_reference(&mut chance).interval.expect("six");
        let plain: Vec<Vec<f64>> = population.draw(&mut chance).into_iter().map(|(_, each)| each).collect();
        let wide = estimate(&plain).and_then(|plain| plain.interval).expect("six");
        2.0 * (ends.high - ends.low) < wide.high - wide.low
    });
    assert!(narrower > 95.0, "{narrower}");
}
