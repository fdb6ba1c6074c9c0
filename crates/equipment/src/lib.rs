//! What experiments work with: the other half of an operation between two hosts, files to be read, and servers of files.
//!
//! Nothing here knows an experiment or an estimate.

#![deny(clippy::disallowed_macros)]
#![allow(
    missing_docs,
    reason = "for the crates of this workspace: what a name says needs no second sentence"
)]

#[allow(
    clippy::disallowed_methods,
    reason = "a peer is outside of every trial, and times arrivals by the clock of its own host"
)]
pub mod peer;
pub mod test_file;
#[allow(clippy::disallowed_methods, reason = "a deadline for an answer is no figure")]
pub mod remote;
