//! Which CPUs pinned work runs on.

use crate::experiment::{Experiment, Placement, Point};
use crate::machine::Machine;

/// The CPUs of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpus {
    /// Where pinned work runs.
    pub home: usize,
    /// Where the other side runs when it is across CPUs: another core of the same kind where there is one.
    pub partner: Option<usize>,
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
            Placement::Spread => (Some(self.home), None),
            Placement::Free => (None, None),
        }
    }
}

/// Chooses the CPUs: `asked` wins; else a CPU of the fastest kind that is not CPU 0, which serves most interrupts.
pub fn choose(machine: &Machine, asked: Option<usize>) -> Result<Cpus, String> {
    let allowed = machine.allowed_cpus();
    if let Some(cpu) = asked.filter(|cpu| !allowed.contains(cpu)) {
        return Err(format!(
            "CPU {cpu} is not among those that this process may use: {allowed:?} (see taskset)"
        ));
    }
    let fastest = fastest_kind(machine);
    let home = asked.or_else(|| fastest.iter().copied().find(|cpu| *cpu != 0)).or(fastest.first().copied());
    let home = home.ok_or("no CPU that this process may use is known")?;
    Ok(Cpus { home, partner: partner(machine, home) })
}

/// The allowed CPUs of the kind with the highest clock; all of them where kinds or clocks are not known.
fn fastest_kind(machine: &Machine) -> Vec<usize> {
    let clock = |cpu: usize| {
        machine.core_class(cpu).and_then(|class| class.maximum_hz.value().copied()).unwrap_or(0.0)
    };
    let allowed = machine.allowed_cpus();
    let highest = allowed.iter().map(|cpu| clock(*cpu)).fold(0.0, f64::max);
    allowed.iter().copied().filter(|cpu| clock(*cpu) >= highest).collect()
}

/// Another core of the same kind, rather than a thread of the same core; not CPU 0 where it can be helped.
fn partner(machine: &Machine, home: usize) -> Option<usize> {
    let siblings = machine.smt_siblings(home);
    let kind = |cpu: usize| machine.core_class(cpu).map(|class| class.name.clone());
    let badness = |cpu: usize| (siblings.contains(&cpu), kind(cpu) != kind(home), cpu == 0);
    machine.allowed_cpus().iter().copied().filter(|cpu| *cpu != home).min_by_key(|cpu| badness(*cpu))
}
