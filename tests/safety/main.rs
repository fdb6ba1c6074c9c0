//! What strangers may try against whoever runs this program, and what the program must not do to its user: overwrite files,
//! follow what was planted, go where a file sends it, be kept from measuring.
//!
//! What needs root says by name what it did not do where it is not root.

#[path = "../control_group/mod.rs"]
mod control_group;
mod files;
mod filtered;
mod lock;
mod planted;
mod resumed;
#[path = "../short_run/mod.rs"]
mod short_run;
mod stopped;
mod throttled;

use std::path::PathBuf;

/// The program.
fn binary() -> PathBuf {
    assert_cmd::cargo::cargo_bin("fathom")
}

/// Whether this is root; says what is not tested where not.
fn is_root(what: &str) -> bool {
    // SAFETY: geteuid touches nothing.
    let root = unsafe { libc::geteuid() } == 0;
    if !root {
        eprintln!("not tested, because it needs root: {what}");
    }
    root
}
