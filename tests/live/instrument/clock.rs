//! Clocks, the readings around work, and the loops whose iterations only time can count.

use crate::described;
use crate::tier::{Outcome, Test, alone, inconclusive, skipped};
use fathom::experiment::{CoreWidth, Point, Spin, Stopwatch, Work};
use fathom::machine::Machine;
use fathom::sampling::clock::{Clock, Counter, MonotonicRaw, kernel_clock, overhead};
use fathom::sampling::{ClockKind, OnCpu, Qualification, observe_core};
use std::path::Path;
use std::time::{Duration, Instant};

pub const TESTS: &[Test] = &alone![
    both_clocks_go_forward_and_cost_less_than_ten_microseconds,
    a_core_takes_between_one_and_twelve_additions_in_a_cycle,
    fenced_readings_see_the_work_between_them,
    the_counter_is_read_between_fences,
    a_thread_that_sleeps_has_no_cpu_and_tells_it_by_its_switches,
    a_thread_that_works_has_as_much_cpu_as_it_was_not_kept_from,
    the_loops_of_report_000_go_round_as_often_as_they_are_told,
];

/// The machine of this process.
fn here() -> Machine {
    Machine::describe(Path::new("."))
}

/// The median of some repetitions and an interval around it that has the truth in 98 of 100 cases: by ranks, without an
/// assumption about how they are distributed (a sign test of 41 values).
fn median_of_41(repetition: impl FnMut(usize) -> f64) -> [f64; 3] {
    let mut values: Vec<f64> = (0..41).map(repetition).collect();
    values.sort_by(f64::total_cmp);
    [values[12], values[20], values[28]]
}

/// Passes where all of an interval is in a range, fails where none of it is.
fn within(what: &str, [low, middle, high]: [f64; 3], least: f64, most: f64) -> Outcome {
    let seen = format!("{what}: {middle:.3} ({low:.3} to {high:.3}), expected {least:.3} to {most:.3}");
    assert!(low <= most && high >= least, "{seen}");
    if low >= least && high <= most { Ok(()) } else { inconclusive(seen) }
}

fn both_clocks_go_forward_and_cost_less_than_ten_microseconds() -> Outcome {
    within("the kernel's clock, µs", median_of_41(|_| overhead(&MonotonicRaw) / 1e3), 0.0, 10.0)?;
    super::rdtscp()?;
    let ticks_per_us = Qualification::run(&here(), Some(ClockKind::Counter)).ticks_per_second / 1e6;
    within("the counter, µs", median_of_41(|_| overhead(&Counter) / ticks_per_us), 0.0, 10.0)?;
    let (first, later) = (Counter.start(), Counter.stop());
    assert!(later.since(first).0 >= 0, "{first:?} and then {later:?}");
    Ok(())
}

fn a_core_takes_between_one_and_twelve_additions_in_a_cycle() -> Outcome {
    let mut machine = here();
    let clock = Qualification::run(&machine, Some(ClockKind::MonotonicRaw));
    let mut unknown = None;
    let seen = median_of_41(|_| {
        observe_core(&mut machine, &clock);
        let cycles = &machine.processor.cycles_per_instruction;
        unknown = unknown.take().or_else(|| cycles.reason().map(str::to_owned));
        cycles.value().copied().unwrap_or(f64::NAN)
    });
    match unknown {
        Some(reason) => skipped(reason),
        None => within("cycles an instruction", seen, 1.0 / 12.0, 1.05),
    }
}

/// A clock that nobody reads: the readings are the work.
struct Unread;

impl Stopwatch for Unread {
    fn stamp(&self) {}

    fn now_ns(&self) -> f64 {
        0.0
    }

    fn spin(&self, _: f64) -> Spin {
        Spin::default()
    }

    fn core(&self) -> CoreWidth {
        CoreWidth { addition_ns: 1.0, quotient: 1.0 }
    }
}

