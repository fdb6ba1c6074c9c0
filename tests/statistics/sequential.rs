//! Decisions about a limit while trials still come in: how often they are wrong exactly at the limit, whenever one looks, and how soon
//! they are made away from it.

use crate::{REPETITIONS, percentage};
use fathom::statistics::{SideErrors, SideOfMean, estimate, side_of_mean};
use fathom::verify::population::{Between, Chance, Shape, median, trials};

/// The probability of a wrong decision that `fathom check` allows.
const ERROR: f64 = 0.05;

/// Observations in a trial.
const SIZE: usize = 20;

/// Looks, one after every trial.
const LOOKS: usize = if cfg!(debug_assertions) { 60 } else { 400 };

/// The share of each trial at or below a limit.
fn shares(samples: &[Vec<f64>], limit: f64) -> Vec<f64> {
    let below = |sample: &Vec<f64>| {
        sample.iter().filter(|value| **value <= limit).count() as f64 / sample.len() as f64
    };
    samples.iter().map(below).collect()
}

/// How many times in 100 a median is ever shown to be below its true value, and above it.
fn wrong_at_the_limit(shape: Shape, between: Between) -> [f64; 2] {
    let (truth, mut chance) = (median(shape, between), Chance::new(7));
    let mut sides = [0, 0];
    for _ in 0..REPETITIONS {
        let drawn = shares(&trials(shape, between, LOOKS, SIZE, &mut chance), truth);
        match side_of_mean(&drawn, 0.5, SideErrors::both(ERROR)) {
            Some((SideOfMean::Above, _)) => sides[0] += 1,
            Some((SideOfMean::Below, _)) => sides[1] += 1,
            None => {}
        }
    }
    sides.map(|times| 100.0 * f64::from(times) / REPETITIONS as f64)
}

/// Five of 100, and what chance adds to a count of so many repetitions in one of a thousand.
fn most() -> f64 {
    5.0 + 3.1 * (5.0 * 95.0 / REPETITIONS as f64).sqrt()
}

#[test]
fn a_decision_is_wrong_in_at_most_five_of_100_exactly_at_the_limit() {
    for shape in [Shape::Normal, Shape::Cauchy, Shape::Lognormal, Shape::Interrupted, Shape::Correlated] {
        for between in [Between::None, Between::Equal, Between::Large] {
            let wrong = wrong_at_the_limit(shape, between);
            println!("{shape:?} {between:?}: {wrong:?} in 100 of {LOOKS} looks");
            assert!(wrong.iter().all(|wrong| *wrong <= most()), "{shape:?} {between:?} {wrong:?}");
        }
    }
}

/// What looking after every trial does to an interval that is meant for one look: without a correction it is wrong far more often. So
/// the test above can fail.
#[test]
fn an_interval_for_one_look_is_wrong_more_often_when_it_is_looked_at_after_every_trial() {
    let (truth, mut chance) = (median(Shape::Normal, Between::Equal), Chance::new(7));
    let wrong = percentage(|| {
        let samples = trials(Shape::Normal, Between::Equal, 60, SIZE, &mut chance);
        (6..=60).any(|looks| {
            estimate(&samples[..looks])
                .and_then(|found| found.interval)
                .is_some_and(|ends| !ends.contains(truth))
        })
    });
    println!("without correction: {wrong} in 100");
    assert!(wrong > 12.0, "{wrong}");
}

/// How many files of so many requirements, all of them exactly at their limits, are ever said to fail, in 100; a requirement is
/// tested at this error for that.
fn files_that_fail(requirements: usize, error: f64) -> f64 {
    let between = Between::Equal;
    let (truth, mut chance) = (median(Shape::Normal, between), Chance::new(17));
    let errors = SideErrors { below: error, above: ERROR };
    percentage(|| {
        (0..requirements).any(|_| {
            let drawn = shares(&trials(Shape::Normal, between, LOOKS, SIZE, &mut chance), truth);
            matches!(side_of_mean(&drawn, 0.5, errors), Some((SideOfMean::Below, _)))
        })
    })
}

