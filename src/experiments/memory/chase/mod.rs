//! Chasing pointers: cycles through memory, how they are followed, and what the levels that they show are expected to be.

pub mod arena;
pub mod cycle;
pub mod found_levels;
pub mod hierarchy;
pub mod kernel;
pub mod last_cache;
pub mod random_order;
pub mod scattered;
pub mod sizes;
pub mod walk;
