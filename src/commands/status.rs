//! Exit statuses.

/// Everything succeeded.
pub(super) const DONE: u8 = 0;
/// A regression was found.
pub(super) const REGRESSED: u8 = 1;
/// A usage error, or the command could not run.
pub(super) const COULD_NOT_RUN: u8 = 2;
/// The data were not conclusive.
pub(super) const INCONCLUSIVE: u8 = 3;
/// Some experiments failed.
pub(super) const SOME_FAILED: u8 = 4;
