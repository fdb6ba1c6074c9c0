//! What a message, a byte and a connection cost, through the software alone and to another host.

use crate::experiment::Experiment;

/// The experiments of this family, in the order in which each may build on those before it.
pub const EXPERIMENTS: &[&dyn Experiment] = &[];
