//! Conditions of the machine: facts that are read, and the share of the time in which the core was shared.

use super::file::Condition;
use crate::record::Run;
use crate::results::{self, CoreLevels};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;

/// The value of a condition that is a fact, in the plain unit of its kind; `None` if it is unknown, or is no fact.
pub(super) fn fact(condition: Condition, machine: &Machine) -> Option<f64> {
    match condition {
        Condition::CoreShared => None,
        Condition::Cpus => {
            let allowed = machine.allowed_cpus().len() as f64;
            // A quota bounds time, not parallelism; the time of that many CPUs is what it leaves.
            (allowed > 0.0).then(|| machine.cpu_quota().map_or(allowed, |quota| quota.min(allowed)))
        }
        Condition::Memory => {
            let total = *machine.memory.total_bytes.value()? as f64;
            let limit = machine.conditions.limits.memory_bytes.value().copied().flatten();
            Some(limit.map_or(total, |limit| total.min(limit as f64)))
        }
    }
}

/// The unit of a condition; `None` for a count.
pub(super) fn unit(condition: Condition) -> Option<Unit> {
    match condition {
        Condition::CoreShared => Some(Unit::PartsPerMillion),
        Condition::Cpus => None,
        Condition::Memory => Some(Unit::Bytes),
    }
}

/// Whether each trial found the core shared when it began, 1 or 0, with its end in seconds; an error says why that is unknown.
pub(super) fn core_shared(run: &Run) -> Result<Vec<(f64, f64)>, String> {
    let levels = CoreLevels::of(run).ok_or("no trial shows yet whether the core was shared")?;
    let machine = &run.header.machine;
    let alone_by_itself = !machine.is_virtual() && machine.smt_siblings(run.header.settings.home).is_empty();
    if levels.shared.is_none() && !alone_by_itself {
        return Err("one state of the core was seen, and it is unknown whether that is a core alone or a core always shared".to_owned());
    }
    Ok(results::shared_on_arrivals(run, &levels))
}
