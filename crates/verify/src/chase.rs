//! Dependent loads that alternate between a near and a far working set: their time is the mean of those that all are near
//! and those that all are far.

use super::prelude::*;
use fathom_core::statistics;
use fathom_experiments::apparatus::memory::chase::arena::Arena;
use fathom_experiments::apparatus::memory::chase::cycle::Cycle;
use fathom_experiments::apparatus::memory::chase::random_order::RandomOrder;
use fathom_experiments::apparatus::memory::pages::Pages;
use std::cell::Cell;
use std::hint::black_box;
use std::ptr::NonNull;
use std::rc::Rc;

pub static RIG: Rig = Rig::of_known_work(
    "chase",
    "a chase of dependent loads, every second of which misses the caches",
    Duration::from_secs(8),
    |_| Ok(vec![(NAME, Point::new())]),
    judge,
);

pub static WORK: KnownWork = KnownWork {
    requires: &[Requirement::MemoryBytes((FAR_BYTES + NEAR_BYTES) as u64)],
    ..KnownWork::of(
        &about(
            NAME,
            "Do mixed loads of two latencies take the mean of both?",
            "two loads that hit the first cache, and two that miss the caches",
            "Two chases in random order take turns, and the address of each load depends on the value of the previous \
             one, also of the other chase. Near, both go through 1 KiB; far, both go through the same 192 MiB, a third of \
             it apart, so that no line is visited twice; mixed, one of each. The time of two near and two far loads is \
             measured in turn with that of two mixed ones, and must be twice as long: memory may change its latency from \
             trial to trial, but not between the two.",
            &[],
        ),
        prepare,
    )
};

const NAME: &str = "verify/chase";

/// So large that no chase reaches a line twice in a trial: a line that was fetched recently is nearer than others, and
/// chases that advance at different speeds would meet different shares of such lines.
const FAR_BYTES: usize = 192 << 20;
/// So small that the far loads do not evict them from the first-level cache.
const NEAR_BYTES: usize = 1 << 10;
const LINE: usize = 64;

/// The current positions of two chases.
type ChasePair = (NonNull<u8>, NonNull<u8>);

fn prepare<'site>(_: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let arena = Rc::new(Arena::new(FAR_BYTES + NEAR_BYTES, Pages::Base)?);
    // Three elements, a third of the cycle apart: no chase follows another through lines that have just been fetched.
    let cycle = |offset: usize, bytes: usize| {
        let order = RandomOrder::new((bytes / LINE) as u64, site.seed);
        let cycle = Cycle::build(Rc::clone(&arena), offset, (bytes / LINE) as u64, move |element: u64| {
            order.at(element) as usize * LINE
        })?;
        Ok([0, 1, 2].map(|third| cycle.element(third * cycle.elements() / 3)))
    };
    let (far, near) = (cycle(0, FAR_BYTES)?, cycle(FAR_BYTES, NEAR_BYTES)?);
    let follow = |pair: ChasePair| {
        let (alive, at) = (Rc::clone(&arena), Cell::new(pair));
        move |n: u64| {
            let _alive = &alive;
            // SAFETY: every line of both cycles holds a pointer to another of the same, and they live as long as this work.
            at.set(unsafe { in_turn(at.get(), n) });
            Ok(())
        }
    };
    let (both_near, both_far, mixed) =
        (follow((near[0], near[1])), follow((far[0], far[1])), follow((near[2], far[2])));
    Ok(Workload::batched(move |n| both_near(n).and_then(|()| both_far(n))).against(mixed))
}

/// Follows two chases alternately. A number is added to each address only to make it wait for the load before: a bit of that
/// load's value that is never set, because lines begin at multiples of 64.
///
/// # Safety
/// Both must point to aligned pointers of endless chases.
#[inline(never)]
unsafe fn in_turn((mut one, mut other): ChasePair, turns: u64) -> ChasePair {
    let unset = black_box(1_usize);
    for _ in 0..turns {
        // SAFETY: the bit is not set in the address of a line, so that each is where its chase has led.
        unsafe {
            one = one.add(other.as_ptr().addr() & unset).cast::<NonNull<u8>>().read();
            other = other.add(one.as_ptr().addr() & unset).cast::<NonNull<u8>>().read();
        }
    }
    (one, other)
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let figure = result(results, &(NAME, Point::new())).and_then(over_mixed);
    vec![Claim::of(rig, "hits plus misses over mixed, ratio", None, 2.0).judged(figure)]
}

/// The sum of both times measured separately over the time when mixed, trial by trial.
fn over_mixed(point: &PointResult) -> Result<TruthFigure, NoFigure> {
    estimate(point)?;
    let of_trial = |(sample, (_, difference)): (&Vec<f64>, &(u32, f64))| {
        let apart = statistics::median(sample)?;
        Some([apart / (apart - difference)])
    };
    let trials: Vec<[f64; 1]> = point.samples.iter().zip(&point.by_round).filter_map(of_trial).collect();
    let ratio = statistics::estimate(&trials).ok_or_else(|| NoFigure::inconclusive("no trial has both"))?;
    Ok(TruthFigure::of(&ratio, &[point]))
}
