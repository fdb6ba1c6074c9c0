//! A cost in cycles of the core, where it follows the core's frequency.
//!
//! A trial's calibrated chains give the frequency at which its observations were made, so each trial's times become cycles by its
//! own frequency. Whether a cost follows the frequency is decided by the trials where the frequency changed between them: on
//! logarithmic scales such a cost falls by one for each that the frequency rises. Where the frequency hardly changed the trials
//! cannot tell, and it is decided by the kind of the operation: instructions that wait for nothing outside the core.

use super::headline;
use super::visits::{Visit, Visits};
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
    let timed: Vec<&Visit> = visits.chosen.iter().filter(|visit| visit.core_hz.is_some()).collect();
    if planned.unit != Unit::Nanoseconds || timed.len() < MINIMUM_TRIALS {
        return None;
    }
    let by_kind = || planned.method().is_ok_and(|method| method.waits_for_the_core_alone(&planned.point));
    follows(&timed).unwrap_or_else(by_kind).then(|| in_cycles(run, samples, &timed)).flatten()
}

/// Whether the cost of trials follows their frequencies; `None` if these are too much alike to tell.
fn follows(visits: &[&Visit]) -> Option<bool> {
    let place = |visit: &&Visit| Some((visit.core_hz?.ln(), visit.median().filter(|cost| *cost > 0.0)?.ln()));
    let places: Vec<(f64, f64)> = visits.iter().filter_map(place).collect();
    let frequencies: Vec<f64> = places.iter().map(|(frequency, _)| *frequency).collect();
    statistics::mean(&frequencies)?.deviation.filter(|deviation| *deviation >= CHANGED)?;
    let line = statistics::fit_line(&places)?;
    let slope = line.slope_interval.filter(|slope| slope.high - slope.low <= FOLLOWS.abs())?;
    Some(slope.contains(FOLLOWS) && !slope.contains(0.0))
}

/// The estimate from times that each trial's own frequency makes cycles, no narrower than the clock allows.
fn in_cycles(run: &Run, samples: &[&Sample], visits: &[&Visit]) -> Option<Estimate> {
    let scaled: Vec<Visit> = visits.iter().filter_map(|visit| visit.in_cycles()).collect();
    let hz: Vec<f64> = visits.iter().filter_map(|visit| visit.core_hz).collect();
    let step = headline::resolution_ns(run, samples) / 1e9 * statistics::median(&hz)?;
    Some(headline::within_the_clock(headline::of_visits(&scaled)?, step / 2.0, run))
}
