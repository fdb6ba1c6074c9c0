//! Random numbers, drawn from the seed of the run: the same seed gives the same order and the same trials.

use fathom_core::experiment::Point;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The generator for a round's order.
pub(super) fn of_round(seed: u64, round: u32) -> SplitMix64 {
    SplitMix64::seed_from_u64(seed ^ u64::from(round))
}

/// Fisher and Yates, with Lemire's method for a number below a bound (close enough to uniform for an order).
pub(super) fn shuffle<T>(items: &mut [T], chance: &mut SplitMix64) {
    for last in (1..items.len()).rev() {
        let other = ((u128::from(chance.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        items.swap(last, other);
    }
}

/// The seed of one trial, from the run's: the same point in the same round has the same seed, whatever the order.
pub fn trial_seed(seed: u64, experiment: &str, point: &Point, round: u32) -> u64 {
    // FNV-1a, a published hash that will not change with a library.
    let text = format!("{experiment} {point}");
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    SplitMix64::seed_from_u64(seed ^ hash ^ u64::from(round).rotate_left(32)).next_u64()
}
