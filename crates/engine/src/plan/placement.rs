//! The CPUs for pinned work.

use fathom_core::experiment::{Experiment, Placement, Point};
use fathom_core::machine::{Machine, Nearness};

/// The CPUs of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpus {
    /// The CPU of pinned work.
    pub home: usize,
    /// The CPU of the other side if it is across CPUs: the nearest other core of the same kind, if there is one.
    pub partner: Option<usize>,
    /// The CPU of the other side if it is in another package; `None` if there is only one.
    pub other_package: Option<usize>,
}

impl Cpus {
    /// The CPUs of a point: those it names itself, or those of its placement; `None` means that the scheduler chooses.
    pub fn of(&self, experiment: &dyn Experiment, point: &Point) -> (Option<usize>, Option<usize>) {
        if let Some((one, other)) = experiment.cpus(point) {
            return (Some(one), Some(other));
        }
        self.at(point.placement())
    }

    /// The CPUs of a placement; `None` means that the scheduler chooses.
    pub fn at(&self, placement: Placement) -> (Option<usize>, Option<usize>) {
        match placement {
            Placement::OneCpu => (Some(self.home), Some(self.home)),
            Placement::AcrossCpus => (Some(self.home), self.partner),
            Placement::AcrossPackages => (Some(self.home), self.other_package),
            Placement::Spread => (Some(self.home), None),
            Placement::Free => (None, None),
        }
    }
}

/// The most CPUs on which short work may run: of several neighbours' states one is nearly always alone.
const MOST_ALIKE: usize = 4;

/// The other CPUs on which short work on one CPU costs what it costs on `home`: of cores of the same kind, with the same caches
/// and memory near, and each on a core of its own.
pub fn alike(machine: &Machine, home: usize) -> Vec<usize> {
    let mut alike: Vec<usize> = vec![];
    for cpu in machine.allowed_cpus().iter().copied().filter(|cpu| *cpu != home) {
        let is_near = matches!(machine.nearness(home, cpu), Nearness::Cache | Nearness::Node);
        let own_core = alike.iter().all(|other| machine.nearness(*other, cpu) != Nearness::Core);
        if machine.same_class(cpu, home) && is_near && own_core {
            alike.push(cpu);
        }
    }
    alike.truncate(MOST_ALIKE - 1);
    alike
}

/// Chooses the CPUs: `requested` if given, otherwise the machine's default.
pub fn choose(machine: &Machine, requested: Option<usize>) -> Result<Cpus, String> {
    let allowed = machine.allowed_cpus();
    if let Some(cpu) = requested.filter(|cpu| !allowed.contains(cpu)) {
        return Err(format!(
            "CPU {cpu} is not among those that this process may use: {allowed:?} (see taskset)"
        ));
    }
    let home = requested.or_else(|| machine.usual_cpu());
    let home = home.ok_or("the CPUs that this process may use are unknown")?;
    let others = || allowed.iter().copied().filter(|cpu| *cpu != home);
    let badness = |cpu: &usize| {
        let nearness = machine.nearness(home, *cpu);
        // Another thread of the same core is the last choice for the other side.
        (nearness == Nearness::Core, !machine.same_class(*cpu, home), nearness, *cpu == 0)
    };
    let far = |cpu: &usize| machine.nearness(home, *cpu) == Nearness::OtherPackage;
    Ok(Cpus { home, partner: others().min_by_key(badness), other_package: others().find(far) })
}
