//! How many trials a plan promises to a point.

use fathom_core::statistics::MINIMUM_TRIALS;
use std::ops::RangeInclusive;

/// The number of trials that a point gets if it is not left out: two more than an interval needs
/// ([`MINIMUM_TRIALS`](fathom_core::statistics::MINIMUM_TRIALS)), because Student's t makes that of four trials half as wide again as
/// that of six which scatter as much, and a trial may fail or find its core shared.
pub const PROMISED_TRIALS: usize = 6;

/// The numbers of trials that may be asked for: as many as an interval needs, up to more than any report had.
pub const TRIALS_ASKED: RangeInclusive<u32> = MINIMUM_TRIALS as u32..=10_000;
