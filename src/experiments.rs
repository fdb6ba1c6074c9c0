//! The experiments of `fathom run`, known to this process as soon as one of them is asked for.

pub use fathom_core::experiment::registry::OtherVersion;
use fathom_core::experiment::{Experiment, registry};

/// Makes them known, so that the evidence of a run file is judged by the methods that measured it. [`find`], [`recorded`] and
/// [`all`] do so by themselves.
pub fn register() {
    fathom_experiments::register();
}

/// Every experiment, in the order of the report.
pub fn all() -> impl Iterator<Item = &'static dyn Experiment> {
    register();
    registry::all()
}

pub fn find(name: &str) -> Option<&'static dyn Experiment> {
    register();
    registry::find(name)
}

/// The experiment that recorded figures, if this program has that version of its method.
pub fn recorded(name: &str, version: u32) -> Result<&'static dyn Experiment, OtherVersion> {
    register();
    registry::recorded(name, version)
}
