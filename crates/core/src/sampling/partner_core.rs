//! The core of the other side, read by the other side itself, which is there and waits.
//!
//! Between two observations this side asks for a reading and takes one more turn. The other side sees the question once it has
//! given that turn back, reads its core, and waits for the next. So no observation contains a reading, and the rhythm of the work
//! stays. A core that cannot be asked, as that of a kernel's reply or of another host, is not read.

use super::clock::ClockKind;
use super::occupancy::{self, CoreReading};
use super::shared_memory::{Shareable, shared_memory};
use crate::experiment::Failure;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long an answer is waited for: a reading takes microseconds, and more only if the other side lost its CPU.
const PATIENCE: Duration = Duration::from_millis(2);

/// What the two sides share. A question is a number that differs from that of the last answer.
struct Notes {
    question: AtomicU32,
    answer: AtomicU32,
    stream: AtomicU32,
    chain: AtomicU32,
    /// How the reading is taken: the clock, and how many times as long as the shortest.
    by_counter: AtomicU32,
    times: AtomicU32,
}

// SAFETY: atomics, of which zero is a value.
unsafe impl Shareable for Notes {}

/// The notes of this process and of the partners that it forks afterwards.
static NOTES: OnceLock<&'static Notes> = OnceLock::new();

/// The other side's core, which can be asked.
#[derive(Clone, Copy)]
pub struct PartnerCore(&'static Notes);

impl PartnerCore {
    /// Prepares questions to partners that begin afterwards.
    ///
    /// # Errors
    /// [`Failure::Broke`] if there is no memory to share.
    pub(super) fn new(clock: ClockKind, times: u32) -> Result<Self, Failure> {
        let mapped = || {
            shared_memory()
                .map_err(|error| Failure::Broke(format!("shared memory for the other side: {error}")))
        };
        let notes: &'static Notes = NOTES.get().copied().map_or_else(mapped, Ok)?;
        let notes = NOTES.get_or_init(|| notes);
        notes.by_counter.store(u32::from(clock == ClockKind::Counter), Ordering::Relaxed);
        notes.times.store(times, Ordering::Relaxed);
        Ok(PartnerCore(notes))
    }

    /// Asks, and takes one `turn` in which the other side sees the question; `None` without an answer in time.
    pub(super) fn read(
        self,
        turn: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<Option<CoreReading>, Failure> {
        let number = self.0.answer.load(Ordering::Relaxed).wrapping_add(1);
        self.0.question.store(number, Ordering::Release);
        turn()?;
        let since = Instant::now();
        while self.0.answer.load(Ordering::Acquire) != number {
            if since.elapsed() > PATIENCE {
                return Ok(None);
            }
            std::hint::spin_loop();
        }
        Ok(Some([&self.0.stream, &self.0.chain].map(|ticks| ticks.load(Ordering::Relaxed))))
    }
}

/// Answers a question about this core, if there is one: for the other side of an operation, once it has given a turn back.
#[inline]
pub fn answer() {
    if let Some(notes) = NOTES.get() {
        let question = notes.question.load(Ordering::Acquire);
        if question != notes.answer.load(Ordering::Relaxed) {
            notes.answer(question);
        }
    }
}

impl Notes {
    #[cold]
    fn answer(&self, question: u32) {
        let by_counter = self.by_counter.load(Ordering::Relaxed) == 1;
        let clock = if by_counter { ClockKind::Counter } else { ClockKind::MonotonicRaw };
        // The first reading after a sleep waits for its own instructions.
        let readings = [(); 2].map(|()| occupancy::read_with(clock, self.times.load(Ordering::Relaxed)));
        self.stream.store(readings[1][0], Ordering::Relaxed);
        self.chain.store(readings[1][1], Ordering::Relaxed);
        self.answer.store(question, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::simulated_core::{SIMULATING, SimulatedCore};
    use crate::sampling::{partner, turn};
    use std::sync::PoisonError;

    #[test]
    fn the_other_side_reads_its_core_between_two_turns() {
        let _one = SIMULATING.lock().unwrap_or_else(PoisonError::into_inner);
        let _simulated = SimulatedCore::begin();
        let core = PartnerCore::new(ClockKind::MonotonicRaw, 1).unwrap();
        let (mut near, far) = turn::pipes().unwrap();
        let _other = partner::PartnerProcess::start(None, move || turn::echo(far)).unwrap();
        let mut turn = || near.give().and_then(|()| near.wait());
        // A partner that lost its CPU may be late.
        let found = (0..50).find_map(|_| core.read(&mut turn).unwrap());
        assert!(found.is_some_and(|[stream, chain]| stream > chain && chain > 0), "{found:?}");
        // One that lost its CPU after its last turn may still see a question; then it sleeps.
        let is_unanswered = (0..50).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            core.read(&mut || Ok(())).unwrap().is_none()
        });
        assert!(is_unanswered, "nobody had a turn in which to see the question");
    }
}
