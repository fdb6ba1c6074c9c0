//! What may disturb a run on this machine, said once, with what to do about it. What is unknown is no
//! problem by itself: a virtual machine without a frequency driver gets no warning about its governor.

use serde::{Deserialize, Serialize};

use super::quantities::{frequency, percent, size};
use super::{Event, Machine};

/// One possible disturbance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Warning {
    /// A short name that does not change (`governor`, `cpu-quota`).
    pub id: String,
    /// What is the matter, and what it does to results.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

/// Above this 1-minute load somebody else is computing too.
const BUSY_LOAD: f64 = 0.5;
/// Below this share of stolen time a virtual machine is as good as undisturbed.
const NOTABLE_STEAL: f64 = 0.001;
/// Percent of the last 10 s in which tasks stalled on memory or disk.
const NOTABLE_PRESSURE: f64 = 5.0;
/// Waking from idle states slower than this shows in latencies of tens of microseconds.
const SLOW_EXIT_US: u64 = 50;
/// Processors begin to slow themselves not far above this, degrees Celsius.
const HOT: f64 = 85.0;
/// File experiments need room for files larger than caches.
const LITTLE_SPACE: u64 = 1 << 30;

impl Machine {
    /// Everything about this machine, in its present state, that may disturb a run.
    pub fn warnings(&self) -> Vec<Warning> {
        let checks = [
            unoptimised,
            governor,
            turbo,
            battery,
            hot,
            idle_exit,
            smt,
            classes,
            emulated,
            steal,
            quota,
            load,
            pressure,
            swap,
            clocksource,
            tick_counter,
            counters,
            unbalanced,
            empty_channels,
            memory_errors,
            debug_kernel,
            folder_in_memory,
            little_space,
        ];
        checks.iter().filter_map(|check| check(self)).collect()
    }
}

