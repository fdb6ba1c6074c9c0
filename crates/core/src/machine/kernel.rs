//! The kernel: version, how it was built and started, and the features that are known to change what
//! operations cost (the eleven root causes of Ren et al., SOSP 2019, among them).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::host::Host;
use super::kernel_config::Config;
use super::published;
use super::source::Root;

/// The kernel and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Kernel {
    /// `6.18.0`
    pub release: Fact<String>,
    /// Build of that release.
    pub version: Fact<String>,
    /// Architecture, as the kernel names it.
    pub architecture: Fact<String>,
    /// Distribution.
    pub distribution: Fact<String>,
    /// C library.
    pub libc: Fact<String>,
    /// The options of the command line that change figures, with the number of others: these may contain names, addresses and
    /// passwords. Earlier run files have the whole line.
    pub command_line: Fact<String>,
    /// SHA-256 of the build configuration, which shows whether two kernels were built alike.
    pub config_sha256: Fact<String>,
    /// `none`, `voluntary`, `full`, `lazy`, `realtime`.
    pub preemption: Fact<String>,
    /// Frequency of the timer tick, Hz.
    pub tick_hz: Fact<u32>,
    /// Source of the kernel's clock.
    pub clocksource: Fact<String>,
    /// Other sources it could use.
    pub clocksources: Fact<Vec<String>>,
    /// Known vulnerabilities of the processor, with the kernel's mitigation of each.
    pub mitigations: Fact<BTreeMap<String, String>>,
    /// Page-table isolation: every entry to the kernel switches page tables.
    pub page_table_isolation: Fact<bool>,
    /// Retpolines: indirect calls in the kernel are replaced.
    pub retpolines: Fact<bool>,
    /// Randomised order of free slots in slabs.
    pub slab_freelist_random: Fact<bool>,
    /// Checks of every copy between user and kernel.
    pub hardened_usercopy: Fact<bool>,
    /// Kernel stack moved by a random amount at each system call.
    pub random_kernel_stack: Fact<bool>,
    /// Pages mapped around a fault of a file, bytes.
    pub fault_around_bytes: Fact<u64>,
    /// Memory accounted to control groups.
    pub memory_control_groups: Fact<bool>,
    /// userfaultfd(2): off, privileged, or for all.
    pub userfaultfd: Fact<String>,
    /// Context tracking forced on every entry (full tickless operation).
    pub context_tracking: Fact<bool>,
    /// Address-space randomisation (`kernel.randomize_va_space`: 0 off, 1 without heap, 2 full).
    pub address_randomisation: Fact<u32>,
    /// `kernel.io_uring_disabled`: 0 for all, 1 for members of a group, 2 off.
    pub io_uring_disabled: Fact<u32>,
    /// Watchdog that takes a hardware counter for itself.
    pub nmi_watchdog: Fact<bool>,
    /// Build options for debugging that slow everything down.
    pub debug_options: Fact<Vec<String>>,
    /// TCP's congestion control.
    pub tcp_congestion_control: Fact<String>,
    /// The largest socket buffers that a program may request by `SO_SNDBUF` and by `SO_RCVBUF`, bytes.
    #[serde(default = "buffers_not_asked_for")]
    pub socket_buffer_bytes: Fact<[u64; 2]>,
    /// First and last local port of outgoing connections: their number bounds connection rates.
    pub local_ports: Fact<[u32; 2]>,
}

/// Slow checks; the cheap ones that distributions enable (hardened lists, bounds) are not among them.
const SLOW: &str = "KASAN KCSAN KMSAN PROVE_LOCKING LOCK_STAT DEBUG_PAGEALLOC_ENABLE_DEFAULT DEBUG_PREEMPT \
    DEBUG_VM SLUB_DEBUG_ON DEBUG_KMEMLEAK FUNCTION_GRAPH_TRACER_DEFAULT DEBUG_ATOMIC_SLEEP";

/// Clocks that are read without a system call and without the hypervisor's help, for each architecture.
const DIRECT_CLOCKS: &[&str] = &["tsc", "arch_sys_counter", "riscv_clocksource", "timebase", "tod"];
/// Clocks that are read without a system call, with a page of the hypervisor's.
const SHARED_PAGE_CLOCKS: &[&str] = &["kvm-clock", "hyperv_clocksource_tsc_page"];

/// How a program reads the kernel's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockReading {
    /// By an instruction.
    Direct,
    /// By an instruction, corrected with a page of the hypervisor's.
    SharedPage,
    /// By a system call, even through the C library.
    SystemCall,
}

impl Kernel {
    /// Whether its release is this one or a later one; `false` if it is not known.
    pub fn is_at_least(&self, major: u32, minor: u32) -> bool {
        let number =
            |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
        self.release.value().is_some_and(|release| {
            let mut parts = release.split('.').map(number);
            let own: Option<(u32, u32)> = parts.next().flatten().zip(parts.next().flatten());
            own.is_some_and(|own| own >= (major, minor))
        })
    }

