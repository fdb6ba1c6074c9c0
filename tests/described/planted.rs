//! Machines we do not have, from trees that are planted file by file.

use fathom::machine::{
    Event, Fact, Folder, Host, Machine, Pinned, Resource, Root, SystemNames, Tlb, TlbKind,
};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// An empty tree, in memory where there is such a place: thousands of small files take seconds on a disk.
pub fn empty_tree() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

/// Puts a tree where the table says: `path = content` (with `\n` for a new line) or `path -> link target`.
pub fn plant(tree: &TempDir, table: &str) {
    for line in table.lines().filter(|line| line.starts_with('/')) {
        if let Some((path, target)) = line.split_once(" -> ") {
            symlink(target, place(tree, path)).unwrap();
        } else {
            let (path, content) = line.split_once(" =").unwrap();
            fs::write(place(tree, path), content.trim_start().replace("\\n", "\n") + "\n").unwrap();
        }
    }
}

/// Where a path of the tree stands; the folders above it are made.
pub fn place(tree: &TempDir, path: &str) -> PathBuf {
    let place = tree.path().join(path.trim_start_matches('/'));
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    place
}

/// A host with these answers and no others.
#[derive(Default)]
pub struct Described {
    /// CPUs that it may use.
    pub affinity: Vec<usize>,
    /// What CPUID answers.
    pub cpuid: BTreeMap<(u32, u32), [u32; 4]>,
    /// What it answers on single CPUs, in the place of that.
    pub cpuid_of: BTreeMap<usize, BTreeMap<(u32, u32), [u32; 4]>>,
    /// The CPU that questions are asked on.
    pub asked_on: Cell<Option<usize>>,
    /// Limits of the process.
    pub limits: BTreeMap<Resource, u64>,
    /// The kernel's release.
    pub release: Option<&'static str>,
    /// Its architecture where it has a release; x86-64 where this is empty.
    pub architecture: &'static str,
    /// Where files are written.
    pub folder: Option<Folder>,
    /// Why counters do not open.
    pub counter_errno: i32,
}

impl Host for Described {
    fn cpuid(&self, leaf: u32, subleaf: u32) -> Option<[u32; 4]> {
        let here = self.asked_on.get().and_then(|cpu| self.cpuid_of.get(&cpu)).unwrap_or(&self.cpuid);
        let known = here.get(&(leaf, subleaf)).copied();
        (!here.is_empty()).then(|| known.unwrap_or_default())
    }

    fn affinity(&self) -> Result<Vec<usize>, String> {
        Ok(self.affinity.clone())
    }

    fn pinned(&self, cpu: usize) -> Pinned {
        self.asked_on.set(Some(cpu));
        Pinned::default()
    }

    fn limit(&self, resource: Resource) -> Result<Option<u64>, String> {
        if self.limits.is_empty() {
            Err("not told".to_owned())
        } else {
            Ok(self.limits.get(&resource).copied())
        }
    }

    fn names(&self) -> Result<SystemNames, String> {
        let release = self.release.ok_or("not told")?.to_owned();
        let machine = if self.architecture.is_empty() { "x86_64" } else { self.architecture };
        Ok(SystemNames { release, version: "#1 SMP".to_owned(), machine: machine.to_owned() })
    }

    fn page_bytes(&self) -> Result<u64, String> {
        Ok(4096)
    }

    fn folder(&self, _: &Path) -> Result<Folder, String> {
        self.folder.clone().ok_or_else(|| "no folder".to_owned())
    }

    fn open_counter(&self, _: Event) -> Result<(), i32> {
        if self.counter_errno == 0 { Ok(()) } else { Err(self.counter_errno) }
    }
}

/// The machine that a tree and a host describe.
pub fn described(table: &str, host: &Described) -> Machine {
    let tree = empty_tree();
    plant(&tree, table);
    Machine::from_root(&Root::new(tree.path()), host, Path::new("/data"))
}

/// The files of one cache of one CPU.
pub fn cache(cpu: usize, index: usize, kind: &str, level: u8, kib: u64, shared: &str) -> String {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
    format!(
        "{folder}/type = {kind}\n{folder}/level = {level}\n{folder}/size = {kib}K\n{folder}/shared_cpu_list = {shared}\n\
         {folder}/coherency_line_size = 64\n{folder}/ways_of_associativity = 8\n{folder}/number_of_sets = {}\n",
        kib * 1024 / 64 / 8
    )
}

