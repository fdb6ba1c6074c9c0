//! How long a cache line takes from one CPU to another and back, read between measurements. A host may move the virtual CPUs of a guest:
//! where they share a cache they hand a line over in tens of nanoseconds, far apart in hundreds, and all work on both follows.

use super::affinity;
use super::clock::{Clock, ClockKind, Counter, MonotonicRaw};
use crate::sorting;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Exchanges of a batch, each there and back: long compared with the clock's step.
const EXCHANGES: u32 = 32;

/// Batches, of which the median counts: one alone may be interrupted.
const BATCHES: usize = 9;

/// The longest wait for an answer: more than waking a thread takes, less than a slice of time of other work.
const PATIENCE: Duration = Duration::from_millis(2);

/// Spins between two looks at the time.
const SPINS: u32 = 1000;

/// A number that two sides count up by turns, alone on its cache line (two, where lines are fetched in pairs).
#[repr(align(128))]
struct Turns(AtomicU32);

/// Ticks of `clock` that a line takes from the first CPU to the second and back, by this thread, which goes to the first for some fifty
/// microseconds and comes back. `None` if a CPU may not be used, or is busy.
pub fn round_trip([near, far]: [usize; 2], clock: ClockKind) -> Option<f64> {
    let before = affinity::current();
    affinity::pin(near).ok()?;
    let ticks = match clock {
        ClockKind::Counter => exchange(&Counter, far),
        ClockKind::MonotonicRaw => exchange(&MonotonicRaw, far),
    };
    affinity::set(&before);
    ticks
}

/// The exchanges with a thread on the other CPU, which ends with them.
fn exchange<C: Clock>(clock: &C, far: usize) -> Option<f64> {
    let (turns, is_over) = (&Turns(AtomicU32::new(0)), &AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (arrived, arrival) = mpsc::channel();
        let answering = move || {
            if affinity::pin(far).is_ok() && arrived.send(()).is_ok() {
                answer(turns, is_over);
            }
        };
        std::thread::Builder::new().spawn_scoped(scope, answering).ok()?;
        // A thread begins on the CPU of the one that made it, and leaves it for its own only if that one does not spin there.
        let ticks = arrival.recv_timeout(PATIENCE).ok().and_then(|()| batches(clock, turns));
        is_over.store(true, Ordering::Release);
        ticks
    })
}

/// The median batch's ticks of one exchange. The first exchange waits for the other thread to begin.
fn batches<C: Clock>(clock: &C, turns: &Turns) -> Option<f64> {
    (0..EXCHANGES).try_for_each(|_| turn(turns))?;
    let mut ticks = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        let began = clock.start();
        (0..EXCHANGES).try_for_each(|_| turn(turns))?;
        ticks.push(clock.stop().since(began).0 as f64 / f64::from(EXCHANGES));
    }
    sorting::numbers(&mut ticks);
    ticks.get(BATCHES / 2).copied().filter(|ticks| *ticks > 0.0)
}

/// Counts up, and waits until the other side has; `None` if it does not in time.
fn turn(Turns(turns): &Turns) -> Option<()> {
    let mine = turns.load(Ordering::Relaxed).wrapping_add(1);
    turns.store(mine, Ordering::Release);
    let mut since = None;
    loop {
        for _ in 0..SPINS {
            if turns.load(Ordering::Acquire) != mine {
                return Some(());
            }
            std::hint::spin_loop();
        }
        if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return None;
        }
    }
}

/// Counts up whenever the other side has, until it is over.
fn answer(Turns(turns): &Turns, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Acquire) {
        let turn = turns.load(Ordering::Acquire);
        if turn % 2 == 1 {
            turns.store(turn.wrapping_add(1), Ordering::Release);
        }
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_to_another_cpu_and_back_and_this_thread_returns_to_where_it_may_run() {
        let before = affinity::current();
        let &[near, far, ..] = before.as_slice() else { return };
        // On a busy machine the other CPU may have no time for a while.
        let ticks = (0..200).find_map(|_| round_trip([near, far], ClockKind::MonotonicRaw));
        let ns = ticks.expect("one of many is answered");
        assert!(ns > 1.0 && ns < 1e6, "{ns}");
        assert_eq!(affinity::current(), before);
        assert_eq!(
            round_trip([near, usize::MAX], ClockKind::MonotonicRaw),
            None,
            "a CPU that does not exist"
        );
    }
}
