//! Memory that the run does not give back between two visits of a block: the finished process keeps it until the next one needs it.
//!
//! The first touch of a page that a guest's kernel has reported as free, and that the host has taken back, ends in the host, which
//! finds and clears a page of its own: a gigabyte then takes seconds instead of a fifth of one (free page reporting, Linux
//! `mm/page_reporting.c`, reports what has been free for two seconds). A process that has answered its last request therefore
//! waits, asleep, and ends just before the next process of its block begins, which so gets pages that were in use until then.
//! Every trial is still made in a fresh process, on memory that the kernel has cleared and given to it alone.

use fathom_core::experiment::Requirement;
use fathom_core::machine::Machine;
use std::collections::BTreeMap;

/// Less memory is not worth a process that waits, bytes.
const LEAST: u64 = 32 << 20;

/// The part of the available memory that is kept at most: one in four.
const KEPT_PART: u64 = 4;

/// What has finished and keeps its memory, by its block: processes, which end when they are dropped.
#[derive(Debug)]
pub(super) struct KeptMemory<P> {
    processes: BTreeMap<usize, (u64, P)>,
    /// The most that is kept, bytes.
    room: u64,
}

impl<P> KeptMemory<P> {
    /// None yet; as much may be kept as this machine can spare, and none where that is unknown.
    pub(super) fn on(machine: &Machine) -> Self {
        KeptMemory { processes: BTreeMap::new(), room: machine.available_bytes().unwrap_or(0) / KEPT_PART }
    }

    /// Gives back what the next visit needs: the memory of its block, or all if its points measure how much there is.
    pub(super) fn give_back_for(&mut self, block: usize, needs: &[Requirement], machine: &Machine) {
        if needs.iter().any(|need| is_for_all(need, machine)) {
            self.give_back();
        }
        self.processes.remove(&block);
    }

    pub(super) fn give_back(&mut self) {
        self.processes.clear();
    }

    /// Keeps the memory of a process whose points have these needs, if there is enough and not too much of it; otherwise the process
    /// ends.
    pub(super) fn keep(&mut self, block: usize, needs: &[Requirement], process: P) {
        let bytes = needs.iter().map(memory_of).max().unwrap_or(0);
        let others: u64 = self.processes.values().map(|(bytes, _)| bytes).sum();
        if bytes >= LEAST && others + bytes <= self.room {
            self.processes.insert(block, (bytes, process));
        }
    }
}

/// The memory that a requirement names, bytes.
fn memory_of(need: &Requirement) -> u64 {
    if let Requirement::MemoryBytes(bytes) = need { *bytes } else { 0 }
}

/// Whether a point with this requirement measures how much memory there is, so that none may be kept from it.
fn is_for_all(need: &Requirement, machine: &Machine) -> bool {
    match need {
        Requirement::WholeMemory | Requirement::SwapBytes(_) => true,
        // Without a limit of its own it takes everything.
        Requirement::MemoryLimit => need.unmet_reason(machine).is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    const MIB: u64 = 1 << 20;

    fn needing(mib: u64) -> Vec<Requirement> {
        vec![Requirement::Cpus(2), Requirement::MemoryBytes(mib * MIB)]
    }

    /// Those that something still holds.
    fn alive(processes: &[Rc<usize>]) -> Vec<usize> {
        processes.iter().filter(|process| Rc::strong_count(process) > 1).map(|process| **process).collect()
    }

    #[test]
    fn a_process_ends_when_its_block_is_visited_or_when_all_memory_is_measured() {
        let machine = fathom_described::machine();
        let mut memory = KeptMemory { processes: BTreeMap::new(), room: 3000 * MIB };
        let processes: Vec<Rc<usize>> = (0..5).map(Rc::new).collect();
        for (process, mib) in processes.iter().zip([1024, 16, 1024, 2048, 512]) {
            memory.keep(**process, &needing(mib), Rc::clone(process));
        }
        assert_eq!(alive(&processes), [0, 2, 4], "neither too little nor more than there is room for");
        memory.give_back_for(2, &needing(1024), &machine);
        assert_eq!(alive(&processes), [0, 4]);
        memory.give_back_for(7, &[Requirement::PageCache(MIB)], &machine);
        assert_eq!(alive(&processes), [0, 4], "what other blocks keep is not in its way");
        memory.give_back_for(7, &[Requirement::WholeMemory], &machine);
        assert!(alive(&processes).is_empty());
    }
}
