//! Pointer chasing: cycles through memory, the loops that follow them, and the expected latencies of the levels that they show.

pub mod arena;
pub mod cycle;
pub mod levels;
pub mod hierarchy;
pub mod kernel;
pub mod last_cache;
pub mod random_order;
pub mod scattered;
pub mod sizes;
pub mod walk;
