//! The states of a machine that changes while it is measured, as far as its run shows them.

use super::core_state::CoreLevels;
use super::cpu_distance::{ByDistance, CpuDistances};
use crate::record::{PlannedPoint, Run, Trial};
use fathom_core::statistics::Levels;

/// What is known of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct KnownStates<'a> {
    /// The levels of a core alone and shared.
    pub core: Option<&'a Levels>,
    /// The distances of the run's two CPUs.
    pub distances: Option<&'a CpuDistances>,
}

/// The same of a whole run.
pub(super) struct RunStates {
    pub core: Option<Levels>,
    pub distances: Option<CpuDistances>,
}

impl RunStates {
    pub fn of(run: &Run) -> Self {
        RunStates { core: CoreLevels::of(run), distances: CpuDistances::of(run) }
    }

    pub fn known(&self) -> KnownStates<'_> {
        KnownStates { core: self.core.as_ref(), distances: self.distances.as_ref() }
    }
}

impl KnownStates<'_> {
    /// A point's trials by the distance of its CPUs; `None` if they are all of one, or of unknown ones.
    pub(super) fn divide<'run>(
        &self,
        run: &Run,
        planned: &PlannedPoint,
        trials: &[&'run Trial],
    ) -> Option<ByDistance<'run>> {
        self.distances?.divide(&run.header, &planned.point, trials)
    }
}
