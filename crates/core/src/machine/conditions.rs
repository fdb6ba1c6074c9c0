//! Conditions that may disturb a run: clock policy, idle states, load, limits, heat. Momentary values are those of the
//! time of reading; what happens around a sample is observed by the sampler.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::cgroup::{self, Limits};
use super::cpu_set::CpuSet;
use super::fact::Fact;
use super::host::{Host, Resource};
use super::memory::amount;
use super::privileges;
use super::source::{NO_FREQUENCY_DRIVER, Root, decimal};
use super::topology::cpu_list;

const CPUS: &str = "/sys/devices/system/cpu";

/// The state the machine is in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Governor(s) of the online CPUs.
    pub governors: Fact<Vec<String>>,
    /// Driver that sets the clock.
    pub frequency_driver: Fact<String>,
    /// Energy preference(s) given to the hardware.
    pub energy_preferences: Fact<Vec<String>>,
    /// Whether cores may exceed their nominal clock.
    pub turbo: Fact<bool>,
    /// Driver of idle states.
    pub idle_driver: Fact<String>,
    /// Governor that chooses the idle state.
    pub idle_governor: Fact<String>,
    /// Idle states in use.
    pub idle_states: Fact<Vec<IdleState>>,
    /// CPUs kept free of other tasks (`isolcpus`).
    pub isolated: Fact<CpuSet>,
    /// CPUs without timer tick while one task runs (`nohz_full`).
    pub tickless: Fact<CpuSet>,
    /// Tasks running or waiting for disk, averaged over 1, 5 and 15 minutes.
    pub load_average: Fact<[f64; 3]>,
    /// Share of the last 10 s in which some task waited for a CPU, percent.
    pub cpu_pressure: Fact<f64>,
    /// The same for memory.
    pub memory_pressure: Fact<f64>,
    /// The same for input and output.
    pub io_pressure: Fact<f64>,
    /// Share of time since boot that the hypervisor gave to others while this machine wanted to run.
    pub steal: Fact<f64>,
    /// Swap space, bytes.
    pub swap_total_bytes: Fact<u64>,
    /// Swap space in use, bytes.
    pub swap_used_bytes: Fact<u64>,
    /// Hottest sensor of the processor, degrees Celsius.
    pub temperature_celsius: Fact<f64>,
    /// Whether the machine runs on battery.
    pub on_battery: Fact<bool>,
    /// Time since boot, seconds.
    pub uptime_seconds: Fact<f64>,
    /// Users who are logged in, each counted once.
    #[serde(default = "users_not_asked_for")]
    pub users: Fact<usize>,
    /// Limits of the control groups.
    pub limits: Limits,
    /// The least of the machine's available memory, of what the control groups leave and of what a process of this program may
    /// map, bytes.
    pub available_bytes: Fact<u64>,
}

/// An idle state of the first CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleState {
    /// `POLL`, `C1`, `C6`.
    pub name: String,
    /// The time to wake from it, according to the firmware, microseconds.
    pub exit_latency_us: Option<u64>,
    /// Whether it is switched off.
    pub disabled: bool,
}

pub(super) fn read(root: &Root, host: &dyn Host, online: &[usize]) -> Conditions {
    let memory = root.text("/proc/meminfo");
    let limits = cgroup::read(root);
    // CPU 0 may be offline.
    let first = format!("{CPUS}/cpu{}", online.first().unwrap_or(&0));
    let free_swap = amount(&memory, "SwapFree");
    let swap_total_bytes = amount(&memory, "SwapTotal");
    Conditions {
        governors: policies(root, online, "scaling_governor"),
        frequency_driver: root.word(&format!("{first}/cpufreq/scaling_driver")).because(NO_FREQUENCY_DRIVER),
        energy_preferences: policies(root, online, "energy_performance_preference"),
        turbo: turbo(root),
        idle_driver: root.word(&format!("{CPUS}/cpuidle/current_driver")),
        idle_governor: root
            .word(&format!("{CPUS}/cpuidle/current_governor"))
            .or_else(|| root.word(&format!("{CPUS}/cpuidle/current_governor_ro"))),
        idle_states: idle_states(root, &first),
        isolated: cpu_list(root, &format!("{CPUS}/isolated")),
        tickless: tickless(root),
        load_average: root.text("/proc/loadavg").parse("three averages", |text| load_of(text)),
        cpu_pressure: pressure(root, "cpu"),
        memory_pressure: pressure(root, "memory"),
        io_pressure: pressure(root, "io"),
        steal: root.text("/proc/stat").parse("a line of CPU times", |text| steal_of(text)).via(" steal"),
        swap_used_bytes: swap_total_bytes
            .clone()
            .parse("known with SwapFree", |total| Some(total.saturating_sub(*free_swap.value()?))),
        swap_total_bytes,
        temperature_celsius: temperature(root),
        on_battery: on_battery(root),
        uptime_seconds: root
            .text("/proc/uptime")
            .parse("a number of seconds", |text| decimal(text.split_whitespace().next()?)),
        users: users(root),
        available_bytes: within_limits(available(&memory, &limits), root, host),
        limits,
    }
}

