//! The experiments of this program: what a name in a plan, a request or a run file refers to.

use super::Experiment;
use std::fmt;
use std::sync::{PoisonError, RwLock};

static REGISTERED: RwLock<Vec<&'static dyn Experiment>> = RwLock::new(vec![]);

/// Adds experiments after those that are registered; one whose name is registered already is left out.
///
/// A program does so before anything else, and so does each of its measuring processes.
pub fn register(experiments: impl IntoIterator<Item = &'static dyn Experiment>) {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    for experiment in experiments {
        if registered.iter().all(|other| other.about().name != experiment.about().name) {
            registered.push(experiment);
        }
    }
}

/// Every experiment, in the order of the report.
pub fn all() -> impl Iterator<Item = &'static dyn Experiment> {
    REGISTERED.read().unwrap_or_else(PoisonError::into_inner).clone().into_iter()
}

/// The experiment of this name, for measuring. Recorded results are judged by [`recorded`].
pub fn find(name: &str) -> Option<&'static dyn Experiment> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    registered.iter().copied().find(|experiment| experiment.about().name == name)
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
