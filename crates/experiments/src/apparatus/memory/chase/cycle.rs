//! A cycle of pointers through an array, with proof that it is one cycle.

use super::arena::Arena;
use crate::apparatus::memory::pages::Pages;
use crate::arch::prefetch;
use fathom_core::prelude::*;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ptr::NonNull;
use std::rc::Rc;

/// Stated: elements that the cycle should have, and elements found in it.
const ELEMENTS: &str = "elements_of_the_set";
const VISITED: &str = "elements_in_the_cycle";
/// Stated: the share of the most common distance between consecutive elements, and the maximum by chance.
const COMMONEST: &str = "share_of_the_commonest_step";
const CHANCE: &str = "most_by_chance";
/// Stated: the share of steps that stay on a page, and the maximum by chance.
const SAME_PAGE: &str = "share_of_steps_on_a_page";
const SAME_PAGE_CHANCE: &str = "most_on_a_page_by_chance";

/// Steps examined to judge whether an order could be prefetched.
const STEPS_JUDGED: u64 = 4096;
/// Elements whose pointers are written or verified together.
const BLOCK: u64 = 64;
/// Maximum number of equal distances by chance in a random order: among some thousand steps the most common has about 8.
const EQUAL_BY_CHANCE: f64 = 14.0;

/// The positions of a cycle's elements: offsets in bytes from the start of the array, in the order of visiting.
pub trait Places {
    /// The offset of an element; `element` is below the number of elements.
    fn at(&self, element: u64) -> usize;
}

impl<F: Fn(u64) -> usize> Places for F {
    fn at(&self, element: u64) -> usize {
        self(element)
    }
}

/// Pointers in an array, each to the next element, the last to the first.
pub struct Cycle<P> {
    // Owns the memory of the pointers.
    arena: Rc<Arena>,
    base: NonNull<u8>,
    elements: u64,
    visited: u64,
    places: P,
}

impl<P: Places> Cycle<P> {
    /// Links `elements` elements within this memory, starting `offset` bytes into its first page, and proves the cycle.
    /// Verification visits all elements in the order of the chase, so that caches and TLBs hold what they hold during a chase:
    /// the cycle's last elements, not those written last.
    pub fn build(arena: Rc<Arena>, offset: usize, elements: u64, places: P) -> Result<Self, Failure> {
        // SAFETY: the memory is longer than `offset`.
        let base = unsafe { arena.start().add(offset) };
        let mut cycle = Cycle { arena, base, elements, visited: 0, places };
        cycle.link();
        cycle.visited = cycle.verified()?;
        Ok(cycle)
    }

    pub fn element(&self, element: u64) -> NonNull<u8> {
        // SAFETY: places lie within the mapping.
        unsafe { self.base.add(self.places.at(element)) }
    }

    pub fn elements(&self) -> u64 {
        self.elements
    }

    fn link(&mut self) {
        let link = |_, from: NonNull<u8>, to| {
            // SAFETY: an aligned place for a pointer within the mapping.
            unsafe { from.cast::<NonNull<u8>>().write(to) };
            Ok(())
        };
        let Ok::<_, Infallible>(()) = self.each_link(link);
    }

    /// Proves that the pointers form one cycle through all elements, and returns their number.
    ///
    /// Each element is checked to point to the next of the order, so following the pointers goes through the order and back to
    /// its first element. If any element occurred twice, the elements after it would repeat as well, and so would the first: it
    /// is one cycle if the first occurs once. The addresses are computed, not followed, so that the processor can fetch many at
    /// once, and a gigabyte takes a fifth of a second.
    fn verified(&self) -> Result<u64, Failure> {
        let first = self.element(0);
        self.each_link(|element, from, to| {
            // SAFETY: `link` has written a pointer there.
            let next = unsafe { from.cast::<NonNull<u8>>().read() };
            if next != to {
                return Err(Failure::Broke(format!("element {element} does not point to the next one")));
            }
            if next == first && element + 1 < self.elements {
                let (closed, all) = (element + 1, self.elements);
                return Err(Failure::Broke(format!("the cycle closes after {closed} of {all} elements")));
            }
            Ok(())
        })?;
        Ok(self.elements)
    }

