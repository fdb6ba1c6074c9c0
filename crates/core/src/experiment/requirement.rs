//! Requirements of a point on the machine, as data, so that the plan can say in words what is missing.

use crate::machine::Machine;

/// A condition that must hold before a point is attempted.
#[derive(Debug, Clone, PartialEq)]
pub enum Requirement {
    /// This many CPUs available to this process.
    Cpus(usize),
    /// This many bytes of memory; at most half of the available memory is used.
    MemoryBytes(u64),
    /// This many bytes of free swap space.
    SwapBytes(u64),
    /// One of these instruction set architectures, by their names in Rust.
    Architecture(&'static [&'static str]),
    /// An extension of the instruction set, by its name in `/proc/cpuinfo`.
    Instructions(&'static str),
    /// A program or device file that must exist.
    File(&'static str),
    /// A second host as the peer. No machine has one by itself; a run may.
    Peer,
    /// A file on a network mount or a server.
    Remote,
    /// At most [`Requirement::LIMIT_BYTES`] of memory, page cache included: if there is more, the run limits the trial.
    MemoryLimit,
    /// This many bytes of the page cache, outside of any limit that the run sets.
    PageCache(u64),
    /// All memory of the machine, or of the control group around the run. No machine offers that by itself; a run may be told to
    /// take it.
    WholeMemory,
}

impl Requirement {
    /// The architectures for which the operations are written in assembly.
    pub const ASSEMBLY: Requirement = Requirement::Architecture(&["x86_64", "aarch64"]);

    /// The memory limit of trials that fill the page cache, bytes: filling all of a large memory takes minutes, and evicts the
    /// files of others.
    pub const LIMIT_BYTES: u64 = 512 << 20;

    /// The most that a run keeps of a file in the page cache outside of any limit, bytes.
    pub const CACHED_BYTES: u64 = 1 << 30;

    /// Whether a run that may take the memory of the whole machine meets the requirement by that, whatever the machine is like.
    pub fn is_met_by_whole_memory(&self) -> bool {
        matches!(self, Requirement::MemoryLimit | Requirement::PageCache(_) | Requirement::WholeMemory)
    }

    /// The reason why this machine does not meet the requirement; `None` if it does.
    pub fn unmet_reason(&self, machine: &Machine) -> Option<String> {
        match self {
            Requirement::Cpus(needed) => lacking_cpus(*needed, machine.allowed_cpus().len()),
            Requirement::MemoryBytes(needed) => lacking_memory(*needed, machine.available_bytes()),
            Requirement::SwapBytes(needed) => lacking_swap(*needed, free_swap(machine)),
            Requirement::Architecture(needed) => lacking_architecture(needed),
            Requirement::Instructions(needed) => lacking_instructions(needed, machine),
            Requirement::File(path) => {
                (!std::path::Path::new(path).exists()).then(|| format!("needs {path}, which does not exist"))
            }
            Requirement::Remote => machine.storage.remote.is_none().then(|| {
                "needs a file over a network: --dir FOLDER on a network mount, or --remote URL (sftp://, nfs://, \
                 smb://)"
                    .to_owned()
            }),
            // Whether a limit is possible is found out when it is set.
            Requirement::MemoryLimit => lacking_rest(machine),
            Requirement::PageCache(bytes) => lacking_page_cache(*bytes),
            Requirement::WholeMemory => Some(format!(
                "needs `{WHOLE_MEMORY}`: it takes the page cache of the whole machine, so that what other programs have there is \
                 dropped, and their memory may be swapped out"
            )),
            Requirement::Peer => Some(
                "needs a second host: `--peer HOST` for a real one, `--peer namespace` for a virtual one on this machine"
                    .to_owned(),
            ),
        }
    }
}

/// The option that allows a run to take all memory of the machine.
const WHOLE_MEMORY: &str = "--whole-memory";

/// A limit is a limit only where it leaves something to others: on a machine that has no more memory than that, filling it would
/// take the page cache of every other program. Within a control group that has no more it is the group's own.
fn lacking_rest(machine: &Machine) -> Option<String> {
    let limit = machine.conditions.limits.memory_bytes.value().copied().flatten();
    let total = machine.memory.total_bytes.value().copied()?;
    let is_all = total <= Requirement::LIMIT_BYTES && limit.is_none_or(|limit| limit >= total);
    is_all.then(|| {
        format!(
            "fills the page cache up to a limit of {} MiB, and this machine has no more than {} MiB: a control group with a \
             smaller limit, or `{WHOLE_MEMORY}`, which takes all of it from other programs",
            Requirement::LIMIT_BYTES >> 20,
            total >> 20
        )
    })
}

fn lacking_page_cache(needed: u64) -> Option<String> {
    (needed > Requirement::CACHED_BYTES).then(|| {
        format!(
            "keeps {} MiB of a file in the page cache, where a run takes {} MiB for each: `{WHOLE_MEMORY}` allows more, at the \
             expense of other programs' files",
            needed >> 20,
            Requirement::CACHED_BYTES >> 20
        )
    })
}

fn lacking_architecture(needed: &[&str]) -> Option<String> {
    let here = std::env::consts::ARCH;
    (!needed.contains(&here))
        .then(|| format!("an operation of {} only; this program runs on {here}", needed.join(" and ")))
}

/// Where the machine's description does not tell its extensions they are tried: the trial asks the processor that it runs on.
fn lacking_instructions(needed: &str, machine: &Machine) -> Option<String> {
    let features = machine.processor.features.value()?;
    let has = features.iter().any(|feature| feature == needed);
    (!has).then(|| format!("needs the instructions called {needed}, which this processor does not offer"))
}

fn lacking_cpus(needed: usize, allowed: usize) -> Option<String> {
    (allowed < needed)
        .then(|| format!("needs {needed} CPUs; this process may use {allowed} (see taskset, cpuset)"))
}

fn lacking_memory(needed: u64, available: Option<u64>) -> Option<String> {
    let mib = |bytes: u64| bytes >> 20;
    match available {
        Some(available) if needed > available / 2 => Some(format!(
            "needs {} MiB, more than half of the {} MiB available to this process",
            mib(needed),
            mib(available)
        )),
        _ => None,
    }
}

fn free_swap(machine: &Machine) -> Option<u64> {
    let conditions = &machine.conditions;
    let (total, used) = (conditions.swap_total_bytes.value()?, conditions.swap_used_bytes.value()?);
    total.checked_sub(*used)
}

fn lacking_swap(needed: u64, free: Option<u64>) -> Option<String> {
    let free = free.filter(|free| *free < needed)?;
    Some(format!(
        "needs {} MiB of free swap space; this machine has {} MiB (swapon(8) adds some)",
        needed >> 20,
        free >> 20
    ))
}

/// What a point does to the machine as a whole that other programs could notice, beside using processor time: said before a run begins,
/// so that whoever is responsible for the machine can decide. What a [`Requirement`] says already is not said twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// A file of this many bytes in the run's folder.
    File(u64),
    /// This many processes that read a file of this many bytes each.
    Files(u64, u64),
    /// Small files and folders, made and removed in the run's folder.
    Names,
    /// Connections and datagrams on loopback, or to the peer.
    Sockets,
    /// Processes under `SCHED_BATCH`.
    BatchPolicy,
    /// Work on every CPU at once.
    EveryCpu,
    /// A control group with a quota of processor time, for processes of the trial.
    QuotaGroup,
    /// Up to this many bytes of memory that nothing uses are filled with pages of a file, and freed at once.
    UnusedMemory(u64),
    /// The page cache of the whole machine is dropped, where the run is root's and the server is this machine.
    DropCaches,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_available_memory_may_be_taken_and_no_more() {
        assert_eq!(lacking_memory(256 << 20, Some(512 << 20)), None);
        let reason = lacking_memory(257 << 20, Some(512 << 20)).unwrap_or_default();
        assert!(reason.contains("257 MiB") && reason.contains("512 MiB"), "{reason}");
    }

    #[test]
    fn instructions_are_those_of_the_description_and_tried_where_it_tells_none() {
        use crate::machine::Fact;

        // It has AVX2 and no AVX-512, whatever this program runs on.
        let mut machine = crate::machine::described::machine();
        assert_eq!(Requirement::Instructions("avx2").unmet_reason(&machine), None);
        let reason = Requirement::Instructions("avx512f").unmet_reason(&machine).unwrap_or_default();
        assert!(reason.contains("avx512f") && reason.contains("does not offer"), "{reason}");
        machine.processor.features = Fact::unknown("/proc is masked", "a test");
        assert_eq!(Requirement::Instructions("avx512f").unmet_reason(&machine), None);
    }

    #[test]
    fn a_machine_without_swap_is_told_so_and_one_of_which_nothing_is_known_is_tried() {
        assert_eq!(lacking_swap(1 << 20, None), None);
        assert_eq!(lacking_swap(1 << 20, Some(1 << 20)), None);
        assert!(lacking_swap(1 << 20, Some(0)).is_some_and(|reason| reason.contains("swapon")));
    }

    #[test]
    fn what_takes_the_page_cache_of_others_is_not_met_by_any_machine() {
        let of_all = Requirement::WholeMemory;
        let nothing_known = Machine::from_root(
            &crate::machine::Root::new("/nowhere"),
            &Unknown,
            std::path::Path::new("/nowhere"),
        );
        for needed in [of_all, Requirement::PageCache(Requirement::CACHED_BYTES + 1)] {
            let reason = needed.unmet_reason(&nothing_known).unwrap_or_default();
            assert!(reason.contains("--whole-memory"), "{reason}");
            assert!(needed.is_met_by_whole_memory());
        }
        assert_eq!(Requirement::PageCache(Requirement::CACHED_BYTES).unmet_reason(&nothing_known), None);
    }

    struct Unknown;
    impl crate::machine::Host for Unknown {}

    /// A machine of this much memory, whose control group is limited if `limit`.
    fn of_memory(kib: u64, limit: Option<u64>) -> Machine {
        let limit = limit.map_or_else(|| "max".to_owned(), |bytes| bytes.to_string());
        let (_tree, root) = crate::machine::Root::planted(&[
            ("/proc/meminfo", &format!("MemTotal: {kib} kB\nMemAvailable: {kib} kB\n")),
            ("/proc/self/cgroup", "0::/one\n"),
            ("/proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("/sys/fs/cgroup/one/memory.max", &limit),
        ]);
        Machine::from_root(&root, &Unknown, std::path::Path::new("/nowhere"))
    }

    #[test]
    fn a_limit_that_is_all_memory_of_a_machine_is_none_but_that_of_a_control_group_is_one() {
        let unmet_reason = |kib, limit| Requirement::MemoryLimit.unmet_reason(&of_memory(kib, limit));
        let reason = unmet_reason(512 << 10, None).unwrap_or_default();
        assert!(reason.contains("no more than 512 MiB") && reason.contains("--whole-memory"), "{reason}");
        assert_eq!(unmet_reason(512 << 10, Some(300 << 20)), None);
        assert_eq!(unmet_reason(8 << 20, None), None);
        assert_eq!(unmet_reason(8 << 20, Some(512 << 20)), None);
    }
}