fn warning(id: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Option<Warning> {
    Some(Warning { id: id.to_owned(), problem: problem.into(), remedy: remedy.into() })
}

fn unoptimised(machine: &Machine) -> Option<Warning> {
    if machine.build.optimised {
        return None;
    }
    warning(
        "unoptimised-build",
        "This program was built without optimisation: everything it does around an operation costs more.",
        "Build it with `cargo build --release`.",
    )
}

fn governor(machine: &Machine) -> Option<Warning> {
    let governors = machine.conditions.governors.value()?;
    let slow: Vec<&str> =
        governors.iter().map(String::as_str).filter(|name| *name != "performance").collect();
    if slow.is_empty() {
        return None;
    }
    warning(
        "governor",
        format!(
            "The frequency governor is \"{}\": cores clock down when idle and take time to clock up.",
            slow.join(", ")
        ),
        "As root: `cpupower frequency-set -g performance` for the time of the run.",
    )
}

fn turbo(machine: &Machine) -> Option<Warning> {
    if machine.conditions.turbo.value() != Some(&true) {
        return None;
    }
    let limit = machine.max_hz().map(|hertz| format!(" (up to {})", frequency(hertz))).unwrap_or_default();
    let remedy = if machine.conditions.turbo.source().contains("no_turbo") {
        "Compare in core cycles, or as root: `echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`."
    } else {
        "Compare in core cycles, or as root: `echo 0 > /sys/devices/system/cpu/cpufreq/boost`."
    };
    warning(
        "turbo",
        format!(
            "Turbo is on: the clock rises above nominal{limit} as heat and the other cores allow, so times vary."
        ),
        remedy,
    )
}

fn battery(machine: &Machine) -> Option<Warning> {
    if machine.conditions.on_battery.value() != Some(&true) {
        return None;
    }
    warning("battery", "The machine runs on battery, which lowers its clocks.", "Plug it in.")
}

fn hot(machine: &Machine) -> Option<Warning> {
    let degrees = *machine.conditions.temperature_celsius.value()?;
    if degrees < HOT {
        return None;
    }
    warning(
        "temperature",
        format!("The processor is at {degrees:.0} °C before the run: it may slow itself down."),
        "Let it cool, and look at its fans.",
    )
}

fn idle_exit(machine: &Machine) -> Option<Warning> {
    let states = machine.conditions.idle_states.value()?;
    let slowest = states.iter().filter(|state| !state.disabled).max_by_key(|state| state.exit_latency_us)?;
    let latency = slowest.exit_latency_us.filter(|latency| *latency >= SLOW_EXIT_US)?;
    warning(
        "idle-states",
        format!(
            "Idle CPUs sleep as deep as {} and take up to {latency} µs to wake: round trips and wake-ups include it.",
            slowest.name
        ),
        "As root: `cpupower idle-set -D 10`, or keep it and know that it is in the numbers.",
    )
}

fn smt(machine: &Machine) -> Option<Warning> {
    if machine.topology.smt.value() != Some(&true) {
        return None;
    }
    warning(
        "smt",
        "Cores are shared by several CPUs (SMT): work on a sibling slows the measured one and fills its caches.",
        "Keep the siblings of the measured CPUs idle, or as root: `echo off > /sys/devices/system/cpu/smt/control`.",
    )
}

fn classes(machine: &Machine) -> Option<Warning> {
    let classes = machine.topology.classes.value()?;
    if classes.len() < 2 {
        return None;
    }
    let named: Vec<String> =
        classes.iter().map(|class| format!("{} (CPUs {})", class.name, class.cpus)).collect();
    warning(
        "core-classes",
        format!(
            "The cores are not alike: {}. A result holds for the class it was measured on.",
            named.join(", ")
        ),
        "Compare results of one class only.",
    )
}

fn emulated(machine: &Machine) -> Option<Warning> {
    let hypervisor = machine.virtualization.hypervisor.value()?.as_deref()?;
    if !hypervisor.contains("TCG") {
        return None;
    }
    warning(
        "emulated",
        "The processor is emulated in software: its costs are those of the emulator.",
        "Start the virtual machine with hardware virtualisation (`-accel kvm`).",
    )
}

fn steal(machine: &Machine) -> Option<Warning> {
    let steal = *machine.conditions.steal.value()?;
    if steal < NOTABLE_STEAL {
        return None;
    }
    warning(
        "steal",
        format!("The hypervisor has given {} of the time since boot to others.", percent(steal)),
        "Use a machine with dedicated CPUs; samples with stolen time are marked.",
    )
}

fn quota(machine: &Machine) -> Option<Warning> {
    let quota = machine.cpu_quota()?;
    let cpus = machine.allowed_cpus().len();
    if cpus > 0 && quota >= cpus as f64 {
        return None;
    }
    let stopped = machine.conditions.limits.throttled_periods.value().filter(|count| **count > 0);
    let so_far =
        stopped.map(|count| format!(" It has been stopped so {count} times already.")).unwrap_or_default();
    warning(
        "cpu-quota",
        format!(
            "A control group allows {quota} CPUs' worth of time on {cpus} CPUs: work beyond it is stopped for tens of milliseconds.{so_far}"
        ),
        "Raise the limit (`--cpus` of the container), or use fewer threads than that; throttled samples are marked.",
    )
}

fn load(machine: &Machine) -> Option<Warning> {
    let [load, ..] = *machine.conditions.load_average.value()?;
    if load <= BUSY_LOAD {
        return None;
    }
    warning(
        "load",
        format!("The machine is busy: {load:.2} tasks on average ran or waited in the last minute."),
        "Stop other work (`top` shows it), or wait a minute if it was your own build.",
    )
}

fn pressure(machine: &Machine) -> Option<Warning> {
    let resources =
        [("memory", &machine.conditions.memory_pressure), ("disk", &machine.conditions.io_pressure)];
    let stalled: Vec<String> = resources
        .iter()
        .filter_map(|(name, pressure)| Some((name, *pressure.value()?)))
        .filter(|(_, share)| *share >= NOTABLE_PRESSURE)
        .map(|(name, share)| format!("{name} {share:.0} %"))
        .collect();
    if stalled.is_empty() {
        return None;
    }
    warning(
        "pressure",
        format!("Tasks were stalled in the last 10 s, waiting for: {}.", stalled.join(", ")),
        "Wait until the other work is done.",
    )
}

fn swap(machine: &Machine) -> Option<Warning> {
    let used = *machine.conditions.swap_used_bytes.value()?;
    if used == 0 {
        return None;
    }
    warning(
        "swap",
        format!("{} of swap are in use: memory that was idle may be on disk.", size(used)),
        "Free memory, or as root: `swapoff -a && swapon -a` to bring it back before the run.",
    )
}

/// Clocks that every architecture reads without a system call and without the hypervisor's help.
const DIRECT_CLOCKS: &[&str] = &["tsc", "arch_sys_counter", "riscv_clocksource", "timebase", "tod"];
/// Clocks that still need no system call, with a page of the hypervisor's.
const SHARED_PAGE_CLOCKS: &[&str] = &["kvm-clock", "hyperv_clocksource_tsc_page"];

fn clocksource(machine: &Machine) -> Option<Warning> {
    let source = machine.kernel.clocksource.value()?;
    if DIRECT_CLOCKS.contains(&source.as_str()) {
        return None;
    }
    let cost = if SHARED_PAGE_CLOCKS.contains(&source.as_str()) {
        "its reading is corrected with a page of the hypervisor's, which costs some nanoseconds"
    } else {
        "every reading of it is a system call and slow"
    };
    let can_change =
        machine.kernel.clocksources.value().is_some_and(|others| others.iter().any(|name| name == "tsc"));
    let remedy = if can_change {
        "As root: `echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource`, if the counter is sound."
    } else {
        "See in the kernel's log why it does not trust the time-stamp counter (`dmesg | grep -i tsc`)."
    };
    warning(
        "clocksource",
        format!("The kernel's clock is \"{source}\", not the processor's own counter: {cost}."),
        remedy,
    )
}

fn tick_counter(machine: &Machine) -> Option<Warning> {
    if machine.processor.tick_counter.invariant.value() != Some(&false) {
        return None;
    }
    warning(
        "tick-counter",
        "The time-stamp counter is not declared invariant: it may change its rate with the clock or stop in idle states.",
        "The clock is qualified before use and another is taken if it fails; in a virtual machine, ask for `invtsc`.",
    )
}

fn counters(machine: &Machine) -> Option<Warning> {
    let closed = |event: &Event| {
        let fact = machine.privileges.counters.get(event)?;
        fact.reason().map(|reason| (event.name(), reason.to_owned()))
    };
    let missing: Vec<(&str, String)> = Event::ALL.iter().filter_map(closed).collect();
    let (_, first_reason) = missing.first()?;
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    warning(
        "counters",
        format!("These columns will be missing, their counters do not open: {}.", names.join(", ")),
        format!("Reason: {first_reason}."),
    )
}

fn unbalanced(machine: &Machine) -> Option<Warning> {
    let channels = machine.memory.channels.value()?;
    if channels.is_balanced() {
        return None;
    }
    let sizes: Vec<String> =
        channels.bytes.iter().map(|(name, bytes)| format!("{name}: {}", size(*bytes))).collect();
    warning(
        "memory-unbalanced",
        format!(
            "Memory channels carry different amounts ({}): bandwidth depends on where pages lie.",
            sizes.join(", ")
        ),
        "Put equal modules on all channels.",
    )
}

fn empty_channels(machine: &Machine) -> Option<Warning> {
    let channels = machine.memory.channels.value()?;
    if channels.empty.is_empty() {
        return None;
    }
    warning(
        "memory-channels-empty",
        format!(
            "Memory channels without a module: {}. Their share of the bandwidth is missing.",
            channels.empty.join(", ")
        ),
        "Put modules on all channels.",
    )
}

fn memory_errors(machine: &Machine) -> Option<Warning> {
    let errors = machine.memory.error_correction.value()?;
    if (errors.corrected_errors, errors.uncorrected_errors) == (0, 0) {
        return None;
    }
    warning(
        "memory-errors",
        format!(
            "Memory has had {} corrected and {} uncorrected errors since boot.",
            errors.corrected_errors, errors.uncorrected_errors
        ),
        "Find the module (`ras-mc-ctl --errors`) and replace it.",
    )
}

fn debug_kernel(machine: &Machine) -> Option<Warning> {
    let options = machine.kernel.debug_options.value()?;
    if options.is_empty() {
        return None;
    }
    warning(
        "debug-kernel",
        format!("The kernel is built with checks that slow it down: {}.", options.join(", ")),
        "Measure a kernel without them.",
    )
}

fn folder_in_memory(machine: &Machine) -> Option<Warning> {
    let kind = machine.storage.file_system.value()?;
    if !matches!(kind.as_str(), "tmpfs" | "ramfs") {
        return None;
    }
    warning(
        "folder-in-memory",
        format!("The measured folder is on {kind}: file experiments measure memory, not a disk."),
        "Choose a folder on a disk.",
    )
}

fn little_space(machine: &Machine) -> Option<Warning> {
    let free = *machine.storage.free_bytes.value()?;
    if free >= LITTLE_SPACE {
        return None;
    }
    warning(
        "little-space",
        format!("The measured folder has {} free: files larger than the caches do not fit.", size(free)),
        "Make room, or choose another folder.",
    )
}
