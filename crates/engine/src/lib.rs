//! The engine of Fathom: it plans a run, makes it, records it, and computes results and comparisons from what was recorded.
//!
//! It knows no experiment by itself: the experiments of a program are [registered](fathom_core::experiment::registry), and
//! [`library`] registers operations of a program's own. Data flows one way, and the modules stand in that order.

#![deny(clippy::disallowed_macros, clippy::disallowed_methods)]

pub mod parallel;
pub mod record;
pub mod results;
pub mod plan;
pub mod comparison;
pub mod requirements;
#[allow(clippy::disallowed_methods, reason = "it orders trials and keeps to a budget; trials measure")]
pub mod run;
#[allow(clippy::disallowed_methods, reason = "when a command is stopped, and for how long; trials measure")]
pub mod around;
pub mod library;

pub use library::{Error, Measured, Operation, Session, child_main};
