//! A core whose neighbour is known: for rigs that verify how the states of a core are distinguished. In a process that has begun it,
//! every reading of a core is one of the simulated core, and the neighbour comes and goes by a schedule that all processes of this
//! machine compute from the kernel's clock. The instrument does not know it.

use super::clock::kernel_clock;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::sync::atomic::{AtomicBool, Ordering};

/// The length of a part of the schedule, in which the neighbour stays or is away, nanoseconds.
const PART_NS: u64 = 100_000_000;

/// The probability that it is there in a part.
const SHARE: f64 = 0.35;

/// Ticks of a simulated chain, and of a stream with the core alone and shared: of a core that is four wide.
const CHAIN: u32 = 1_000;
const STREAM_ALONE: f64 = 1_940.0;
const STREAM_SHARED: f64 = 2_720.0;

/// The relative width of the uniform scatter of a reading.
const SCATTER: f64 = 0.03;

static IS_SIMULATED: AtomicBool = AtomicBool::new(false);

/// Readings of this process are simulated until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct SimulatedCore(());

impl SimulatedCore {
    /// Begins to simulate.
    pub fn begin() -> Self {
        IS_SIMULATED.store(true, Ordering::Relaxed);
        SimulatedCore(())
    }

    /// Simulates to the end of the process, which is a trial's own.
    pub fn begin_for_good() {
        std::mem::forget(SimulatedCore::begin());
    }
}

impl Drop for SimulatedCore {
    fn drop(&mut self) {
        IS_SIMULATED.store(false, Ordering::Relaxed);
    }
}

/// The kernel's clock by which the neighbour comes and goes, nanoseconds.
pub fn now_ns() -> u64 {
    kernel_clock(libc::CLOCK_MONOTONIC_RAW)
}

/// Whether the neighbour is there at a moment of the kernel's clock, nanoseconds.
pub fn is_shared(at_ns: u64) -> bool {
    drawn(at_ns / PART_NS) < SHARE
}

/// The share of the time between two moments in which the neighbour is there, 0 to 1; zero for moments of which the first is
/// not before the second.
pub fn share_between(from_ns: u64, to_ns: u64) -> f64 {
    let end = |part: u64| (part + 1) * PART_NS;
    let overlap = |part: u64| end(part).min(to_ns).saturating_sub((part * PART_NS).max(from_ns));
    let parts = (from_ns / PART_NS)..=(to_ns / PART_NS);
    let there: u64 = parts.filter(|part| is_shared(part * PART_NS)).map(overlap).sum();
    there as f64 / to_ns.saturating_sub(from_ns).max(1) as f64
}

/// A reading of the simulated core, ticks of the stream and of the chain; `None` if this process simulates none.
#[inline]
pub(super) fn reading() -> Option<[u32; 2]> {
    IS_SIMULATED.load(Ordering::Relaxed).then(simulated)
}

#[cold]
fn simulated() -> [u32; 2] {
    let now = now_ns();
    let stream = if is_shared(now) { STREAM_SHARED } else { STREAM_ALONE };
    [(stream * (1.0 + SCATTER * (drawn(now) - 0.5))) as u32, CHAIN]
}

/// A number from 0 to 1 that this one alone decides.
fn drawn(number: u64) -> f64 {
    SplitMix64::seed_from_u64(number).next_u64() as f64 / u64::MAX as f64
}

/// Held by each test that simulates: what one begins, all threads of the process read.
#[cfg(test)]
pub(super) static SIMULATING: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::PoisonError;

    #[test]
    fn the_neighbour_is_there_for_its_share_of_the_time_and_the_account_of_any_time_adds_up() {
        let share = share_between(0, 20_000 * PART_NS);
        assert!((share - SHARE).abs() < 0.015, "{share}");
        let first =
            (0..1_000).find(|part| is_shared(part * PART_NS) && !is_shared((part + 1) * PART_NS)).unwrap();
        let middle = first * PART_NS + PART_NS / 2;
        assert!((share_between(middle, middle + PART_NS) - 0.5).abs() < 1e-9);
        assert!(share_between(middle, middle).abs() < 1e-9);
    }

    #[test]
    fn readings_are_simulated_while_it_lasts() {
        let _one = SIMULATING.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(reading(), None);
        let simulated = SimulatedCore::begin();
        let [stream, chain] = reading().unwrap();
        assert!(chain == CHAIN && (1_900..=2_770).contains(&stream), "{stream} over {chain}");
        drop(simulated);
        assert_eq!(reading(), None);
    }
}
