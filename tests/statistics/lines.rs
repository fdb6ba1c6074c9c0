//! Slopes and breaks.

use crate::{held, percentage};
use fathom::statistics::{Interval, Line, fit_line, line_over_rounds, median, theil_sen, two_segments};
use fathom::verify::population::Chance;

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

/// What one round has found at each point.
type Round = Vec<Option<f64>>;

/// A sweep on `y = 5 + 2x` visited in rounds.
#[derive(Clone, Copy, Debug)]
struct Visited {
    rounds: usize,
    /// How far a whole round is off, as a share.
    together: f64,
    /// How far each trial is off by itself.
    alone: f64,
    /// The share of trials without a value.
    missing: f64,
}

impl Visited {
    /// The points at the medians of their trials, and the trials by round.
    fn draw(self, chance: &mut Chance) -> (Vec<(f64, f64)>, Vec<Round>) {
        let xs = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let mut round = || {
            let factor = 1.0 + self.together * chance.normal();
            let mut found = |x: f64| (5.0 + 2.0 * x) * factor + self.alone * chance.normal();
            let found = xs.map(&mut found);
            found.map(|y| (chance.uniform() >= self.missing).then_some(y)).to_vec()
        };
        let rounds: Vec<Round> = (0..self.rounds).map(|_| round()).collect();
        let of_point = |place: usize| rounds.iter().filter_map(|found| found[place]).collect::<Vec<_>>();
        let points = xs.iter().enumerate();
        (points.filter_map(|(place, x)| Some((*x, median(&of_point(place))?))).collect(), rounds)
    }

    /// How often of 100 times the intervals of slope and intercept hold the truth; of the lines that have one.
    fn held(self, fit: impl Fn(&[(f64, f64)], &[Round]) -> Option<Line>) -> [f64; 2] {
        let mut chance = Chance::new(self.rounds as u64);
        let mut lines = vec![];
        percentage(|| {
            let (points, rounds) = self.draw(&mut chance);
            lines.extend(fit(&points, &rounds));
            true
        });
        let held = |ends: fn(&Line) -> Option<Interval>, truth: f64| {
            let all: Vec<bool> = lines.iter().filter_map(|line| Some(ends(line)?.contains(truth))).collect();
            assert!(all.len() * 2 >= crate::REPETITIONS, "{self:?}: {} have an interval", all.len());
            100.0 * all.iter().filter(|held| **held).count() as f64 / all.len() as f64
        };
        [held(|line| line.slope_interval, 2.0), held(|line| line.intercept_interval, 5.0)]
    }
}

#[test]
fn lines_over_rounds_hold_slope_and_intercept_whether_rounds_move_or_not() {
    let designs: &[usize] = if cfg!(debug_assertions) { &[4, 6, 9] } else { &[4, 5, 6, 8, 9, 12, 30] };
    for &rounds in designs {
        for (together, alone) in [(0.0, 1.0), (0.2, 1.0), (0.05, 1.0)] {
            // Of six rounds none may be lacking.
            for missing in [0.0, 0.1].into_iter().filter(|missing| rounds > 6 || *missing <= 0.0) {
                let visited = Visited { rounds, together, alone, missing };
                let found = visited.held(line_over_rounds);
                println!("{visited:?} {found:?}");
                // Its ranks come in steps, so with few rounds it holds more than it promises.
                assert!(found.iter().all(|held| (93.0..=98.5).contains(held)), "{visited:?} {found:?}");
            }
        }
    }
}

#[test]
fn a_line_over_medians_does_not_hold_where_whole_rounds_move() {
    let visited = Visited { rounds: 8, together: 0.2, alone: 1.0, missing: 0.0 };
    let [slope, _] = visited.held(|points, _| fit_line(points));
    println!("over medians {slope:.1}");
    assert!(slope < 50.0, "{slope}: then lines over rounds would not be needed");
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
