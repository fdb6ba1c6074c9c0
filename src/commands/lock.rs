//! Keeping others from measuring meanwhile.

use crate::run::MeasuringLock;
use anyhow::Result;

/// The lock, unless it is waived; what a stranger holds of it is told.
pub(super) fn take(alongside: bool) -> Result<Option<MeasuringLock>> {
    let lock = if alongside { None } else { Some(MeasuringLock::take()?) };
    for stranger in lock.iter().flat_map(|lock| &lock.strangers) {
        eprintln!("note: {stranger}");
    }
    Ok(lock)
}
