//! The environment in which the processes of a run measure: the run's clock, CPUs and folder, its second host, and its file
//! to read over a network.

use super::leftovers;
use super::memory_group::{self, MemoryGroup};
use super::peering::Peering;
use super::remote_file::RemoteFixture;
use crate::plan::Cpus;
use crate::record::{Header, PlannedPoint};
use fathom_core::experiment::registry;
use fathom_core::experiment::{Experiment, Placement, Requirement};
use fathom_core::machine::{self, Machine, Nearness, Root};
use fathom_core::sampling::{CoreWait, Setting, occupancy};
use std::cell::OnceCell;
use std::path::PathBuf;
use std::time::Duration;

/// The settings and resources common to all processes of a run.
pub struct Environment {
    header: Header,
    cpu_stat: Option<String>,
    peering: Option<Peering>,
    remote: Option<RemoteFixture>,
    /// The memory limit for trials that need one; created for the first of them.
    memory: OnceCell<MemoryGroup>,
    /// The folder in which trials leave files for one another; removed with the run.
    shared: leftovers::OwnFiles,
}

/// How long a trial observes, and how long short work may wait for its core.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How long a trial observes.
    pub observe: Duration,
    /// The demand that the core be alone; `None` where it is not made.
    pub core_wait: Option<CoreWait>,
}

impl Pace {
    /// The longest time that a trial may observe.
    pub fn longest(&self) -> Duration {
        self.observe + Duration::from_nanos(self.core_wait.map_or(0, |wait| 3 * wait.most_ns))
    }
}

impl Environment {
    /// The testbed of a run with this header; the file to read over a network is found or created if a point needs it.
    pub fn new(header: &Header, active: &[PlannedPoint], peering: Option<Peering>) -> Self {
        let folder = PathBuf::from(&header.settings.folder);
        leftovers::sweep(&folder);
        memory_group::sweep();
        Environment {
            header: header.clone(),
            cpu_stat: machine::cpu_stat_path(&Root::default()),
            peering,
            remote: remote(&header.machine, active),
            memory: OnceCell::new(),
            shared: leftovers::OwnFiles::of_this_run(&folder),
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

    /// The cgroup's file with the counters of throttling.
    pub fn cpu_stat(&self) -> Option<&str> {
        self.cpu_stat.as_deref()
    }

    /// Whether the run has a second host.
    pub fn has_peer(&self) -> bool {
        self.peering.is_some()
    }

    /// The reason why the run has lost its peer; `None` if it has not, or never had one. The peer is checked at intervals,
    /// or now if `at_once`.
    pub fn lost_peer(&mut self, at_once: bool) -> Option<String> {
        let peering = self.peering.as_mut()?;
        peering.look(at_once);
        self.peer_lost().map(|reason| format!("the peer was lost: {reason}"))
    }

    /// The same, as of the last check.
    pub fn peer_lost(&self) -> Option<&str> {
        self.peering.as_ref().and_then(Peering::lost)
    }

    /// The CPUs of the run.
    pub fn cpus(&self) -> Cpus {
        let settings = &self.header.settings;
        Cpus { home: settings.home, partner: settings.partner, other_package: settings.other_package }
    }

    /// The pace of trials of the first round.
    pub fn first_pace(&self) -> Pace {
        Pace { observe: Duration::from_nanos(self.header.settings.trial_ns), core_wait: None }
    }

    /// The setting for a process of this run.
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
            reading_times: reading_times(header),
            spread: placement == Placement::Spread,
            home,
            partner,
            two_cores: home
                .zip(partner)
                .is_some_and(|(one, other)| are_two_alike(&header.machine, one, other)),
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

/// Whether two CPUs are of different cores of one kind.
fn are_two_alike(machine: &Machine, one: usize, other: usize) -> bool {
    one != other && machine.nearness(one, other) != Nearness::Core && machine.same_class(one, other)
}

/// How long readings of the core must be for the clock of this run.
pub(crate) fn reading_times(header: &Header) -> u32 {
    let (clock, core_hz) = (&header.clock, header.machine.processor.observed_hz.value().copied());
    occupancy::times(clock.resolution_ticks, clock.ticks_per_second, core_hz)
}

fn needs_remote(experiment: &dyn Experiment, planned: &PlannedPoint) -> bool {
    experiment.requires(&planned.point).contains(&Requirement::Remote)
}

/// The file to read over a network, found or created if a point needs it.
fn remote(machine: &Machine, active: &[PlannedPoint]) -> Option<RemoteFixture> {
    let wants = |planned: &PlannedPoint| {
        registry::find(&planned.experiment).is_some_and(|experiment| needs_remote(experiment, planned))
    };
    machine.storage.remote.as_ref().filter(|_| active.iter().any(wants)).map(RemoteFixture::new)
}
