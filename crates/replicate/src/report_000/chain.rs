//! The chain of section 4.1.2. It is shuffled so that all elements would form one cycle, but then linked by another rule.

use super::files::shuffled;

/// An array of pointers into itself.
pub struct Chain {
    elements: Vec<usize>,
}

impl Chain {
    /// Links the chain as the report describes it: indices shuffled such that each is exchanged with an earlier one (Sattolo's
    /// algorithm, which makes one cycle), and the element of each index linked to that of the *next* index's number. For the last
    /// index the report's program reads past the end; in fresh memory of the kernel it finds zero there.
    pub fn new(length: usize, seed: u64) -> Self {
        let mut indexes = shuffled(length as u64, seed);
        indexes.push(0);
        let mut elements = vec![0; length];
        let start = elements.as_ptr() as usize;
        for (element, next) in elements.iter_mut().zip(&indexes[1..]) {
            *element = start + *next as usize * size_of::<usize>();
        }
        Chain { elements }
    }

    /// The address of the first element.
    pub fn first(&self) -> usize {
        self.elements.as_ptr() as usize
    }

    /// How many elements the chase visits before it repeats, if these are fewer than a number of steps.
    pub fn round(&self, most: u64) -> Option<u64> {
        let place = |address: usize| (address - self.first()) / size_of::<usize>();
        let (mut at, mut steps) = (0, 0);
        while steps < most {
            (at, steps) = (place(self.elements[at]), steps + 1);
            if at == 0 {
                return Some(steps);
            }
        }
        None
    }

    /// Follows so many links from an address in the chain, with pointer and counter in memory, and returns the address at which
    /// it ends.
    pub fn follow(&self, from: usize, n: u64) -> usize {
        let elements = self.elements.as_ptr_range();
        assert!((elements.start as usize..elements.end as usize).contains(&from), "not in the chain");
        let frame = ChainFrame { pointer: from, counter: 0, limit: n.min(i32::MAX as u64) as u32 };
        followed(frame)
    }
}

/// The variables of the report's loop, as an unoptimised compiler keeps them.
#[repr(C)]
struct ChainFrame {
    pointer: usize,
    counter: u32,
    limit: u32,
}

#[cfg(target_arch = "x86_64")]
fn followed(mut frame: ChainFrame) -> usize {
    if frame.limit == 0 {
        return frame.pointer;
    }
    // SAFETY: reads and writes `frame`, and reads elements of a chain, which all hold addresses of its elements.
    unsafe {
        core::arch::asm!(
            "2:",
            "mov {x}, qword ptr [{frame}]",
            "mov {x}, qword ptr [{x}]",
            "mov qword ptr [{frame}], {x}",
            "add dword ptr [{frame} + 8], 1",
            "mov {x:e}, dword ptr [{frame} + 8]",
            "cmp {x:e}, dword ptr [{frame} + 12]",
            "jl 2b",
            frame = in(reg) &raw mut frame, x = out(reg) _, options(nostack)
        );
    }
    frame.pointer
}

#[cfg(not(target_arch = "x86_64"))]
fn followed(mut frame: ChainFrame) -> usize {
    use core::ptr::{read_volatile, write_volatile};
    let (pointer, counter) = (&raw mut frame.pointer, &raw mut frame.counter);
    // SAFETY: as above; both point into `frame`.
    unsafe {
        while read_volatile(counter) < frame.limit {
            let at = read_volatile(pointer) as *const usize;
            write_volatile(pointer, read_volatile(at));
            write_volatile(counter, read_volatile(counter) + 1);
        }
        read_volatile(pointer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_comes_round_after_what_it_says_and_not_after_all_elements() {
        let mut whole = 0;
        for seed in 0..50 {
            let chain = Chain::new(1000, seed);
            let round = chain.round(1001).expect("no chain is longer than its elements");
            assert_eq!(chain.follow(chain.first(), round), chain.first());
            assert_ne!(chain.follow(chain.first(), round - 1), chain.first());
            whole += u64::from(round == 1000);
        }
        // Every length is about as likely as any other: that none of the elements is missed is one in a thousand.
        assert!(whole <= 2, "{whole} of 50 chains have all elements: the rule is not theirs");
    }

    #[test]
    fn links_are_those_of_the_next_index() {
        let chain = Chain::new(100, 7);
        let next: std::collections::BTreeSet<usize> = chain.elements.iter().copied().collect();
        // The number that stands at index 0 is never linked to, and the first element twice.
        assert!(next.len() >= 99);
        assert_eq!(chain.elements[99], chain.first());
        assert_eq!(chain.round(0), None);
    }
}
