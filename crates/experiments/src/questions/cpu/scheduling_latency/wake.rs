//! A thread that sleeps until a moment, or until a message, and how late it runs.

use fathom_core::prelude::*;
use fathom_core::sampling::partner::{self, PartnerProcess};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::null_mut;

/// The mean time between two moments, nanoseconds.
pub const EVERY_NS: f64 = 500e3;

/// Random intervals: moments at equal ones could always meet the same part of a scheduler's tick.
pub struct Intervals {
    chance: SplitMix64,
    mean_ns: f64,
}

impl Intervals {
    pub fn new(mean_ns: f64, seed: u64) -> Self {
        Intervals { chance: SplitMix64::seed_from_u64(seed), mean_ns }
    }

    /// From 0 to 1, without 0.
    fn drawn(&mut self) -> f64 {
        ((self.chance.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Between half and one and a half of the mean.
    pub fn near(&mut self) -> f64 {
        self.mean_ns * (0.5 + self.drawn())
    }

    /// As between independent arrivals.
    pub fn independent(&mut self) -> f64 {
        -self.mean_ns * self.drawn().ln()
    }
}

/// Sleeps until a moment of the stopwatch; returns whether it slept: a moment that has passed is not waited for.
pub fn sleep_until(due: f64, watch: &dyn Stopwatch) -> Result<bool, Failure> {
    let remaining = due - watch.now_ns();
    if remaining < 1.0 {
        return Ok(false);
    }
    let time = libc::timespec {
        tv_sec: (remaining / 1e9) as libc::time_t,
        tv_nsec: (remaining % 1e9) as libc::c_long,
    };
    // SAFETY: a valid time; what is left of it after a signal is not wanted.
    let failed = unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &raw const time, null_mut()) };
    ensure(failed == 0, "a sleep was interrupted")?;
    Ok(true)
}

/// The shortest slack of a timer: what is late is late because of the scheduler.
pub fn without_slack() -> Result<(), Failure> {
    // SAFETY: sets a number of this thread.
    errno("prctl of the timer slack", unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) }).map(drop)
}

/// Something that wakes this thread.
pub trait WakeUpSource {
    /// Waits for the next wake-up; returns by how much it was late, nanoseconds, and whether this thread slept, if it knows.
    fn next(&mut self, watch: &dyn Stopwatch) -> Result<(f64, Option<bool>), Failure>;
}

/// A timer, on a schedule that does not wait: what is late makes the next ones late as well.
pub struct WakingTimer {
    intervals: Intervals,
    due: f64,
}

impl WakingTimer {
    pub fn new(site: &Site) -> Result<Self, Failure> {
        without_slack()?;
        Ok(WakingTimer { intervals: Intervals::new(EVERY_NS, site.seed), due: 0.0 })
    }

    /// Begins a schedule now.
    pub fn begin(&mut self, watch: &dyn Stopwatch) {
        self.due = watch.now_ns();
    }
}

impl WakeUpSource for WakingTimer {
    fn next(&mut self, watch: &dyn Stopwatch) -> Result<(f64, Option<bool>), Failure> {
        self.due += self.intervals.near();
        let slept = sleep_until(self.due, watch)?;
        Ok((watch.now_ns() - self.due, Some(slept)))
    }
}

/// Messages of a process on another CPU, each with the moment at which it was sent.
pub struct Messages {
    end: OwnedFd,
    _sender: PartnerProcess,
}

impl Messages {
    pub fn new(cpu: Option<usize>, site: &Site) -> Result<Self, Failure> {
        let (end, far) = partner::pipe()?;
        let (watch, seed) = (site.stopwatch, site.seed);
        let sender = PartnerProcess::start(cpu, move || {
            without_slack()?;
            let mut intervals = Intervals::new(EVERY_NS, seed);
            let mut due = watch.now_ns();
            loop {
                due += intervals.near();
                sleep_until(due, watch)?;
                let sent = watch.now_ns().to_bits().to_ne_bytes();
                // SAFETY: eight bytes, alive during the call.
                errno("write of a message", unsafe {
                    libc::write(far.as_raw_fd(), sent.as_ptr().cast(), sent.len())
                })?;
                // A sender that was late itself does not make up for it: its messages would come in one go.
                due = due.max(watch.now_ns() - EVERY_NS);
            }
        })?;
        Ok(Messages { end, _sender: sender })
    }
}

impl WakeUpSource for Messages {
    fn next(&mut self, watch: &dyn Stopwatch) -> Result<(f64, Option<bool>), Failure> {
        let mut sent = [0; 8];
        // SAFETY: room for eight bytes, alive during the call.
        let read = unsafe { libc::read(self.end.as_raw_fd(), sent.as_mut_ptr().cast(), sent.len()) };
        let late = watch.now_ns() - f64::from_bits(u64::from_ne_bytes(sent));
        ensure(read == 8, "the sender of messages has ended")?;
        Ok((late, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_their_mean_and_differ() {
        let mut intervals = Intervals::new(100.0, 7);
        let near: Vec<f64> = (0..10_000).map(|_| intervals.near()).collect();
        let independent: Vec<f64> = (0..10_000).map(|_| intervals.independent()).collect();
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean(&near) - 100.0).abs() < 2.0 && near.iter().all(|ns| (50.0..=150.0).contains(ns)));
        assert!((mean(&independent) - 100.0).abs() < 5.0);
        let long = independent.iter().filter(|ns| **ns > 100.0).count() as f64 / 1e4;
        assert!((long - (-1_f64).exp()).abs() < 0.02, "{long}");
    }
}
