//! The order in which the blocks of a file are visited.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Block after block cyclically, or random blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// From a random block on; the first follows the last.
    Sequential,
    /// Each drawn from all, independently (report 003's `rand() % blocks`).
    Random,
}

/// An infinite sequence of block offsets.
#[derive(Debug)]
pub struct BlockWalk {
    order: Order,
    block: u64,
    blocks: u64,
    next: u64,
    chance: SplitMix64,
}

impl BlockWalk {
    /// A walk over the whole blocks of a file.
    pub fn through(bytes: u64, block: u64, order: Order, seed: u64) -> Self {
        let (mut chance, blocks) = (SplitMix64::seed_from_u64(seed), (bytes / block).max(1));
        let next = below(&mut chance, blocks);
        BlockWalk { order, block, blocks, next, chance }
    }

    /// The offset of the next block, bytes.
    #[inline]
    pub fn step(&mut self) -> u64 {
        let place = self.next;
        self.next = match self.order {
            Order::Random => below(&mut self.chance, self.blocks),
            Order::Sequential if place + 1 == self.blocks => 0,
            Order::Sequential => place + 1,
        };
        place * self.block
    }
}

/// A random number below a bound, close enough to uniform for an order (Lemire's multiplication).
#[inline]
pub fn below(chance: &mut SplitMix64, bound: u64) -> u64 {
    ((u128::from(chance.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// Up to `most` different blocks of a file in random order: offsets in bytes (Fisher and Yates, stopped early).
pub fn drawn(bytes: u64, block: u64, most: usize, seed: u64) -> Vec<u64> {
    let mut chance = SplitMix64::seed_from_u64(seed);
    let mut blocks: Vec<u32> = (0..(bytes / block).max(1) as u32).collect();
    let count = most.min(blocks.len());
    for place in 0..count {
        let other = place + below(&mut chance, (blocks.len() - place) as u64) as usize;
        blocks.swap(place, other);
    }
    blocks[..count].iter().map(|number| u64::from(*number) * block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_sequential_walk_goes_round_and_a_random_one_everywhere() {
        let mut walk = BlockWalk::through(10 * 4096 + 100, 4096, Order::Sequential, 3);
        let round: Vec<u64> = (0..10).map(|_| walk.step()).collect();
        assert_eq!(round.iter().collect::<BTreeSet<_>>().len(), 10);
        assert!(round.windows(2).all(|pair| pair[1] == (pair[0] + 4096) % 40_960));
        let mut walk = BlockWalk::through(40_960, 4096, Order::Random, 3);
        let places: BTreeSet<u64> = (0..200).map(|_| walk.step()).collect();
        assert_eq!(places.len(), 10);
    }

    #[test]
    fn drawn_blocks_are_different_ones() {
        let some = drawn(1 << 20, 4096, 50, 9);
        assert_eq!((some.len(), some.iter().collect::<BTreeSet<_>>().len()), (50, 50));
        assert!(some.iter().all(|offset| offset % 4096 == 0 && *offset < 1 << 20));
        assert_eq!(drawn(8192, 4096, 50, 9).len(), 2);
    }
}
