//! Rows about storage, network, kernel, conditions and rights.

use super::row::{FactRow, list, plain, row, stated};
use fathom_core::machine::{
    Adapter, Build, Conditions, CpuSet, Device, Fact, IdleState, Kernel, Machine, Privileges, Resource,
    Route, Storage,
};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::quantity::declared::{bits_rate, on_off, percent, size, yes_no};

pub(super) fn storage(storage: &Storage) -> Vec<FactRow> {
    let bytes = |bytes: &u64| size(*bytes);
    let mut rows = vec![
        plain("Folder", &storage.folder),
        plain("File system", &storage.file_system),
        plain("Mounted at", &storage.mount_point),
        plain("Mounted from", &storage.mount_source),
        plain("Options", &storage.mount_options),
        row("Size", &storage.total_bytes, bytes),
        row("Free", &storage.free_bytes, bytes),
        row("File-system block", &storage.block_bytes, bytes),
    ];
    match &storage.device {
        Fact::Known { value, source } => rows.extend(device(value, source)),
        unknown @ Fact::Unknown { .. } => rows.push(row("Device", unknown, |device| device.name.clone())),
    }
    rows.extend(
        storage.rated.map(|rated| stated("Rated, by its data sheet", rated.to_string(), "--disk-rated")),
    );
    if let Some(remote) = &storage.remote {
        let source = remote.source.as_deref().unwrap_or("--remote");
        rows.push(stated("Read over a network", format!("{} ({})", remote.address, remote.through), source));
        rows.extend(
            remote
                .options
                .as_ref()
                .map(|options| stated("Mount options", options.clone(), "/proc/self/mountinfo")),
        );
        rows.extend(remote.route.as_ref().map(|route| route_row("Route to the server", route)));
    }
    rows.extend(storage.other_disks.iter().map(|disk| {
        let words =
            [Some(disk.kind.clone()), disk.model.value().cloned(), disk.capacity_bytes.value().map(bytes)];
        let words: Vec<String> = words.into_iter().flatten().collect();
        stated(format!("Other disk {}", disk.name), words.join(", "), "/sys/block")
    }));
    rows
}

/// A row of a route to another host: its adapter and first hop.
pub(super) fn route_row(name: &str, route: &Fact<Route>) -> FactRow {
    row(name, route, |route| {
        let first = if route.gateway { "through a gateway" } else { "on its own network" };
        format!("by {}, {first}", route.adapter)
    })
}

fn device(device: &Device, source: &str) -> Vec<FactRow> {
    let bytes = |bytes: &u64| size(*bytes);
    let mut rows = vec![
        stated("Device", format!("{}, {}", device.name, device.kind), source),
        plain("Device model", &device.model),
        row("Rotation speed", &device.turns_per_minute, |turns| format!("{turns} rpm")),
        row("Average rotational latency", &device.turns_per_minute, |turns| {
            format!("{}, half a turn", quantities::value(Unit::Nanoseconds, 30e9 / f64::from(*turns)))
        }),
        plain("Device firmware", &device.firmware),
        row("Capacity", &device.capacity_bytes, bytes),
        plain("Scheduler", &device.scheduler),
        plain("Queue depth", &device.queue_depth),
        plain("Hardware queues", &device.hardware_queues),
        row("Read-ahead", &device.read_ahead_bytes, bytes),
        row("Logical block", &device.logical_block_bytes, bytes),
        row("Physical block", &device.physical_block_bytes, bytes),
        plain("Write cache", &device.write_cache),
        plain("Link", &device.link),
    ];
    if !device.parts.is_empty() {
        rows.push(stated("Underlying devices", device.parts.join(", "), source));
    }
    rows
}

pub(super) fn network(adapters: &[Adapter]) -> Vec<FactRow> {
    adapters.iter().flat_map(adapter).collect()
}

fn adapter(adapter: &Adapter) -> Vec<FactRow> {
    let name = &adapter.name;
    vec![
        stated(name.as_str(), adapter.kind.as_str(), "/sys/class/net"),
        plain(format!("{name} model"), &adapter.model),
        plain(format!("{name} driver"), &adapter.driver),
        row(format!("{name} speed"), &adapter.speed_bits_per_second, |rate| bits_rate(*rate)),
        plain(format!("{name} duplex"), &adapter.duplex),
        row(format!("{name} MTU"), &adapter.mtu_bytes, |bytes| format!("{bytes} B")),
        plain(format!("{name} state"), &adapter.state),
        row(format!("{name} queues"), &adapter.receive_queues, |receive| {
            let transmit = adapter.transmit_queues.value().map_or("?".to_owned(), ToString::to_string);
            format!("{receive} receive, {transmit} transmit")
        }),
        row(format!("{name} offloads"), &adapter.offloads, |offloads| {
            let each = offloads.iter().map(|(name, on)| format!("{name} {}", on_off(*on)));
            each.collect::<Vec<_>>().join(", ")
        }),
    ]
}

