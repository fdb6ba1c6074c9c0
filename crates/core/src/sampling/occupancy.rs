//! Whether the core was used by the measured work alone. Most cores run two hardware threads, which share its execution units. A
//! guest cannot see what runs on the other one, and its kernel does not count it, but the units show it: a stream of independent
//! additions fills the core's width when it is alone and gets about half of it when the other thread works, while a dependent
//! chain of additions uses one unit in every cycle and is not affected. The quotient of the two is independent of the core's
//! frequency.
//!
//! A reading takes about half a microsecond and is taken before the first observation of a trial and after each. Where the clock
//! counts in coarse steps it is so many times longer that its quotient is known to a few percent.

use super::affinity;
use super::clock::{Clock, ClockKind, Counter, MonotonicRaw, Reading};
use super::simulated_core;
use crate::arch;
use crate::sorting;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Readings of stream and chain, in ticks of the trial's clock: the first before the first observation, then one after each batch
/// or single operation that was timed. Without a baseline, observation `i` is between the readings `i` and `i + 1`; with one,
/// operation `i` is between `2 i` and `2 i + 1`, and its baseline between `2 i + 1` and `2 i + 2`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreReadings {
    /// Ticks of 3,968 independent additions, or of `times` as many.
    pub stream: Vec<u32>,
    /// Ticks of 512 dependent additions, or of `times` as many.
    pub chain: Vec<u32>,
    /// How many times as long the readings are.
    #[serde(default = "once")]
    pub times: u32,
    /// For numbers that the work returns itself: the moment of each reading, ticks after the observations began. A call of the
    /// work is between two readings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<u64>,
    /// Readings of the core of the other side, by the other side between two observations: the number of readings of this core
    /// before it, ticks of the stream, ticks of the chain. None where the other side runs on this core, cannot be asked, or has a
    /// core of another kind, and in files of earlier programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partner: Vec<[u32; 3]>,
    /// The reading at the start of the trial, before it prepared or waited for anything: at a moment that was not chosen, so the
    /// share of such readings is a share of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived: Option<[u32; 2]>,
    /// The time that the trial waited for the core to be alone before it observed, nanoseconds.
    #[serde(default)]
    pub waited_ns: u64,
}

/// The demand of a trial of short work that its core be alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CoreWait {
    /// The quotient of stream over chain up to which the core is alone.
    pub alone_up_to: f64,
    /// Maximum time that a trial may wait, and observe beyond its duration, nanoseconds.
    pub most_ns: u64,
    /// Whether a trial that has waited in vain is put back, to be made at another moment; otherwise it observes the core as
    /// it is.
    #[serde(default)]
    pub puts_back: bool,
}

impl CoreWait {
    /// The same for work whose preparation took this long: it waits as long before that is thrown away. Whenever the core is alone
    /// again, this costs at most twice what the best moment to give up would have (ski rental: Karlin et al. 1988, "Competitive
    /// snoopy caching").
    #[must_use]
    pub fn at_least(self, preparation: Duration) -> Self {
        CoreWait { most_ns: self.most_ns.max(preparation.as_nanos() as u64), ..self }
    }
}

fn once() -> u32 {
    1
}

/// One reading: ticks of the stream and of the chain.
pub type CoreReading = [u32; 2];

/// Additions in a stream.
pub const ADDITIONS: f64 = STREAM_TURNS as f64 * 64.0;

/// Instructions in a stream: its additions, and two of the loop per turn.
pub const INSTRUCTIONS: f64 = ADDITIONS + 2.0 * STREAM_TURNS as f64;

/// Additions in a chain, each taking a cycle.
pub const LINKS: f64 = CHAIN_TURNS as f64 * 64.0;

/// Turns of 64 additions in a stream and in a chain: short compared with the states of a core, long compared with the clock.
const STREAM_TURNS: u64 = 62;
const CHAIN_TURNS: u64 = 8;

/// Turns before each reading: earlier code has left other instructions in the core's front end.
const WARM_UP_TURNS: u64 = 2;

/// The error of a quotient from the clock's steps up to which a reading is made no longer.
const FINE_STEP: f64 = 0.03;

/// The longest reading, in times of the shortest: some four microseconds.
const LONGEST: f64 = 8.0;