/// What a reading of this form sees, in ticks: the least of many differences, which is undisturbed.
fn least_difference(measure: &str) -> Outcome<f64> {
    let experiment = fathom::experiments::find("cpu/timing_overhead").expect("an experiment");
    let is = |point: &Point, name: &str, value: &str| {
        point.get(name).is_some_and(|found| found.to_string() == value)
    };
    let fenced = |point: &&Point| {
        is(point, "reading", "lfence-rdtsc-lfence rdtscp-lfence") && is(point, "measure", measure)
    };
    let machine = here();
    let sweep = experiment.sweep(&machine);
    let Some(point) = sweep.iter().find(fenced) else { return skipped("a processor with lfence and rdtscp") };
    if let Some(lacking) = experiment.requires(point).iter().find_map(|needed| needed.unmet_reason(&machine))
    {
        return skipped(lacking);
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let site = described::site(folder.path(), &Unread);
    let mut workload = experiment.workload(point, &site).expect("it can be measured");
    let Work::Recorded(observe) = &mut workload.work else { panic!("not recorded") };
    let differences = (0..10_000).filter_map(|_| observe().expect("a reading"));
    Ok(differences.fold(f64::INFINITY, f64::min))
}

fn fenced_readings_see_the_work_between_them() -> Outcome {
    const MULTIPLICATIONS: f64 = 64.0;
    // Three cycles each on every core since 2008, and a core has at most about three cycles per tick.
    let (with, without) = (least_difference("around work")?, least_difference("pair")?);
    assert!(
        with - without > MULTIPLICATIONS / 2.0,
        "{with} ticks around work, {without} around nothing, each the least of ten thousand"
    );
    Ok(())
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
extern "C" fn start() -> u64 {
    Counter.start().ticks
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
extern "C" fn stop() -> u64 {
    Counter.stop().ticks
}

/// The fences and readings of a function up to its return, as they stand in this program.
#[cfg(target_arch = "x86_64")]
fn ordered(function: extern "C" fn() -> u64) -> Vec<iced_x86::Mnemonic> {
    use iced_x86::{Decoder, DecoderOptions, Mnemonic};
    let address = function as *const () as usize;
    // SAFETY: the code of both functions is shorter, and this program goes on behind them.
    let code = unsafe { std::slice::from_raw_parts(address as *const u8, 64) };
    Decoder::with_ip(64, code, address as u64, DecoderOptions::NONE)
        .into_iter()
        .map(|instruction| instruction.mnemonic())
        .take_while(|mnemonic| *mnemonic != Mnemonic::Ret)
        .filter(|mnemonic| [Mnemonic::Lfence, Mnemonic::Rdtsc, Mnemonic::Rdtscp].contains(mnemonic))
        .collect()
}

/// What time cannot show on every core is there to be read.
#[cfg(target_arch = "x86_64")]
fn the_counter_is_read_between_fences() -> Outcome {
    use iced_x86::Mnemonic::{Lfence, Rdtsc, Rdtscp};
    if cfg!(debug_assertions) {
        return skipped("an optimised build: others call their intrinsics");
    }
    assert_eq!(ordered(start), [Lfence, Rdtsc, Lfence]);
    assert_eq!(ordered(stop), [Rdtscp, Lfence]);
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
fn the_counter_is_read_between_fences() -> Outcome {
    skipped("a counter of x86-64")
}

fn a_thread_that_sleeps_has_no_cpu_and_tells_it_by_its_switches() -> Outcome {
    let watched = OnCpu::begin();
    std::thread::sleep(Duration::from_millis(20));
    let slept = watched.end();
    assert!(slept.share() < 0.5 && slept.voluntary_switches > 0, "{slept:?}");
    Ok(())
}

fn a_thread_that_works_has_as_much_cpu_as_it_was_not_kept_from() -> Outcome {
    let watched = OnCpu::begin();
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(20) {}
    let worked = watched.end();
    if worked.share() > 0.9 || worked.involuntary_switches > 0 {
        return Ok(());
    }
    // A hypervisor takes a virtual CPU away without a switch that the guest could count.
    inconclusive(format!("{:.0} % of the CPU, and never switched away: {worked:?}", 100.0 * worked.share()))
}

fn the_loops_of_report_000_go_round_as_often_as_they_are_told() -> Outcome {
    use fathom::replicate::report_000::cpu::unoptimised::{calls, empty, store};

    // The time in which this thread had its CPU: it waits longer in the longer of two loops.
    let took = |work: fn(u64), rounds| {
        let began = kernel_clock(libc::CLOCK_THREAD_CPUTIME_ID);
        work(rounds);
        (kernel_clock(libc::CLOCK_THREAD_CPUTIME_ID) - began) as f64
    };
    let procedures = |rounds| {
        calls(7, rounds);
    };
    for (name, work) in [("empty", empty as fn(u64)), ("store", store), ("calls", procedures)] {
        // One right after the other, so that a core that another guest slows is slow for both. It may change in between, and a
        // core may forward a store to a load in no time for a while: rounds take up to five times as long as others.
        // A loop that does not count its rounds takes as long for both.
        let ratios = median_of_41(|_| took(work, 2_000_000) / took(work, 20_000));
        within(&format!("{name}: a hundred times as many take as many times as long"), ratios, 20.0, 500.0)?;
    }
    Ok(())
}
