//! Disturbances from the processor, its clocks and its cores.

use super::{DisturbingCondition, warning};
use crate::machine::Machine;
use crate::quantities;
use crate::quantity::declared::frequency;

/// Idle states with a longer exit latency than this show in latencies of tens of microseconds.
const SLOW_EXIT_US: u64 = 50;
/// Processors begin to throttle themselves not far above this, degrees Celsius.
const HOT: f64 = 85.0;

pub(super) fn unoptimised(machine: &Machine) -> Option<DisturbingCondition> {
    if machine.build.optimised {
        return None;
    }
    Some(warning(
        "unoptimised-build",
        "This program was built without optimisation, so its overhead around every operation is larger.",
        "Build it with `cargo build --release`.",
    ))
}

pub(super) fn governor(machine: &Machine) -> Option<DisturbingCondition> {
    let governors = machine.conditions.governors.value()?;
    let slow: Vec<&str> =
        governors.iter().map(String::as_str).filter(|name| *name != "performance").collect();
    if slow.is_empty() {
        return None;
    }
    Some(warning(
        "governor",
        format!(
            "The frequency governor is \"{}\": idle cores lower their frequency and take time to raise it.",
            slow.join(", ")
        ),
        "As root: `cpupower frequency-set -g performance` for the time of the run.",
    ))
}

pub(super) fn turbo(machine: &Machine) -> Option<DisturbingCondition> {
    if machine.conditions.turbo.value() != Some(&true) {
        return None;
    }
    let limit = machine.max_hz().map(|hertz| format!(" (up to {})", frequency(hertz))).unwrap_or_default();
    let remedy = if machine.conditions.turbo.source().contains("no_turbo") {
        "Compare in core cycles, or as root: `echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`."
    } else {
        "Compare in core cycles, or as root: `echo 0 > /sys/devices/system/cpu/cpufreq/boost`."
    };
    Some(warning(
        "turbo",
        format!(
            "Turbo is on: the clock rises above nominal{limit} as heat and the other cores allow, so times vary."
        ),
        remedy,
    ))
}

pub(super) fn battery(machine: &Machine) -> Option<DisturbingCondition> {
    if machine.conditions.on_battery.value() != Some(&true) {
        return None;
    }
    Some(warning("battery", "The machine runs on battery, which lowers its frequency.", "Plug it in."))
}

pub(super) fn hot(machine: &Machine) -> Option<DisturbingCondition> {
    let degrees = *machine.conditions.temperature_celsius.value()?;
    if degrees < HOT {
        return None;
    }
    Some(warning(
        "temperature",
        format!(
            "The processor is at {} °C before the run: it may slow itself down.",
            quantities::plain(degrees.round())
        ),
        "Let it cool, and look at its fans.",
    ))
}

pub(super) fn idle_exit(machine: &Machine) -> Option<DisturbingCondition> {
    let states = machine.conditions.idle_states.value()?;
    let slowest = states.iter().filter(|state| !state.disabled).max_by_key(|state| state.exit_latency_us)?;
    let latency = slowest.exit_latency_us.filter(|latency| *latency >= SLOW_EXIT_US)?;
    Some(warning(
        "idle-states",
        format!(
            "Idle CPUs sleep as deep as {} and take up to {latency} µs to wake: round trips and wake-ups include it.",
            slowest.name
        ),
        "As root: `cpupower idle-set -D 10`; otherwise the results include it.",
    ))
}

pub(super) fn smt(machine: &Machine) -> Option<DisturbingCondition> {
    if machine.topology.smt.value() != Some(&true) {
        return None;
    }
    Some(warning(
        "smt",
        "Cores are shared by several CPUs (SMT): work on a sibling slows the measured one and fills its caches.",
        "Keep the siblings of the measured CPUs idle, or as root: `echo off > /sys/devices/system/cpu/smt/control`.",
    ))
}

pub(super) fn classes(machine: &Machine) -> Option<DisturbingCondition> {
    let classes = machine.topology.classes.value()?;
    if classes.len() < 2 {
        return None;
    }
    let named: Vec<String> =
        classes.iter().map(|class| format!("{} (CPUs {})", class.name, class.cpus)).collect();
    Some(warning(
        "core-classes",
        format!(
            "The cores are not alike: {}. A result holds for the class it was measured on.",
            named.join(", ")
        ),
        "Compare results of one class only.",
    ))
}

pub(super) fn emulated(machine: &Machine) -> Option<DisturbingCondition> {
    let hypervisor = machine.virtualization.hypervisor.value()?.as_deref()?;
    if !hypervisor.contains("TCG") {
        return None;
    }
    Some(warning(
        "emulated",
        "The processor is emulated in software: its costs are those of the emulator.",
        "Start the virtual machine with hardware virtualisation (`-accel kvm`).",
    ))
}