/// The model of preemption; of a kernel that can change it, what it was built with is where it begins.
fn preemption(model: &str, kernel: &Kernel) -> String {
    let is_changeable = kernel.version.value().is_some_and(|version| version.contains("PREEMPT_DYNAMIC"));
    let is_as_built = kernel.preemption.source().contains("CONFIG_");
    if is_changeable && is_as_built {
        format!("{model} as built; may have been changed (PREEMPT_DYNAMIC)")
    } else {
        model.to_owned()
    }
}

/// The kernel, with the mitigations that are in force in a line.
pub(super) fn kernel(kernel: &Kernel, mitigations: &str) -> Vec<FactRow> {
    let switch = |on: &bool| on_off(*on);
    vec![
        plain("Release", &kernel.release),
        plain("Version", &kernel.version),
        plain("Architecture", &kernel.architecture),
        plain("Distribution", &kernel.distribution),
        plain("C library", &kernel.libc),
        plain("Command line", &kernel.command_line),
        row("Configuration (SHA-256)", &kernel.config_sha256, |hash| hash.chars().take(16).collect()),
        row("Preemption", &kernel.preemption, |model| preemption(model, kernel)),
        row("Timer tick", &kernel.tick_hz, |hertz| format!("{hertz} Hz")),
        plain("Clock source", &kernel.clocksource),
        list("Clock sources possible", &kernel.clocksources),
        row("Page-table isolation", &kernel.page_table_isolation, switch),
        row("Retpolines", &kernel.retpolines, switch),
        row("Mitigations in force", &kernel.mitigations, |_| mitigations.to_owned()),
        row("Slab free list randomised", &kernel.slab_freelist_random, switch),
        row("Hardened user copy", &kernel.hardened_usercopy, switch),
        row("Random kernel stack", &kernel.random_kernel_stack, switch),
        row("Fault-around", &kernel.fault_around_bytes, |bytes| size(*bytes)),
        row("Memory control groups", &kernel.memory_control_groups, switch),
        plain("userfaultfd", &kernel.userfaultfd),
        row("Forced context tracking", &kernel.context_tracking, switch),
        row("Address randomisation", &kernel.address_randomisation, |level| randomisation(*level)),
        row("io_uring", &kernel.io_uring_disabled, |level| io_uring(*level)),
        row("NMI watchdog", &kernel.nmi_watchdog, switch),
        list("Debugging built in", &kernel.debug_options),
        plain("TCP congestion control", &kernel.tcp_congestion_control),
        row("Largest socket buffers", &kernel.socket_buffer_bytes, |[send, receive]| {
            format!("{} for sending, {} for receiving", size(*send), size(*receive))
        }),
        row("Local ports", &kernel.local_ports, |[first, last]| format!("{first} to {last}")),
    ]
}

fn randomisation(level: u32) -> String {
    let name = match level {
        0 => "off",
        1 => "without the heap",
        2 => "full",
        _ => "unknown level",
    };
    format!("{level} ({name})")
}

fn io_uring(disabled: u32) -> String {
    let name = match disabled {
        0 => "for all",
        1 => "for one group and privileged users",
        2 => "off",
        _ => "unknown level",
    };
    name.to_owned()
}

pub(super) fn mitigations(kernel: &Kernel) -> Vec<FactRow> {
    match &kernel.mitigations {
        Fact::Known { value, source } => value
            .iter()
            .map(|(name, text)| stated(name.as_str(), text.as_str(), &format!("{source}/{name}")))
            .collect(),
        unknown @ Fact::Unknown { .. } => vec![row("Mitigations", unknown, |_| String::new())],
    }
}

pub(super) fn conditions(conditions: &Conditions) -> Vec<FactRow> {
    let cpus = |set: &CpuSet| if set.is_empty() { "none".to_owned() } else { set.to_string() };
    let pressure = |share: &f64| format!("{share} % of the last 10 s");
    vec![
        list("Governor", &conditions.governors),
        plain("Frequency driver", &conditions.frequency_driver),
        list("Energy preference", &conditions.energy_preferences),
        row("Turbo", &conditions.turbo, |on| on_off(*on)),
        plain("Idle driver", &conditions.idle_driver),
        plain("Idle governor", &conditions.idle_governor),
        row("Idle states", &conditions.idle_states, |states| {
            states.iter().map(idle_state).collect::<Vec<_>>().join(", ")
        }),
        row("Isolated CPUs", &conditions.isolated, cpus),
        row("Tickless CPUs", &conditions.tickless, cpus),
        row("Load average", &conditions.load_average, |[one, five, fifteen]| {
            let [one, five, fifteen] = [one, five, fifteen].map(|load| quantities::number(*load));
            format!("{one} (1 min), {five} (5 min), {fifteen} (15 min)")
        }),
        row("CPU pressure", &conditions.cpu_pressure, pressure),
        row("Memory pressure", &conditions.memory_pressure, pressure),
        row("I/O pressure", &conditions.io_pressure, pressure),
        row("Stolen time since boot", &conditions.steal, |share| percent(*share)),
        row("Swap", &conditions.swap_total_bytes, |total| {
            let used = conditions.swap_used_bytes.value().map_or("?".to_owned(), |bytes| size(*bytes));
            format!("{} ({used} used)", size(*total))
        }),
        row("Temperature", &conditions.temperature_celsius, |degrees| {
            format!("{} °C", quantities::plain(degrees.round()))
        }),
        row("On battery", &conditions.on_battery, |yes| yes_no(*yes)),
        plain("Users logged in", &conditions.users),
        row("Up for", &conditions.uptime_seconds, |seconds| {
            format!("{} h", quantities::number(seconds / 3600.0))
        }),
    ]
}

