//! Streaming through arrays: the kernels, their traffic, and their expected rates.

pub mod arrays;
pub mod drawn;
pub mod filled;
pub mod fleet;
pub mod kernel;
pub mod working_set;