/// The folder in which logind keeps a file for each user with a session, named after the user id.
const USERS: &str = "/run/systemd/users";

fn users_not_asked_for() -> Fact<usize> {
    Fact::unknown("it was not asked for", USERS)
}

fn users(root: &Root) -> Fact<usize> {
    if root.exists(USERS) {
        Fact::known(root.numbered(USERS, "").len(), USERS)
    } else {
        Fact::unknown("systemd-logind does not run here", USERS)
    }
}

/// The contents of a file of cpufreq for the CPUs: each distinct one once.
fn policies(root: &Root, online: &[usize], file: &str) -> Fact<Vec<String>> {
    let answers: BTreeSet<String> = online
        .iter()
        .filter_map(|cpu| root.word(&format!("{CPUS}/cpu{cpu}/cpufreq/{file}")).value().cloned())
        .collect();
    let source = format!("{CPUS}/cpu*/cpufreq/{file}");
    if answers.is_empty() {
        Fact::unknown(NO_FREQUENCY_DRIVER, source)
    } else {
        Fact::known(answers.into_iter().collect(), source)
    }
}

fn turbo(root: &Root) -> Fact<bool> {
    root.switch(&format!("{CPUS}/intel_pstate/no_turbo"))
        .map(|off| !off)
        .or_else(|| root.switch(&format!("{CPUS}/cpufreq/boost")))
        .because("there is no frequency driver (usual in a virtual machine, where the host decides)")
}

fn idle_states(root: &Root, first: &str) -> Fact<Vec<IdleState>> {
    let folder = format!("{first}/cpuidle");
    let states: Vec<IdleState> = root
        .numbered(&folder, "state")
        .iter()
        .filter_map(|n| idle_state(root, &format!("{folder}/state{n}")))
        .collect();
    if states.is_empty() {
        return Fact::unknown("the kernel has no idle driver with states: an idle CPU is halted", folder);
    }
    Fact::known(states, folder)
}

fn idle_state(root: &Root, folder: &str) -> Option<IdleState> {
    Some(IdleState {
        name: root.word(&format!("{folder}/name")).value().cloned()?,
        exit_latency_us: root.number(&format!("{folder}/latency")).value().copied(),
        disabled: root.switch(&format!("{folder}/disable")).value().copied().unwrap_or_default(),
    })
}

/// Kernels write an unset mask as `(null)`.
fn tickless(root: &Root) -> Fact<CpuSet> {
    root.text(&format!("{CPUS}/nohz_full"))
        .because("this kernel is built without full tickless operation")
        .parse("a list of CPUs", |text| CpuSet::parse(text.trim().trim_start_matches("(null)")))
}

fn load_of(text: &str) -> Option<[f64; 3]> {
    let numbers: Option<Vec<f64>> = text.split_whitespace().take(3).map(decimal).collect();
    numbers?.try_into().ok()
}

/// `some avg10=0.04 avg60=…` of a pressure file.
fn pressure(root: &Root, resource: &str) -> Fact<f64> {
    root.text(&format!("/proc/pressure/{resource}"))
        .because("this kernel does not account pressure (CONFIG_PSI, psi=1)")
        .parse("a pressure record", |text| {
            let some = text.lines().find(|line| line.starts_with("some"))?;
            some.split_whitespace().find_map(|word| decimal(word.strip_prefix("avg10=")?))
        })
        .via(" some avg10")
}

/// Stolen time as a share of all, from the first line of /proc/stat (user nice system idle iowait irq softirq steal).
fn steal_of(text: &str) -> Option<f64> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let times: Vec<f64> = line.split_whitespace().take(8).map(decimal).collect::<Option<_>>()?;
    let (all, steal) = (times.iter().sum::<f64>(), *times.get(7)?);
    (all > 0.0).then(|| steal / all)
}

