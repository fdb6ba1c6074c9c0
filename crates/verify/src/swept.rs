//! Points of experiments of the report, found by the parameters that identify them.

use super::rig::Wanted;
use fathom_core::experiment::registry;
use fathom_core::machine::Machine;

/// The points of an experiment that have these parameters; or the reason why there are none.
pub fn points(
    machine: &Machine,
    experiment: &'static str,
    parameters: &[(&str, &str)],
) -> Result<Vec<Wanted>, String> {
    let known = registry::find(experiment).ok_or_else(|| format!("there is no {experiment}"))?;
    let swept = known.sweep(machine).into_iter().filter(|point| {
        let has =
            |(name, value): &(&str, &str)| point.get(name).is_some_and(|found| found.to_string() == *value);
        parameters.iter().all(has)
    });
    let points: Vec<Wanted> = swept.map(|point| (experiment, point)).collect();
    if points.is_empty() {
        Err(format!("{experiment} has no such point on this machine"))
    } else {
        Ok(points)
    }
}
