//! The description of this machine, and what may disturb a run: read, never written.
//!
//! Every field is a [`Fact`]: a value with the file, instruction or call from which it was read, or the reason why it is
//! unknown. Files are read below a [`Root`] and everything else comes from a [`Host`], so that a test can describe a machine
//! on which it does not run.

mod caches;
mod cgroup;
pub(crate) mod conditions;
mod cpu_set;
mod cpuid;
#[cfg(test)]
pub(crate) mod described;
mod fact;
mod host;
mod kernel;
mod kernel_config;
mod live;
mod lookups;
mod memory;
mod microarchitecture;
mod modules;
mod mounts;
mod network;
mod privileges;
mod processor;
mod published;
mod rated_disk;
mod raw;
mod remote;
mod route;
mod smbios;
mod source;
mod storage;
mod tlbs;
mod topology;
mod virtualization;
mod warnings;

use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use caches::{Cache, CacheKind};
pub use cgroup::{GroupParent, Limits};
pub use conditions::{Conditions, IdleState};
pub use cpu_set::{CpuSet, Pinned, allow_this_thread};
pub use fact::Fact;
pub use host::{Event, Folder, Host, Resource, SystemNames};
pub use kernel::{ClockReading, Kernel};
pub use live::Live;
pub use lookups::Nearness;
pub use memory::{ErrorCorrection, HugePagePool, Memory, TransparentHugePages};
pub use microarchitecture::process as manufacturing_process;
pub use modules::{Bandwidth, Channels};
pub use network::Adapter;
pub use privileges::Privileges;
pub use processor::{Processor, TickCounter};
pub use rated_disk::RatedDisk;
pub use raw::RawText;
pub use remote::{Protocol, Remote, RemoteAddress, RemoteUrl, network_mount};
pub use route::Route;
pub use smbios::Module;
pub use source::{Root, bracketed};
pub use storage::{Device, Storage};
pub use tlbs::{Tlb, TlbKind};
pub use topology::{CoreClass, NumaNode, Topology, spread};
pub use virtualization::Virtualization;
pub use warnings::{Warning, is_loaded};

/// The whole machine, as it was when it was described.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!remote))]
#[serde(remote = "Self")]
pub struct Machine {
    /// The processor.
    pub processor: Processor,
    /// How its CPUs share cores, sockets and nodes.
    pub topology: Topology,
    /// The caches of every CPU.
    pub caches: Fact<Vec<Cache>>,
    /// Main memory.
    pub memory: Memory,
    /// The file system and disk under the measured folder.
    pub storage: Storage,
    /// Network adapters.
    pub network: Vec<Adapter>,
    /// The route to the run's second host; absent where it has none, and for a virtual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_route: Option<Fact<Route>>,
    /// The kernel.
    pub kernel: Kernel,
    /// Conditions that may disturb a run.
    pub conditions: Conditions,
    /// Hypervisor, container, board.
    pub virtualization: Virtualization,
    /// The rights of this process.
    pub privileges: Privileges,
    /// How this program was built.
    pub build: Build,
    /// Contents of files from which facts were read, without what identifies the machine; of earlier programs there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raw: Vec<RawText>,
}

impl Serialize for Machine {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Machine::serialize(self, to)
    }
}

impl<'de> Deserialize<'de> for Machine {
    /// By way of a JSON value: so the code that reads several hundred fields is compiled once, here, and not in each crate that
    /// reads a description, for each format.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from_json(serde_json::Value::deserialize(from)?).map_err(D::Error::custom)
    }
}

fn from_json(value: serde_json::Value) -> serde_json::Result<Machine> {
    Machine::deserialize(value)
}

/// How this program was built: code for another target, or without optimisation, measures differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Build {
    /// Architecture, system and C library.
    pub target: String,
    /// Whether the compiler optimised.
    pub optimised: bool,
    /// Version of this program.
    pub version: String,
}

impl Machine {
    /// Describes the machine of this process. `folder` is the one that file experiments would measure.
    ///
    /// Reads files and makes system calls; writes nothing, and waits for nothing except a network file system if the folder
    /// is on one.
    pub fn describe(folder: &Path) -> Self {
        Self::from_root(&Root::default(), &Live, folder)
    }

