//! Section 5 of the report: files.

pub mod cache;
pub mod contention;
pub mod read;
pub mod remote;

/// Their block, bytes.
const BLOCK: usize = 4096;
