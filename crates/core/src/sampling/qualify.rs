//! Qualifying the clock before it is used: cost, resolution, monotonicity on and across CPUs, invariance, and its
//! frequency against the kernel's clock. A clock that fails is replaced by the next one, and the report says so.

use super::affinity;
use super::clock::{Clock, ClockKind, Counter, MonotonicRaw, kernel_clock, overhead, smallest_step};
use crate::arch;
use crate::machine::Machine;
use crate::quantities;
use crate::sorting;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The qualification of the clock that measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Qualification {
    /// The clock in use.
    pub kind: ClockKind,
    /// Its frequency, ticks per second, measured against `CLOCK_MONOTONIC_RAW`.
    pub ticks_per_second: f64,
    /// Half the spread of repeated measurements of that frequency, parts of a million.
    pub frequency_spread_ppm: f64,
    /// Ticks between two readings back to back, mean.
    pub overhead_ticks: f64,
    /// The smallest difference other than zero between successive readings, ticks, or the step in which the counter advances.
    pub resolution_ticks: u64,
    /// Negative differences among all that were examined, also from one CPU to another.
    pub backward_steps: u64,
    /// The number of differences that were examined.
    pub steps: u64,
    /// Why a better clock is not used; absent where the best is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
}

impl Qualification {
    /// Qualifies the counter and falls back to the kernel's clock; `request` overrides the choice, not the checks: a requested
    /// clock that fails is used, with the reason in `rejected`, unless it cannot be read at all.
    pub fn run(machine: &Machine, request: Option<ClockKind>) -> Self {
        Qualification::of(machine, request, |kind, rejected| match kind {
            ClockKind::Counter => examine(kind, &Counter, machine, rejected),
            ClockKind::MonotonicRaw => examine(kind, &MonotonicRaw, machine, rejected),
        })
    }

    /// The same with another examination. A counter that cannot be read is not examined either: the instruction would end the
    /// process.
    fn of(
        machine: &Machine,
        request: Option<ClockKind>,
        examine: impl Fn(ClockKind, Option<String>) -> Qualification,
    ) -> Self {
        if request == Some(ClockKind::MonotonicRaw) {
            let reason = "`--clock` chose the kernel's clock".to_owned();
            return examine(ClockKind::MonotonicRaw, Some(reason));
        }
        if let Some(reason) = unreadable(machine) {
            return examine(ClockKind::MonotonicRaw, Some(reason));
        }
        let counter = examine(ClockKind::Counter, None);
        match (varying(machine).or_else(|| fault(&counter)), request) {
            (None, _) => counter,
            (Some(fault), Some(ClockKind::Counter)) => Qualification { rejected: Some(fault), ..counter },
            (Some(fault), _) => examine(ClockKind::MonotonicRaw, Some(fault)),
        }
    }

    /// The clock's cost in nanoseconds.
    pub fn overhead_ns(&self) -> f64 {
        self.overhead_ticks / self.ticks_per_second * 1e9
    }

    /// The clock's resolution in nanoseconds.
    pub fn resolution_ns(&self) -> f64 {
        self.resolution_ticks as f64 / self.ticks_per_second * 1e9
    }
}

/// The reason why the counter cannot be read at all on this machine.
fn unreadable(machine: &Machine) -> Option<String> {
    let rdtscp = machine.processor.tick_counter.rdtscp.value().copied().unwrap_or_default();
    arch::COUNTER_NEEDS.filter(|_| !rdtscp).map(|name| format!("the processor has no {name}"))
}

/// The reason why the counter is not usable as a clock on this machine, whatever it shows now.
fn varying(machine: &Machine) -> Option<String> {
    match machine.processor.tick_counter.invariant.value() {
        Some(true) => None,
        Some(false) => Some(
            "the counter is not invariant: its rate changes with the core's frequency, or it stops when the core \
             sleeps"
                .to_owned(),
        ),
        None => Some("whether the counter is invariant is unknown".to_owned()),
    }
}

fn fault(qualification: &Qualification) -> Option<String> {
    if qualification.backward_steps > 0 {
        return Some(format!(
            "the counter ran backwards {} times in {} steps",
            qualification.backward_steps, qualification.steps
        ));
    }
    // A tenth of a percent: ten times the possible thermal drift of a crystal, and less than we promise.
    if qualification.frequency_spread_ppm > 1000.0 {
        return Some(format!(
            "the counter's frequency against the kernel's clock spreads by {}",
            quantities::percent(qualification.frequency_spread_ppm / 1e6)
        ));
    }
    None
}

fn examine<C: Clock>(
    kind: ClockKind,
    clock: &C,
    machine: &Machine,
    rejected: Option<String>,
) -> Qualification {
    let (ticks_per_second, frequency_spread_ppm) = match kind {
        ClockKind::Counter => frequency(clock, Duration::from_millis(20)),
        ClockKind::MonotonicRaw => (1e9, 0.0),
    };
    let free = affinity::current();
    let steps = steps(clock, machine.allowed_cpus(), |cpu| drop(affinity::pin(cpu)));
    affinity::set(&free);
    Qualification {
        kind,
        ticks_per_second,
        frequency_spread_ppm,
        overhead_ticks: overhead(clock),
        resolution_ticks: smallest_step(&steps).unwrap_or(0),
        backward_steps: steps.iter().filter(|step| **step < 0).count() as u64,
        steps: steps.len() as u64,
        rejected,
    }
}

