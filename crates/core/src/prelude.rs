//! The vocabulary in which experiments are written: `use fathom_core::prelude::*` at the head of each.

pub use crate::experiment::*;
pub use crate::machine::Machine;
pub use crate::quantity::Unit;
