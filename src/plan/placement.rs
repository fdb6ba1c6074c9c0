//! Which CPUs pinned work runs on.

use crate::experiment::{Experiment, Placement, Point};
use crate::machine::{Machine, Nearness};

/// The CPUs of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpus {
    /// Where pinned work runs.
    pub home: usize,
    /// Where the other side runs when it is across CPUs: the nearest other core of the same kind, where there is one.
    pub partner: Option<usize>,
    /// Where the other side runs when it is in another package: `None` where there is only one.
    pub other_package: Option<usize>,
}

impl Cpus {
    /// The CPUs of a point: those it names itself, or those of its placement; `None` is wherever the scheduler likes.
    pub fn of(&self, experiment: &dyn Experiment, point: &Point) -> (Option<usize>, Option<usize>) {
        if let Some((one, other)) = experiment.cpus(point) {
            return (Some(one), Some(other));
        }
        self.at(point.placement())
    }

    /// The CPUs of a placement; `None` is wherever the scheduler likes.
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

/// Chooses the CPUs: `asked` wins, then the machine's usual one.
pub fn choose(machine: &Machine, asked: Option<usize>) -> Result<Cpus, String> {
    let allowed = machine.allowed_cpus();
    if let Some(cpu) = asked.filter(|cpu| !allowed.contains(cpu)) {
        return Err(format!(
            "CPU {cpu} is not among those that this process may use: {allowed:?} (see taskset)"
        ));
    }
    let home = asked.or_else(|| machine.usual_cpu());
    let home = home.ok_or("the CPUs that this process may use are unknown")?;
    let others = || allowed.iter().copied().filter(|cpu| *cpu != home);
    let badness = |cpu: &usize| {
        let nearness = machine.nearness(home, *cpu);
        // A thread of the same core is hardly another side.
        (nearness == Nearness::Core, !machine.same_class(*cpu, home), nearness, *cpu == 0)
    };
    let far = |cpu: &usize| machine.nearness(home, *cpu) == Nearness::OtherPackage;
    Ok(Cpus { home, partner: others().min_by_key(badness), other_package: others().find(far) })
}
