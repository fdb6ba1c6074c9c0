//! The observed core frequency, from chains of dependent instructions of known latency.
//!
//! Cores change frequency, so it is observed with every sample. Newer cores eliminate `add rax, 1` at rename and would appear to
//! run at 14 GHz; therefore two different register-to-register chains (one cycle per step) and a multiply chain (three cycles per
//! step) must agree, or there is no estimate.

use super::clock::{Clock, ClockKind, Counter, MonotonicRaw};
use super::counters::Counting;
use super::occupancy;
use super::qualify::Qualification;
use crate::arch;
use crate::machine::{Fact, Host, Live, Machine};
use crate::sorting;
use crate::statistics;

/// Iterations of a chain: some microseconds, short compared with a timer tick.
const ROUNDS: u64 = 64;
const LINKS: u64 = 64;

/// The relative spread of the chains' estimates beyond which there is no estimate.
const AGREEMENT: f64 = 0.03;

/// The core's frequency in hertz, by this clock; `None` if the chains disagree (the frequency was changing, other code ran in
/// between, or the processor eliminates one of the chains), and on architectures without chains.
pub fn observe<C: Clock>(clock: &C, ticks_per_second: f64) -> Option<f64> {
    let estimates = chains(clock)?.map(|cycles_per_tick| cycles_per_tick * ticks_per_second);
    agreed(&estimates)
}

/// Adds to the machine's description the current frequency of the measured core, after some milliseconds of work (the first of
/// the chains wake it up), and its cycles per instruction.
pub fn observe_core(machine: &mut Machine, clock: &Qualification) {
    let _pinned = Live.pinned(machine.measured_cpu());
    observe_clock(machine, clock);
    observe_instructions(machine, clock);
}

fn observe_clock(machine: &mut Machine, clock: &Qualification) {
    const SOURCE: &str = "timed chains of dependent instructions of known latency";
    let observe = |_| match clock.kind {
        ClockKind::Counter => observe(&Counter, clock.ticks_per_second),
        ClockKind::MonotonicRaw => observe(&MonotonicRaw, clock.ticks_per_second),
    };
    let samples: Vec<f64> = (0..100).filter_map(observe).collect();
    machine.processor.observed_hz = match statistics::median(&samples) {
        Some(hz) => Fact::known(hz, SOURCE),
        None => Fact::unknown(
            "the chains did not agree: the frequency was changing, or the processor eliminated a chain",
            SOURCE,
        ),
    };
}

/// The cycles per independent instruction (CPI) of the measured core: by the processor's counters if they open, else the time of
/// a stream of independent additions divided by that of a chain of dependent ones, each of which takes a cycle.
fn observe_instructions(machine: &mut Machine, clock: &Qualification) {
    let counted = (0..100).map_while(|_| counted_cycles_per_instruction()).collect();
    let timed = || (0..100).map(|_| timed_cycles_per_instruction(clock)).collect();
    machine.processor.cycles_per_instruction = if let Some(cpi) = lower_quartile(counted) {
        Fact::known(cpi, "the processor's counters, around a stream of independent additions")
    } else {
        let source = "a stream of independent additions, timed against a chain of dependent ones";
        let none = || Fact::unknown("this architecture has no such stream yet", source);
        lower_quartile(timed()).map_or_else(none, |cpi| Fact::known(cpi, source))
    };
}

fn counted_cycles_per_instruction() -> Option<f64> {
    const STREAMS: u32 = 16;
    let counting = Counting::begin();
    (0..STREAMS).for_each(|_| occupancy::fill());
    let counters = counting.end();
    Some(counters.cycles? as f64 / counters.instructions? as f64)
}

fn timed_cycles_per_instruction(clock: &Qualification) -> f64 {
    let reading = occupancy::read_with(clock.kind, 1);
    occupancy::quotient(reading) * occupancy::LINKS / occupancy::INSTRUCTIONS
}

/// Another hardware thread of the core, and any other code that runs in between, only ever add to a stream. A counter that opens
/// but does not count gives `None`.
fn lower_quartile(mut samples: Vec<f64>) -> Option<f64> {
    samples.retain(|cpi| cpi.is_finite() && *cpi > 0.0);
    sorting::numbers(&mut samples);
    statistics::quantile(&samples, 0.25)
}

/// The median of estimates that agree.
fn agreed(estimates: &[f64; 3]) -> Option<f64> {
    let mut sorted = *estimates;
    sorting::numbers(&mut sorted);
    let [low, middle, high] = sorted;
    (low > 0.0 && high / low - 1.0 <= AGREEMENT).then_some(middle)
}

/// Cycles per tick by each chain: by the time that its second half adds to the first, so that the cost of the clock and of the
/// loop's end cancel; the fastest of five passes each, because an interrupt only ever adds time. `None` on architectures without
/// chains.
fn chains<C: Clock>(clock: &C) -> Option<[f64; 3]> {
    let best = |(chain, cycles_per_link): (fn(u64), f64)| {
        let pass = |rounds| {
            let start = clock.start();
            chain(rounds);
            clock.stop().since(start).0
        };
        links_per_tick(pass) * cycles_per_link
    };
    Some(arch::latencies()?.map(best))
}

/// Links of a chain per tick, from passes of so many rounds, which take so many ticks.
fn links_per_tick(mut pass: impl FnMut(u64) -> i64) -> f64 {
    let mut quickest = |rounds| (0..5).map(|_| pass(rounds)).min().unwrap_or(0);
    let ticks = quickest(ROUNDS) - quickest(ROUNDS / 2);
    (ROUNDS / 2 * LINKS) as f64 / ticks.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_interrupts_add_and_counters_that_do_not_count_are_left_out() {
        assert_eq!(lower_quartile(vec![f64::NAN, 0.0, f64::INFINITY]), None);
        let result = lower_quartile(vec![0.2, 0.2, 0.2, f64::NAN, 0.35, 4.0]).unwrap();
        assert!((result - 0.2).abs() < 1e-12, "{result}");
    }

    #[test]
    fn neither_what_reading_the_clock_takes_nor_an_interrupt_is_part_of_the_chains() {
        // A link takes two ticks, reading the clock a thousand; every third pass is interrupted.
        let mut passes = 0;
        let result = links_per_tick(|rounds| {
            passes += 1;
            (rounds * LINKS * 2) as i64 + 1000 + if passes % 3 == 0 { 50_000 } else { 0 }
        });
        assert!((result - 0.5).abs() < 1e-12, "{result} links a tick");
    }

    #[test]
    fn chains_that_disagree_give_no_estimate() {
        assert_eq!(agreed(&[14.0e9, 2.4e9, 2.4e9]), None, "a chain folded at rename");
        assert_eq!(agreed(&[2.41e9, 2.43e9, 2.42e9]), Some(2.42e9));
        assert_eq!(agreed(&[0.0, 2.4e9, 2.4e9]), None);
    }
}
