//! Populations with a known median, from which trials are drawn to test the statistics.

use std::f64::consts::PI;

/// A separate generator (`SplitMix64`, Steele, Lea & Flood 2014), so that an error in the crate's generator cannot hide
/// itself.
#[derive(Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform on the open interval from 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((word ^ (word >> 31)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box & Muller 1958).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (2.0 * PI * self.uniform()).cos()
    }
}

/// The number of trials of five observations from which the median of a population is computed.
const TRIALS: usize = if cfg!(debug_assertions) { 40_000 } else { 400_000 };

/// The distribution of the observations of one trial; all have a scale of about one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Normal,
    /// Pareto with exponent 1.1: the variance is infinite.
    Pareto,
    /// Lognormal with sigma 1.5.
    Lognormal,
    /// Cauchy: not even a mean.
    Cauchy,
    /// Narrow, but one in twenty is interrupted for at least a hundred times as long.
    Interrupted,
    /// Two narrow modes, 70 to 30.
    Bimodal,
    /// Two modes, 55 to 45, the median next to the gap.
    Edge,
    Exponential,
    /// Normal, read from a clock that steps by half of the scatter.
    Quantised,
    /// Normal, each observation correlated 0.9 with the one before.
    Correlated,
    /// Lognormal, correlated 0.7 on the logarithmic scale.
    CorrelatedSkewed,
}

/// The variation between trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    None,
    /// Shifted, by a normal effect half as wide as the observations scatter.
    Small,
    /// The same, as wide as the scatter of the observations.
    Equal,
    /// The same, four times as wide.
    Large,
    /// Stretched by a normal effect of 20 % on the logarithmic scale: another frequency.
    Factor,
    /// Shifted by an exponential effect.
    Skewed,
    /// Three trials in ten in another state, four times the scatter slower.
    States,
}

impl Shape {
    /// Every shape without discrete steps: if observations are discrete, an interval ends on them and contains more than its
    /// level.
    pub const ALL: [Self; 10] = [
        Self::Normal,
        Self::Pareto,
        Self::Lognormal,
        Self::Cauchy,
        Self::Interrupted,
        Self::Bimodal,
        Self::Edge,
        Self::Exponential,
        Self::Correlated,
        Self::CorrelatedSkewed,
    ];
}

/// `count` trials of `size` observations each.
pub fn trials(
    shape: Shape,
    between: Between,
    count: usize,
    size: usize,
    chance: &mut Chance,
) -> Vec<Vec<f64>> {
    (0..count).map(|_| trial(shape, between, size, chance)).collect()
}

/// The median of an observation drawn at random from a trial drawn at random, from two million of them (from fewer
/// where the designs are too small to tell).
pub fn median(shape: Shape, between: Between) -> f64 {
    let mut chance = Chance::new(0x000F_A710);
    let mut all: Vec<f64> = (0..TRIALS).flat_map(|_| trial(shape, between, 5, &mut chance)).collect();
    let middle = all.len() / 2;
    *all.select_nth_unstable_by(middle, f64::total_cmp).1
}

fn trial(shape: Shape, between: Between, size: usize, chance: &mut Chance) -> Vec<f64> {
    let effect = chance.normal();
    let mut state = chance.normal();
    let mut sample: Vec<f64> = (0..size).map(|_| observation(shape, &mut state, chance)).collect();
    let (factor, shift) = match between {
        Between::None => (1.0, 0.0),
        Between::Small => (1.0, 0.5 * effect),
        Between::Equal => (1.0, effect),
        Between::Large => (1.0, 4.0 * effect),
        Between::Factor => ((0.2 * effect).exp(), 0.0),
        Between::Skewed => (1.0, -chance.uniform().ln()),
        Between::States => (1.0, if chance.uniform() < 0.3 { 4.0 } else { 0.0 }),
    };
    for value in &mut sample {
        *value = *value * factor + shift;
    }
    sample
}

fn observation(shape: Shape, state: &mut f64, chance: &mut Chance) -> f64 {
    let mut follow = |correlation: f64, chance: &mut Chance| {
        *state = correlation * *state + (1.0 - correlation * correlation).sqrt() * chance.normal();
        *state
    };
    match shape {
        Shape::Normal => chance.normal(),
        Shape::Pareto => chance.uniform().powf(-1.0 / 1.1),
        Shape::Lognormal => (1.5 * chance.normal()).exp(),
        Shape::Cauchy => (PI * (chance.uniform() - 0.5)).tan(),
        Shape::Interrupted if chance.uniform() < 0.05 => 10.0 / chance.uniform(),
        Shape::Interrupted => 1.0 - 0.1 * chance.uniform().ln(),
        Shape::Bimodal => 0.1 * chance.normal() + if chance.uniform() < 0.7 { 1.0 } else { 3.0 },
        Shape::Edge => 0.2 * chance.normal() + if chance.uniform() < 0.55 { 1.0 } else { 3.0 },
        Shape::Exponential => -chance.uniform().ln(),
        Shape::Quantised => (2.0 * chance.normal()).round() / 2.0,
        Shape::Correlated => follow(0.9, chance),
        Shape::CorrelatedSkewed => follow(0.7, chance).exp(),
    }
}
