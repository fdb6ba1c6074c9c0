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
    meaning: "cost: a reading, many back to back; pair: what two readings with nothing between show; around \
              work: what they show with 64 multiplications between that wait for each other; resolution: the smallest step other \
              than zero",
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
