//! Page faults: memory and files whose pages are missing, how they are touched, and how the faults are counted.

pub mod after_fork;
pub mod cold_file;
pub mod cold_reader;
pub mod device_reads;
pub mod file_mapping;
pub mod interval_timer;
pub mod peaks;

pub mod slots;
pub mod stretch;
pub mod supplied;
pub mod tally;
pub mod touched;
pub mod user_page;
