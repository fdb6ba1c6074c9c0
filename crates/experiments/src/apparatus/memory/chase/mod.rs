//! Pointer chasing: cycles through memory, and the loops that follow them.

pub mod arena;
pub mod cycle;
pub mod kernel;
pub mod random_order;
pub mod scattered;
pub mod sizes;
pub mod walk;
