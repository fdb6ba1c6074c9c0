//! The verification of the instrument: truths are set on this machine and measured by the code that measures everything
//! else, with the same sampler, in fresh processes, with the same estimates.
//!
//! A rig is a file: what it sets, what is measured, and the expected result. If the work itself is known (a loop that spins
//! for 100 µs), the rig has an experiment of its own, which no report contains; if its environment is known (a quota, a disk
//! of a known rate), the rig measures experiments of the report.

#![deny(clippy::disallowed_macros, clippy::disallowed_methods)]
#![allow(
    missing_docs,
    reason = "for the crates of this workspace: what a name says needs no second sentence"
)]

mod chain;
mod chase;
mod control_group;
mod delay;
mod device;
mod disk;
mod echo;
mod held_lock;
mod late;
mod link;
mod neighbour;
pub mod opinions;
mod opinions_report;
mod order;
mod page_cache;
pub mod population;
mod prelude;
mod queue;
mod quota;
#[allow(clippy::disallowed_methods, reason = "until when a relay holds a packet is what it sets")]
mod relay;
mod rig;
mod session;
mod shared_core;
mod sleep;
mod spin;
mod statistics;
mod truth;
mod work;

pub use neighbour::Spinner;
pub use opinions_report::OpinionsReport;
pub use relay::{Relay, Unreliable};
pub use rig::Rig;
pub use session::{Bench, verify};

use fathom_core::experiment::Experiment;

/// Every rig, in the order of the table.
pub static RIGS: &[&Rig] = &[
    &spin::RIG,
    &chain::RIG,
    &sleep::RIG,
    &echo::RIG,
    &echo::PAGE_FAULT,
    &chase::RIG,
    &held_lock::RIG,
    &order::RIG,
    &queue::RIG,
    &statistics::RIG,
    &delay::RIG,
    &delay::JITTER,
    &neighbour::RIG,
    &shared_core::SIMULATED,
    &shared_core::PLANTED,
    &quota::RIG,
    &late::RIG,
    &page_cache::RIG,
    &device::BYTES,
    &device::REQUESTS,
    &device::BURST,
    &device::WRITES,
    &device::APPENDS,
    &link::RIG,
];

/// The experiments of rigs whose work itself is known. A process that verifies, or measures for one that does, registers
/// them.
pub fn experiments() -> Vec<&'static dyn Experiment> {
    vec![
        &spin::WORK,
        &chain::WORK,
        &sleep::WORK,
        &echo::WORK,
        &chase::WORK,
        &held_lock::WORK,
        &queue::WORK,
        &shared_core::WORK,
    ]
}

/// The rigs of these names, all of them without names; or the name that no rig has.
pub fn select(names: &[String]) -> Result<Vec<&'static Rig>, String> {
    let unknown = |name: &&String| !RIGS.iter().any(|rig| rig.name == name.as_str());
    if let Some(name) = names.iter().find(unknown) {
        return Err(name.clone());
    }
    let is_selected = |rig: &&&Rig| names.is_empty() || names.iter().any(|name| name == rig.name);
    Ok(RIGS.iter().filter(is_selected).copied().collect())
}
