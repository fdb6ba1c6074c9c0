//! CPU affinity of this thread.

use crate::experiment::Failure;
use crate::machine::{Host, Live};

pub use crate::machine::allow_this_thread as set;

/// The CPUs on which the calling thread may run, in ascending order; empty if the kernel does not tell.
pub fn current() -> Vec<usize> {
    Live.affinity().unwrap_or_default()
}

/// Pins the calling thread to one CPU.
pub fn pin(cpu: usize) -> Result<(), Failure> {
    if set(&[cpu]) { Ok(()) } else { Err(Failure::last(&format!("cannot run on CPU {cpu}"))) }
}
