//! Section 4.1.3: the shuffle of all random orders: each number is exchanged with an earlier one and never stays in its place.
//! (This is Sattolo's algorithm; the report calls it that of Fisher and Yates.)

use fathom_equipment::test_file::blocks::below;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;

/// The numbers below `count`, shuffled.
pub fn shuffled(count: u64, seed: u64) -> Vec<u64> {
    let mut chance = SplitMix64::seed_from_u64(seed);
    let mut numbers: Vec<u64> = (0..count).collect();
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, below(&mut chance, last as u64) as usize);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_and_none_in_its_own_place() {
        for count in [0, 1, 2, 3, 1000] {
            let numbers = shuffled(count, 5);
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..count));
            assert!(count < 2 || numbers.iter().zip(0..).all(|(number, place)| *number != place));
        }
    }
}
