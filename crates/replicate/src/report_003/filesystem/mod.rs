//! Section 5 of the report: files.

pub mod cache;
pub mod contention;
pub mod read;
pub mod remote;

/// The report's block, bytes.
const BLOCK: usize = 4096;
