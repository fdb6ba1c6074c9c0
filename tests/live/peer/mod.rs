//! The peer: who is let in, who is not, what it leaves behind, and what a run does when it is gone.

mod callers;
mod impostors;
mod process;
mod relays;
mod reports;
mod runs;
mod server;
mod ssh;

use crate::tier::Test;

pub const TESTS: &[&[Test]] = &[
    callers::TESTS,
    impostors::TESTS,
    relays::TESTS,
    reports::TESTS,
    runs::TESTS,
    server::TESTS,
    ssh::TESTS,
];
