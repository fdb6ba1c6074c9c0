//! Walks through a cycle before it is observed, until the caches have taken in what they will hold of it.
//!
//! What one walk leaves behind is not what a cycle finds that is walked again and again. A cache that several cores share keeps
//! lines by how often they are used, and gives each core, or each guest, a part: lines that were just written may all be there
//! and be lost within the next walks, or lines become permanent only after ten of them.

use super::cycle::{Cycle, Places};
use super::kernel::{UNROLLED, chase, chase_rolled};
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// Walks after which nothing changes any more: on a shared third-level cache the last change was seen after some fifteen.
const WALKS: u32 = 32;

/// The time that is spent at most, besides one walk. A cycle that takes longer for one walk is more than caches hold, and what the
/// walk that verified it left behind is what any other one leaves.
const MOST: Duration = Duration::from_millis(50);

/// Loads by which the time of a walk is estimated.
const ESTIMATED_BY: u64 = 64 * UNROLLED;

/// Walks through the whole cycle from its first element until caches have adapted to it; returns the number of walks, which each
/// ended at the first element again.
pub fn warm<P: Places>(cycle: &Cycle<P>) -> u32 {
    let (first, elements) = (cycle.element(0), cycle.elements());
    if elements > ESTIMATED_BY {
        let began = Instant::now();
        follow(first, ESTIMATED_BY);
        if began.elapsed().mul_f64(elements as f64 / ESTIMATED_BY as f64) > MOST {
            return 0;
        }
    }
    let began = Instant::now();
    let mut walks = 0;
    while walks < WALKS && began.elapsed() < MOST {
        follow(first, elements);
        walks += 1;
    }
    walks
}

/// Follows the pointers from an element of a cycle for this number of loads.
fn follow(from: NonNull<u8>, loads: u64) -> NonNull<u8> {
    let turns = loads / UNROLLED;
    // SAFETY: every element of the cycle holds a pointer to the next.
    unsafe {
        let at = if turns > 0 { chase(from, turns) } else { from };
        std::hint::black_box(chase_rolled(at, loads % UNROLLED))
    }
}

#[cfg(test)]
mod tests {
    use super::super::arena::Arena;
    use super::super::random_order::RandomOrder;
    use super::*;
    use std::rc::Rc;

    #[test]
    fn a_walk_of_all_elements_returns_to_the_first() {
        for elements in [1, 63, 64, 77, 1000] {
            let order = RandomOrder::new(elements, 3);
            let arena = Rc::new(Arena::unasked(elements as usize * 64));
            let cycle =
                Cycle::build(arena, 0, elements, move |element| order.at(element) as usize * 64).unwrap();
            assert_eq!(follow(cycle.element(0), elements), cycle.element(0));
            assert_eq!(follow(cycle.element(0), elements + 1), cycle.element(1 % elements));
            assert!(warm(&cycle) > 0, "{elements}");
        }
    }
}