/// The hottest of the sensors that belong to the processor.
fn temperature(root: &Root) -> Fact<f64> {
    let zones = root.numbered("/sys/class/thermal", "thermal_zone").into_iter().map(|n| {
        let folder = format!("/sys/class/thermal/thermal_zone{n}");
        (format!("{folder}/type"), vec![format!("{folder}/temp")])
    });
    let monitors = root.numbered("/sys/class/hwmon", "hwmon").into_iter().map(|n| {
        let folder = format!("/sys/class/hwmon/hwmon{n}");
        let inputs = root
            .entries(&folder)
            .into_iter()
            .filter(|name| name.starts_with("temp") && name.ends_with("_input"));
        (format!("{folder}/name"), inputs.map(|name| format!("{folder}/{name}")).collect())
    });
    let belongs = |kind: &str| {
        ["cpu", "pkg", "soc", "coretemp", "k10temp", "zenpower"].iter().any(|word| kind.contains(word))
    };
    let mut hottest: Option<(f64, String)> = None;
    for (kind, files) in zones.chain(monitors) {
        if !root.word(&kind).value().is_some_and(|kind| belongs(&kind.to_ascii_lowercase())) {
            continue;
        }
        for file in files {
            let reading = root.decimal(&file).value().map(|milli| milli / 1e3);
            if let Some(reading) =
                reading.filter(|reading| hottest.as_ref().is_none_or(|(most, _)| reading > most))
            {
                hottest = Some((reading, file));
            }
        }
    }
    match hottest {
        Some((reading, file)) => Fact::known(reading, file),
        None => Fact::unknown(
            "no sensor of the processor is shown (usual in a virtual machine)",
            "/sys/class/thermal, /sys/class/hwmon",
        ),
    }
}

/// On battery: there is a mains supply, and none of them is online.
fn on_battery(root: &Root) -> Fact<bool> {
    const FOLDER: &str = "/sys/class/power_supply";
    let mains: Vec<bool> = root
        .entries(FOLDER)
        .into_iter()
        .filter(|name| {
            root.word(&format!("{FOLDER}/{name}/type")).value().is_some_and(|kind| kind == "Mains")
        })
        .filter_map(|name| root.switch(&format!("{FOLDER}/{name}/online")).value().copied())
        .collect();
    if mains.is_empty() {
        return Fact::unknown("no mains supply is shown (usual on servers)", FOLDER);
    }
    Fact::known(!mains.contains(&true), FOLDER)
}

fn available(memory: &Fact<String>, limits: &Limits) -> Fact<u64> {
    let machine = amount(memory, "MemAvailable");
    match (machine.value(), limits.memory_left_bytes.value()) {
        (Some(machine_bytes), Some(Some(remaining))) if remaining < machine_bytes => {
            Fact::known(*remaining, limits.memory_left_bytes.source())
        }
        (None, Some(Some(remaining))) => Fact::known(*remaining, limits.memory_left_bytes.source()),
        _ => machine,
    }
}

/// Applies the process's limits on mapped memory (`ulimit -v`, `ulimit -d`), of which it has used a part already.
fn within_limits(available: Fact<u64>, root: &Root, host: &dyn Host) -> Fact<u64> {
    let mapped = amount(&root.text("/proc/self/status"), "VmSize").value().copied().unwrap_or_default();
    let limits = [(Resource::AddressSpace, mapped), (Resource::Data, 0)];
    limits.into_iter().fold(available, |least, (resource, used)| {
        let limit = privileges::limit(host, resource);
        let Some(remaining) = limit.value().copied().flatten().map(|limit| limit.saturating_sub(used)) else {
            return least;
        };
        if least.value().is_none_or(|known| remaining < *known) {
            Fact::known(remaining, limit.source())
        } else {
            least
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn steal_is_a_share_of_all_time() {
        assert_eq!(steal_of("cpu  10 0 10 60 0 0 0 20 5 5\ncpu0 …"), Some(0.2));
        assert_eq!(steal_of("cpu 0 0 0 0 0 0 0 0"), None);
        assert_eq!(steal_of("cpu 1 2"), None);
    }

    #[test]
    fn the_load_has_three_averages() {
        assert_eq!(load_of("0.17 0.24 0.10 4/85 5958"), Some([0.17, 0.24, 0.10]));
        assert_eq!(load_of("0.17"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in "\\PC*") {
            let _ = (steal_of(&text), steal_of(&format!("cpu {text}")), load_of(&text));
        }
    }
}
