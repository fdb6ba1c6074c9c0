//! The distance of the two CPUs at which a point's figure was measured, and its value at another.

use super::cpu_distance::{ByDistance, CpuDistance, is_same};
use super::headline::Headline;
use super::known_states::KnownStates;
use super::visits::Visits;
use crate::record::{PlannedPoint, Run, Trial};
use fathom_core::statistics::Estimate;

/// The distance at which a point's figure was measured, and its value at another.
#[derive(Debug, Clone, PartialEq)]
pub struct PointDistance {
    /// The distance of the figure.
    pub at: CpuDistance,
    /// Whether the CPUs were at others too.
    pub of_several: bool,
    /// The trials at it.
    pub trials: usize,
    /// The other distance with the most trials, its value, and their number; `None` without a trial there.
    pub other: Option<(CpuDistance, Estimate, usize)>,
}

impl PointDistance {
    /// The value at a distance; `None` if it was not measured there. `own` is the point's figure.
    pub(crate) fn value_at<'a>(&'a self, line_ns: f64, own: &'a Estimate) -> Option<&'a Estimate> {
        if is_same(self.at.line_ns, line_ns) {
            return Some(own);
        }
        let (at, estimate, _) = self.other.as_ref()?;
        is_same(at.line_ns, line_ns).then_some(estimate)
    }

    /// Whether the figure is of the distance of most of the time.
    pub(super) fn is_usual(&self) -> bool {
        self.at.is_usual
    }

    /// The distances at which it has a value, nanoseconds.
    pub(crate) fn lines_ns(&self) -> impl Iterator<Item = f64> {
        std::iter::once(self.at.line_ns).chain(self.other.as_ref().map(|(at, ..)| at.line_ns))
    }

    pub(super) fn of(run: &Run, planned: &PlannedPoint, divided: &ByDistance) -> Self {
        let value = |(at, trials): &(CpuDistance, Vec<&Trial>)| {
            let visits = Visits::of(run, planned, trials, KnownStates::default());
            let headline = Headline::from(run, planned.unit, trials, &visits)?;
            Some((*at, headline.estimate, trials.len()))
        };
        let (at, trials) = &divided.main;
        PointDistance {
            at: *at,
            of_several: divided.of_several,
            trials: trials.len(),
            other: divided.other.as_ref().and_then(value),
        }
    }
}
