//! An input: bytes by which proper material is spoilt. Where they end, nothing more is: the empty input leaves all as it is.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The most bytes of an input that is drawn.
const LONGEST: u64 = 96;

/// Bytes that decide, one after the other.
pub struct Input {
    bytes: std::vec::IntoIter<u8>,
}

/// The input of a seed.
pub fn drawn(seed: u64) -> Vec<u8> {
    let mut chance = SplitMix64::seed_from_u64(seed);
    let length = chance.next_u64() % LONGEST;
    (0..length).map(|_| chance.next_u64() as u8).collect()
}

impl Input {
    pub fn of(bytes: Vec<u8>) -> Self {
        Input { bytes: bytes.into_iter() }
    }

    /// The next byte, 0 where there is none.
    pub fn byte(&mut self) -> u8 {
        self.bytes.next().unwrap_or(0)
    }

    /// All that is left.
    pub fn rest(&mut self) -> Vec<u8> {
        self.bytes.by_ref().collect()
    }

    /// A number below a bound, 0 where the input has ended.
    pub fn below(&mut self, bound: usize) -> usize {
        let high = if bound > 256 { usize::from(self.byte()) << 8 } else { 0 };
        (high | usize::from(self.byte())) % bound.max(1)
    }

    /// Bytes of which a few were changed, left out, added or moved.
    pub fn spoil(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        for _ in 0..self.below(6) {
            if bytes.is_empty() {
                break;
            }
            let (at, other) = (self.below(bytes.len()), self.below(bytes.len()));
            match self.below(8) {
                0 => bytes[at] = self.byte(),
                1 => bytes[at] ^= 1 << self.below(8),
                2 => bytes.truncate(at + 1),
                3 => drop(bytes.remove(at)),
                4 => bytes.insert(at, [0, 0xff, b'{', b'"', b'\\', 0x80][self.below(6)]),
                5 => bytes.swap(at, other),
                6 => bytes[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
                _ => bytes = [&bytes[..at], &bytes[other.min(at)..]].concat(),
            }
        }
        bytes
    }
}
