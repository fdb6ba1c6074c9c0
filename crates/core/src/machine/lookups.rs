//! Properties of the machine in plain values, for the rest of Fathom.

use std::collections::{BTreeMap, BTreeSet};

use super::{Adapter, Cache, CpuSet, Fact, Machine, NumaNode, Route, microarchitecture};

/// Line size of every mainstream x86 and Arm server core; used only if no source reports it.
const USUAL_LINE: u64 = 64;
/// A core's slice of a server's last-level cache, bytes: 4 MiB on AMD's EPYC since 7002, 1.4 (Skylake-SP) to 5 (Emerald
/// Rapids) on Intel's; on Arm's 0.5 (Graviton2) to 1.6 (Grace). Data sheets of the manufacturers.
const SLICE_X86_64: u64 = 4 << 20;
const SLICE_AARCH64: u64 = 1 << 20;
/// Base page of x86 and of most Arm kernels; used only if the system does not report it.
const USUAL_PAGE: u64 = 4096;

/// The distance of two CPUs, as far as the kernel shows it: nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    /// Threads of one core.
    Core,
    /// Cores under one last-level cache.
    Cache,
    /// Cores of one NUMA node.
    Node,
    /// Cores of one package, or of the machine if packages are not known.
    Package,
    /// Cores of two packages.
    OtherPackage,
}

impl Machine {
    /// CPUs this process may use, ascending; all online ones if the affinity is not known.
    pub fn allowed_cpus(&self) -> &[usize] {
        self.topology.allowed()
    }

    /// The CPU for pinned work unless another is requested; `None` if no CPU is known.
    pub fn usual_cpu(&self) -> Option<usize> {
        self.topology.usual_cpu()
    }

    /// The CPU whose declared sizes and clock are used: the one that was read when the machine was described (R-FIX-34:
    /// never a total divided by a number of cores).
    pub fn measured_cpu(&self) -> usize {
        self.processor.cpu.or_else(|| self.usual_cpu()).unwrap_or(0)
    }

    /// The distance of two CPUs.
    pub fn nearness(&self, one: usize, other: usize) -> Nearness {
        let among = |groups: &Fact<Vec<CpuSet>>| {
            let group = groups.value()?.iter().find(|group| group.contains(one))?;
            Some(group.contains(other))
        };
        let last = self.last_level(one).and_then(|level| self.data_cache(one, level));
        let same_cache = last.is_some_and(|cache| {
            cache.instances.iter().any(|cpus| cpus.contains(one) && cpus.contains(other))
        });
        let node = self.numa_nodes().iter().find(|node| node.cpus.contains(one));
        if among(&self.topology.cores) == Some(true) {
            Nearness::Core
        } else if among(&self.topology.packages) == Some(false) {
            Nearness::OtherPackage
        } else if same_cache {
            Nearness::Cache
        } else if node.is_some_and(|node| node.cpus.contains(other)) {
            Nearness::Node
        } else {
            Nearness::Package
        }
    }

    /// Whether two CPUs are of cores of the same kind, as far as that is known.
    pub fn same_class(&self, one: usize, other: usize) -> bool {
        self.topology.class_rank(one) == self.topology.class_rank(other)
    }

    /// Whether this process may use CPUs of several packages.
    pub fn spans_packages(&self) -> bool {
        let home = self.measured_cpu();
        self.allowed_cpus().iter().any(|cpu| self.nearness(home, *cpu) == Nearness::OtherPackage)
    }

    /// The number of CPUs' time that control groups allow; `None` without a quota (or if it is unknown).
    pub fn cpu_quota(&self) -> Option<f64> {
        self.conditions.limits.cpu_quota.value().copied().flatten()
    }

