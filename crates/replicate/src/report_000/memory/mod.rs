//! Section 4: memory.

mod bandwidth;
mod chain;
mod fault;
mod latency;

pub use bandwidth::{READ, READ_A_BYTE, WRITE, WRITE_A_BYTE};
pub use fault::PAGE_FAULT;
pub use latency::{L1, L2, L3, RAM};
