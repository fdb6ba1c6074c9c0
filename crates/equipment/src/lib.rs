//! What experiments work with: the other half of an operation between two hosts, files to be read, and servers of files.
//!
//! Nothing here knows an experiment or an estimate.

#![deny(clippy::disallowed_macros)]

pub mod peer;
pub mod test_file;
pub mod remote;
