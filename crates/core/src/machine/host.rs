//! Facts from instructions and system calls instead of files: one trait, so that a test can describe a machine on which it
//! does not run.

use super::cpu_set::Pinned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The names the kernel gives in uname(2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemNames {
    /// `6.18.0`
    pub release: String,
    /// `#1 SMP PREEMPT_DYNAMIC …`
    pub version: String,
    /// `x86_64`, `aarch64`
    pub machine: String,
}

/// A folder as statvfs(3) shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Without symbolic links.
    pub path: PathBuf,
    /// Size of the file system, bytes.
    pub total_bytes: u64,
    /// Free for this user, bytes (`f_bavail`).
    pub free_bytes: u64,
    /// Allocation unit (`f_frsize`), bytes.
    pub block_bytes: u64,
}

/// An event that `perf_event_open(2)` may count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// Core cycles (hardware).
    Cycles,
    /// Instructions retired (hardware).
    Instructions,
    /// Branches mispredicted (hardware).
    BranchMisses,
    /// Misses of the last-level cache (hardware).
    CacheMisses,
    /// Context switches (kernel).
    ContextSwitches,
    /// Migrations between CPUs (kernel).
    CpuMigrations,
    /// Page faults, minor and major (kernel).
    PageFaults,
}

impl Event {
    /// All of them, hardware first.
    pub const ALL: [Self; 7] = [
        Self::Cycles,
        Self::Instructions,
        Self::BranchMisses,
        Self::CacheMisses,
        Self::ContextSwitches,
        Self::CpuMigrations,
        Self::PageFaults,
    ];

    /// Whether the processor counts it (otherwise the kernel does).
    pub fn is_hardware(self) -> bool {
        matches!(self, Self::Cycles | Self::Instructions | Self::BranchMisses | Self::CacheMisses)
    }

    /// The name, as in the head of a column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Instructions => "instructions",
            Self::BranchMisses => "branch misses",
            Self::CacheMisses => "cache misses",
            Self::ContextSwitches => "context switches",
            Self::CpuMigrations => "CPU migrations",
            Self::PageFaults => "page faults",
        }
    }
}

/// A resource of which a process may have a limited amount (getrlimit(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// Addresses that are mapped, bytes.
    AddressSpace,
    /// Private memory that can be written, bytes.
    Data,
    /// Locked memory, bytes.
    LockedMemory,
    /// Open files of a process.
    OpenFiles,
    /// Processes and threads of the user.
    Processes,
}

/// Answers that are in no file. Every method has a default of "cannot be asked here", so that a described machine implements
/// only what it has.
pub trait Host {
    /// CPUID with this leaf and subleaf: EAX, EBX, ECX, EDX. `None` if there is no such instruction.
    fn cpuid(&self, _leaf: u32, _subleaf: u32) -> Option<[u32; 4]> {
        None
    }

    /// Whether programs can execute an extension of the instruction set, by its name in Linux: the processor has it, and the
    /// kernel keeps its registers. `None` if no instruction tells.
    fn executes(&self, _extension: &str) -> Option<bool> {
        None
    }

    /// The frequency of the architecture's own tick counter as declared (Arm `CNTFRQ_EL0`), Hz.
    fn counter_frequency(&self) -> Option<u64> {
        None
    }

    /// The line size of the smallest data cache, from the architecture's own register (Arm `CTR_EL0`), bytes.
    fn data_line(&self) -> Option<u64> {
        None
    }

    /// The CPUs this process may run on.
    fn affinity(&self) -> Result<Vec<usize>, String> {
        Err(cannot())
    }

    /// Runs the following CPU-specific instructions, such as CPUID, on one CPU for the lifetime of the result.
    fn pinned(&self, _cpu: usize) -> Pinned {
        Pinned::default()
    }

    /// uname(2).
    fn names(&self) -> Result<SystemNames, String> {
        Err(cannot())
    }

    /// Size of a base page, bytes.
    fn page_bytes(&self) -> Result<u64, String> {
        Err(cannot())
    }

    /// The C library and its version.
    fn libc(&self) -> Result<String, String> {
        Err(cannot())
    }

    /// The file system that holds a folder.
    fn folder(&self, _folder: &Path) -> Result<Folder, String> {
        Err(cannot())
    }

    /// Offloads of a network adapter (name, on or off).
    fn offloads(&self, _adapter: &str) -> Result<Vec<(String, bool)>, String> {
        Err(cannot())
    }

    /// Opens a counter on this process, user space only, and closes it; the errno if that fails.
    fn open_counter(&self, _event: Event) -> Result<(), i32> {
        Err(libc::ENOSYS)
    }

    /// Effective user id.
    fn effective_uid(&self) -> Result<u32, String> {
        Err(cannot())
    }

    /// The limit on a resource; `None`: no limit.
    fn limit(&self, _resource: Resource) -> Result<Option<u64>, String> {
        Err(cannot())
    }
}

fn cannot() -> String {
    "this machine was described, not asked".to_owned()
}
