//! Two threads: one waits, and the other ends its wait after a known time.

use super::waits::{AnyWait, Wait, WaitEnd};
use crate::apparatus::cpu::contenders::look_ns;
use fathom_core::prelude::*;
use fathom_core::sampling::{OnCpu, partner};
use fathom_core::statistics;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What the two sides tell each other, in lines of their own: the number of the round that is asked for, that waits, whose wait has
/// ended, and that is over.
#[derive(Default)]
struct WaitNotes {
    requested: OwnLine,
    waits: OwnLine,
    answered: OwnLine,
    over: OwnLine,
    /// CPU time of the last wait, and what an empty one would take, nanoseconds.
    cpu_ns: AtomicU64,
    empty_ns: AtomicU64,
    /// Switches of the waiter in its last wait, because it slept.
    switches: AtomicU64,
    stops: AtomicBool,
    ended: AtomicBool,
}

#[repr(align(128))]
#[derive(Default)]
struct OwnLine(AtomicU64);

impl OwnLine {
    fn set(&self, round: u64) {
        self.0.store(round, Ordering::Release);
    }

    fn is(&self, round: u64) -> bool {
        self.0.load(Ordering::Acquire) == round
    }
}

/// The side that ends waits; the other thread ends when it is dropped.
pub struct WaitingPair {
    notes: Arc<WaitNotes>,
    wait: AnyWait,
    round: u64,
    /// The cost of a look at the clock, nanoseconds.
    look_ns: f64,
}

#[derive(Debug, Clone, Copy)]
pub struct EndedWait {
    /// From when it was ended until the waiter's answer was here, nanoseconds.
    pub latency_ns: f64,
    /// The call of the side that ended it, nanoseconds.
    pub call_ns: f64,
    /// CPU time of the waiter, nanoseconds.
    pub waiter_ns: f64,
    /// How long the waiter had waited before, nanoseconds.
    pub waited_ns: f64,
    /// Whether it was asleep then.
    pub slept: bool,
    /// Its switches because it slept.
    pub switches: u64,
}

impl WaitingPair {
    /// The waiter on this CPU, in a thread of its own.
    pub fn start(cpu: Option<usize>, wait: AnyWait, clock: &dyn Stopwatch) -> Result<Self, Failure> {
        let notes = Arc::<WaitNotes>::default();
        let (theirs, same) = (Arc::clone(&notes), Arc::clone(&wait));
        partner::thread(cpu, move || {
            theirs.serve(&*same);
            theirs.ended.store(true, Ordering::Release);
            Ok(())
        })?;
        Ok(WaitingPair { notes, wait, round: 0, look_ns: look_ns(clock) })
    }

    /// Lets the other side wait so long, and ends that.
    pub fn wait_and_end(&mut self, length_ns: f64, clock: &dyn Stopwatch) -> Result<EndedWait, Failure> {
        self.round += 1;
        let (notes, round) = (&self.notes, self.round);
        self.wait.prepare()?;
        notes.requested.set(round);
        spin_until(|| notes.waits.is(round));
        let began = clock.now_ns();
        spin_until(|| clock.now_ns() - began >= length_ns);
        let ended: WaitEnd = self.wait.end(&|| clock.now_ns())?;
        spin_until(|| notes.answered.is(round));
        let answered = clock.now_ns();
        spin_until(|| notes.over.is(round));
        let number = |of: &AtomicU64| of.load(Ordering::Acquire);
        Ok(EndedWait {
            latency_ns: answered - ended.at - self.look_ns,
            call_ns: ended.call_ns - self.look_ns,
            waiter_ns: number(&notes.cpu_ns) as f64 - number(&notes.empty_ns) as f64,
            waited_ns: ended.at - began,
            slept: ended.slept,
            switches: number(&notes.switches),
        })
    }
}

impl Drop for WaitingPair {
    fn drop(&mut self) {
        self.notes.stops.store(true, Ordering::Release);
        // A round that failed leaves the waiter where it is: the process ends with that.
        if self.notes.over.is(self.round) {
            spin_until(|| self.notes.ended.load(Ordering::Acquire));
        }
    }
}

impl WaitNotes {
    /// The main function of the waiter.
    fn serve(&self, wait: &dyn Wait) {
        self.empty_ns.store(empty_ns(), Ordering::Release);
        for round in 1_u64.. {
            spin_until(|| self.requested.is(round) || self.stops.load(Ordering::Acquire));
            if self.stops.load(Ordering::Acquire) {
                return;
            }
            let on_cpu = OnCpu::begin();
            self.waits.set(round);
            wait.wait();
            self.answered.set(round);
            let on_cpu = on_cpu.end();
            wait.leave();
            self.cpu_ns.store(on_cpu.cpu_ns, Ordering::Release);
            self.switches.store(on_cpu.voluntary_switches, Ordering::Release);
            self.over.set(round);
        }
    }
}

fn spin_until(mut done: impl FnMut() -> bool) {
    while !done() {
        std::hint::spin_loop();
    }
}

/// CPU time between two readings of it with nothing between them, nanoseconds.
fn empty_ns() -> u64 {
    let times: Vec<f64> = (0..65).map(|_| OnCpu::begin().end().cpu_ns as f64).collect();
    statistics::median(&times).unwrap_or_default() as u64
}
