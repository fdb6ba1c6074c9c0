//! Before every visit: are the cores on which short work may run alone?

use super::environment::reading_times;
use crate::plan::Moment;
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
    /// The CPU on which short work runs now.
    pub(super) cpu: usize,
}

impl CoreWatch {
    pub(super) fn of(header: &Header) -> Self {
        let home = header.settings.home;
        let cpus = std::iter::once(home).chain(header.settings.alike.iter().copied()).collect();
        CoreWatch { cpus, clock: header.clock.kind, reading_times: reading_times(header), cpu: home }
    }

    /// Looks for a core that is alone, first at the run's own, and chooses its CPU; the moment, and the readings. The run's own
    /// CPU stays chosen where none is. `alone_up_to` is the greatest quotient of the core alone.
    pub(super) fn look(&mut self, at_s: f64, alone_up_to: Option<f64>) -> (Moment, Option<Look>) {
        let mut cores = vec![];
        let mut moment = Moment::Unknown;
        self.cpu = self.cpus[0];
        for cpu in &self.cpus {
            // Without a stream of additions there is nothing to read.
            let Some([stream, chain]) =
                occupancy::look(*cpu, self.clock, self.reading_times).filter(|[_, chain]| *chain > 0)
            else {
                break;
            };
            cores.push(CoreLook { cpu: *cpu, stream, chain });
            let Some(limit) = alone_up_to else { break };
            if occupancy::quotient([stream, chain]) <= limit {
                self.cpu = *cpu;
                moment = Moment::Alone;
                break;
            }
            moment = Moment::Shared;
        }
        (moment, (!cores.is_empty()).then_some(Look { at_s, cores }))
    }

    /// The CPUs of a point: short work on one CPU runs where the core is alone now.
    pub(super) fn cpus(
        &self,
        experiment: &dyn Experiment,
        point: &Point,
        usual: (Option<usize>, Option<usize>),
    ) -> (Option<usize>, Option<usize>) {
        let moves = point.placement() == Placement::OneCpu && experiment.cpus(point).is_none();
        if moves { (Some(self.cpu), Some(self.cpu)) } else { usual }
    }
}
