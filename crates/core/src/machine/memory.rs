//! Main memory: size, kind and theoretical bandwidth; pages of every size.

use super::fact::Fact;
use super::host::Host;
use super::modules::{self, Bandwidth, Channels};
use super::smbios::Module;
use super::source::{Root, field, parse_size};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Main memory and its pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memory {
    /// All memory that the kernel manages, bytes.
    pub total_bytes: Fact<u64>,
    /// Memory that the kernel could give without swapping at the time of reading, bytes (of the whole machine).
    pub available_bytes: Fact<u64>,
    /// Modules, with empty slots.
    pub modules: Fact<Vec<Module>>,
    /// The populated channels, and how evenly they are.
    pub channels: Fact<Channels>,
    /// Transfer rate × width × populated channels.
    pub theoretical_bandwidth: Fact<Bandwidth>,
    /// Error correction, per memory controller (EDAC).
    pub error_correction: Fact<ErrorCorrection>,
    /// Base page, bytes.
    pub page_bytes: Fact<u64>,
    /// Page tables of all processes, bytes.
    #[serde(default = "page_tables_not_asked_for")]
    pub page_table_bytes: Fact<u64>,
    /// Pools of explicit huge pages.
    pub huge_pages: Fact<Vec<HugePagePool>>,
    /// Transparent huge pages.
    pub transparent_huge_pages: TransparentHugePages,
    /// Whether the kernel moves pages between NUMA nodes by itself.
    pub numa_balancing: Fact<bool>,
    /// Overcommit policy (`vm.overcommit_memory`: 0 heuristic, 1 always, 2 never).
    pub overcommit: Fact<u32>,
}

/// The error counts of the memory controllers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorCorrection {
    /// Controllers that report.
    pub controllers: usize,
    /// Errors corrected since boot; many of them slow memory down.
    pub corrected_errors: u64,
    /// Errors not corrected.
    pub uncorrected_errors: u64,
}

/// Explicit huge pages of one size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HugePagePool {
    /// Size of a page, bytes.
    pub page_bytes: u64,
    /// Pages in the pool.
    pub total: u64,
    /// Free pages in the pool.
    pub free: u64,
}

/// The kernel's policy for huge pages that programs did not request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransparentHugePages {
    /// `always`, `madvise`, `never`.
    pub enabled: Fact<String>,
    /// When the kernel stops to make room for one.
    pub defrag: Fact<String>,
    /// The same for shared memory.
    pub shmem: Fact<String>,
    /// Their size, bytes.
    pub page_bytes: Fact<u64>,
    /// Policies of intermediate sizes (multi-size THP) that are not `never`, by size.
    pub intermediate: BTreeMap<String, String>,
}

pub(super) fn read(root: &Root, host: &dyn Host) -> Memory {
    let info = root.text("/proc/meminfo");
    let modules = modules::read(root);
    let channels = modules::channels(root, &modules);
    Memory {
        total_bytes: amount(&info, "MemTotal"),
        available_bytes: amount(&info, "MemAvailable"),
        theoretical_bandwidth: modules::bandwidth(&modules, &channels),
        modules,
        channels,
        error_correction: error_correction(root),
        page_table_bytes: amount(&info, "PageTables"),
        page_bytes: Fact::from_call(host.page_bytes(), "sysconf(_SC_PAGESIZE)"),
        huge_pages: huge_pages(root),
        transparent_huge_pages: transparent(root),
        numa_balancing: root
            .switch("/proc/sys/kernel/numa_balancing")
            .because("this kernel is built without automatic NUMA balancing"),
        overcommit: root.number("/proc/sys/vm/overcommit_memory"),
    }
}

fn page_tables_not_asked_for() -> Fact<u64> {
    Fact::unknown("it was not asked for", "/proc/meminfo PageTables")
}

/// One line of /proc/meminfo, bytes.
pub(super) fn amount(info: &Fact<String>, key: &str) -> Fact<u64> {
    info.clone()
        .parse(&format!("a text with a line {key}"), |text| parse_size(field(text, key)?))
        .via(&format!(" {key}"))
}

fn error_correction(root: &Root) -> Fact<ErrorCorrection> {
    const FOLDER: &str = "/sys/devices/system/edac/mc";
    let controllers = root.numbered(FOLDER, "mc");
    if controllers.is_empty() {
        return Fact::unknown("no memory controller reports errors to the kernel (no EDAC driver)", FOLDER);
    }
    let sum = |file: &str| {
        let counts = controllers.iter().map(|mc| root.number::<u64>(&format!("{FOLDER}/mc{mc}/{file}")));
        counts.filter_map(|count| count.value().copied()).fold(0, u64::saturating_add)
    };
    let errors = ErrorCorrection {
        controllers: controllers.len(),
        corrected_errors: sum("ce_count"),
        uncorrected_errors: sum("ue_count"),
    };
    Fact::known(errors, FOLDER)
}

fn huge_pages(root: &Root) -> Fact<Vec<HugePagePool>> {
    const FOLDER: &str = "/sys/kernel/mm/hugepages";
    let pools: Vec<HugePagePool> = root
        .entries(FOLDER)
        .iter()
        .filter_map(|name| pool(root, &format!("{FOLDER}/{name}"), name))
        .collect();
    if pools.is_empty() {
        Fact::unknown("this kernel offers no huge pages", FOLDER)
    } else {
        Fact::known(pools, FOLDER)
    }
}

fn pool(root: &Root, folder: &str, name: &str) -> Option<HugePagePool> {
    Some(HugePagePool {
        page_bytes: parse_size(name.strip_prefix("hugepages-")?)?,
        total: root.number(&format!("{folder}/nr_hugepages")).value().copied()?,
        free: root.number(&format!("{folder}/free_hugepages")).value().copied()?,
    })
}

fn transparent(root: &Root) -> TransparentHugePages {
    const FOLDER: &str = "/sys/kernel/mm/transparent_hugepage";
    let absent = "this kernel is built without transparent huge pages";
    let choice = |file: &str| root.choice(&format!("{FOLDER}/{file}")).because(absent);
    TransparentHugePages {
        enabled: choice("enabled"),
        defrag: choice("defrag"),
        shmem: choice("shmem_enabled"),
        page_bytes: root.number(&format!("{FOLDER}/hpage_pmd_size")).because(absent),
        intermediate: intermediate(root, FOLDER),
    }
}

fn intermediate(root: &Root, folder: &str) -> BTreeMap<String, String> {
    let sizes = root
        .entries(folder)
        .into_iter()
        .filter_map(|name| Some((name.strip_prefix("hugepages-")?.to_owned(), name)));
    let policies = sizes.filter_map(|(size, name)| {
        let policy = root.choice(&format!("{folder}/{name}/enabled")).value().cloned()?;
        Some((size, policy))
    });
    policies.filter(|(_, policy)| policy != "never").collect()
}