    /// Calls `visit` for each element with its address and that of the next. The addresses of a block are all computed, and
    /// their lines requested, before the first is used, so that many are on their way at once.
    fn each_link<E>(
        &self,
        mut visit: impl FnMut(u64, NonNull<u8>, NonNull<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut block = [self.element(0); BLOCK as usize + 1];
        for begin in (0..self.elements).step_by(BLOCK as usize) {
            let here = &mut block[..=(self.elements - begin).min(BLOCK) as usize];
            for (address, element) in here.iter_mut().zip(begin..) {
                *address = self.following(element);
                prefetch(*address);
            }
            for (pair, element) in here.windows(2).zip(begin..) {
                visit(element, pair[0], pair[1])?;
            }
        }
        Ok(())
    }

    /// The address of an element; after the last comes the first.
    fn following(&self, element: u64) -> NonNull<u8> {
        self.element(if element == self.elements { 0 } else { element })
    }

    /// Follows the pointers from the first element until they return to it, for at most `limit` steps; returns the number of
    /// steps.
    #[cfg(test)]
    fn followed(&self, limit: u64) -> Option<u64> {
        let mut here = self.element(0);
        (1..=limit).find(|_| {
            // SAFETY: every element holds a pointer to another one.
            here = unsafe { here.cast::<NonNull<u8>>().read() };
            here == self.element(0)
        })
    }

    /// The first offsets in the order of the pointers, at most [`STEPS_JUDGED`].
    fn offsets(&self) -> Vec<usize> {
        (0..self.elements.min(STEPS_JUDGED)).map(|element| self.places.at(element)).collect()
    }

    /// States the built cycle, for the evidence.
    pub fn stated<'site>(&self, bytes: usize, workload: Workload<'site>) -> Workload<'site> {
        let order = Predictability::of(&self.offsets(), bytes);
        let workload = self.arena.backing.stated(workload);
        let workload = workload.stating(ELEMENTS, self.elements as f64).stating(VISITED, self.visited as f64);
        workload
            .stating(COMMONEST, order.commonest)
            .stating(CHANCE, order.commonest_by_chance)
            .stating(SAME_PAGE, order.same_page)
            .stating(SAME_PAGE_CHANCE, order.same_page_by_chance)
    }
}

/// The claim that all elements are in one cycle.
pub fn whole(observed: &Observed) -> Check {
    let claim = "elements in the one cycle that the pointers make, of those in the set";
    Check::equal(claim, observed.ratio(VISITED, ELEMENTS), 1.0)
}

/// The claims that the order is like one by chance, so that nothing could be prefetched. In a set so small that any share may be
/// chance, a claim could not fail, and none is made.
pub fn unpredictable(observed: &Observed) -> Vec<Check> {
    let below = |claim: &str, share, chance| match (observed.witness(share), observed.witness(chance)) {
        (Some(_), Some(chance)) if chance >= 1.0 => None,
        (Some(share), Some(chance)) => Some(Check::within(claim, share, 0.0, chance)),
        _ => Some(Check::missing(claim)),
    };
    let claims = [
        below("share of the most common distance between one element and the next", COMMONEST, CHANCE),
        below("share of steps that stay on a page", SAME_PAGE, SAME_PAGE_CHANCE),
    ];
    claims.into_iter().flatten().collect()
}

/// How well a prefetcher could predict an order.
struct Predictability {
    commonest: f64,
    commonest_by_chance: f64,
    same_page: f64,
    same_page_by_chance: f64,
}

