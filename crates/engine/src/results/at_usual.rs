//! Figures at the usual frequency of the core, and values at the commonest time of the device.
//!
//! A core changes its frequency by steps of some per cent that last seconds to minutes, with its load, its heat and what other guests
//! do. Every trial of short work times a chain of dependent additions next to each observation, so the frequency is known, and times that
//! follow it are moved to the usual frequency of the run (`statistics/covariate.rs`). What is said of a point is then its cost there and
//! not of the moments at which its trials happened to be made.
//!
//! A device answers sooner or later for milliseconds to minutes, and every trial of work that waits for it times a direct read before and
//! after its observations. What follows that is moved to the commonest time of the run in the same way, but to a second value: not all work of
//! a device can be moved, and its figures are compared with each other as they were observed.

use super::visit::{Visit, by_round, of_visits};
use crate::record::PlannedPoint;
use fathom_core::experiment::{CoreShare, Placement};
use fathom_core::quantity::{Kind, Unit};
use fathom_core::statistics::{CovariateFit, Estimate, Interval};

/// What trials were moved to the usual value of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Covariate {
    /// The frequency of the core, hertz: the higher, the less a time is.
    CoreFrequency,
    /// The time of a direct read of the device, nanoseconds: the longer, the more a time is.
    DeviceTime,
}

impl Covariate {
    /// The share of a cost that follows is between none and all of it: the slopes of its logarithm.
    fn possible(self) -> Interval {
        match self {
            Covariate::CoreFrequency => Interval { low: -1.0, high: 0.0 },
            Covariate::DeviceTime => Interval { low: 0.0, high: 1.0 },
        }
    }

    /// The sign of these slopes.
    fn sign(self) -> f64 {
        match self {
            Covariate::CoreFrequency => -1.0,
            Covariate::DeviceTime => 1.0,
        }
    }

    /// What a trial was made at.
    fn of(self, visit: &Visit) -> Option<f64> {
        match self {
            Covariate::CoreFrequency => visit.beside_hz,
            Covariate::DeviceTime => visit.device_ns,
        }
    }

    /// The same range of shares as slopes.
    fn slopes(self, share: Interval) -> Interval {
        let (one, other) = (self.sign() * share.low, self.sign() * share.high);
        Interval { low: one.min(other), high: one.max(other) }
    }
}

/// A point's times at what is usual in the run.
#[derive(Debug, Clone, PartialEq)]
pub struct AtUsual {
    /// The usual value of what they follow, to which they were moved, in its unit.
    pub usual: f64,
    /// The least and the greatest value at its trials.
    pub trials: [f64; 2],
    /// The share of its cost that follows, 0 to 1.
    pub share: f64,
    /// The 95 % interval of the share, or the range that the kind of the operation gives; `None` where all of it follows by its kind.
    pub share_interval: Option<Interval>,
    /// The estimate of the trials as they were observed, wherever they were made.
    pub as_observed: Option<Estimate>,
    /// The median of each trial as it was observed, with its round.
    pub by_round: Vec<(u32, f64)>,
    fit: CovariateFit,
}

impl AtUsual {
    /// Moves the observations of a point's trials to the usual frequency of the core, with the share of their cost that follows it as far
    /// as the kind of the operation gives it; `None`, and all as it was, where they do not follow it, or not visibly.
    pub(super) fn of_frequency(
        usual_hz: f64,
        by_kind: Option<CoreShare>,
        planned: &PlannedPoint,
        visits: &mut [Visit],
    ) -> Option<Self> {
        if planned.point.placement() != Placement::OneCpu {
            return None;
        }
        AtUsual::moved((Covariate::CoreFrequency, usual_hz), by_kind, planned.unit, visits)
    }

    /// The same to the commonest time of the device, for work that waits for it; how much of it, its trials show.
    pub(super) fn of_device(usual_ns: f64, planned: &PlannedPoint, visits: &mut [Visit]) -> Option<Self> {
        AtUsual::moved((Covariate::DeviceTime, usual_ns), None, planned.unit, visits)
    }

    fn moved(
        (covariate, usual): (Covariate, f64),
        by_kind: Option<CoreShare>,
        unit: Unit,
        visits: &mut [Visit],
    ) -> Option<Self> {
        let sign = match unit.kind() {
            Kind::Cost if unit == Unit::Nanoseconds => 1.0,
            Kind::Rate => -1.0,
            _ => return None,
        };
        let place = |visit: &Visit| {
            let level = visit.median().filter(|median| *median > 0.0)?;
            Some(((covariate.of(visit)? / usual).ln(), sign * level.ln()))
        };
        let places: Vec<(f64, f64)> = visits.iter().map(place).collect::<Option<_>>()?;
        let by_kind = by_kind.map(|CoreShare(share)| covariate.slopes(share));
        let fit = CovariateFit::of(&places, covariate.possible(), by_kind)?;
        let values = || places.iter().map(|(distance, _)| usual * distance.exp());
        let as_observed = of_visits(visits);
        let by_round = by_round(visits);
        for (visit, (distance, _)) in visits.iter_mut().zip(&places) {
            visit.scale(fit.factor(sign * distance));
        }
        Some(AtUsual {
            usual,
            trials: [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)],
            share: covariate.sign() * fit.slope,
            share_interval: fit.slope_interval.map(|slopes| covariate.slopes(slopes)),
            as_observed,
            by_round,
            fit,
        })
    }

    /// Whether the kind of the operation gives the share, and not its trials.
    pub fn is_by_kind(&self) -> bool {
        self.fit.is_known()
    }

    /// The standard error of the share; 0 where all of the cost follows by the kind of the operation.
    pub fn share_error(&self) -> f64 {
        self.fit.slope_error()
    }

    /// The estimate of the moved observations, in whichever unit, with what the share leaves open.
    pub(super) fn widened(&self, estimate: Estimate) -> Estimate {
        self.fit.widened(estimate)
    }

    /// The same in the point's unit, with the extremes that were observed.
    pub(super) fn figure(&self, estimate: Estimate) -> Estimate {
        let observed = self.as_observed.as_ref();
        let (min, max) = (observed.and_then(|own| own.min), observed.and_then(|own| own.max));
        Estimate { min, max, ..self.widened(estimate) }
    }
}
