//! A run: all trials of a plan on one machine, written to its run file as they end.

mod answering;
mod campaign;
mod header;
mod interrupt;
mod leftovers;
mod lock;
mod memory_group;
mod peering;
mod remote_file;
mod resuming;
mod testbed;
mod visiting;

pub use answering::answer_visits;
pub use campaign::{Campaign, Tick, Watcher};
pub use header::{Options, described, now, tool};
pub use interrupt::catch_signals;
pub use lock::MeasuringLock;
pub use peering::{Peering, Reach};
pub use testbed::{Pace, Testbed};
