//! Memory whose words are known by their position: filled once, then read and overwritten by one kernel after the other, each of
//! which restores what it has overwritten.

use super::kernel::portable;
use crate::apparatus::memory::backing::Backing;
use crate::apparatus::memory::pages::{Mapping, Pages};
use crate::arch::stream;
use fathom_core::experiment::{Failure, ensure};
use std::cell::Cell;
use std::ops::Range;

/// The first word: the double 1. Those after it are doubles below 2, whose products with 3 and sums with such products need fewer
/// bits than a double has, and so are exact.
const ONE: u64 = 1.0_f64.to_bits();
/// Difference between consecutive words: no two are equal, and the sum of any stretch is one of consecutive whole numbers.
const STEP: u64 = 1 << 8;
/// Upper limit of the number of the first word, so that all words are below 2.
const BEGIN_BELOW: u64 = 1 << 43;
/// A longer stretch is filled around the caches, bytes.
const CACHED: usize = 8 << 20;

/// Memory filled with words known by their position, in huge pages if available, so that a walk through it does not wait for
/// translation.
#[derive(Debug)]
pub struct Filled {
    mapping: Mapping,
    /// The pages behind it.
    pub backing: Backing,
    /// The number of the first word, drawn with the seed.
    pub begin: u64,
    lent: Cell<bool>,
}

impl Filled {
    /// At least `bytes` of memory; the seed determines its first number.
    pub fn new(bytes: u64, seed: u64) -> Result<Self, Failure> {
        let bytes = bytes as usize;
        let (mapping, backing) = match Mapping::resident(bytes, Pages::Huge) {
            Err(Failure::Unsupported(_)) => Mapping::resident(bytes, Pages::Base),
            outcome => outcome,
        }?;
        Ok(Filled::over(mapping, backing, seed))
    }

    fn over(mapping: Mapping, backing: Backing, seed: u64) -> Self {
        let filled = Filled { mapping, backing, begin: seed % BEGIN_BELOW, lent: Cell::new(false) };
        filled.restore(0..filled.words());
        filled
    }

    /// Memory of which nobody asked the kernel what is behind it.
    #[cfg(test)]
    pub(crate) fn unasked(bytes: usize, seed: u64) -> Self {
        let mapping = Mapping::untouched(bytes, Pages::Base).expect("memory");
        Filled::over(mapping, Backing::default(), seed)
    }

    pub fn words(&self) -> usize {
        self.mapping.bytes() / 8
    }

    /// The address of the first word.
    pub fn first(&self) -> *mut u64 {
        self.mapping.start().as_ptr().cast()
    }

    /// The word at a position that was not overwritten.
    pub fn content(&self, at: usize) -> u64 {
        ONE + (self.begin + at as u64) * STEP
    }

    /// The sum of every `step`-th word of a stretch, whose length is a multiple of `step`, modulo 2^64.
    pub fn sum(&self, stretch: &Range<usize>, step: usize) -> u64 {
        let words = (stretch.len() / step) as u64;
        let numbers = words.wrapping_mul(self.begin + stretch.start as u64);
        let beyond = (words * words.saturating_sub(1) / 2).wrapping_mul(step as u64);
        words.wrapping_mul(ONE).wrapping_add(numbers.wrapping_add(beyond).wrapping_mul(STEP))
    }

    /// Restores the original words of a stretch.
    ///
    /// # Panics
    /// If the stretch ends beyond the memory.
    pub fn restore(&self, stretch: Range<usize>) {
        assert!(stretch.end <= self.words(), "a stretch beyond the memory");
        let is_large = 8 * stretch.len() > CACHED;
        // SAFETY: inside the mapping, as was asserted.
        let first = unsafe { self.first().add(stretch.start) };
        let words = stretch.map(|at| self.content(at));
        // SAFETY: as above; no kernel that holds its address runs meanwhile.
        unsafe { if is_large { stream::fill(first, words) } else { portable::fill(first, words) } };
    }

    /// Lends the memory to one kernel at a time.
    pub fn lend(&self) -> Result<(), Failure> {
        ensure(!self.lent.replace(true), "memory that another kernel still has")
    }

    /// Takes it back, and restores overwritten words.
    pub fn take_back(&self, overwritten: Range<usize>) {
        self.restore(overwritten);
        self.lent.set(false);
    }

    /// The number of words that differ from their original value.
    #[cfg(test)]
    pub fn changed(&self) -> usize {
        // SAFETY: inside the mapping.
        let is_changed = |at: &usize| unsafe { self.first().add(*at).read_volatile() } != self.content(*at);
        (0..self.words()).filter(is_changed).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_a_stretch_is_known_without_adding_it_up() {
        for seed in [0, 7, u64::MAX] {
            let filled = Filled::unasked(64 << 10, seed);
            assert_eq!(filled.changed(), 0);
            for (stretch, step) in [(0..8, 1), (8..4096, 1), (1000..1800, 8), (0..0, 1)] {
                let added =
                    stretch.clone().step_by(step).map(|at| filled.content(at)).fold(0, u64::wrapping_add);
                assert_eq!(filled.sum(&stretch, step), added, "{stretch:?} by {step}");
            }
        }
    }

    #[test]
    fn every_word_is_a_double_from_1_to_2_whose_triad_is_exact() {
        // The last words of the largest memory, with the highest first number.
        let last = ONE + (BEGIN_BELOW + (1 << 30)) * STEP;
        for bits in [ONE, ONE + STEP, last - STEP, last] {
            let value = f64::from_bits(bits);
            assert!((1.0..2.0).contains(&value));
            let (product, sum) = (3.0 * value, 3.0 * value + value);
            assert!((product - 2.0 * value - value).abs() < f64::MIN_POSITIVE, "{value}");
            assert!((sum - product - value).abs() < f64::MIN_POSITIVE, "{value}");
        }
    }

    #[test]
    fn what_was_overwritten_is_put_back_and_nobody_has_it_twice() {
        let filled = Filled::unasked(16 << 10, 3);
        filled.lend().unwrap();
        assert!(filled.lend().is_err());
        // SAFETY: inside the mapping.
        (0..5).for_each(|at| unsafe { filled.first().add(at).write(0) });
        assert_eq!(filled.changed(), 5);
        filled.take_back(0..4);
        assert_eq!(filled.changed(), 1, "what nobody named is not put back");
        filled.lend().unwrap();
        filled.take_back(0..5);
        assert_eq!(filled.changed(), 0);
    }
}
