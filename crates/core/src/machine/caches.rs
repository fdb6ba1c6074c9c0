//! The caches of every CPU, as the kernel shows them per CPU: totals are never divided, because on a hybrid
//! processor not all cores have the same.

use crate::sorting;
use serde::{Deserialize, Serialize};

use super::cpu_set::CpuSet;
use super::fact::Fact;
use super::host::Host;
use super::source::{Root, parse_size};

/// The content of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// Caches of one kind: the same level, content and geometry, with every instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cache {
    /// The level; 1 is nearest to the core.
    pub level: u8,
    /// Its content.
    pub kind: CacheKind,
    /// Size of one instance, bytes.
    pub size_bytes: Fact<u64>,
    /// Ways of associativity.
    pub ways: Fact<u32>,
    /// Line size, bytes.
    pub line_bytes: Fact<u64>,
    /// Number of sets.
    pub sets: Fact<u64>,
    /// One entry per instance: the CPUs that share it. Empty when it is unknown who shares it.
    pub instances: Vec<CpuSet>,
}

impl Cache {
    /// Whether loads and stores go through it.
    pub fn holds_data(&self) -> bool {
        self.kind != CacheKind::Instruction
    }

    /// Whether this CPU has (a share in) one of the instances.
    pub fn serves(&self, cpu: usize) -> bool {
        self.instances.is_empty() || self.instances.iter().any(|cpus| cpus.contains(cpu))
    }

    /// The properties by which two instances are of the same kind.
    fn make(&self) -> (u8, CacheKind, Option<&u64>, Option<&u32>, Option<&u64>) {
        (self.level, self.kind, self.size_bytes.value(), self.ways.value(), self.sets.value())
    }
}

/// All caches of the online CPUs, sorted by level and kind; from CPUID if the kernel shows none.
pub(super) fn read(root: &Root, host: &dyn Host, online: &[usize]) -> Fact<Vec<Cache>> {
    let mut makes: Vec<Cache> = Vec::new();
    for &cpu in online {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
        for index in root.numbered(&folder, "index") {
            add(root, &format!("{folder}/index{index}"), cpu, &mut makes);
        }
    }
    lines_by_instruction(&mut makes, host);
    sorting::by(&mut makes, |a, b| (a.level, a.kind, &a.instances).cmp(&(b.level, b.kind, &b.instances)));
    if makes.is_empty() { from_cpuid(host) } else { Fact::known(makes, "/sys/devices/system/cpu/cpu*/cache") }
}

/// Adds the cache of one folder, unless this instance was already seen from another CPU.
fn add(root: &Root, folder: &str, cpu: usize, makes: &mut Vec<Cache>) {
    let kind = match root.text(&format!("{folder}/type")).value().map(String::as_str) {
        Some("Data") => CacheKind::Data,
        Some("Instruction") => CacheKind::Instruction,
        Some("Unified") => CacheKind::Unified,
        _ => return,
    };
    let Some(&level) = root.number::<u8>(&format!("{folder}/level")).value() else { return };
    let known = |cache: &&mut Cache| cache.level == level && cache.kind == kind;
    if makes.iter_mut().filter(known).any(|cache| cache.serves(cpu)) {
        return;
    }
    let cache = instance(root, folder, level, kind, cpu);
    match makes.iter_mut().find(|make| make.make() == cache.make()) {
        Some(make) => make.instances.extend(cache.instances),
        None => makes.push(cache),
    }
}

fn instance(root: &Root, folder: &str, level: u8, kind: CacheKind, cpu: usize) -> Cache {
    let shared = root
        .text(&format!("{folder}/shared_cpu_list"))
        .parse("a list of CPUs", |text| CpuSet::parse(text))
        .value()
        .cloned()
        .filter(|cpus| cpus.contains(cpu))
        .unwrap_or_else(|| CpuSet::new([cpu]));
    Cache {
        level,
        kind,
        size_bytes: root
            .text(&format!("{folder}/size"))
            .parse("a size above 0", |text| parse_size(text).filter(|size| *size > 0))
            .because("the firmware describes this cache without its size"),
        ways: positive(root.number(&format!("{folder}/ways_of_associativity"))),
        line_bytes: positive(root.number(&format!("{folder}/coherency_line_size"))),
        sets: positive(root.number(&format!("{folder}/number_of_sets"))),
        instances: vec![shared],
    }
}

