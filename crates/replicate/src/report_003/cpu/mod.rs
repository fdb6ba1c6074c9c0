//! Section 3 of the report: processor, scheduling and operating-system services.

pub mod calls;
mod empty_functions;
pub mod readings;
pub mod switches;
pub mod tasks;
