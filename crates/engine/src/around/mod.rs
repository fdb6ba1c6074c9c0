//! Did the host hold still while something ran? A vector of anchors is measured before and after it, and in its pauses; in
//! between only what costs nothing is watched.
//!
//! *Anchors* are points of the experiments that this program has registered (`anchors.rs`), measured by the run's own loop in
//! fresh processes, some five seconds at a time. The engine by itself has none: a program that wants all of them registers the
//! experiments (`fathom::experiments::register`), and the operations of a program's own are anchors too. The frequency of the
//! core, and whether it was shared, need no experiment.
//!
//! *Meanwhile* a thread sleeps, notes how late it wakes, and reads the kernel's counters once a second (`meanwhile.rs`).
//!
//! How both become a verdict is argued in `judging.rs`, and what of it can follow from what else in `causes.rs`. Nothing is ever rescaled by an anchor: a single calibrated number doubles
//! the error as often as it halves it.

mod anchors;
mod causes;
pub mod command;
mod guard;
mod judging;
mod levels;
mod meanwhile;
mod signals;
mod surroundings;
mod verdict;

pub use causes::attributed;
pub use surroundings::{AroundSettings, AroundWork, Surroundings};
pub use verdict::{ChangeScale, DimensionReading, HostDimension, Source, Verdict, Whole};