    /// The other CPUs of this CPU's core.
    pub fn smt_siblings(&self, cpu: usize) -> Vec<usize> {
        let cores = self.topology.cores.value().map_or(&[][..], Vec::as_slice);
        let core = cores.iter().find(|core| core.contains(cpu));
        core.map_or(&[][..], CpuSet::as_slice).iter().copied().filter(|other| *other != cpu).collect()
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

    /// The part of that cache that this machine's own cores can rely on, bytes: all of it, except for the last level of a
    /// guest, of which it is the slices of as many cores as the guest has. The other slices are filled with other guests'
    /// data.
    pub fn data_cache_share_bytes(&self, cpu: usize, level: u8) -> Option<u64> {
        let bytes = self.data_cache_bytes(cpu, level)?;
        if !self.is_virtual() || level < 3 || self.last_level(cpu) != Some(level) {
            return Some(bytes);
        }
        let slice = if self.is_aarch64() { SLICE_AARCH64 } else { SLICE_X86_64 };
        let cores = self.topology.cores.value().map_or(self.allowed_cpus().len(), Vec::len).max(1);
        Some(bytes.min(slice.saturating_mul(cores as u64)))
    }

    /// Whether it is a server, or a guest of one, as far as that can be seen: a guest, several packages, or memory that
    /// corrects errors.
    pub fn is_server(&self) -> bool {
        let corrects =
            self.memory.error_correction.value().is_some_and(|correction| correction.controllers > 0);
        let packages = self.topology.packages.value().map_or(0, Vec::len);
        let design = self.processor.microarchitecture.value();
        self.is_virtual() || packages > 1 || corrects || design.is_some_and(|name| name.contains("Neoverse"))
    }

    /// The last level of data caches that serves this CPU.
    pub fn last_level(&self, cpu: usize) -> Option<u8> {
        let serving = self.caches.value()?.iter().filter(|cache| cache.holds_data() && cache.serves(cpu));
        serving.map(|cache| cache.level).max()
    }

    /// The sum of all distinct last-level caches, bytes, which an array must exceed several times to be in memory. A core
    /// whose last level is nearer than others' (low-power cores without L3) counts with that level.
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
            // CPUID reports one instance and nothing about sharing.
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

    /// Cache line of the first-level data cache, bytes; 64 if no source reports it.
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

    /// The first adapter of a route, if the route is known, otherwise the fastest that is up; with its rate, bits per
    /// second. `None` if that adapter reports no rate.
    pub fn adapter_of(&self, way: Option<&Fact<Route>>) -> Option<(&Adapter, u64)> {
        let way = way.and_then(Fact::value);
        let leads = |adapter: &&Adapter| match way {
            Some(way) => adapter.name == way.adapter,
            None => adapter.state.value().is_some_and(|state| state == "up"),
        };
        let rated = self.network.iter().filter(leads);
        rated
            .filter_map(|adapter| Some((adapter, *adapter.speed_bits_per_second.value()?)))
            .max_by_key(|(_, rate)| *rate)
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

    /// Whether the kernel reports a 64-bit Arm processor.
    pub fn is_aarch64(&self) -> bool {
        self.kernel.architecture.value().is_some_and(|name| name == "aarch64")
    }

    /// Whether a hypervisor is known.
    pub fn is_virtual(&self) -> bool {
        matches!(self.virtualization.hypervisor.value(), Some(Some(_)))
    }

    /// The word of the kernel's command line that says that the hypervisor is a guest itself, such as `nested_pvm=1`.
    pub fn nested(&self) -> Option<&str> {
        let mut words = self.kernel.command_line.value()?.split_whitespace();
        words.find(|word| word.starts_with("nested") && !word.ends_with("=0"))
    }

    /// The design of the processor by its numbers and flags alone, whatever a run file says of it; `None` if they do not show it.
    pub fn design(&self) -> Option<String> {
        let processor = &self.processor;
        let flags = processor.features.clone().map(|features| features.join(" "));
        microarchitecture::of(&processor.vendor, &processor.family, &processor.model, &flags).value().cloned()
    }

    /// The kernel's sentence about each vulnerability of the processor; empty if it reports none.
    pub fn mitigations(&self) -> BTreeMap<String, String> {
        self.kernel.mitigations.value().cloned().unwrap_or_default()
    }

    /// NUMA nodes; empty if the kernel does not show them.
    pub fn numa_nodes(&self) -> &[NumaNode] {
        self.topology.nodes.value().map_or(&[], Vec::as_slice)
    }
}
