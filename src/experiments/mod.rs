//! The experiments, each a file, or a file and its folder; and the registry of their families, in the order of every report.
//!
//! Adding an experiment takes one file and two lines in its family's `mod.rs`.

pub(crate) mod cpu;
mod core_facts;
mod device_facts;
pub(crate) mod filesystem;
mod lasting;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod excerpts;
mod listing;
pub mod memory;
pub(crate) mod network;
mod rule_of_thumb;

use crate::experiment::Experiment;
use std::fmt;
use std::sync::OnceLock;

/// The operations added by a program that uses this library.
static REGISTERED: OnceLock<Vec<&'static dyn Experiment>> = OnceLock::new();

/// Adds the operations of a program that uses this library after all others; false if that was done before.
pub fn register(own: Vec<&'static dyn Experiment>) -> bool {
    REGISTERED.set(own).is_ok()
}

/// Every experiment, in the order of the report.
pub fn all() -> impl Iterator<Item = &'static dyn Experiment> {
    let families = [cpu::EXPERIMENTS, memory::EXPERIMENTS, network::EXPERIMENTS, filesystem::EXPERIMENTS];
    families.into_iter().flatten().chain(REGISTERED.get().into_iter().flatten()).copied()
}

/// The experiment of this name, for measuring. Recorded results are judged by [`recorded`].
pub fn find(name: &str) -> Option<&'static dyn Experiment> {
    all().find(|experiment| experiment.about().name == name)
}

/// The experiment that recorded figures, if this program has that version of its method: neither the evidence nor the findings of
/// one version apply to another.
pub fn recorded(name: &str, version: u32) -> Result<&'static dyn Experiment, OtherVersion> {
    let known = find(name);
    let here = known.map(|experiment| experiment.about().version);
    known.filter(|_| here == Some(version)).ok_or(OtherVersion { recorded: version, here })
}

/// The error for figures recorded by a method that this program does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherVersion {
    /// The version that recorded them.
    pub recorded: u32,
    /// The version of this program; `None` if it does not know the experiment.
    pub here: Option<u32>,
}

impl fmt::Display for OtherVersion {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let recorded = self.recorded;
        match self.here {
            Some(here) => {
                write!(f, "measured by version {recorded} of the method; this program has version {here}")
            }
            None => write!(f, "measured by an experiment that this program does not have"),
        }
    }
}

impl std::error::Error for OtherVersion {}
