//! The lock that prevents simultaneous measurements.

use crate::report::{ProgressForm, Telling};
use crate::run::MeasuringLock;
use anyhow::Result;

/// The lock, unless it is waived; a name of it held by another user is reported in this form.
pub(super) fn take(alongside: bool, form: ProgressForm) -> Result<Option<MeasuringLock>> {
    let lock = if alongside { None } else { Some(MeasuringLock::take()?) };
    let telling = Telling::of(form);
    for stranger in lock.iter().flat_map(|lock| &lock.strangers) {
        telling.note(stranger);
    }
    Ok(lock)
}
