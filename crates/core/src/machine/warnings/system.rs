//! Disturbances from other work, limits, clocks, memory and storage.

use super::{DisturbingCondition, Wording, warning};
use crate::machine::ClockReading;
use crate::machine::Event;
use crate::machine::Machine;
use crate::quantities;
use crate::quantity::declared::{percent, size};

/// Above this 1-minute load, as a share of the CPUs, other work probably runs on the measured CPUs.
const BUSY_SHARE: f64 = 0.5;
/// Below this share of stolen time a virtual machine counts as undisturbed.
const NOTABLE_STEAL: f64 = 0.001;
/// Percent of the last 10 s in which tasks stalled on memory or disk.
const NOTABLE_PRESSURE: f64 = 5.0;
/// The least free space for file experiments, bytes: their files are larger than caches.
const LITTLE_SPACE: u64 = 1 << 30;

pub(super) fn steal(machine: &Machine) -> Option<DisturbingCondition> {
    let steal = *machine.conditions.steal.value()?;
    if steal < NOTABLE_STEAL {
        return None;
    }
    Some(warning(
        "steal",
        format!(
            "The hypervisor has given {} of the CPU time since boot to other guests (steal).",
            percent(steal)
        ),
        Wording::of(
            "Use a machine with dedicated CPUs; the report of a run says in how many of its trials time was taken, and how much.",
            "Use a machine with dedicated CPUs.",
        ),
    ))
}

pub(super) fn quota(machine: &Machine) -> Option<DisturbingCondition> {
    let quota = machine.cpu_quota()?;
    let cpus = machine.allowed_cpus().len();
    if cpus > 0 && quota >= cpus as f64 {
        return None;
    }
    let stopped = machine.conditions.limits.throttled_periods.value().filter(|count| **count > 0);
    let so_far =
        stopped.map(|count| format!(" This has happened {count} times already.")).unwrap_or_default();
    Some(warning(
        "cpu-quota",
        format!(
            "A control group limits CPU time to {quota} CPUs on a machine of {cpus}: work beyond that is stopped for \
             tens of milliseconds.{so_far}"
        ),
        Wording::of(
            "Raise the limit (`--cpus` of the container); the report of a run says how many trials were stopped.",
            "Raise the limit (`--cpus` of the container).",
        ),
    ))
}

/// Whether a 1-minute load average shows that other work runs on these CPUs.
pub fn is_loaded(load: f64, cpus: usize) -> bool {
    load > BUSY_SHARE * cpus.max(1) as f64
}

pub(super) fn load(machine: &Machine) -> Option<DisturbingCondition> {
    let [load, ..] = *machine.conditions.load_average.value()?;
    let cpus = machine.allowed_cpus().len().max(1);
    if !is_loaded(load, cpus) {
        return None;
    }
    let tasks = format!("on average {} tasks ran or waited on {cpus} CPUs", quantities::number(load));
    Some(warning(
        "load",
        Wording::of(
            format!("The machine is not idle: {tasks} in the last minute."),
            format!("The machine was not idle when the run began: {tasks} in the minute before."),
        ),
        "Stop other work (`top` shows it), or let the run wait until it has ended: `fathom run --wait 60s`.",
    ))
}

pub(super) fn pressure(machine: &Machine) -> Option<DisturbingCondition> {
    let resources =
        [("memory", &machine.conditions.memory_pressure), ("disk", &machine.conditions.io_pressure)];
    let stalled: Vec<String> = resources
        .iter()
        .filter_map(|(name, pressure)| Some((name, *pressure.value()?)))
        .filter(|(_, share)| *share >= NOTABLE_PRESSURE)
        .map(|(name, share)| format!("{name} {}", quantities::percent(share / 100.0)))
        .collect();
    if stalled.is_empty() {
        return None;
    }
    let stalled = stalled.join(", ");
    Some(warning(
        "pressure",
        Wording::of(
            format!("Tasks were stalled in the last 10 s, waiting for: {stalled}."),
            format!("Tasks were stalled in the 10 s before the run, waiting for: {stalled}."),
        ),
        "Wait until other work has ended.",
    ))
}

pub(super) fn swap(machine: &Machine) -> Option<DisturbingCondition> {
    let used = *machine.conditions.swap_used_bytes.value()?;
    if used == 0 {
        return None;
    }
    Some(warning(
        "swap",
        format!("{} of swap are in use: memory that was idle may be on disk.", size(used)),
        "Free memory, or as root: `swapoff -a && swapon -a` to bring it back before the run.",
    ))
}

