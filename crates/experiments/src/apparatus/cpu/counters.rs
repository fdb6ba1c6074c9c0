//! Two counters at a known distance in memory, each of which one thread increments.

use super::contenders::{self, CommonWork};
use fathom_core::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory of the counters, bytes: aligned to more than any line or pair of lines.
const BLOCK: usize = 4096;
const WORD: usize = size_of::<AtomicU64>();

#[repr(align(4096))]
struct CounterPage([AtomicU64; BLOCK / WORD]);

/// Two counters; the first begins a page.
pub struct TwoCounters {
    block: Box<CounterPage>,
    distance: usize,
    /// Bytes of the units whose mark each increment writes as well; 0 for no marks.
    unit: usize,
}

/// Where the mark stands in its unit, in words: beside every counter.
const MARK: usize = 2;

impl TwoCounters {
    /// Counters that begin so many bytes one after the other; `None` if they would not fit, or overlap.
    pub fn at(distance: usize) -> Option<Self> {
        let fits = distance % WORD == 0 && distance > 0 && distance + WORD <= BLOCK;
        let words = std::array::from_fn(|_| AtomicU64::new(0));
        fits.then(|| TwoCounters { block: Box::new(CounterPage(words)), distance, unit: 0 })
    }

    /// The same on a machine whose counters disturb each other within units of so many bytes, at least a line: with every increment
    /// a mark of the counter's unit is written, so that two threads meet there and nowhere else.
    #[must_use]
    pub fn disturbed_within(self, unit: usize) -> Self {
        TwoCounters { unit, ..self }
    }

    fn counter(&self, member: usize) -> &AtomicU64 {
        &self.block.0[member * self.distance / WORD]
    }

    fn mark(&self, member: usize) -> Option<&AtomicU64> {
        let unit = (member * self.distance).checked_div(self.unit)?;
        Some(&self.block.0[unit * self.unit / WORD + MARK])
    }
}

impl CommonWork for TwoCounters {
    /// A load, an addition and a store, as programs count.
    fn repeat(&self, member: usize, operations: u64) {
        let (counter, mark) = (self.counter(member), self.mark(member));
        for _ in 0..operations {
            let next = counter.load(Ordering::Relaxed) + 1;
            counter.store(next, Ordering::Relaxed);
            if let Some(mark) = mark {
                mark.store(next, Ordering::Relaxed);
            }
        }
    }

    fn total(&self) -> u64 {
        (0..2).map(|member| self.counter(member).load(Ordering::Acquire)).sum()
    }
}

/// The time of a round, nanoseconds.
const ROUND_NS: f64 = 500e3;

/// How much longer an increment takes at least where the other thread disturbs it.
const DISTURBED_FROM: f64 = 1.25;

/// The time per increment of two threads, each of its own counter.
pub fn incremented<'site>(two: TwoCounters, site: &'site Site) -> Result<Workload<'site>, Failure> {
    contenders::per_operation(&contenders::two_cpus(site)?, Box::new(two), (ROUND_NS, 2.0), site)
}

/// The least distance from which on two threads do not disturb each other, and the greatest at which they do; `None` if they never
/// do. The times are by distance in ascending order; at the furthest they do not.
pub fn undisturbed_from(times: &[(u64, Found)]) -> Option<(u64, u64)> {
    let (_, furthest) = times.last()?;
    let is_disturbed = |time: &Found| {
        time.value > DISTURBED_FROM * furthest.value && time.differs_from(furthest) == Some(true)
    };
    let last = times.iter().rposition(|(_, time)| is_disturbed(time))?;
    Some((times.get(last + 1)?.0, times[last].0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_stand_where_they_should_and_marks_in_their_units() {
        let address = |word: &AtomicU64| std::ptr::from_ref(word) as usize;
        for distance in [8, 56, 64, 512] {
            let two = TwoCounters::at(distance).unwrap();
            assert_eq!(address(two.counter(1)) - address(two.counter(0)), distance);
            assert!(address(two.counter(0)) % BLOCK == 0 && two.mark(0).is_none());
        }
        let marks = |distance| {
            let two = TwoCounters::at(distance).unwrap().disturbed_within(256);
            address(two.mark(1).unwrap()) - address(two.mark(0).unwrap())
        };
        assert_eq!([64, 248, 256, 512].map(marks), [0, 0, 256, 512]);
        assert!(TwoCounters::at(4).is_none() && TwoCounters::at(BLOCK).is_none());
    }

    #[test]
    fn increments_are_counted() {
        let two = TwoCounters::at(8).unwrap();
        two.repeat(0, 5);
        two.repeat(1, 7);
        assert_eq!(two.total(), 12);
    }
}
