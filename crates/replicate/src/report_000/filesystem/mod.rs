//! Section 6: the file system.

mod cache;
mod contention;
mod read;
mod remote;

pub use cache::{CACHE_SIZE, CACHED_PAGE, FIRST_ACCESS};
pub use contention::{FEW_PROCESSES, MANY_PROCESSES};
pub use read::{RANDOM, SEQUENTIAL};
pub use remote::{REMOTE_RANDOM, REMOTE_SEQUENTIAL};

/// The report's block, bytes.
const BLOCK: u64 = 4096;