pub(super) fn clocksource(machine: &Machine) -> Option<DisturbingCondition> {
    let source = machine.kernel.clocksource.value()?;
    let cost = match machine.kernel.clock_reading()? {
        ClockReading::Direct => return None,
        ClockReading::SharedPage => {
            "its reading is corrected with a page of the hypervisor's, which costs some nanoseconds"
        }
        ClockReading::SystemCall => "every reading of it is a system call and slow",
    };
    let can_change =
        machine.kernel.clocksources.value().is_some_and(|others| others.iter().any(|name| name == "tsc"));
    let remedy = if can_change {
        "As root: `echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource`, if the counter is sound."
    } else {
        "The kernel's log says why it does not trust the time-stamp counter (`dmesg | grep -i tsc`)."
    };
    Some(warning(
        "clocksource",
        format!("The kernel's clock is \"{source}\", not the processor's own counter: {cost}."),
        remedy,
    ))
}

pub(super) fn tick_counter(machine: &Machine) -> Option<DisturbingCondition> {
    if machine.processor.tick_counter.invariant.value() != Some(&false) {
        return None;
    }
    Some(warning(
        "tick-counter",
        "The time-stamp counter is not declared invariant: it may change its rate with the clock or stop in idle states.",
        "The clock is qualified before use and another is taken if it fails; in a virtual machine, ask for `invtsc`.",
    ))
}

pub(super) fn counters(machine: &Machine) -> Option<DisturbingCondition> {
    let closed = |event: &Event| {
        let fact = machine.privileges.counters.get(event)?;
        fact.reason().map(|reason| (event.name(), reason.to_owned()))
    };
    let missing: Vec<(&str, String)> = Event::ALL.iter().filter_map(closed).collect();
    let (_, first_reason) = missing.first()?;
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    Some(warning(
        "counters",
        format!("These counters are not available: {}.", names.join(", ")),
        format!("Reason: {first_reason}."),
    ))
}

pub(super) fn unbalanced(machine: &Machine) -> Option<DisturbingCondition> {
    let channels = machine.memory.channels.value()?;
    if channels.is_balanced() {
        return None;
    }
    let sizes: Vec<String> =
        channels.bytes.iter().map(|(name, bytes)| format!("{name}: {}", size(*bytes))).collect();
    Some(warning(
        "memory-unbalanced",
        format!(
            "Memory channels have different sizes ({}), so bandwidth depends on the location of pages.",
            sizes.join(", ")
        ),
        "Use equal modules on all channels.",
    ))
}

pub(super) fn empty_channels(machine: &Machine) -> Option<DisturbingCondition> {
    let channels = machine.memory.channels.value()?;
    if channels.empty.is_empty() {
        return None;
    }
    Some(warning(
        "memory-channels-empty",
        format!(
            "Memory channels without a module: {}. Their share of the bandwidth is missing.",
            channels.empty.join(", ")
        ),
        "Use modules on all channels.",
    ))
}

pub(super) fn memory_errors(machine: &Machine) -> Option<DisturbingCondition> {
    let errors = machine.memory.error_correction.value()?;
    if (errors.corrected_errors, errors.uncorrected_errors) == (0, 0) {
        return None;
    }
    Some(warning(
        "memory-errors",
        format!(
            "Memory has had {} corrected and {} uncorrected errors since boot.",
            errors.corrected_errors, errors.uncorrected_errors
        ),
        "Find the module (`ras-mc-ctl --errors`) and replace it.",
    ))
}

pub(super) fn debug_kernel(machine: &Machine) -> Option<DisturbingCondition> {
    let options = machine.kernel.debug_options.value()?;
    if options.is_empty() {
        return None;
    }
    Some(warning(
        "debug-kernel",
        format!("The kernel is built with checks that slow it down: {}.", options.join(", ")),
        "Measure a kernel without them.",
    ))
}

pub(super) fn folder_in_memory(machine: &Machine) -> Option<DisturbingCondition> {
    let kind = machine.storage.file_system.value()?;
    if !matches!(kind.as_str(), "tmpfs" | "ramfs") {
        return None;
    }
    Some(warning(
        "folder-in-memory",
        format!("The measured folder is on {kind}: file experiments measure memory, not a disk."),
        "Choose a folder on a disk.",
    ))
}

pub(super) fn little_space(machine: &Machine) -> Option<DisturbingCondition> {
    let free = *machine.storage.free_bytes.value()?;
    if free >= LITTLE_SPACE {
        return None;
    }
    Some(warning(
        "little-space",
        format!("The measured folder has {} free: files larger than the caches do not fit.", size(free)),
        "Free some space, or choose another folder.",
    ))
}
