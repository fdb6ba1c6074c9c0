//! Described machines, for tests that must not depend on the machine that they run on.

use fathom_core::machine::{Host, Machine, Root};

#[path = "../../core/src/machine/described.rs"]
mod four_cores;

pub use four_cores::machine;
