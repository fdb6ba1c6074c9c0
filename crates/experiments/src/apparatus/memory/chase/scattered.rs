//! Independent loads of random elements, as report 002 made them.

use super::arena::Arena;
use fathom_core::experiment::Workload;
use std::rc::Rc;

/// Loads per iteration: as many as the report made in total.
const LOADS: u64 = 1000;

/// Loads of random elements of eight bytes; the indices are computed between the loads.
pub fn workload<'site>(arena: Rc<Arena>, bytes: usize, seed: u64) -> Workload<'site> {
    let mut next = seed;
    let load = move |n: u64| {
        let loads = n * LOADS;
        std::hint::black_box(sum(&arena, (bytes / 8) as u64, next, loads));
        next = next.wrapping_add(loads);
        Ok(())
    };
    // As many loads as the array has lines.
    Workload::batched(load).per_iteration(LOADS).revisiting(bytes as u64 / 64 / LOADS)
}

/// The sum of `loads` elements, those of a random sequence from its `first` on.
#[inline(never)]
fn sum(arena: &Arena, elements: u64, first: u64, loads: u64) -> u64 {
    let array = arena.start().cast::<u64>();
    let mut sum = 0_u64;
    for number in first..first.saturating_add(loads) {
        let index = below(elements, scrambled(number));
        // SAFETY: the memory holds this many elements, and all of it was written.
        sum = sum.wrapping_add(unsafe { array.add(index).read_volatile() });
    }
    sum
}

/// The finalizer of `SplitMix64` (Steele, Lea and Flood 2014): each number is computed independently of the others.
fn scrambled(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A number below `limit` from 64 random bits (Lemire 2019).
fn below(limit: u64, random: u64) -> usize {
    ((u128::from(limit) * u128::from(random)) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_stay_below_and_reach_everywhere() {
        let mut hit = [false; 64];
        (0..2000).for_each(|number| hit[below(64, scrambled(number))] = true);
        assert!(hit.iter().all(|hit| *hit));
    }
}