/// How many times as long a reading must be, by the clock's resolution and the core's frequency, in ticks and hertz.
pub fn times(resolution_ticks: u64, ticks_per_second: f64, core_hz: Option<f64>) -> u32 {
    let chain = LINKS / core_hz.unwrap_or(ticks_per_second) * ticks_per_second;
    // The stream takes about twice as long as the chain.
    let step = 1.5 * resolution_ticks as f64 / chain;
    (step / FINE_STEP).ceil().clamp(1.0, LONGEST) as u32
}

/// Reads the occupancy of the core; both times are nearly zero on architectures without a stream.
#[inline]
pub fn read<C: Clock>(clock: &C, times: u32) -> CoreReading {
    if let Some(simulated) = simulated_core::reading() {
        return simulated;
    }
    arch::stream(WARM_UP_TURNS);
    let began = clock.start();
    arch::stream(STREAM_TURNS * u64::from(times));
    let between = clock.start();
    arch::chain(CHAIN_TURNS * u64::from(times));
    let ended = clock.stop();
    let ticks = |ticks: i64| u32::try_from(ticks).unwrap_or(u32::MAX);
    [ticks(between.since(began).0), ticks(ended.since(between).0)]
}

/// Readings of which [`look`] takes the median: one alone may be interrupted.
const READINGS_A_LOOK: usize = 9;

/// The state of a CPU's core now, read by this thread, which goes there for some ten microseconds and comes back: the reading
/// with the median quotient. `None` if this thread may not run there.
pub fn look(cpu: usize, kind: ClockKind, times: u32) -> Option<CoreReading> {
    let before = affinity::current();
    affinity::pin(cpu).ok()?;
    let mut readings: Vec<CoreReading> =
        (0..READINGS_A_LOOK + 2).map(|_| read_with(kind, times)).skip(2).collect();
    affinity::set(&before);
    sorting::by_number(&mut readings, |reading| quotient(*reading));
    Some(readings[READINGS_A_LOOK / 2])
}

/// A reading through a clock of this kind.
pub fn read_with(kind: ClockKind, times: u32) -> CoreReading {
    match kind {
        ClockKind::Counter => read(&Counter, times),
        ClockKind::MonotonicRaw => read(&MonotonicRaw, times),
    }
}

/// Fills the core's width for a moment, as a busy neighbour does.
pub fn fill() {
    arch::stream(STREAM_TURNS);
}

/// The core's frequency, hertz, by the ticks of a chain in readings so many times as long as the shortest. No neighbour affects it.
/// The readings of the clock around a chain take cycles of the core as it does: their part of the ticks is the same share at every
/// frequency, and is counted in cycles.
pub fn core_hz(chain_ticks: f64, times: u32, ticks_per_second: f64, reading_cycles: f64) -> f64 {
    (LINKS * f64::from(times) + reading_cycles) / chain_ticks * ticks_per_second
}

/// The quotient of a reading, which does not depend on the core's frequency.
pub fn quotient([stream, chain]: CoreReading) -> f64 {
    f64::from(stream) / f64::from(chain)
}

impl CoreReadings {
    /// Capacity for this many readings: nothing is allocated between them.
    pub(super) fn with_capacity(readings: usize, times: u32) -> Self {
        CoreReadings {
            times,
            stream: Vec::with_capacity(readings),
            chain: Vec::with_capacity(readings),
            at: Vec::with_capacity(readings),
            ..CoreReadings::default()
        }
    }

    pub(super) fn forget(&mut self, readings: usize) {
        self.stream.drain(..readings);
        self.chain.drain(..readings);
    }

    /// Takes a reading, and returns its quotient.
    #[inline]
    pub(super) fn take<C: Clock>(&mut self, clock: &C) -> f64 {
        let reading = read(clock, self.times);
        self.stream.push(reading[0]);
        self.chain.push(reading[1]);
        quotient(reading)
    }

    /// Takes a reading, with its moment.
    pub(super) fn take_at<C: Clock>(&mut self, clock: &C, began: Reading) {
        self.at.push(u64::try_from(clock.stop().since(began).0).unwrap_or(0));
        self.take(clock);
    }

    /// The quotients of the readings, in their order.
    pub fn quotients(&self) -> impl Iterator<Item = f64> {
        self.stream.iter().zip(&self.chain).map(|(stream, chain)| quotient([*stream, *chain]))
    }
}
