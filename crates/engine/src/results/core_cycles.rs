//! A cost in cycles of the core, where it follows the core's frequency.
//!
//! Times that were moved to one frequency (`at_usual.rs`) are cycles by that, if all of the cost follows it. Otherwise a trial's
//! calibrated chains give the frequency at which its observations were made, and its times become cycles by its own frequency. Whether a cost follows the frequency is decided by the trials where the frequency changed between them: on
//! logarithmic scales such a cost falls by one for each that the frequency rises. Where the frequency hardly changed the trials
//! cannot tell, and it is decided by the kind of the operation: instructions that wait for nothing outside the core.

use super::point_estimate;
use super::visit::{Visit, of_visits};
use super::visits::Visits;
use crate::record::{PlannedPoint, Run};
use fathom_core::quantity::Unit;
use fathom_core::sampling::Sample;
use fathom_core::statistics::{self, Estimate, MINIMUM_TRIALS};

/// The slope of a cost that follows the frequency. One that does not has zero: an interval as wide as their distance cannot tell.
const FOLLOWS: f64 = -1.0;

/// The relative standard deviation of the trials' frequencies from which they tell. Chains are known to some three per mille, and an
/// error that the cost does not follow makes a slope flatter, by the share of its variance: here by two per cent.
const CHANGED: f64 = 0.02;

/// The estimate in core cycles; `None` for a cost that does not follow the core's frequency, or is not known to.
pub(super) fn estimate(
    run: &Run,
    planned: &PlannedPoint,
    samples: &[&Sample],
    visits: &Visits,
) -> Option<Estimate> {
    if planned.unit != Unit::Nanoseconds {
        return None;
    }
    if let Some(moved) = &visits.at_frequency {
        if moved.share_interval.is_some_and(|share| !share.contains(1.0)) {
            return None;
        }
        let cycles: Vec<Visit> = visits.chosen.iter().map(|visit| visit.in_cycles(moved.usual)).collect();
        return of_cycles(run, samples, &cycles, moved.usual).map(|estimate| moved.widened(estimate));
    }
    let timed: Vec<(&Visit, f64)> =
        visits.chosen.iter().filter_map(|visit| Some((visit, visit.core_hz?))).collect();
    let usual_hz = statistics::median(&timed.iter().map(|(_, hz)| *hz).collect::<Vec<_>>())?;
    let by_kind = || planned.method().is_ok_and(|method| method.waits_for_the_core_alone(&planned.point));
    if timed.len() < MINIMUM_TRIALS || !follows(&timed).unwrap_or_else(by_kind) {
        return None;
    }
    let cycles: Vec<Visit> = timed.iter().map(|(visit, hz)| visit.in_cycles(*hz)).collect();
    of_cycles(run, samples, &cycles, usual_hz)
}

/// Whether the cost of trials follows their frequencies; `None` if these are too much alike to tell.
fn follows(visits: &[(&Visit, f64)]) -> Option<bool> {
    let place =
        |(visit, hz): &(&Visit, f64)| Some((hz.ln(), visit.median().filter(|cost| *cost > 0.0)?.ln()));
    let places: Vec<(f64, f64)> = visits.iter().filter_map(place).collect();
    let frequencies: Vec<f64> = places.iter().map(|(frequency, _)| *frequency).collect();
    statistics::mean(&frequencies)?.deviation.filter(|deviation| *deviation >= CHANGED)?;
    let line = statistics::fit_line(&places)?;
    let slope = line.slope_interval.filter(|slope| slope.high - slope.low <= FOLLOWS.abs())?;
    Some(slope.contains(FOLLOWS) && !slope.contains(0.0))
}

/// The estimate of numbers of cycles, no narrower than the clock allows at this frequency.
fn of_cycles(run: &Run, samples: &[&Sample], cycles: &[Visit], hz: f64) -> Option<Estimate> {
    let step = point_estimate::resolution_ns(run, samples) / 1e9 * hz;
    Some(point_estimate::within_the_clock(of_visits(cycles)?, step / 2.0, run))
}
