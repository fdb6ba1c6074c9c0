//! A chase through a cycle, which verifies where it has arrived.

use super::cycle::{Cycle, Places};
use super::kernel::{UNROLLED, chase, chase_many, chase_rolled};
use fathom_core::prelude::*;
use std::cell::Cell;
use std::rc::Rc;

/// Witness: loads, if the chase is at the element that this many loads lead to.
pub const LOADS: &str = "loads_shown_by_where_they_lead";

/// One chase of dependent loads; an iteration is [`UNROLLED`] of them.
pub fn one<'site, P: Places + 'site>(cycle: Rc<Cycle<P>>, bytes: usize, rolled: bool) -> Workload<'site> {
    let at = Cell::new([cycle.element(0)]);
    let turn = move |[at]: Positions<1>, turns: u64| {
        // SAFETY: every element of the cycle holds a pointer to the next.
        [unsafe { if rolled { chase_rolled(at, turns * UNROLLED) } else { chase(at, turns) } }]
    };
    walking(cycle, bytes, at, UNROLLED, turn)
}

/// `K` chases from starting points spread evenly over the cycle; an iteration is [`UNROLLED`] loads of each.
pub fn many<'site, const K: usize, P: Places + 'site>(cycle: Rc<Cycle<P>>, bytes: usize) -> Workload<'site> {
    let apart = cycle.elements() / K as u64;
    let at: Cell<Positions<K>> = Cell::new(std::array::from_fn(|index| cycle.element(index as u64 * apart)));
    // SAFETY: every element of the cycle holds a pointer to the next.
    let turn = |at: Positions<K>, turns: u64| unsafe { chase_many(at, turns * UNROLLED) };
    walking(cycle, bytes, at, UNROLLED * K as u64, turn)
}

type Positions<const K: usize> = [std::ptr::NonNull<u8>; K];

fn walking<'site, const K: usize, P: Places + 'site>(
    cycle: Rc<Cycle<P>>,
    bytes: usize,
    at: Cell<Positions<K>>,
    per_iteration: u64,
    turn: impl Fn(Positions<K>, u64) -> Positions<K> + 'site,
) -> Workload<'site> {
    let whole = cycle.elements().div_ceil(per_iteration);
    let walk = Rc::new(Walk { cycle, at, loads: Cell::new(0) });
    let witness = Rc::clone(&walk);
    let stated = Rc::clone(&walk);
    let step = move |turns: u64| -> Result<(), Failure> {
        walk.at.set(turn(walk.at.get(), turns));
        walk.loads.set(walk.loads.get() + turns * UNROLLED);
        Ok(())
    };
    let workload = Workload::batched(step)
        .per_iteration(per_iteration)
        .revisiting(whole)
        .witnessed(move || vec![(LOADS, witness.shown())]);
    stated.cycle.stated(bytes, workload)
}

struct Walk<P, const K: usize> {
    cycle: Rc<Cycle<P>>,
    at: Cell<Positions<K>>,
    loads: Cell<u64>,
}

impl<P: Places, const K: usize> Walk<P, K> {
    /// Loads of all chases, if each of them is at the element that its loads lead to; else none.
    fn shown(&self) -> f64 {
        let (elements, loads) = (self.cycle.elements(), self.loads.get());
        let apart = elements / K as u64;
        let expected = |chase: usize| self.cycle.element((chase as u64 * apart + loads) % elements);
        let arrived = self.at.get().iter().enumerate().all(|(chase, at)| *at == expected(chase));
        if arrived { (loads * K as u64) as f64 } else { 0.0 }
    }
}

/// Maximum instructions per load of the unrolled chase. They include the sampler's own, about sixty around a batch, which has two
/// hundred loads if they come from memory.
pub const UNROLLED_MOST: f64 = 1.6;
/// Maximum instructions per load of the chases in Rust, with the sampler's own.
pub const ROLLED_MOST: f64 = 8.0;

/// The claims that all loads were made, one after the other, and that none of them faulted.
pub fn evidence(observed: &Observed, most_instructions: f64) -> Vec<Check> {
    let mut checks = vec![
        Check::witnessed(
            "dependent loads, shown by the element at which the chase ended, per load claimed",
            observed,
            LOADS,
            1.0,
            1.0,
        ),
        no_faults(observed),
    ];
    checks.extend(observed.counters.instructions.map(|instructions| {
        Check::within(
            "instructions retired per load",
            observed.per_operation(instructions),
            1.0,
            most_instructions,
        )
    }));
    checks
}

/// The claim that no page was missing.
pub fn no_faults(observed: &Observed) -> Check {
    let faults = observed.counters.minor_faults + observed.counters.major_faults;
    Check::within("page faults per load", observed.per_operation(faults), 0.0, 0.001)
}

#[cfg(test)]
mod tests {
    use super::super::arena::Arena;
    use super::super::random_order::RandomOrder;
    use super::*;
    use fathom_core::experiment::Work;

    fn cycle(elements: u64) -> Rc<Cycle<impl Places>> {
        let order = RandomOrder::new(elements, 3);
        let place = move |element| order.at(element) as usize * 64;
        let arena = Rc::new(Arena::unasked(elements as usize * 64));
        Rc::new(Cycle::build(arena, 0, elements, place).unwrap())
    }

    fn run(mut workload: Workload, turns: u64) -> f64 {
        let Work::Timed { operation, .. } = &mut workload.work else { panic!("not timed") };
        operation.run(turns).unwrap();
        workload.witness.as_mut().unwrap()()[0].1
    }

    #[test]
    fn loads_are_shown_by_where_they_lead() {
        assert!((run(one(cycle(1000), 64_000, false), 50) - 50.0 * UNROLLED as f64).abs() < 1e-9);
        assert!((run(one(cycle(77), 77 * 64, true), 5) - 5.0 * UNROLLED as f64).abs() < 1e-9);
        assert!((run(many::<4, _>(cycle(1000), 64_000), 9) - 36.0 * UNROLLED as f64).abs() < 1e-9);
    }

    #[test]
    fn a_chase_that_lost_its_way_shows_nothing() {
        let walk = Walk { at: Cell::new([cycle(10).element(0)]), cycle: cycle(10), loads: Cell::new(7) };
        assert!(walk.shown().abs() < 1e-9);
    }
}