#[test]
fn a_file_is_wrongly_said_to_fail_in_five_of_100_however_many_requirements_it_has() {
    for requirements in [2, 6] {
        let wrong = files_that_fail(requirements, ERROR / requirements as f64);
        println!("{requirements} requirements: {wrong} in 100 files");
        assert!(wrong <= most(), "{requirements}: {wrong}");
    }
    let uncorrected = files_that_fail(6, ERROR);
    println!("6 requirements without correction: {uncorrected} in 100 files");
    assert!(uncorrected > most(), "{uncorrected}");
}

/// Trials whose observations are all on one side are the most dependent that there are.
#[test]
fn observations_of_a_trial_may_be_equal_and_percentiles_are_decided_as_surely_as_medians() {
    for level in [0.5, 0.9, 0.99] {
        let mut chance = Chance::new(11);
        let mut sides = [0, 0];
        for _ in 0..REPETITIONS {
            let drawn: Vec<f64> =
                (0..4 * LOOKS).map(|_| f64::from(u8::from(chance.uniform() < level))).collect();
            match side_of_mean(&drawn, level, SideErrors::both(ERROR)) {
                Some((SideOfMean::Above, _)) => sides[0] += 1,
                Some((SideOfMean::Below, _)) => sides[1] += 1,
                None => {}
            }
        }
        let wrong = sides.map(|times| 100.0 * f64::from(times) / REPETITIONS as f64);
        println!("p{}: {wrong:?} in 100 of {} looks", 100.0 * level, 4 * LOOKS);
        assert!(wrong.iter().all(|wrong| *wrong <= most()), "{level} {wrong:?}");
    }
}

/// The trials after which a figure at this share of the limit was decided, in ascending order, and how many times it was wrong or not
/// decided within some trials. Trials differ by `spread` of the value, and observations within one as much.
fn decided(at: f64, spread: f64, level: f64, within: usize) -> (Vec<usize>, usize, usize) {
    let mut chance = Chance::new(13);
    let (mut after, mut wrong, mut undecided) = (vec![], 0, 0);
    // The value at this level of the sum of both effects, each normal: the limit is 1.
    let reach = if level > 0.5 { 2.326 * spread * 2_f64.sqrt() } else { 0.0 };
    for _ in 0..REPETITIONS / 4 {
        let drawn: Vec<f64> = (0..within)
            .map(|_| {
                let effect = spread * chance.normal();
                let keeps = |_| {
                    f64::from(u8::from((1.0 + effect + spread * chance.normal()) * at / (1.0 + reach) <= 1.0))
                };
                (0..SIZE).map(keeps).sum::<f64>() / SIZE as f64
            })
            .collect();
        let right = if at < 1.0 { SideOfMean::Above } else { SideOfMean::Below };
        match side_of_mean(&drawn, level, SideErrors::both(ERROR)) {
            Some((side, trials)) if side == right => after.push(trials.max(6)),
            Some(_) => wrong += 1,
            None => undecided += 1,
        }
    }
    after.sort_unstable();
    (after, wrong, undecided)
}

#[test]
fn at_fifteen_per_cent_from_the_limit_it_is_decided_rightly_and_soon() {
    // The limit over the value, how much trials differ, the level, and the trials that 95 of 100 need at most.
    for (at, spread, level, most) in [
        (0.85, 0.02, 0.5, 6),
        (1.15, 0.02, 0.5, 6),
        (0.85, 0.10, 0.5, 20),
        (1.15, 0.10, 0.5, 30),
        (0.85, 0.05, 0.99, 400),
        (1.15, 0.05, 0.99, 12),
    ] {
        let (after, wrong, undecided) = decided(at, spread, level, 2 * most);
        let [middle, usual] = [0.5, 0.95].map(|share| after[((after.len() - 1) as f64 * share) as usize]);
        println!(
            "{at} {spread} p{}: {middle} trials, {usual} for 95 of 100; {wrong} wrong, {undecided} undecided",
            100.0 * level
        );
        assert!(
            wrong + undecided == 0 && usual <= most,
            "{at} {spread} {level}: {usual} {wrong} {undecided}"
        );
    }
}