impl Predictability {
    fn of(offsets: &[usize], bytes: usize) -> Self {
        let page = Pages::Base.bytes();
        let steps = offsets.len().saturating_sub(1).max(1) as f64;
        let mut distances = BTreeMap::<isize, u32>::new();
        for pair in offsets.windows(2) {
            *distances.entry(pair[1].wrapping_sub(pair[0]) as isize).or_default() += 1;
        }
        let commonest = distances.values().copied().max().unwrap_or(0);
        let staying = offsets.windows(2).filter(|pair| pair[0] / page == pair[1] / page).count();
        let by_chance = EQUAL_BY_CHANCE / steps;
        Predictability {
            commonest: f64::from(commonest) / steps,
            commonest_by_chance: by_chance.min(1.0),
            same_page: staying as f64 / steps,
            same_page_by_chance: (2.0 * page as f64 / bytes.max(1) as f64 + by_chance).min(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random_order::RandomOrder;
    use super::super::sizes;
    use super::*;

    const LINE: usize = 64;

    fn random(elements: u64, seed: u64) -> impl Places {
        let order = RandomOrder::new(elements, seed);
        move |element| order.at(element) as usize * LINE
    }

    fn build<P: Places>(elements: u64, places: P) -> Result<Cycle<P>, Failure> {
        let arena = Rc::new(Arena::unasked(elements as usize * LINE));
        Cycle::build(arena, 0, elements, places)
    }

    fn seen<P: Places>(cycle: &Cycle<P>) -> Observed {
        let workload = cycle.stated(cycle.elements as usize * LINE, Workload::batched(|_| Ok(())));
        let stated = workload.stated.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Observed { stated, ..Observed::default() }
    }

    #[test]
    fn following_the_pointers_goes_through_every_line_once() {
        for elements in (1..300).chain([1000, 4096, 5000]) {
            let cycle = build(elements, random(elements, elements)).unwrap();
            assert_eq!(cycle.followed(2 * elements), Some(elements));
            assert!(whole(&seen(&cycle)).holds);
        }
    }

    #[test]
    fn the_order_of_every_size_swept_is_whole_and_not_to_be_foreseen() {
        for bytes in sizes::four_an_octave(1 << 10, 16 << 20) {
            let elements = bytes / LINE as u64;
            let cycle = build(elements, random(elements, bytes)).unwrap();
            let seen = seen(&cycle);
            assert!(whole(&seen).holds, "{bytes}");
            assert!(
                unpredictable(&seen).iter().all(|check| check.holds),
                "{bytes}: {:?}",
                unpredictable(&seen)
            );
        }
    }

    #[test]
    fn a_claim_that_cannot_fail_is_not_made() {
        let claims =
            |bytes: u64| unpredictable(&seen(&build(bytes / 64, random(bytes / 64, 3)).unwrap())).len();
        assert_eq!((claims(4096), claims(64 << 10)), (1, 2), "all steps within 4 KiB stay on a page");
    }

    #[test]
    fn neither_is_that_of_sizes_too_large_to_be_built_in_a_test() {
        for bytes in sizes::four_an_octave(16 << 20, 2 << 30) {
            let place = random(bytes / LINE as u64, bytes);
            let offsets: Vec<usize> = (0..STEPS_JUDGED).map(|element| place.at(element)).collect();
            let order = Predictability::of(&offsets, bytes as usize);
            assert!(order.commonest <= order.commonest_by_chance, "{bytes}: {}", order.commonest);
            assert!(order.same_page <= order.same_page_by_chance, "{bytes}: {}", order.same_page);
        }
    }

    #[test]
    fn a_cycle_laid_where_a_longer_one_was_is_whole() {
        let arena = Rc::new(Arena::unasked(1000 * LINE));
        for (elements, offset) in [(900, 0), (100, LINE), (999, LINE), (16, 0)] {
            let cycle = Cycle::build(Rc::clone(&arena), offset, elements, random(elements, 3)).unwrap();
            assert_eq!(cycle.followed(2 * elements), Some(elements));
        }
    }

    #[test]
    fn two_cycles_are_found_out() {
        let cycle = build(1000, random(1000, 7)).unwrap();
        // Exchanging two links splits one cycle into two.
        let (one, other) = (cycle.element(100).cast::<usize>(), cycle.element(600).cast::<usize>());
        // SAFETY: both hold pointers of this cycle.
        unsafe { one.swap(other) };
        assert_eq!(cycle.followed(2000), Some(500));
        assert!(cycle.verified().is_err());
    }

    #[test]
    fn an_order_that_meets_elements_twice_is_found_out() {
        // Twice through half of the lines; the pointers alone would be consistent.
        let twice = build(1000, |element| (element % 500) as usize * LINE);
        assert!(twice.err().is_some_and(|error| error.to_string().contains("closes after 500 of 1000")));
    }

    #[test]
    fn orders_that_can_be_foreseen_are_found_out() {
        let holds = |cycle: Observed| unpredictable(&cycle).iter().all(|check| check.holds);
        let sequential = build(1000, |element| element as usize * LINE).unwrap();
        assert!(!holds(seen(&sequential)), "one line after the other");
        // 389 is coprime to 1024: a stride that returns to its start only at the end.
        let strided = build(1024, |element| (element * 389 % 1024) as usize * LINE).unwrap();
        assert!(!holds(seen(&strided)), "a stride");
        // Random within a page, page after page: translations and lines of the next page are predictable.
        let within = RandomOrder::new(64, 3);
        let paged = build(4096, move |element| (element / 64 * 64 + within.at(element % 64)) as usize * LINE);
        assert!(!holds(seen(&paged.unwrap())), "page by page");
        assert!(holds(seen(&build(4096, random(4096, 3)).unwrap())));
    }
}
