//! Section 3 of the report: processor, scheduling, services of the operating system.

pub mod calls;
mod empty_functions;
pub mod readings;
pub mod switches;
pub mod tasks;
