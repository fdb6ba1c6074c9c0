//! What a run will do to the machine as a whole, said before it does it (`--dry-run`).

use crate::record::PlannedPoint;
use fathom_core::experiment::registry;
use fathom_core::experiment::{Experiment, Point, Requirement, Touch};
use fathom_core::machine::Machine;
use fathom_core::quantity::declared;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One kind of effect, in a sentence without its full stop, and the experiments that have it; none where every trial has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What is done, how much of it, and when it is gone.
    pub what: String,
    /// The experiments that do it, or the rigs.
    pub by: Vec<String>,
}

/// What every trial does, whatever it measures.
pub fn of_every_trial() -> Vec<Effect> {
    [
        "processes: one after the other, pinned to the measured CPU, and first to be killed if memory ends (oom_score_adj \
         1000); they die with the run",
        "counters: instructions and cycles of the trial itself (perf_event_open), where the kernel allows it",
        "tracing: system calls of a forked copy of the trial (ptrace), where they are evidence; no other program is traced",
        "sockets: the abstract names fathom-is-measuring and fathom-is-measuring-UID, held until the end (not with \
         --alongside)",
    ]
    .map(|what| Effect { what: what.to_owned(), by: vec![] })
    .to_vec()
}

/// What the points that will be measured do, beside that.
pub fn of_points(
    points: &[PlannedPoint],
    machine: &Machine,
    folder: &Path,
    peer: Option<&str>,
) -> Vec<Effect> {
    let mut collected = Collected::default();
    for planned in points.iter().filter(|planned| planned.skip.is_none()) {
        if let Some(experiment) = registry::find(&planned.experiment) {
            collected.add(experiment, &planned.point, machine);
        }
    }
    collected.effects(machine, folder, peer)
}

/// Effects of many points, by their kind.
#[derive(Default)]
struct Collected {
    by: BTreeMap<EffectKind, BTreeSet<String>>,
    largest_file: u64,
    most_memory: u64,
    most_cached: u64,
    most_unused: u64,
    most_swapped: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EffectKind {
    Files,
    Names,
    Memory,
    Limit,
    PageCache,
    UnusedMemory,
    WholeMemory,
    DropCaches,
    Swap,
    EveryCpu,
    BatchPolicy,
    QuotaGroup,
    Sockets,
    Peer,
    Remote,
}

impl Collected {
    fn add(&mut self, experiment: &dyn Experiment, point: &Point, machine: &Machine) {
        let touched =
            experiment.touches(point).into_iter().map(|touch| self.touched(touch)).collect::<Vec<_>>();
        let needs = experiment.requires(point);
        let needed = needs.iter().filter_map(|need| self.needed(need, machine)).collect::<Vec<_>>();
        for kind in touched.into_iter().chain(needed) {
            self.by.entry(kind).or_default().insert(experiment.about().name.to_owned());
        }
    }

    fn touched(&mut self, touch: Touch) -> EffectKind {
        match touch {
            Touch::File(bytes) => {
                self.largest_file = self.largest_file.max(bytes);
                EffectKind::Files
            }
            Touch::Files(number, bytes) => {
                self.largest_file = self.largest_file.max(number * bytes);
                EffectKind::Files
            }
            Touch::Names => EffectKind::Names,
            Touch::Sockets => EffectKind::Sockets,
            Touch::BatchPolicy => EffectKind::BatchPolicy,
            Touch::EveryCpu => EffectKind::EveryCpu,
            Touch::QuotaGroup => EffectKind::QuotaGroup,
            Touch::UnusedMemory(bytes) => {
                self.most_unused = self.most_unused.max(bytes);
                EffectKind::UnusedMemory
            }
            Touch::DropCaches => EffectKind::DropCaches,
        }
    }

    fn needed(&mut self, need: &Requirement, machine: &Machine) -> Option<EffectKind> {
        match need {
            Requirement::MemoryBytes(bytes) => {
                self.most_memory = self.most_memory.max(*bytes);
                Some(EffectKind::Memory)
            }
            Requirement::PageCache(bytes) => {
                self.most_cached = self.most_cached.max(*bytes);
                Some(EffectKind::PageCache)
            }
            Requirement::SwapBytes(bytes) => {
                self.most_swapped = self.most_swapped.max(*bytes);
                Some(EffectKind::Swap)
            }
            // A limit that is all memory is none.
            Requirement::MemoryLimit if need.unmet_reason(machine).is_some() => Some(EffectKind::WholeMemory),
            Requirement::MemoryLimit => Some(EffectKind::Limit),
            Requirement::WholeMemory => Some(EffectKind::WholeMemory),
            Requirement::Peer => Some(EffectKind::Peer),
            Requirement::Remote => Some(EffectKind::Remote),
            Requirement::Cpus(_)
            | Requirement::Architecture(_)
            | Requirement::Instructions(_)
            | Requirement::File(_) => None,
        }
    }