/// Two sockets of 32 cores with SMT, numbered as Linux does: siblings are 64 apart, and 16 cores share an L3.
pub fn server() -> String {
    let mut table = String::from("/sys/devices/system/cpu/online = 0-127\n");
    for cpu in 0..128 {
        let core = cpu % 64;
        let siblings = format!("{core},{}", core + 64);
        let (socket, cluster) = (core / 32 * 32, core / 16 * 16);
        let topology = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        writeln!(table, "{topology}/thread_siblings_list = {siblings}").unwrap();
        writeln!(
            table,
            "{topology}/core_siblings_list = {socket}-{},{}-{}",
            socket + 31,
            socket + 64,
            socket + 95
        )
        .unwrap();
        table += &cache(cpu, 0, "Data", 1, 32, &siblings);
        table += &cache(cpu, 1, "Instruction", 1, 32, &siblings);
        table += &cache(cpu, 2, "Unified", 2, 512, &siblings);
        let shared = format!("{cluster}-{},{}-{}", cluster + 15, cluster + 64, cluster + 79);
        table += &cache(cpu, 3, "Unified", 3, 32768, &shared);
    }
    table += "/sys/devices/system/node/node0/cpulist = 0-31,64-95\n/sys/devices/system/node/node1/cpulist = 32-63,96-127\n";
    table += "/sys/devices/system/node/node0/meminfo = Node 0 MemTotal: 268435456 kB\n";
    table +=
        "/sys/devices/system/node/node0/distance = 10 32\n/sys/devices/system/node/node1/distance = 32 10\n";
    table
}

/// A hybrid laptop: its tree, with the caches of each class of cores.
pub fn hybrid() -> String {
    let mut table = include_str!("../fixtures/machine/hybrid.txt").to_owned();
    for cpu in 0..8 {
        let performance = cpu < 4;
        let core = cpu / 2 * 2;
        let siblings = if performance { format!("{core}-{}", core + 1) } else { cpu.to_string() };
        let topology = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        writeln!(table, "{topology}/thread_siblings_list = {siblings}").unwrap();
        writeln!(table, "{topology}/core_siblings_list = 0-7").unwrap();
        table += &cache(cpu, 0, "Data", 1, if performance { 48 } else { 32 }, &siblings);
        table += &cache(cpu, 1, "Instruction", 1, if performance { 32 } else { 64 }, &siblings);
        let (size, shared) = if performance { (1280, siblings.as_str()) } else { (2048, "4-7") };
        table += &cache(cpu, 2, "Unified", 2, size, shared);
        table += &cache(cpu, 3, "Unified", 3, 12288, "0-7");
    }
    table
}

/// A workstation of two sockets, each with two cores of two threads (siblings are 4 apart): of what descriptions have, it
/// has nearly everything. The process may use a core with both of its threads, one beside it, and one of the other socket.
/// It is the same wherever the tests run, and so is the build that it names.
pub fn workstation() -> Machine {
    let mut table = include_str!("../fixtures/machine/workstation.txt").to_owned();
    for cpu in 0..8 {
        let (core, socket) = (cpu % 4, cpu % 4 / 2);
        let siblings = format!("{core},{}", core + 4);
        let package = ["0-1,4-5", "2-3,6-7"][socket];
        let topology = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        writeln!(table, "{topology}/thread_siblings_list = {siblings}").unwrap();
        writeln!(table, "{topology}/core_siblings_list = {package}").unwrap();
        table += &cache(cpu, 0, "Data", 1, 48, &siblings);
        table += &cache(cpu, 1, "Instruction", 1, 32, &siblings);
        table += &cache(cpu, 2, "Unified", 2, 1280, &siblings);
        table += &cache(cpu, 3, "Unified", 3, 24576, package);
    }
    let folder = Folder {
        path: PathBuf::from("/data"),
        total_bytes: 900 << 30,
        free_bytes: 700 << 30,
        block_bytes: 4096,
    };
    let host = Described {
        affinity: vec![0, 1, 2, 4],
        release: Some("6.18.0"),
        folder: Some(folder),
        ..Described::default()
    };
    let mut machine = described(&table, &host);
    machine.processor.tlbs = Fact::known(tlbs(), "CPUID leaf 0x18");
    machine.processor.byte_order = Fact::known("little endian".to_owned(), "the build target");
    "x86_64-linux-gnu".clone_into(&mut machine.build.target);
    machine.build.optimised = true;
    "0.1.0".clone_into(&mut machine.build.version);
    machine
}

/// TLBs of two levels, which only an instruction tells.
fn tlbs() -> Vec<Tlb> {
    let tlb = |level, kind, page_bytes: &[u64], entries, ways| Tlb {
        level,
        kind,
        page_bytes: page_bytes.to_vec(),
        entries,
        ways,
    };
    vec![
        tlb(1, TlbKind::Instruction, &[4 << 10], 128, 8),
        tlb(1, TlbKind::Load, &[4 << 10], 64, 4),
        tlb(1, TlbKind::Load, &[2 << 20], 32, 4),
        tlb(2, TlbKind::Unified, &[4 << 10, 2 << 20], 2048, 16),
    ]
}