/// The kernel reports of Arm's caches only what the firmware does; the smallest data line is in a register that programs can
/// read.
fn lines_by_instruction(makes: &mut [Cache], host: &dyn Host) {
    let Some(bytes) = host.data_line() else { return };
    for cache in makes.iter_mut().filter(|cache| cache.level == 1 && cache.holds_data()) {
        if cache.line_bytes.value().is_none() {
            cache.line_bytes = Fact::known(bytes, "CTR_EL0");
        }
    }
}

/// The kernel writes 0 for an unknown number.
fn positive<T: Copy + PartialOrd + Default>(number: Fact<T>) -> Fact<T> {
    number.parse("above 0", |number| (*number > T::default()).then_some(*number))
}

/// The deterministic cache leaf: 4 on Intel, `0x8000_001D` on AMD; it does not say who shares which instance.
fn from_cpuid(host: &dyn Host) -> Fact<Vec<Cache>> {
    for (leaf, source) in [(4, "CPUID leaf 0x4"), (0x8000_001d, "CPUID leaf 0x8000001d")] {
        let highest = host.cpuid(leaf & 0xf000_0000, 0).map_or(0, |registers| registers[0]);
        if highest < leaf {
            continue;
        }
        let leaves = (0..32).map_while(|subleaf| host.cpuid(leaf, subleaf));
        let caches: Vec<Cache> = leaves.map_while(|registers| decode(registers, source)).collect();
        if !caches.is_empty() {
            return Fact::known(caches, source);
        }
    }
    Fact::unknown(
        "neither the kernel nor the processor describes the caches; load latency by size will show them",
        "/sys/devices/system/cpu/cpu*/cache",
    )
}

/// One subleaf; `None` ends the list.
fn decode([eax, ebx, ecx, _]: [u32; 4], source: &str) -> Option<Cache> {
    let kind = match eax & 0x1f {
        1 => CacheKind::Data,
        2 => CacheKind::Instruction,
        3 => CacheKind::Unified,
        _ => return None,
    };
    let line = u64::from(ebx & 0xfff) + 1;
    let partitions = u64::from(ebx >> 12 & 0x3ff) + 1;
    let ways = (ebx >> 22 & 0x3ff) + 1;
    let sets = u64::from(ecx) + 1;
    let size = (line * partitions * u64::from(ways)).checked_mul(sets)?;
    Some(Cache {
        level: (eax >> 5 & 7) as u8,
        kind,
        size_bytes: Fact::known(size, source),
        ways: Fact::known(ways, source),
        line_bytes: Fact::known(line, source),
        sets: Fact::known(sets, source),
        instances: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpuid_leaf_gives_the_geometry() {
        // 48 KiB, 12 ways, 64-byte lines, 64 sets: the first data cache of Ice Lake.
        let cache = decode([1 | 1 << 5, 11 << 22 | 63, 63, 0], "x").unwrap();
        assert_eq!((cache.level, cache.size_bytes.value()), (1, Some(&(48 << 10))));
        assert!(decode([0; 4], "x").is_none());
    }

    #[test]
    fn a_line_that_the_firmware_leaves_out_is_the_one_that_a_register_tells() {
        struct Arm;
        impl Host for Arm {
            fn data_line(&self) -> Option<u64> {
                Some(64)
            }
        }
        let cache = |level, line: Fact<u64>| Cache {
            line_bytes: line,
            ..Cache { level, ..decode([1 | 1 << 5, 11 << 22 | 63, 63, 0], "x").unwrap() }
        };
        let unknown = || Fact::unknown("the firmware does not say", "x");
        let mut makes = [cache(1, unknown()), cache(1, Fact::known(128, "x")), cache(2, unknown())];
        lines_by_instruction(&mut makes, &Arm);
        assert_eq!(makes.map(|make| make.line_bytes.value().copied()), [Some(64), Some(128), None]);
    }
}
