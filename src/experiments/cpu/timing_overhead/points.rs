//! What is varied.

use crate::experiment::{Parameter, Scale};

/// The experiment's name.
pub const NAME: &str = "cpu/timing_overhead";

/// How the clock is read.
pub const READING: Parameter =
    Parameter { name: "reading", meaning: "the instructions or the call", scale: Scale::Name };
/// What is asked about it.
pub const MEASURE: Parameter = Parameter {
    name: "measure",
    meaning: "cost: one reading of many back to back; pair: the difference of two readings with nothing between them; \
              around work: their difference with 64 dependent multiplications between them; resolution: the smallest \
              non-zero step",
    scale: Scale::Name,
};

/// Measure: what a reading takes, many back to back.
pub const COST: &str = "cost";
/// Measure: what two readings with nothing between show.
pub const PAIR: &str = "pair";
/// Measure: what two readings around known work show.
pub const AROUND: &str = "around work";
/// Measure: the smallest step other than zero.
pub const RESOLUTION: &str = "resolution";
