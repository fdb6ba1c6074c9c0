//! Where the processes of a run measure: with the run's clock, CPUs and folder, and with what they need of a second host
//! and of a file to read over a network.

use super::leftovers;
use super::memory_group::{self, MemoryGroup};
use super::peering::Peering;
use super::remote_file::RemoteFixture;
use crate::experiment::{Experiment, Placement, Requirement};
use crate::experiments;
use crate::machine::Machine;
use crate::plan::Cpus;
use crate::record::{Header, PlannedPoint};
use crate::sampling::{CoreWait, Setting};
use std::cell::OnceCell;
use std::path::PathBuf;
use std::time::Duration;

/// What all processes of a run have in common.
pub struct Testbed {
    header: Header,
    cpu_stat: Option<String>,
    peering: Option<Peering>,
    remote: Option<RemoteFixture>,
    /// What limits the memory of trials that need that; made for the first of them.
    memory: OnceCell<MemoryGroup>,
    /// Where trials leave files for one another; gone with the run.
    shared: leftovers::Shared,
}

/// How long a process observes, and how long short work may wait for its core.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How long a trial observes.
    pub observe: Duration,
    /// What is known of the core; `None` while nothing is.
    pub core_wait: Option<CoreWait>,
}

impl Pace {
    /// How long a trial may observe at the most.
    pub fn longest(&self) -> Duration {
        self.observe + Duration::from_nanos(self.core_wait.map_or(0, |wait| 2 * wait.most_ns))
    }
}

impl Testbed {
    /// That of a run whose header is written; what is to be read over a network is found or made where a point wants it.
    pub fn new(header: &Header, active: &[PlannedPoint], peering: Option<Peering>) -> Self {
        let folder = PathBuf::from(&header.settings.folder);
        leftovers::sweep(&folder);
        memory_group::sweep();
        Testbed {
            header: header.clone(),
            cpu_stat: header.machine.cpu_stat_path(),
            peering,
            remote: remote(&header.machine, active),
            memory: OnceCell::new(),
            shared: leftovers::Shared::of_this_run(&folder),
        }
    }

    /// The machine that is measured.
    pub fn machine(&self) -> &Machine {
        &self.header.machine
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.header.settings.seed
    }

    /// The cgroup's file that counts throttling.
    pub fn cpu_stat(&self) -> Option<&str> {
        self.cpu_stat.as_deref()
    }

    /// Whether the run has a second host.
    pub fn has_peer(&self) -> bool {
        self.peering.is_some()
    }

    /// Why the run has lost its peer; `None` while it has it, or never had one. It is looked after now and then, or at once.
    pub fn lost_peer(&mut self, at_once: bool) -> Option<String> {
        let peering = self.peering.as_mut()?;
        peering.look(at_once);
        self.peer_lost().map(|reason| format!("the peer was lost: {reason}"))
    }

    /// The same, as was last seen.
    pub fn peer_lost(&self) -> Option<&str> {
        self.peering.as_ref().and_then(Peering::lost)
    }

    /// The CPUs of the run.
    pub fn cpus(&self) -> Cpus {
        let settings = &self.header.settings;
        Cpus { home: settings.home, partner: settings.partner, other_package: settings.other_package }
    }

    /// How long trials of the first round observe.
    pub fn first_pace(&self) -> Pace {
        Pace { observe: Duration::from_nanos(self.header.settings.trial_ns), core_wait: None }
    }

    /// Where a process of this run measures.
    pub fn setting(
        &self,
        seed: u64,
        placement: Placement,
        (home, partner): (Option<usize>, Option<usize>),
        needs: &[Requirement],
        pace: Pace,
    ) -> Setting {
        let header = &self.header;
        let needs = |what: Requirement| needs.contains(&what);
        let peering = self.peering.as_ref().filter(|_| needs(Requirement::Peer));
        let remote = self.remote.as_ref().filter(|_| needs(Requirement::Remote));
        Setting {
            seed,
            clock: header.clock.kind,
            ticks_per_second: header.clock.ticks_per_second,
            duration_ns: pace.observe.as_nanos() as u64,
            core_wait: pace.core_wait,
            spread: placement == Placement::Spread,
            home,
            partner,
            cpu_stat: self.cpu_stat.clone(),
            folder: PathBuf::from(&header.settings.folder),
            own_folder: self.shared.folder().to_owned(),
            remote: remote.map(RemoteFixture::file),
            peer: peering.map(|peering| peering.address().clone()),
            memory: needs(Requirement::MemoryLimit)
                .then(|| self.memory.get_or_init(MemoryGroup::new).limit().clone()),
            parent: std::process::id(),
        }
    }
}

fn needs_remote(experiment: &dyn Experiment, planned: &PlannedPoint) -> bool {
    experiment.requires(&planned.point).contains(&Requirement::Remote)
}

/// What is read over a network, found or made where a point wants it.
fn remote(machine: &Machine, active: &[PlannedPoint]) -> Option<RemoteFixture> {
    let wants = |planned: &PlannedPoint| {
        experiments::find(&planned.experiment).is_some_and(|experiment| needs_remote(experiment, planned))
    };
    machine.storage.remote.as_ref().filter(|_| active.iter().any(wants)).map(RemoteFixture::new)
}