    fn effects(&self, machine: &Machine, folder: &Path, peer: Option<&str>) -> Vec<Effect> {
        let effect = |(kind, by): (&EffectKind, &BTreeSet<String>)| Effect {
            what: self.words(*kind, machine, folder, peer),
            by: by.iter().cloned().collect(),
        };
        self.by.iter().map(effect).collect()
    }

    fn words(&self, kind: EffectKind, machine: &Machine, folder: &Path, peer: Option<&str>) -> String {
        let size = declared::size;
        let limit = size(Requirement::LIMIT_BYTES);
        let folder = folder.display();
        let all =
            machine.memory.total_bytes.value().map_or_else(|| "all memory".to_owned(), |bytes| size(*bytes));
        match kind {
            EffectKind::Files => format!(
                "files: up to {} at once for one point, and a quarter of what is free at most, in a folder of the run below \
                 {folder}; gone with the run",
                size(self.largest_file)
            ),
            EffectKind::Names => format!("files: thousands of small ones in the run's folder below {folder}; gone with each trial"),
            EffectKind::Memory => format!(
                "memory: up to {} in one trial, and half of what is available at most",
                size(self.most_memory)
            ),
            EffectKind::Limit => format!(
                "page cache: filled up to a limit of {limit}, by a control group of the run's own, or by `systemd-run --user \
                 --scope`; the group is gone with the run"
            ),
            EffectKind::PageCache => format!(
                "page cache: files of up to {} each are kept in it until the run ends",
                size(self.most_cached)
            ),
            EffectKind::UnusedMemory => format!(
                "page cache: up to {} of memory that nothing uses, and three quarters of it at most, filled with a sparse file; \
                 freed at the end of each trial",
                size(self.most_unused)
            ),
            EffectKind::WholeMemory => format!(
                "page cache: that of the WHOLE MACHINE is taken ({all}): files of other programs are dropped from it, and \
                 their memory may be swapped out (--whole-memory)"
            ),
            EffectKind::DropCaches => "page cache: dropped (/proc/sys/vm/drop_caches), as root and where the server is this machine"
                .to_owned(),
            EffectKind::Swap => format!("swap space: the trial's own memory, up to {}", size(self.most_swapped)),
            EffectKind::EveryCpu => "CPUs: all that this process may use work at once".to_owned(),
            EffectKind::BatchPolicy => "policy: rings of processes run under SCHED_BATCH".to_owned(),
            EffectKind::QuotaGroup => "control group: one with a quota of processor time, for a process of the trial, where this user may \
                                       make one; gone with the trial"
                .to_owned(),
            EffectKind::Sockets => "sockets: TCP and UDP on loopback; nothing listens at other addresses".to_owned(),
            EffectKind::Peer => match peer {
                Some("namespace") => "network: a namespace of the run's own and a pair of virtual adapters with addresses of \
                                      198.18.0.0/15; gone with the run"
                    .to_owned(),
                Some(host) => format!("network: traffic with {host}, on which the peer listens until the run ends"),
                None => "network: traffic with the peer".to_owned(),
            },
            EffectKind::Remote => {
                "network: reads from the file server, on which a file of 32 MiB is made where a folder is named; gone with \
                 the run"
                    .to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use fathom_core::experiment::{Effort, SweepOptions};

    fn lines_of(names: &[&str], options: &SweepOptions) -> String {
        let machine = fathom_described::machine();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let points = plan::points(&plan::select(&names).unwrap(), &machine, Effort::Thorough, options);
        let peer = options.peer.then_some("namespace");
        let effects = of_points(&points, &machine, Path::new("/measured"), peer);
        effects.iter().map(|effect| format!("{} ({})\n", effect.what, effect.by.join(", "))).collect()
    }

    #[test]
    fn what_a_plan_does_to_the_machine_is_said_with_its_limits() {
        let usual = lines_of(&[], &SweepOptions::default());
        for line in [
            "/measured",
            "filled up to a limit of 512 MiB",
            "SCHED_BATCH",
            "all that this process may use",
            "TCP and UDP on loopback",
            "up to 1 GiB each are kept",
        ] {
            assert!(usual.contains(line), "{line}: {usual}");
        }
        assert!(!usual.contains("WHOLE MACHINE") && !usual.contains("drop_caches"), "{usual}");
    }

    #[test]
    fn the_whole_memory_is_taken_only_when_it_was_asked_for_and_that_is_said() {
        let whole = SweepOptions { whole_memory: true, ..SweepOptions::default() };
        let line = lines_of(&["filesystem/cache_size"], &whole);
        assert!(line.contains("WHOLE MACHINE"), "{line}");
        assert!(lines_of(&["cpu/system_call"], &whole).is_empty());
    }

    #[test]
    fn a_peer_in_a_namespace_is_said_to_be_one() {
        let line = lines_of(&["network/round_trip"], &SweepOptions { peer: true, ..SweepOptions::default() });
        assert!(line.contains("pair of virtual adapters") && line.contains("(network/round_trip)"), "{line}");
    }
}
