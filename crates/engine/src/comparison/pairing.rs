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
    let partner =
        |round: u32| after.by_round.iter().find(|(other, _)| *other == round).map(|(_, median)| *median);
    let quotient = |(round, median): &(u32, f64)| {
        let quotient = partner(*round)? / median;
        (quotient > 0.0 && quotient.is_finite()).then(|| quotient.ln())
    };
    let quotients: Vec<f64> = before.by_round.iter().filter_map(quotient).collect();
    if quotients.len() < MINIMUM_TRIALS {
        return None;
    }
    let mean = statistics::mean(&quotients)?;
    let error = mean.deviation? / (quotients.len() as f64).sqrt();
    let freedom = quotients.len() as f64 - 1.0;
    Some(Contrast::of(LogLevel { value: mean.value, below: error, above: error, freedom }))
}
