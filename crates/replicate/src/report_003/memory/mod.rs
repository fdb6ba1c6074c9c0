//! Section 4 of the report: latency and bandwidth of memory, page faults.

pub mod bandwidth;
pub mod latency;
mod pointer_list;
pub mod page_fault;
pub mod streams;
