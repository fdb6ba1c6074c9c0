//! Times at one frequency of the core.
//!
//! A core changes its frequency by steps of some per cent that last seconds to minutes, with its load, its heat and what other guests
//! do. Every trial of short work times a chain of dependent additions next to each observation, so the frequency is known, and times
//! that follow it are moved to the usual frequency of the run (`statistics/covariate.rs`). What is said of a point is then its cost at
//! that frequency and not of the moments at which its trials happened to be made.

use super::visit::{Visit, by_round, of_visits};
use crate::record::PlannedPoint;
use fathom_core::experiment::{CoreShare, Placement};
use fathom_core::quantity::{Kind, Unit};
use fathom_core::statistics::{CovariateFit, Estimate, Interval};

/// The share of a cost that follows the frequency is between none and all of it.
const POSSIBLE: Interval = Interval { low: -1.0, high: 0.0 };

/// A point's times at the usual frequency of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct AtFrequency {
    /// The frequency, hertz.
    pub hz: f64,
    /// The lowest and the highest frequency of its trials, hertz.
    pub trials_hz: [f64; 2],
    /// The share of its cost that follows the frequency, 0 to 1.
    pub share: f64,
    /// The 95 % interval of the share, or the range that the kind of the operation gives; `None` where all of it follows by its kind.
    pub share_interval: Option<Interval>,
    /// The estimate of the trials as they were observed, at whatever frequency.
    pub as_observed: Option<Estimate>,
    /// The median of each trial as it was observed, with its round.
    pub by_round: Vec<(u32, f64)>,
    fit: CovariateFit,
}

impl AtFrequency {
    /// Moves the observations of a point's trials to the usual frequency, with the share of their cost that follows it as far as the kind
    /// of the operation gives it; `None`, and all as it was, where they do not follow it, or not visibly.
    pub(super) fn move_to(
        usual_hz: f64,
        by_kind: Option<CoreShare>,
        planned: &PlannedPoint,
        visits: &mut [Visit],
    ) -> Option<Self> {
        let sign = match planned.unit.kind() {
            Kind::Cost if planned.unit == Unit::Nanoseconds => 1.0,
            Kind::Rate => -1.0,
            _ => return None,
        };
        if planned.point.placement() != Placement::OneCpu {
            return None;
        }
        let place = |visit: &Visit| {
            let level = visit.median().filter(|median| *median > 0.0)?;
            Some(((visit.beside_hz? / usual_hz).ln(), sign * level.ln()))
        };
        let places: Vec<(f64, f64)> = visits.iter().map(place).collect::<Option<_>>()?;
        let by_kind = by_kind.map(|CoreShare(share)| Interval { low: -share.high, high: -share.low });
        let fit = CovariateFit::of(&places, POSSIBLE, by_kind)?;
        let frequencies = || places.iter().map(|(distance, _)| usual_hz * distance.exp());
        let as_observed = of_visits(visits);
        let by_round = by_round(visits);
        for (visit, (distance, _)) in visits.iter_mut().zip(&places) {
            visit.scale(fit.factor(sign * distance));
        }
        Some(AtFrequency {
            hz: usual_hz,
            trials_hz: [
                frequencies().fold(f64::INFINITY, f64::min),
                frequencies().fold(f64::NEG_INFINITY, f64::max),
            ],
            share: -fit.slope,
            share_interval: fit.slope_interval.map(|ends| Interval { low: -ends.high, high: -ends.low }),
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
