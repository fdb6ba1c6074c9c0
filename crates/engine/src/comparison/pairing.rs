//! Two settings that were measured alternately: trials of one round are partners, and common variations cancel.

use super::side::{Level, Side};
use fathom_core::statistics::{self, Contrast, LogLevel, MINIMUM_TRIALS};

/// Whether the only runs of both sides are the two halves of one interleaved measurement.
pub(super) fn are_interleaved(before: &Side, after: &Side) -> bool {
    session(before).is_some() && session(before) == session(after)
}

fn session(side: &Side) -> Option<&str> {
    match side.runs.as_slice() {
        [only] => only.header.settings.interleaved.as_ref().map(|interleaved| interleaved.session.as_str()),
        _ => None,
    }
}

/// The mean of the logarithms of the quotients of partners, with Student's interval over rounds; `None` with too few pairs.
pub(super) fn contrast([before, after]: [&[&Level]; 2]) -> Option<Contrast> {
    let ([before], [after]) = (before, after) else { return None };
    let logs: Vec<f64> =
        quotients(&before.by_round, &after.by_round).into_iter().map(|(_, log)| log).collect();
    if logs.len() < MINIMUM_TRIALS {
        return None;
    }
    let mean = statistics::mean(&logs)?;
    let error = mean.deviation? / (logs.len() as f64).sqrt();
    let freedom = logs.len() as f64 - 1.0;
    Some(Contrast::of(LogLevel { value: mean.value, below: error, above: error, freedom }))
}

/// The logarithms of the quotients of partners, the second over the first, with their rounds.
pub(super) fn quotients(before: &[(u32, f64)], after: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let partner = |round: u32| after.iter().find(|(other, _)| *other == round).map(|(_, median)| *median);
    let quotient = |(round, median): &(u32, f64)| {
        let quotient = partner(*round)? / median;
        (quotient > 0.0 && quotient.is_finite()).then(|| (*round, quotient.ln()))
    };
    before.iter().filter_map(quotient).collect()
}