    /// Describes the machine that a tree of files and a host show.
    pub fn from_root(root: &Root, host: &dyn Host, folder: &Path) -> Self {
        let topology = topology::read(root, host);
        let online = topology.online().to_vec();
        let (processor, caches) = asked_on(root, host, topology.usual_cpu(), &online);
        Self {
            processor,
            caches,
            memory: memory::read(root, host),
            storage: storage::read(root, host, folder),
            network: network::read(root, host),
            peer_route: None,
            kernel: kernel::read(root, host),
            conditions: conditions::read(root, host, &online),
            virtualization: virtualization::read(root, host),
            privileges: privileges::read(root, host),
            build: build(),
            raw: raw::read(root, folder),
            topology,
        }
    }

    /// Reads the processor again on another CPU, because that is the one that will be measured: cores of another class have
    /// other caches, buffers and clocks.
    pub fn ask_on(&mut self, cpu: usize) {
        if self.processor.cpu != Some(cpu) {
            let online = self.topology.online().to_vec();
            (self.processor, self.caches) = asked_on(&Root::default(), &Live, Some(cpu), &online);
        }
    }
}

/// The facts from instructions, executed on one CPU if one is known.
fn asked_on(
    root: &Root,
    host: &dyn Host,
    cpu: Option<usize>,
    online: &[usize],
) -> (Processor, Fact<Vec<Cache>>) {
    let _pinned = cpu.map(|cpu| host.pinned(cpu));
    (processor::read(root, host, cpu), caches::read(root, host, online))
}

/// The most memory that a process of this control group can hold now: the tightest limit, or all that the kernel manages,
/// bytes; `None` if neither is known.
pub fn memory_ceiling() -> Option<u64> {
    let root = Root::default();
    let total = memory::amount(&root.text("/proc/meminfo"), "MemTotal").value().copied();
    let limit = cgroup::read(&root).memory_bytes.value().copied().flatten();
    total.into_iter().chain(limit).min()
}

/// Memory that nothing uses now, not even the page cache, within the tightest limit of this control group, bytes; `None` if it is
/// not known.
pub fn unused_bytes() -> Option<u64> {
    let root = Root::default();
    let free = memory::amount(&root.text("/proc/meminfo"), "MemFree").value().copied()?;
    let remaining = cgroup::read(&root).memory_left_bytes.value().copied().flatten();
    Some(remaining.map_or(free, |remaining| remaining.min(free)))
}

/// The file with the throttling counters of the control group that has this process's CPU quota; `None` if there is no quota.
pub fn cpu_stat_path(root: &Root) -> Option<String> {
    cpu_stat_path_of(root, None)
}

/// The same of the process with this number; of this process for `None`.
pub fn cpu_stat_path_of(root: &Root, process: Option<u32>) -> Option<String> {
    cgroup::cpu_stat(root, &process.map_or_else(|| "self".to_owned(), |number| number.to_string()))
}

/// The load average of the last minute; `None` if the kernel does not tell it.
pub fn load_average() -> Option<f64> {
    let first = |text: &str| text.split_whitespace().next()?.parse().ok();
    Root::default().text("/proc/loadavg").value().and_then(|text| first(text))
}

/// The host name of this machine; `None` if it has none.
pub fn host_name() -> Option<String> {
    Root::default().word("/proc/sys/kernel/hostname").value().cloned()
}

/// The parent for a control group with a limit on memory for processes of this program.
pub fn memory_parent() -> Result<GroupParent, String> {
    group_parent("memory")
}

/// The parent for a control group with this controller for processes of this program.
pub fn group_parent(controller: &str) -> Result<GroupParent, String> {
    cgroup::parent(&Root::default(), controller)
}

/// The limit of its control group that this process would leave if the user's service manager started it in a scope; `None` if
/// there is none.
pub fn limit_left_for_a_scope() -> Option<String> {
    cgroup::limit_left_for_a_scope(&Root::default())
}

fn build() -> Build {
    let libc = if cfg!(target_env = "gnu") {
        "gnu"
    } else if cfg!(target_env = "musl") {
        "musl"
    } else {
        "other"
    };
    Build {
        target: format!("{}-{}-{libc}", std::env::consts::ARCH, std::env::consts::OS),
        optimised: !cfg!(debug_assertions),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
