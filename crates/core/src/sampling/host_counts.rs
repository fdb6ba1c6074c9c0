//! What the kernel counts about the whole machine at no cost to it: the time its CPUs worked, the time the hypervisor took,
//! pressure, throttling, the frequency of its CPUs, and the page cache.

use crate::machine::{Root, cpu_stat_path_of};
use crate::os::{Snapshot, kernel_clock, tick_ns, usage};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A reading of the counters; those that cannot be read are absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostCounts {
    /// The moment of the reading, nanoseconds of `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    busy_ns: Option<u64>,
    own_ns: u64,
    own_blocks: u64,
    cpu_hz: Option<f64>,
    pressure_us: [Option<u64>; 3],
    page_cache: Option<u64>,
    counters: Snapshot,
    /// The control group whose throttling was counted.
    cpu_stat: Option<String>,
}

/// What the counters say of a stretch of time. Counters that could not be read are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSlice {
    /// How long it lasted, seconds.
    pub lasted_s: f64,
    /// Time that all CPUs together worked, seconds.
    pub busy_s: Option<f64>,
    /// The part of it that this program and its children used which have ended, seconds.
    pub own_s: f64,
    /// Blocks that this program and its children which have ended read from devices, or wrote (getrusage(2)).
    #[serde(default)]
    pub own_blocks: u64,
    /// CPU time of the thread that watches, seconds.
    #[serde(default)]
    pub watching_s: f64,
    /// The highest frequency of a CPU at its end as the kernel has it (cpufreq), hertz.
    #[serde(default)]
    pub cpu_hz: Option<f64>,
    /// Time that the hypervisor took from all CPUs, seconds.
    pub steal_s: Option<f64>,
    /// Time for which a CPU quota stopped the control group, seconds.
    pub throttled_s: Option<f64>,
    /// Time in which some task waited for a CPU, seconds.
    pub cpu_pressure_s: Option<f64>,
    /// Time in which some task waited for a device, seconds.
    pub io_pressure_s: Option<f64>,
    /// Time in which some task waited for memory, seconds.
    pub memory_pressure_s: Option<f64>,
    /// Interrupts on all CPUs.
    pub interrupts: Option<u64>,
    /// Context switches on all CPUs.
    pub switches: Option<u64>,
    /// The page cache at its end, bytes.
    pub page_cache: Option<u64>,
    /// How often a thread that sleeps woke up.
    pub wakes: u64,
    /// Time by which it woke too late, of the delays that are no scheduling, seconds.
    pub late_s: f64,
    /// The longest of its delays, seconds.
    pub longest_delay_s: f64,
}

impl HostCounts {
    /// Reads the counters, and the throttling of this process's control group, or of the process with this number.
    pub fn take(process: Option<u32>) -> Self {
        let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let pressure = ["cpu", "io", "memory"].map(|of| stalled_us(&text(&format!("/proc/pressure/{of}"))));
        let cpu_stat = cpu_stat_path_of(&Root::default(), process);
        HostCounts {
            at_ns: kernel_clock(libc::CLOCK_MONOTONIC),
            busy_ns: busy_ticks(&text("/proc/stat")).map(|ticks| ticks * tick_ns()),
            own_ns: own_ns(),
            own_blocks: own_blocks(),
            cpu_hz: highest_hz(Path::new("/sys/devices/system/cpu/cpufreq")),
            pressure_us: pressure,
            page_cache: page_cache(&text("/proc/meminfo")),
            counters: Snapshot::take(cpu_stat.as_deref()),
            cpu_stat,
        }
    }

    /// The changes since an earlier reading. Throttling is known only where both readings are of the same control group.
    pub fn since(&self, earlier: &HostCounts) -> HostSlice {
        let seconds =
            |now: Option<u64>, then: Option<u64>, scale: f64| Some(now?.checked_sub(then?)? as f64 / scale);
        let changes = self.counters.since(&earlier.counters);
        let pressure = |place: usize| seconds(self.pressure_us[place], earlier.pressure_us[place], 1e6);
        HostSlice {
            lasted_s: self.at_ns.saturating_sub(earlier.at_ns) as f64 / 1e9,
            busy_s: seconds(self.busy_ns, earlier.busy_ns, 1e9),
            own_s: self.own_ns.saturating_sub(earlier.own_ns) as f64 / 1e9,
            own_blocks: self.own_blocks.saturating_sub(earlier.own_blocks),
            cpu_hz: self.cpu_hz,
            steal_s: changes.steal_ns.map(|ns| ns as f64 / 1e9),
            throttled_s: changes
                .throttled_ns
                .filter(|_| self.cpu_stat == earlier.cpu_stat)
                .map(|ns| ns as f64 / 1e9),
            cpu_pressure_s: pressure(0),
            io_pressure_s: pressure(1),
            memory_pressure_s: pressure(2),
            interrupts: changes.interrupts,
            switches: changes.switches,
            page_cache: self.page_cache,
            ..HostSlice::default()
        }
    }
}

