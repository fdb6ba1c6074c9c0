//! The lock that prevents simultaneous measurements.

use anyhow::Result;
use fathom_engine::run::{self, MeasuringLock};
use fathom_report::{ProgressForm, Telling};

/// The lock, unless it is waived; a name of it held by another user is reported in this form. Before anything is measured, what a
/// killed run has left set is restored.
pub(super) fn take(alongside: bool, form: ProgressForm) -> Result<Option<MeasuringLock>> {
    let lock = if alongside { None } else { Some(MeasuringLock::take()?) };
    let telling = Telling::of(form);
    for stranger in lock.iter().flat_map(|lock| &lock.strangers) {
        telling.note(stranger);
    }
    for restored in run::restore_what_was_left() {
        telling.note(&restored);
    }
    Ok(lock)
}
