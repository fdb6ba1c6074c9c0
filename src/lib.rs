//! Fathom measures what a machine and its operating system cost.
//!
//! Data flows one way, and the modules below stand in that order: a module may use only those before it
//! (`tests/architecture.rs` holds us to it).

pub mod quantity;
pub mod machine;
pub mod statistics;
pub mod experiment;
pub mod sampling;
pub mod peer;
pub mod test_file;
pub mod remote;
pub mod experiments;
pub mod record;
pub mod results;
pub mod references;
pub mod plan;
pub mod run;
pub mod replicate;
pub mod report;
pub mod library;
pub mod cli;
pub mod commands;

pub use library::{Error, Measured, Operation, Session, child_main};
