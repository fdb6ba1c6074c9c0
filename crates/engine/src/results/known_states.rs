//! The states of a machine that changes while it is measured, as far as its run shows them.

use super::core_frequency::UsualFrequency;
use super::core_state::CoreLevels;
use super::cpu_distance::{ByDistance, CpuDistances, Lack};
use super::device_time::DeviceTime;
use crate::record::{Header, PlannedPoint, Run, Trial};
use fathom_core::statistics::Levels;

/// What is known of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct KnownStates<'a> {
    /// The levels of a core alone and shared.
    pub core: Option<&'a Levels>,
    /// The distances of the run's two CPUs.
    pub distances: Option<&'a CpuDistances>,
    /// The usual frequency of the core, hertz, to which times are moved that follow it; `None` where they stay as they were observed.
    pub usual_hz: Option<f64>,
    /// The commonest time of a direct read of the device, nanoseconds, at which what follows it has a second value; `None` where none is wanted.
    pub usual_device_ns: Option<f64>,
}

/// The same of a whole run.
pub(super) struct RunStates {
    pub core: Option<Levels>,
    pub distances: Option<CpuDistances>,
    pub frequency: UsualFrequency,
    pub device: Option<DeviceTime>,
    /// Whether times are moved to what is usual.
    moves: bool,
}

impl RunStates {
    pub fn of(run: &Run) -> Self {
        RunStates {
            core: CoreLevels::of(run),
            distances: CpuDistances::of(run),
            frequency: UsualFrequency::of(run),
            device: DeviceTime::of(run),
            moves: moves_to_one_frequency(&run.header),
        }
    }

    pub fn known(&self) -> KnownStates<'_> {
        let (core, distances) = (self.core.as_ref(), self.distances.as_ref());
        let usual_device_ns = self.device.filter(|_| self.moves).map(|device| device.usual_ns);
        KnownStates { core, distances, usual_hz: self.frequency.hz.filter(|_| self.moves), usual_device_ns }
    }
}

/// Whether times are moved to the usual frequency and time of the device: those of two settings that alternate are compared trial by trial,
/// as they are.
pub(crate) fn moves_to_one_frequency(header: &Header) -> bool {
    header.settings.interleaved.is_none()
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

    /// A point's trials on which predictions of others may rest; `None` if these are all.
    pub(super) fn for_predictions<'run>(
        &self,
        run: &Run,
        planned: &PlannedPoint,
        trials: &[&'run Trial],
    ) -> Option<Vec<&'run Trial>> {
        self.distances?.for_predictions(&run.header, &planned.point, trials)
    }

    /// What disturbed a point whose trials are of several distances of its CPUs, too few at each.
    pub(super) fn mixed(&self, run: &Run, planned: &PlannedPoint, trials: &[&Trial]) -> Option<String> {
        self.distances?.mixed(&run.header, &planned.point, trials)
    }

    /// What the point lacks at the distance of most of the time.
    pub(super) fn lack(&self, run: &Run, planned: &PlannedPoint, trials: &[&Trial]) -> Option<Lack> {
        self.distances?.lack(&run.header, &planned.point, trials)
    }
}