/// Ticks per second over five windows: the median, and half the spread in parts of a million.
fn frequency<C: Clock>(clock: &C, window: Duration) -> (f64, f64) {
    let mut frequencies: Vec<f64> = (0..5).map(|_| frequency_once(clock, window)).collect();
    sorting::numbers(&mut frequencies);
    let middle = frequencies[2];
    (middle, (frequencies[4] - frequencies[0]) / 2.0 / middle * 1e6)
}

fn frequency_once<C: Clock>(clock: &C, window: Duration) -> f64 {
    let (ticks, time) = simultaneous(clock);
    std::thread::sleep(window);
    let (later_ticks, later_time) = simultaneous(clock);
    later_ticks.wrapping_sub(ticks) as f64 / (later_time - time) as f64 * 1e9
}

/// A reading of both clocks as simultaneous as twenty attempts allow: the one with the narrowest bracket.
fn simultaneous<C: Clock>(clock: &C) -> (u64, u64) {
    let attempt = |_| {
        let before = clock.start();
        let time = kernel_clock(libc::CLOCK_MONOTONIC_RAW);
        let after = clock.stop();
        (after.since(before).0, before.ticks + after.since(before).0.max(0) as u64 / 2, time)
    };
    let narrowest = (0..20).map(attempt).min_by_key(|(width, ..)| *width);
    narrowest.map_or((0, 1), |(_, ticks, time)| (ticks, time))
}

/// Readings on each CPU, and in all: with many CPUs each is read less often, so that a thousand of them take no longer.
const READINGS: (usize, usize) = (2_000, 128_000);

/// Differences of successive readings: many on one CPU, and one from each CPU to the next. They end on the first CPU again, so
/// that the last one is also followed by another: a counter that is ahead shows on leaving its CPU.
fn steps<C: Clock>(clock: &C, cpus: &[usize], pin: impl Fn(usize)) -> Vec<i64> {
    let readings = READINGS.0.min(READINGS.1 / cpus.len().max(1)).max(1);
    let mut steps = vec![];
    let mut last = clock.stop();
    for cpu in cpus.iter().chain(cpus.first()) {
        pin(*cpu);
        for _ in 0..readings {
            let reading = clock.stop();
            steps.push(reading.since(last).0);
            last = reading;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::clock::Reading;
    use std::cell::Cell;

    /// A counter that is ahead on one CPU.
    struct Ahead<'run> {
        here: &'run Cell<usize>,
        on: usize,
        ticks: Cell<u64>,
    }

    impl Clock for Ahead<'_> {
        fn start(&self) -> Reading {
            self.stop()
        }

        fn stop(&self) -> Reading {
            self.ticks.set(self.ticks.get() + 1);
            let ahead = if self.here.get() == self.on { 1_000_000 } else { 0 };
            Reading { ticks: self.ticks.get() + ahead, cpu: Reading::ANYWHERE }
        }
    }

    #[test]
    fn a_counter_that_is_ahead_on_any_cpu_is_found() {
        let cpus: Vec<usize> = (0..256).collect();
        for on in [0, 63, 64, 200, 255] {
            let here = Cell::new(0);
            let clock = Ahead { here: &here, on, ticks: Cell::new(0) };
            let steps = steps(&clock, &cpus, |cpu| here.set(cpu));
            assert_eq!(steps.iter().filter(|step| **step < 0).count(), 1, "CPU {on}");
            assert!(steps.len() < 200_000);
        }
    }

    #[test]
    fn a_counter_of_which_nothing_tells_that_it_is_invariant_is_not_used() {
        use crate::machine::Fact;

        let mut machine = crate::machine::described::machine();
        machine.processor.tick_counter.invariant = Fact::known(true, "a test");
        assert_eq!(varying(&machine), None);
        for invariant in [Fact::known(false, "a test"), Fact::unknown("not told", "a test")] {
            machine.processor.tick_counter.invariant = invariant;
            assert!(varying(&machine).is_some_and(|reason| reason.contains("invariant")));
        }
    }

    /// As `qemu-system-x86_64 -cpu kvm64`, on which the instruction ends the process (SIGILL).
    #[test]
    fn a_counter_that_cannot_be_read_is_never_read_even_where_it_is_asked_for() {
        use crate::machine::Fact;

        // Elsewhere every processor can read it.
        let Some(needed) = arch::COUNTER_NEEDS else { return };
        let mut machine = crate::machine::described::machine();
        let examined = |kind, rejected| {
            assert_eq!(kind, ClockKind::MonotonicRaw, "the counter would have been read");
            Qualification {
                kind,
                ticks_per_second: 1e9,
                frequency_spread_ppm: 0.0,
                overhead_ticks: 20.0,
                resolution_ticks: 1,
                backward_steps: 0,
                steps: 1000,
                rejected,
            }
        };
        for rdtscp in [Fact::known(false, "test"), Fact::unknown("not told", "test")] {
            machine.processor.tick_counter.rdtscp = rdtscp;
            for asked in [None, Some(ClockKind::Counter)] {
                let chosen = Qualification::of(&machine, asked, examined);
                assert_eq!(chosen.rejected, Some(format!("the processor has no {needed}")));
            }
        }
    }
}
