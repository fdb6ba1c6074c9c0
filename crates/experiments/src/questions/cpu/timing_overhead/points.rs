//! Points of `cpu/timing_overhead`.

use fathom_core::experiment::{Parameter, Scale};

/// Name of the experiment.
pub const NAME: &str = "cpu/timing_overhead";

/// Parameter: the way the clock is read.
pub const READING: Parameter =
    Parameter { name: "reading", meaning: "the instructions or the call", scale: Scale::Name };
/// Parameter: the measured property.
pub const MEASURE: Parameter = Parameter {
    name: "measure",
    meaning: "cost: one reading of many back to back; pair: the difference of two readings with nothing between them; \
              around work: their difference with 64 dependent multiplications between them; resolution: the smallest \
              non-zero step",
    scale: Scale::Name,
};

/// Measure: the cost of a reading, many back to back.
pub const COST: &str = "cost";
/// Measure: the difference between two readings back to back.
pub const PAIR: &str = "pair";
/// Measure: the difference between two readings around known work.
pub const AROUND: &str = "around work";
/// Measure: the smallest step other than zero.
pub const RESOLUTION: &str = "resolution";
