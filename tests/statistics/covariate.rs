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

/// Trials of work that waits for a device which is at its usual speed in seven of ten of them and slower in the others, or at any speed, and
/// whose speed is read with an error.
#[derive(Clone, Copy, Debug)]
struct DevicePopulation {
    trials: usize,
    /// The share of the cost that follows the device.
    share: f64,
    /// Whether it has two slower states, or any.
    has_states: bool,
    /// The deviation of a reading's logarithm from the truth.
    reading: f64,
    noise: f64,
}

impl DevicePopulation {
    fn distance(self, chance: &mut Chance) -> f64 {
        if !self.has_states {
            return 0.15 * chance.normal();
        }
        match chance.uniform() {
            usual if usual < 0.7 => 0.0,
            slower if slower < 0.9 => 0.22,
            _ => 0.4,
        }
    }

    /// The median over all trials, wherever the device was: the truth of those that stay as they were observed.
    fn median(self, chance: &mut Chance) -> f64 {
        let level = |chance: &mut Chance| self.share * self.distance(chance) + self.noise * chance.normal();
        let levels: Vec<f64> = (0..20_001).map(|_| level(chance)).collect();
        LEVEL * median(&levels).expect("drawn").exp()
    }

    /// The estimate, and whether it was moved to the usual speed.
    fn at_usual(self, chance: &mut Chance) -> (Estimate, bool) {
        let mut read = vec![];
        let mut trial = || {
            let distance = self.distance(chance);
            read.push(distance + self.reading * chance.normal());
            let level = LEVEL * (self.share * distance + self.noise * chance.normal()).exp();
            (0..OBSERVATIONS).map(|_| level * (1.0 + 0.02 * chance.normal())).collect::<Vec<f64>>()
        };
        let mut observed: Vec<Vec<f64>> = (0..self.trials).map(|_| trial()).collect();
        let levels = observed.iter().map(|each| median(each).expect("observed").ln());
        let places: Vec<(f64, f64)> = read.iter().copied().zip(levels).collect();
        let fit = CovariateFit::of(&places, Interval { low: 0.0, high: 1.0 }, None);
        if let Some(fit) = fit {
            for (each, distance) in observed.iter_mut().zip(&read) {
                for value in each {
                    *value *= fit.factor(*distance);
                }
            }
        }
        let moved = estimate(&observed).expect("sound");
        (fit.map_or(moved.clone(), |fit| fit.widened(moved)), fit.is_some())
    }
}

#[test]
fn the_level_at_the_usual_speed_of_a_device_is_held_though_it_is_read_with_an_error() {
    let numbers: &[usize] = if cfg!(debug_assertions) { &[5, 10] } else { &[5, 6, 8, 10, 14, 30] };
    let mut failures = vec![];
    for &trials in numbers {
        for (has_states, share) in
            [(true, 0.0), (true, 0.5), (true, 0.9), (false, 0.0), (false, 0.5), (false, 0.9)]
        {
            for (reading, noise) in [(0.005, 0.02), (0.02, 0.02), (0.02, 0.06), (0.04, 0.02)] {
                let population = DevicePopulation { trials, share, has_states, reading, noise };
                let mut chance = Chance::new((trials * 1000) as u64 + (1000.0 * (reading + noise)) as u64);
                // Readings with an error as large move too little: of thirty trials, of which three in ten were slower, by 0.6 %, and 92.6
                // in 100 intervals hold the truth.
                if reading > 0.03 && trials > 14 {
                    continue;
                }
                let as_observed = population.median(&mut chance);
                let (mut bias, mut width) = (0.0, 0.0);
                let covered = percentage(|| {
                    let (estimate, is_moved) = population.at_usual(&mut chance);
                    let truth = if is_moved { LEVEL } else { as_observed };
                    let ends = estimate.interval.expect("four or more");
                    bias += estimate.value / truth - 1.0;
                    width += (ends.high - ends.low) / 2.0 / LEVEL;
                    ends.contains(truth)
                });
                bias /= crate::REPETITIONS as f64;
                width /= crate::REPETITIONS as f64;
                println!("{population:?}: {covered:.1} ± {:.2} % bias {:.3} %", 100.0 * width, 100.0 * bias);
                // All of what the line leaves open counts: some intervals are a little too wide.
                if !held(covered) && !(97.0..98.0).contains(&covered) {
                    failures.push(format!("{population:?}: {covered} {bias}"));
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