/// CPU time of this process and of its children that have ended, nanoseconds.
fn own_ns() -> u64 {
    let of = |whose| {
        let usage = usage(whose);
        let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        ns(usage.ru_utime) + ns(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

/// Blocks that this process and its children that have ended read from devices, or wrote.
fn own_blocks() -> u64 {
    let of = |whose| {
        let usage = usage(whose);
        usage.ru_inblock as u64 + usage.ru_oublock as u64
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

/// The highest of the frequencies that the kernel has of its CPUs, hertz: `scaling_cur_freq` of each policy, in kHz. A CPU that works
/// has it, and one that idles need not.
fn highest_hz(policies: &Path) -> Option<f64> {
    let read = |policy: std::fs::DirEntry| -> Option<f64> {
        let text = std::fs::read_to_string(policy.path().join("scaling_cur_freq")).ok()?;
        text.trim().parse::<f64>().ok()
    };
    let all = std::fs::read_dir(policies).ok()?.flatten().filter_map(read);
    all.reduce(f64::max).map(|khz| khz * 1e3)
}

/// The ticks in which CPUs worked, from `/proc/stat` (proc(5)): user, nice, system, irq and softirq of its first line.
fn busy_ticks(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    [0, 1, 2, 5, 6].into_iter().map(|place| ticks.get(place).copied()).sum()
}

/// The time in which some task waited, microseconds, from a file of `/proc/pressure`.
fn stalled_us(pressure: &str) -> Option<u64> {
    let line = pressure.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

/// The bytes of the page cache: `Cached` and `Buffers` less shared memory, which no pressure drops.
fn page_cache(meminfo: &str) -> Option<u64> {
    let kib = |name: &str| -> Option<u64> {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let shared = kib("Shmem").unwrap_or_default();
    Some((kib("Cached")? + kib("Buffers").unwrap_or_default()).saturating_sub(shared) << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_what_is_neither_idle_nor_waiting_nor_stolen() {
        assert_eq!(
            busy_ticks("cpu  100 20 3 5000 400 6 7 80 9 1\ncpu0 1 1 1 1\n"),
            Some(100 + 20 + 3 + 6 + 7)
        );
        assert_eq!(busy_ticks("cpu  100 20\n"), None);
        assert_eq!(busy_ticks(""), None);
    }

    #[test]
    fn pressure_and_page_cache_are_read_in_their_units() {
        let pressure = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 total=99\n";
        assert_eq!(stalled_us(pressure), Some(1234));
        assert_eq!(stalled_us(""), None);
        let memory = "MemTotal: 9 kB\nBuffers: 1 kB\nCached: 10 kB\nSwapCached: 7 kB\nShmem: 3 kB\n";
        assert_eq!(page_cache(memory), Some(8 << 10));
        assert_eq!(page_cache("MemTotal: 9 kB\n"), None);
    }

    #[test]
    fn the_frequency_is_the_highest_of_those_that_can_be_read() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(highest_hz(folder.path()), None);
        for (policy, khz) in [("policy0", "1200000\n"), ("policy1", "3100000\n"), ("policy2", "<unknown>\n")]
        {
            let place = folder.path().join(policy);
            std::fs::create_dir(&place).expect("a folder");
            std::fs::write(place.join("scaling_cur_freq"), khz).expect("a file");
        }
        assert_eq!(highest_hz(folder.path()), Some(3.1e9));
        assert_eq!(highest_hz(&folder.path().join("none")), None);
    }

    #[test]
    fn throttling_of_another_control_group_is_no_difference() {
        let counted = |path: &str, throttled| HostCounts {
            counters: Snapshot { throttled_ns: Some(throttled), ..Snapshot::default() },
            cpu_stat: Some(path.to_owned()),
            ..HostCounts::default()
        };
        let earlier = counted("/a", 1_000_000_000);
        assert_eq!(counted("/a", 3_000_000_000).since(&earlier).throttled_s, Some(2.0));
        assert_eq!(counted("/b", 3_000_000_000).since(&earlier).throttled_s, None);
    }
}
