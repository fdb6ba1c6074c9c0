//! What strangers may try against whoever runs this program, and what the program must not do to its user: overwrite files,
//! follow what was planted, go where a file sends it, be kept from measuring.

mod files;
mod filtered;
mod inherited;
mod lock;
mod planted;
mod resumed;
mod stopped;
mod throttled;

use crate::tier::Test;
use std::path::PathBuf;

pub const TESTS: &[&[Test]] = &[
    files::TESTS,
    filtered::TESTS,
    inherited::TESTS,
    lock::TESTS,
    planted::TESTS,
    resumed::TESTS,
    stopped::TESTS,
    throttled::TESTS,
];

/// The program.
fn binary() -> PathBuf {
    assert_cmd::cargo::cargo_bin("fathom")
}
