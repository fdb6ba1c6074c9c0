//! Exit statuses.

/// Everything was done.
pub(super) const DONE: u8 = 0;
/// A regression was found.
pub(super) const REGRESSED: u8 = 1;
/// Usage, or it could not run.
pub(super) const COULD_NOT_RUN: u8 = 2;
/// The data could not decide.
pub(super) const INCONCLUSIVE: u8 = 3;
/// Some experiments failed.
pub(super) const SOME_FAILED: u8 = 4;
