//! The list of pointers that the third version of the report's latency test follows.
//!
//! Every element of the array points to one element of the next stride, drawn at random for each; the last stride points to the
//! first. Such pointers do not form a single cycle. A chase visits one element of every stride on each lap. Once a lap begins at
//! an element at which an earlier lap began, all laps repeat: the chase then visits only a part of the array, and the longer the
//! stride, the smaller the part.

use fathom_core::experiment::Failure;
use fathom_equipment::test_file::Aligned;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

pub const ELEMENT: usize = size_of::<ListElement>();

#[derive(Clone, Copy)]
struct ListElement(*const ListElement);
/// Bytes of the lines that are counted.
const LINE: usize = 64;

/// An array, reused for every size and stride.
pub struct PointerList {
    memory: Aligned,
    chance: SplitMix64,
    elements: usize,
}

impl PointerList {
    /// Room for so many bytes.
    pub fn new(bytes: usize, seed: u64) -> Result<Self, Failure> {
        Ok(PointerList { memory: Aligned::new(bytes)?, chance: SplitMix64::seed_from_u64(seed), elements: 0 })
    }

    fn start(&self) -> *mut ListElement {
        // The memory begins at a page.
        self.memory.start().cast::<libc::c_void>().cast()
    }

    /// Links the first `bytes` of the array: element `i` points to
    /// `((i / stride + 1) * stride + rand() % stride) % elements`.
    pub fn link(&mut self, bytes: usize, stride: usize) {
        self.link_within(bytes, stride, |chance| chance.next_u64() as usize % stride);
    }

    /// The same as the first version of the test has it: element `i` points to the first element of the next stride,
    /// `(i / stride * stride + stride) % elements`.
    pub fn link_in_order(&mut self, bytes: usize, stride: usize) {
        self.link_within(bytes, stride, |_| 0);
    }

    fn link_within(&mut self, bytes: usize, stride: usize, within: impl Fn(&mut SplitMix64) -> usize) {
        self.elements = (bytes / ELEMENT).min(self.memory.bytes().len() / ELEMENT);
        let start = self.start();
        for element in 0..self.elements {
            let index = ((element / stride + 1) * stride + within(&mut self.chance)) % self.elements;
            // SAFETY: both indices are below the number of elements, and the memory holds so many.
            unsafe { start.add(element).write(ListElement(start.add(index))) };
        }
    }

    /// Follows the pointers from the first element, a load in each iteration of the loop, as the first two versions do.
    #[inline(never)]
    pub fn follow_one_by_one(&self, loads: usize) -> usize {
        let mut here: *const ListElement = self.start();
        for _ in 0..loads {
            // SAFETY: every element points to an element.
            here = std::hint::black_box(unsafe { here.read_volatile() }.0);
        }
        self.number(here)
    }

    /// Follows the pointers from the first element, ten loads in each iteration of the loop, and returns the number of the
    /// element at which it ends.
    #[inline(never)]
    pub fn follow(&self, loads: usize) -> usize {
        let mut here: *const ListElement = self.start();
        for _ in 0..loads / 10 {
            for _ in 0..10 {
                // SAFETY: every element points to an element. The read is volatile, so that the compiler omits no load; the ten
                // are unrolled.
                here = unsafe { here.read_volatile() }.0;
            }
        }
        self.number(here)
    }

    fn number(&self, element: *const ListElement) -> usize {
        (element as usize - self.start() as usize) / ELEMENT
    }

    /// Bytes of the lines that the first so many loads touch.
    pub fn touched(&self, loads: usize) -> usize {
        let mut is_touched = vec![false; (self.elements * ELEMENT).div_ceil(LINE)];
        let mut here: *const ListElement = self.start();
        for _ in 0..loads {
            is_touched[self.number(here) * ELEMENT / LINE] = true;
            // SAFETY: as above.
            here = unsafe { here.read() }.0;
        }
        is_touched.into_iter().filter(|touched| *touched).count() * LINE
    }

    #[cfg(test)]
    fn index_after(&self, element: usize) -> usize {
        // SAFETY: the element is within the array.
        self.number(unsafe { self.start().add(element).read() }.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(elements: usize, stride: usize) -> PointerList {
        let mut list = PointerList::new(elements * ELEMENT, 7).unwrap();
        list.link(elements * ELEMENT, stride);
        list
    }

    #[test]
    fn every_element_points_into_the_next_stride_and_the_last_stride_into_the_first() {
        let list = list(4096, 32);
        for element in 0..4096 {
            let to = list.index_after(element);
            assert_eq!(to / 32, (element / 32 + 1) % 128, "{element} to {to}");
        }
        let first: Vec<usize> = (0..32).map(|element| list.index_after(element)).collect();
        assert!(first.iter().any(|to| *to != first[0]), "the element within the stride is drawn");
    }

    #[test]
    fn as_many_loads_are_made_as_asked_for() {
        // One element in a stride: the list is a plain circle, and where it ends tells how many loads were made.
        let list = list(1000, 1);
        assert_eq!(list.follow(2_340), 340);
        assert_eq!(list.touched(500), 500 * ELEMENT / LINE * LINE + LINE);
    }

    #[test]
    fn the_first_version_goes_from_stride_to_stride_and_the_loop_makes_as_many_loads() {
        let mut list = list(4096, 32);
        list.link_in_order(4096 * ELEMENT, 32);
        assert!((0..4096).all(|element| list.index_after(element) == (element / 32 + 1) * 32 % 4096));
        assert_eq!(list.follow_one_by_one(130), 2 * 32);
    }

    #[test]
    fn long_strides_visit_a_part_of_the_array_only() {
        let bytes = 1 << 20;
        let short = list(bytes / ELEMENT, 8).touched(1_000_000);
        let long = list(bytes / ELEMENT, 2048).touched(1_000_000);
        assert_eq!(short, bytes, "one line in a stride: all of them");
        assert!(long < bytes / 2, "{long}");
    }
}
