//! Points of experiments of the report, found by the settings that identify them.

use super::rig::Wanted;
use fathom_core::experiment::Selector;
use fathom_core::experiment::registry;
use fathom_core::machine::Machine;

/// The selected points of this machine; or the reason why there are none.
pub fn points(machine: &Machine, selector: &Selector) -> Result<Vec<Wanted>, String> {
    let name = selector.experiment;
    let known = registry::find(name).ok_or_else(|| format!("there is no {name}"))?;
    let points: Vec<Wanted> = selector
        .among(&known.sweep(machine), machine)
        .into_iter()
        .map(|point| (name, point.clone()))
        .collect();
    if points.is_empty() { Err(format!("{name} has no such point on this machine")) } else { Ok(points) }
}
