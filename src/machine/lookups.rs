//! The questions the rest of Fathom asks about the machine, answered in plain values.

use std::collections::{BTreeMap, BTreeSet};

use super::cgroup::THROTTLED;
use super::{Cache, CoreClass, CpuSet, Machine, NumaNode};

/// Line size of every mainstream x86 and Arm server core; used only where nothing tells.
const USUAL_LINE: u64 = 64;
/// Base page of x86 and of most Arm kernels; used only where the system does not answer.
const USUAL_PAGE: u64 = 4096;

impl Machine {
    /// CPUs this process may use, ascending; all online ones where the affinity cannot be asked.
    pub fn allowed_cpus(&self) -> &[usize] {
        let set = self.topology.allowed.value().or_else(|| self.topology.online.value());
        set.map_or(&[], CpuSet::as_slice)
    }

    /// CPUs' worth of time that control groups allow; `None` without a quota (or where it is unknown).
    pub fn cpu_quota(&self) -> Option<f64> {
        self.conditions.limits.cpu_quota.value().copied().flatten()
    }

    /// The other CPUs of this CPU's core.
    pub fn smt_siblings(&self, cpu: usize) -> Vec<usize> {
        let cores = self.topology.cores.value().map_or(&[][..], Vec::as_slice);
        let core = cores.iter().find(|core| core.contains(cpu));
        core.map_or(&[][..], CpuSet::as_slice).iter().copied().filter(|other| *other != cpu).collect()
    }

    /// The class of cores this CPU belongs to.
    pub fn core_class(&self, cpu: usize) -> Option<&CoreClass> {
        self.topology.classes.value()?.iter().find(|class| class.cpus.contains(cpu))
    }

    /// The data or unified cache of a level that serves this CPU.
    pub fn data_cache(&self, cpu: usize, level: u8) -> Option<&Cache> {
        self.caches
            .value()?
            .iter()
            .find(|cache| cache.level == level && cache.holds_data() && cache.serves(cpu))
    }

    /// Its size, bytes: of the one instance this CPU uses, shared or not.
    pub fn data_cache_bytes(&self, cpu: usize, level: u8) -> Option<u64> {
        self.data_cache(cpu, level)?.size_bytes.value().copied()
    }

    /// The last level of data caches that serves this CPU.
    pub fn last_level(&self, cpu: usize) -> Option<u8> {
        let serving = self.caches.value()?.iter().filter(|cache| cache.holds_data() && cache.serves(cpu));
        serving.map(|cache| cache.level).max()
    }

    /// Sum of all distinct last-level caches, bytes: what an array must exceed several times to leave them.
    /// A core whose last level is nearer than others' (low-power cores without L3) counts with that.
    pub fn last_level_caches_bytes(&self) -> Option<u64> {
        let caches = self.caches.value()?;
        let online = self.topology.online.value().map_or(&[][..], CpuSet::as_slice);
        let mut counted: BTreeSet<(u8, &CpuSet)> = BTreeSet::new();
        let mut sum: u64 = 0;
        for &cpu in online {
            let cache = self.data_cache(cpu, self.last_level(cpu)?)?;
            let Some(instance) = cache.instances.iter().find(|cpus| cpus.contains(cpu)) else { continue };
            if counted.insert((cache.level, instance)) {
                sum = sum.checked_add(*cache.size_bytes.value()?)?;
            }
        }
        if counted.is_empty() {
            // CPUID tells one instance and nothing about sharing.
            return caches
                .iter()
                .filter(|cache| cache.holds_data())
                .max_by_key(|cache| cache.level)?
                .size_bytes
                .value()
                .copied();
        }
        Some(sum)
    }

    /// Cache line of the first data cache, bytes; 64 where nothing tells.
    pub fn line_bytes(&self) -> u64 {
        let data = self.caches.value().and_then(|caches| caches.iter().find(|cache| cache.holds_data()));
        data.and_then(|cache| cache.line_bytes.value().copied()).unwrap_or(USUAL_LINE)
    }

    /// Base page, bytes.
    pub fn page_bytes(&self) -> u64 {
        self.memory.page_bytes.value().copied().unwrap_or(USUAL_PAGE)
    }

    /// Memory a run may use: the smaller of what the kernel could give and what control groups leave, bytes.
    pub fn available_bytes(&self) -> Option<u64> {
        self.conditions.available_bytes.value().copied()
    }

    /// The declared rate of the fastest network adapter with a device, bits per second.
    pub fn fastest_adapter(&self) -> Option<u64> {
        let wired = self.network.iter().filter(|adapter| adapter.kind == "Ethernet");
        wired
            .filter_map(|adapter| adapter.speed_bits_per_second.value().copied())
            .filter(|rate| *rate > 0)
            .max()
    }

    /// Nominal clock, Hz; the fact's source says when it is assumed from the tick counter.
    pub fn nominal_hz(&self) -> Option<f64> {
        self.processor.nominal_hz.value().copied()
    }

    /// Highest clock, Hz: the fastest class of cores, or what the processor declares.
    pub fn max_hz(&self) -> Option<f64> {
        let classes = self.topology.classes.value().map_or(&[][..], Vec::as_slice);
        let fastest =
            classes.iter().filter_map(|class| class.maximum_hz.value().copied()).max_by(f64::total_cmp);
        fastest.or_else(|| self.processor.maximum_hz.value().copied())
    }

    /// The file in which the control group that has the CPU quota counts how often it held us back; `None` where none does.
    pub fn cpu_stat_path(&self) -> Option<String> {
        let throttled = &self.conditions.limits.throttled_periods;
        throttled.value()?;
        throttled.source().strip_suffix(THROTTLED).map(str::to_owned)
    }

    /// Whether a hypervisor is known to be below.
    pub fn is_virtual(&self) -> bool {
        matches!(self.virtualization.hypervisor.value(), Some(Some(_)))
    }

    /// The kernel's sentence about each weakness of the processor; empty where it does not report.
    pub fn mitigations(&self) -> BTreeMap<String, String> {
        self.kernel.mitigations.value().cloned().unwrap_or_default()
    }

    /// NUMA nodes; empty where the kernel does not show them.
    pub fn numa_nodes(&self) -> &[NumaNode] {
        self.topology.nodes.value().map_or(&[], Vec::as_slice)
    }
}
