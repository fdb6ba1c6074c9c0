//! Whether anything can fit into a budget, as far as that is known before the first trial.

use crate::record::PlannedPoint;
use crate::results;
use anyhow::{Result, ensure};
use fathom_core::experiment::registry;
use std::time::Duration;

/// Refuses a budget that is shorter than the observations alone of the trials with which any point is planned.
pub fn ensure_anything_fits(
    plan: &[PlannedPoint],
    budget: Duration,
    (trials, observe): (usize, Duration),
) -> Result<()> {
    let planned = plan.iter().filter(|planned| planned.skip.is_none());
    let Some(least) = planned.map(|planned| least(planned, observe) * trials as u32).min() else {
        return Ok(());
    };
    // With the starts of the processes, and what a pilot round needs besides.
    let enough = Duration::from_secs((least.as_secs_f64() * 1.5).ceil() as u64);
    ensure!(
        least <= budget,
        "nothing fits into a budget of {}: a point is planned with {trials} trials, which take {} at \
         least: `--budget {}` may be enough",
        humantime::format_duration(budget),
        humantime::format_duration(least),
        results::budget(enough)
    );
    Ok(())
}

/// The least time of one trial of a point.
fn least(planned: &PlannedPoint, observe: Duration) -> Duration {
    let own = registry::find(&planned.experiment).map(|experiment| experiment.least_time(&planned.point));
    own.unwrap_or_default().max(observe)
}
