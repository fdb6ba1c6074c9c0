//! The instrument's own parts where they meet this machine: clocks, kernels, memory, files, sockets, processes. What they
//! compute from it is tested in `src/`, on described machines and simulated clocks.

mod clock;
mod files;
mod kernels;
mod memory;
mod processes;
mod sockets;

use crate::tier::{Outcome, Test, skipped};
use fathom::machine::{Host, Live};

pub const TESTS: &[&[Test]] =
    &[clock::TESTS, files::TESTS, kernels::TESTS, memory::TESTS, processes::TESTS, sockets::TESTS];

/// Ends a test that reads the counter where the instruction would end the process.
fn rdtscp() -> Outcome {
    let has = cfg!(not(target_arch = "x86_64")) || Live.executes("rdtscp") == Some(true);
    if has { Ok(()) } else { skipped("a processor with rdtscp") }
}
