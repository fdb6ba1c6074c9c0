//! The vocabulary of Fathom, and its sampler: what an experiment is, what a machine is, and how work is timed.
//!
//! Data flows one way, and the modules stand in that order: each uses only those before it.

#![deny(clippy::disallowed_macros, clippy::disallowed_methods)]

mod os;
mod arch;
pub mod message;
pub mod quantity;
pub mod sorting;
pub mod statistics;
pub mod quantities;
pub mod machine;
pub mod experiment;
pub mod prelude;
#[allow(clippy::disallowed_methods, reason = "this is the room of clocks")]
pub mod sampling;