    /// How programs read the kernel's clock; `None` if its source is not known.
    pub fn clock_reading(&self) -> Option<ClockReading> {
        let source = self.clocksource.value()?.as_str();
        Some(if DIRECT_CLOCKS.contains(&source) {
            ClockReading::Direct
        } else if SHARED_PAGE_CLOCKS.contains(&source) {
            ClockReading::SharedPage
        } else {
            ClockReading::SystemCall
        })
    }
}

fn buffers_not_asked_for() -> Fact<[u64; 2]> {
    Fact::unknown("it was not asked for", "/proc/sys/net/core")
}

/// `net.core.wmem_max` and `net.core.rmem_max`.
fn socket_buffers(root: &Root) -> Fact<[u64; 2]> {
    let limit = |name: &str| root.number::<u64>(&format!("/proc/sys/net/core/{name}"));
    let receive = limit("rmem_max");
    limit("wmem_max").parse("known with rmem_max", |send| Some([*send, *receive.value()?]))
}

pub(super) fn read(root: &Root, host: &dyn Host) -> Kernel {
    let names = Fact::from_call(host.names(), "uname(2)");
    let release =
        names.clone().map(|names| names.release).or_else(|| root.word("/proc/sys/kernel/osrelease"));
    let config = Config::read(root, release.value().map(String::as_str));
    let mitigations = mitigations(root);
    let command_line = root.word("/proc/cmdline");
    let version = names.clone().map(|names| names.version).or_else(|| root.word("/proc/sys/kernel/version"));
    Kernel {
        architecture: names.map(|names| names.machine),
        distribution: distribution(root),
        libc: Fact::from_call(host.libc(), "gnu_get_libc_version(3)"),
        config_sha256: config.sha256(),
        preemption: preemption(root, &version, &command_line, &config),
        tick_hz: config.number("HZ"),
        clocksource: root.word("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        clocksources: root
            .word("/sys/devices/system/clocksource/clocksource0/available_clocksource")
            .map(|text| text.split_whitespace().map(str::to_owned).collect()),
        page_table_isolation: mentions(&mitigations, "meltdown", "PTI"),
        retpolines: mentions(&mitigations, "spectre_v2", "Retpoline"),
        slab_freelist_random: config.switch("SLAB_FREELIST_RANDOM"),
        hardened_usercopy: hardened_usercopy(&command_line, &config),
        random_kernel_stack: random_stack(&command_line, &config),
        fault_around_bytes: root
            .number("/sys/kernel/debug/fault_around_bytes")
            .because("only debugfs shows it, which root must mount; kernels default to 65536"),
        memory_control_groups: memory_control_groups(root),
        userfaultfd: userfaultfd(root, &config),
        context_tracking: config.switch("CONTEXT_TRACKING_USER_FORCE"),
        address_randomisation: root.number("/proc/sys/kernel/randomize_va_space"),
        io_uring_disabled: root
            .number("/proc/sys/kernel/io_uring_disabled")
            .because("this kernel is older than the setting (6.6), or has no io_uring"),
        nmi_watchdog: root.switch("/proc/sys/kernel/nmi_watchdog"),
        debug_options: config.enabled_of(SLOW),
        tcp_congestion_control: root.word("/proc/sys/net/ipv4/tcp_congestion_control"),
        socket_buffer_bytes: socket_buffers(root),
        local_ports: root.text("/proc/sys/net/ipv4/ip_local_port_range").parse("two ports", |text| {
            let ports: Option<Vec<u32>> = text.split_whitespace().map(|port| port.parse().ok()).collect();
            ports?.try_into().ok()
        }),
        release,
        version,
        command_line: command_line.map(|line| published::kernel_options(&line)),
        mitigations,
    }
}

fn distribution(root: &Root) -> Fact<String> {
    let named = |path: &str| {
        root.text(path).parse("a text with PRETTY_NAME", |text| {
            let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
            Some(value.trim_matches(['"', '\'']).to_owned())
        })
    };
    named("/etc/os-release").or_else(|| named("/usr/lib/os-release"))
}

/// One file per vulnerability, each with a sentence of the kernel's.
fn mitigations(root: &Root) -> Fact<BTreeMap<String, String>> {
    const FOLDER: &str = "/sys/devices/system/cpu/vulnerabilities";
    let names = root.entries(FOLDER).into_iter();
    let reports: BTreeMap<String, String> = names
        .filter_map(|name| Some((root.word(&format!("{FOLDER}/{name}")).value().cloned()?, name)))
        .map(|(text, name)| (name, text))
        .collect();
    if reports.is_empty() {
        Fact::unknown("this kernel does not report them", FOLDER)
    } else {
        Fact::known(reports, FOLDER)
    }
}

/// Whether the kernel's sentence about one vulnerability names a mitigation.
fn mentions(mitigations: &Fact<BTreeMap<String, String>>, weakness: &str, remedy: &str) -> Fact<bool> {
    mitigations
        .clone()
        .parse(&format!("a report about {weakness}"), |reports| Some(reports.get(weakness)?.contains(remedy)))
        .via(&format!("/{weakness}"))
}

/// From the running kernel if it shows it (debugfs), otherwise from its command line, otherwise from its build.
fn preemption(
    root: &Root,
    version: &Fact<String>,
    command_line: &Fact<String>,
    config: &Config,
) -> Fact<String> {
    if root.switch("/sys/kernel/realtime").value() == Some(&true) {
        return Fact::known("realtime".to_owned(), "/sys/kernel/realtime");
    }
    let running = root.text("/sys/kernel/debug/sched/preempt").parse("a choice in parentheses", |text| {
        let (_, rest) = text.split_once('(')?;
        Some(rest.split_once(')')?.0.to_owned())
    });
    let started = command_line.clone().parse("a command line with preempt=", |line| {
        let mut words = line.split_whitespace();
        Some(words.rfind(|word| word.starts_with("preempt="))?.trim_start_matches("preempt=").to_owned())
    });
    running.or_else(|| started).or_else(|| built(config)).or_else(|| {
        version.clone().parse("a version that names it", |text| {
            let models = [
                ("PREEMPT_RT", "realtime"),
                ("PREEMPT_DYNAMIC", "dynamic (chosen at boot)"),
                ("PREEMPT", "full"),
            ];
            models.iter().find(|(word, _)| text.contains(word)).map(|(_, model)| (*model).to_owned())
        })
    })
}

fn built(config: &Config) -> Fact<String> {
    let models = [
        ("PREEMPT_RT", "realtime"),
        ("PREEMPT_LAZY", "lazy"),
        ("PREEMPT_VOLUNTARY", "voluntary"),
        ("PREEMPT_NONE", "none"),
        ("PREEMPT", "full"),
    ];
    let chosen = models.iter().find(|(option, _)| config.switch(option).value() == Some(&true));
    match chosen {
        Some((option, model)) => Fact::known((*model).to_owned(), config.source_of(option)),
        None => Fact::unknown("the build configuration is not shown", config.source_of("PREEMPT*")),
    }
}

fn hardened_usercopy(command_line: &Fact<String>, config: &Config) -> Fact<bool> {
    command_line
        .clone()
        .parse("a command line with hardened_usercopy=", |line| switch_of(line, "hardened_usercopy="))
        .or_else(|| match config.switch("HARDENED_USERCOPY").value() {
            Some(true) if config.names("HARDENED_USERCOPY_DEFAULT_ON") => {
                config.switch("HARDENED_USERCOPY_DEFAULT_ON")
            }
            _ => config.switch("HARDENED_USERCOPY"),
        })
        .or_else(|| config.switch("HARDENED_USERCOPY"))
}

fn random_stack(command_line: &Fact<String>, config: &Config) -> Fact<bool> {
    let from_build = config.switch("RANDOMIZE_KSTACK_OFFSET_DEFAULT");
    let started = command_line.clone().parse("a command line with randomize_kstack_offset=", |line| {
        switch_of(line, "randomize_kstack_offset=")
    });
    if started.value().is_some() { started } else { from_build }
}

/// The last `name=on` or `name=off` on a command line.
fn switch_of(line: &str, name: &str) -> Option<bool> {
    let value = line.split_whitespace().rev().find_map(|word| word.strip_prefix(name))?;
    match value {
        "on" | "1" | "y" => Some(true),
        "off" | "0" | "n" => Some(false),
        _ => None,
    }
}

/// Version 2 lists the controller at its top, version 1 in /proc/cgroups with a flag.
fn memory_control_groups(root: &Root) -> Fact<bool> {
    root.text("/proc/cgroups")
        .parse("a table with the memory controller", |text| {
            let line = text.lines().find(|line| line.starts_with("memory"))?;
            Some(line.split_whitespace().nth(3)? != "0")
        })
        .or_else(|| {
            root.text("/sys/fs/cgroup/cgroup.controllers")
                .map(|text| text.split_whitespace().any(|name| name == "memory"))
        })
}

fn userfaultfd(root: &Root, config: &Config) -> Fact<String> {
    let built = config.switch("USERFAULTFD");
    if built.value() == Some(&false) {
        return built.map(|_| "not built in".to_owned());
    }
    root.switch("/proc/sys/vm/unprivileged_userfaultfd")
        .map(|all| if all { "for all" } else { "for privileged users" }.to_owned())
        .because("this kernel is built without it")
}

#[cfg(test)]
mod tests {
    use super::switch_of;

    #[test]
    fn the_last_switch_on_a_command_line_counts() {
        assert_eq!(switch_of("a=on quiet a=off", "a="), Some(false));
        assert_eq!(switch_of("a=on", "b="), None);
        assert_eq!(switch_of("a=maybe", "a="), None);
    }
}
