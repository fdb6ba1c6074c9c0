//! Streaming through arrays: the kernels, what they move, and what they are expected to move.

pub mod arrays;
pub mod drawn;
pub mod filled;
pub mod fleet;
pub mod kernel;
pub mod prediction;
pub mod working_set;
