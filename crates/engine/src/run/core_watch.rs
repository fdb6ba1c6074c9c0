//! Before every visit: are the cores on which short work may run alone?

use super::environment::reading_times;
use crate::plan::{CoreWanted, Moment};
use crate::record::{CoreLook, Header, Look};
use fathom_core::experiment::{Experiment, Placement, Point};
use fathom_core::sampling::{ClockKind, occupancy};

/// The cores that are looked at.
#[derive(Debug)]
pub(super) struct CoreWatch {
    /// The CPUs, first the run's own.
    cpus: Vec<usize>,
    clock: ClockKind,
    reading_times: u32,
    /// The first CPU whose core was alone at the last look, and the first whose core was shared.
    alone: Option<usize>,
    shared: Option<usize>,
}

impl CoreWatch {
    pub(super) fn of(header: &Header) -> Self {
        let home = header.settings.home;
        let cpus = std::iter::once(home).chain(header.settings.alike.iter().copied()).collect();
        CoreWatch {
            cpus,
            clock: header.clock.kind,
            reading_times: reading_times(header),
            alone: None,
            shared: None,
        }
    }

    /// Looks at the cores: the moment, and the readings. `alone_up_to` is the greatest quotient of the core alone; until it is
    /// known only the run's own CPU is looked at.
    pub(super) fn look(&mut self, at_s: f64, alone_up_to: Option<f64>) -> (Moment, Option<Look>) {
        let count = if alone_up_to.is_some() { self.cpus.len() } else { 1 };
        let reading = |cpu: &usize| {
            let [stream, chain] = occupancy::look(*cpu, self.clock, self.reading_times)?;
            // Without a stream of additions there is nothing to read.
            (chain > 0).then_some(CoreLook { cpu: *cpu, stream, chain })
        };
        let cores: Vec<CoreLook> = self.cpus.iter().take(count).filter_map(reading).collect();
        let is_alone = |core: &&CoreLook| alone_up_to.is_some_and(|limit| core.quotient() <= limit);
        self.alone = cores.iter().find(is_alone).map(|core| core.cpu);
        self.shared = cores.iter().find(|core| !is_alone(core)).map(|core| core.cpu);
        let moment = match (alone_up_to, self.alone, self.shared) {
            (Some(_), Some(_), Some(_)) => Moment::Either,
            (Some(_), Some(_), None) => Moment::Alone,
            (Some(_), None, Some(_)) => Moment::Shared,
            _ => Moment::Unknown,
        };
        (moment, (!cores.is_empty()).then_some(Look { at_s, cores }))
    }

    /// The CPUs of a point: short work on one CPU runs where the core is as requested.
    pub(super) fn cpus(
        &self,
        core: CoreWanted,
        experiment: &dyn Experiment,
        point: &Point,
        usual: (Option<usize>, Option<usize>),
    ) -> (Option<usize>, Option<usize>) {
        let moves = point.placement() == Placement::OneCpu && experiment.cpus(point).is_none();
        let chosen = match core {
            CoreWanted::Any => None,
            CoreWanted::Alone => self.alone,
            CoreWanted::Shared => self.shared,
        };
        chosen.filter(|_| moves).map_or(usual, |cpu| (Some(cpu), Some(cpu)))
    }
}
