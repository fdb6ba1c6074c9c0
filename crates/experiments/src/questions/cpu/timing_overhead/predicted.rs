//! What reading a clock is predicted to cost, and what other predictions use of it.

use super::KERNEL_CLOCKS;
use super::around_work;
use super::{AROUND, COST, MEASURE, NAME, PAIR, READING};
use crate::arch::KEEPS_WORK;
use crate::expected::mode_switch;
use fathom_core::machine::ClockReading;
use fathom_core::prelude::*;

/// The predicted cost of a reading, or the predicted distance of two back to back.
pub fn predicted_cost(reading: &str, measure: &str, known: &Known) -> Prediction {
    match KERNEL_CLOCKS.iter().find(|(name, _)| reading.starts_with(&format!("{name} by"))) {
        Some((clock, _)) => predicted_kernel_clock(clock, reading.ends_with("syscall"), known),
        None if measure == AROUND => {
            around_work::predicted(predicted_form(reading, PAIR, known), reading, known)
        }
        None => predicted_form(reading, measure, known),
    }
}

fn predicted_form(reading: &str, measure: &str, known: &Known) -> Prediction {
    if known.machine.is_aarch64() {
        let counter =
            known.cycles(36.0, "assumed: as long as an RDTSC of x86-64 (Fog, Instruction tables, 2022)");
        let barrier = "Arm ARM, B2.7.3: the pipeline is emptied; 11 stages, Neoverse N1 Technical Overview";
        return Prediction::new().hardware("reading the counter", 1.0, counter).hardware(
            "barriers of instructions",
            reading.matches("isb").count() as f64,
            known.cycles(11.0, barrier),
        );
    }
    let fog = "Fog, Instruction tables, 2022: RDTSC 20 to 40 cycles on current x86-64 cores";
    let of_loads = reading.matches("lfence").count() as f64;
    let of_both = reading.matches("mfence").count() as f64;
    let mut prediction = Prediction::new().hardware("reading the counter", 1.0, known.cycles(36.0, fog));
    if of_loads > 0.0 {
        let cost =
            known.cycles(6.0, "Fog, Instruction tables, 2022: LFENCE 4 to 8 cycles with nothing in flight");
        prediction = prediction.hardware("fences", of_loads, cost);
    }
    if of_both > 0.0 {
        let cost = known.assumed_cycles(33.0, "some tens of cycles, with no store in flight");
        prediction = prediction.hardware("a fence of loads and stores", of_both, cost);
    }
    // CPUID is before the first reading and after the last: each is part of the cost, none of the pair.
    let cpuids = reading.matches("cpuid").count() as f64;
    if cpuids > 0.0 && measure == COST {
        let cost = if known.machine.is_virtual() {
            published_exit(known)
        } else {
            known.cycles(100.0, "Paoloni 2010: CPUID takes some 100 cycles")
        };
        let exit = known.machine.is_virtual().then_some(TermEvent::VmExit);
        prediction = prediction.hardware("serialising CPUID", cpuids, cost).being(exit);
    }
    prediction
}

/// The time between two readings of the clock that Fathom uses, with nothing between them.
pub fn between_readings(known: &Known) -> Option<Found> {
    known.found(NAME, &Point::new().named(&READING, KEEPS_WORK).named(&MEASURE, PAIR))
}

/// An exit from a virtual machine and the return, published.
pub fn published_exit(known: &Known) -> Basis {
    known.cycles(
        1_300.0,
        "Dall et al., ISCA 2016: 1 300 cycles to leave for the hypervisor and come back, KVM on x86",
    )
}

/// The same, nanoseconds, as this run measured it: CPUID always exits, and two ways to read the clock differ by one CPUID.
pub fn measured_exit(known: &Known) -> Option<Basis> {
    let reading = |name| Point::new().named(&READING, name).named(&MEASURE, COST);
    let [two, one] = ["cpuid-rdtsc rdtscp-cpuid", "cpuid-rdtsc rdtscp"].map(reading);
    // What a neighbour on the core costs one of the two is no part of an exit.
    let exit = known.found(NAME, &two)?.minus(known.found(NAME, &one)?);
    let is_exit = known.machine.is_virtual() && exit.value > 0.0 && exit.is_of_one_core_state();
    is_exit.then_some(Basis { value: exit.value, ..known.measured(NAME, &two)? })
}

/// What `clock_gettime` of the monotonic clock is predicted to take, by `library` or by `syscall`: for every experiment that times it.
pub fn clock_gettime(way: &str, known: &Known) -> Prediction {
    predicted_kernel_clock("monotonic", way == "syscall", known)
}

fn predicted_kernel_clock(clock: &str, by_system_call: bool, known: &Known) -> Prediction {
    let bare = if known.machine.is_aarch64() { "isb-cntvct" } else { "rdtscp" };
    let counter = Point::new().named(&READING, bare).named(&MEASURE, COST);
    let reading = known.measured_or_assumed(NAME, &counter, 12.0, "a counter reading of 36 cycles at 3 GHz");
    let prediction = Prediction::new();
    let coarse = clock.ends_with("coarse");
    let prediction =
        if coarse { prediction } else { prediction.hardware("reading the counter", 1.0, reading) };
    let work =
        known.assumed_cycles(25.0, "some 25 dependent instructions to scale and check the sequence counter");
    let prediction = prediction.software("scaling to nanoseconds", 1.0, work);
    // Coarse clocks are never read from the hardware.
    let unreadable = !coarse && known.machine.kernel.clock_reading() == Some(ClockReading::SystemCall);
    if by_system_call || clock.ends_with("cputime") || unreadable {
        let of_accounts = clock.ends_with("cputime");
        let prediction = if of_accounts {
            prediction.software(
                "the run time of the thread brought up to date",
                1.0,
                brought_up_to_date(known),
            )
        } else {
            prediction
        };
        let entered = ("entering and leaving the kernel", 1.0);
        let prediction = mode_switch::entering(prediction, entered, None, known).software(
            "the clock chosen from a table, and the time copied to the caller",
            1.0,
            copied(known),
        );
        let cycles = COPIED + if of_accounts { BROUGHT_UP_TO_DATE } else { 0.0 };
        return mode_switch::unpredicted_returns(prediction, cycles / mode_switch::CYCLES_A_RETURN, known);
    }
    prediction
}

/// Core cycles of the kernel's part of reading a clock of processor time, and of any.
const BROUGHT_UP_TO_DATE: f64 = 300.0;
const COPIED: f64 = 80.0;

/// The kernel's part for a clock of processor time (`task_sched_runtime` in kernel/sched/core.c).
fn brought_up_to_date(known: &Known) -> Basis {
    known.assumed_cycles(
        BROUGHT_UP_TO_DATE,
        "two locks of some 40 cycles each with interrupts off, a second reading of the counter of 36, and some 180 for the accounts",
    )
}

/// The kernel's part beyond the reading: an indirect call, and a copy of 16 bytes between opening and closing the user's memory.
fn copied(known: &Known) -> Basis {
    known.assumed_cycles(
        COPIED,
        "an indirect call of some 30 cycles, and 50 to open the user's memory, copy and close it",
    )
}

/// The coarse clocks advance at the timer tick (`clock_getres(2)`).
pub fn predicted_tick(known: &Known) -> Prediction {
    let tick = match known.machine.kernel.tick_hz.value() {
        Some(hertz) => Basis::fact(1e9 / f64::from(*hertz), "the kernel's timer tick"),
        None => Basis::assumed(4e6, "a timer tick at the usual 250 Hz"),
    };
    Prediction::new().hardware("smallest visible step", 1.0, tick)
}
