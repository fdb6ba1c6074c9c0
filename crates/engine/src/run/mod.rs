//! A run: all trials of a plan on one machine, recorded in its run file as they end.

mod alternating;
mod answering;
mod run_in_progress;
mod effects;
mod fitting;
mod header;
mod interrupt;
mod leftovers;
mod lock;
mod memory_group;
mod file_settings;
mod peering;
mod remote_file;
mod restoring;
mod resuming;
mod set_ledger;
mod setting_file;
mod core_watch;
mod environment;
mod variation;
mod visiting;

pub use alternating::Alternation;
pub use answering::answer_visits;
pub use effects::{Effect, of_every_trial, of_points};
pub use environment::{Environment, Pace};
pub use file_settings::{checked_budget, options_of};
pub use header::{COMPILER, Options, described, now, set_commit, tool};
pub use interrupt::{catch_signals, interrupted};
pub use leftovers::OwnFiles;
pub use lock::MeasuringLock;
pub use peering::{Peering, Reach};
pub use restoring::{COMMAND as RESTORE, restore_when_left};
pub use resuming::ensure_sound;
pub use run_in_progress::{RunInProgress, Tick, Watcher};
pub use set_ledger::restore_what_was_left;
pub use variation::{Arrangement, Variation};