fn idle_state(state: &IdleState) -> String {
    let latency = state.exit_latency_us.map(|us| format!(" {us} µs")).unwrap_or_default();
    let off = if state.disabled { " off" } else { "" };
    format!("{}{latency}{off}", state.name)
}

pub(super) fn limits(machine: &Machine) -> Vec<FactRow> {
    let limits = &machine.conditions.limits;
    let bytes = |limit: &Option<u64>| limit.map_or("no limit".to_owned(), size);
    vec![
        row("CPU quota", &limits.cpu_quota, |quota| {
            quota.map_or("no limit".to_owned(), |cpus| format!("{cpus} CPUs"))
        }),
        plain("Periods throttled so far", &limits.throttled_periods),
        row(
            "cpuset",
            &limits.cpuset,
            |cpus| if cpus.is_empty() { "not set".to_owned() } else { cpus.to_string() },
        ),
        row("Memory limit", &limits.memory_bytes, bytes),
        row("Memory left of it", &limits.memory_left_bytes, bytes),
        row("Memory a run may use", &machine.conditions.available_bytes, |bytes| size(*bytes)),
    ]
}

pub(super) fn virtualization(machine: &Machine) -> Vec<FactRow> {
    let layers = &machine.virtualization;
    let or_none = |kind: &Option<String>| kind.clone().unwrap_or_else(|| "none".to_owned());
    // A guest is told of its hypervisor's own hypervisor by nothing but such a word.
    let nested =
        machine.nested().map(|word| format!("its hypervisor is probably a guest itself, as {word} suggests"));
    let nested = nested.filter(|_| machine.is_virtual()).map(|text| stated("Nesting", text, "/proc/cmdline"));
    let hypervisor = row("Hypervisor", &layers.hypervisor, or_none);
    let rest = vec![
        row("Container", &layers.container, or_none),
        plain("System vendor", &layers.system_vendor),
        plain("System", &layers.system_product),
        plain("Board", &layers.board),
        plain("Firmware", &layers.firmware_version),
    ];
    std::iter::once(hypervisor).chain(nested).chain(rest).collect()
}

pub(super) fn privileges(privileges: &Privileges) -> Vec<FactRow> {
    let mut rows = vec![
        row("Effective user", &privileges.effective_uid, |uid| match uid {
            0 => "root".to_owned(),
            uid => format!("user {uid}"),
        }),
        row("Capabilities", &privileges.capabilities, |held| match held.len() {
            0 => "none that matters here".to_owned(),
            _ => held
                .iter()
                .map(|(name, meaning)| format!("{name} ({meaning})"))
                .collect::<Vec<_>>()
                .join(", "),
        }),
        plain("perf_event_paranoid", &privileges.perf_event_paranoid),
        plain("System-call filter", &privileges.seccomp),
        row("Locked memory", &privileges.locked_memory_bytes, |limit| {
            limit.map_or("no limit".to_owned(), size)
        }),
    ];
    rows.extend(privileges.limits.iter().map(|(resource, fact)| {
        let (name, amount): (_, fn(u64) -> String) = match resource {
            Resource::AddressSpace => ("Address space", size),
            Resource::Data => ("Data", size),
            Resource::LockedMemory => ("Locked memory", size),
            Resource::OpenFiles => ("Open files", |files| files.to_string()),
            Resource::Processes => ("Processes of the user", |processes| processes.to_string()),
        };
        row(name, fact, move |limit| limit.map_or("no limit".to_owned(), amount))
    }));
    let opens = |yes: &bool| if *yes { "opens" } else { "does not open" }.to_owned();
    rows.extend(
        privileges
            .counters
            .iter()
            .map(|(event, fact)| row(format!("Counter: {}", event.name()), fact, opens)),
    );
    rows
}

pub(super) fn build(build: &Build) -> Vec<FactRow> {
    let source = "the compiler";
    vec![
        stated("Version", build.version.as_str(), source),
        stated("Target", build.target.as_str(), source),
        stated("Optimised", yes_no(build.optimised), source),
        plain("Repository", &repository(env!("CARGO_PKG_REPOSITORY"))),
    ]
}

/// Where the source can be had (R-GEN-09), as the manifest of this crate says. None is made up: without one the commit, in the settings of a
/// report, is all that identifies the source.
fn repository(address: &str) -> Fact<String> {
    let manifest = "repository of Cargo.toml";
    if address.is_empty() {
        return Fact::unknown(
            "this program was built without a public address; its commit identifies the source",
            manifest,
        );
    }
    Fact::known(address.to_owned(), manifest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_was_not_given_is_not_made_up() {
        assert_eq!(repository("").value(), None);
        assert_eq!(
            repository("https://example.org/fathom").value().map(String::as_str),
            Some("https://example.org/fathom")
        );
    }
}
