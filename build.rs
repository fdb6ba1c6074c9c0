//! What this program was built with and from, for `--version` and the header of every run file.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUSTC");
    let compiler = env::var("RUSTC").ok().and_then(|rustc| said(&rustc, &["--version"]));
    println!("cargo:rustc-env=FATHOM_COMPILER={}", compiler.unwrap_or_default());
    let set = |name| env::var(name).unwrap_or_default();
    // Separated by a character that no flag contains.
    let asked = set("CARGO_ENCODED_RUSTFLAGS").replace('\u{1f}', " ");
    let flags = format!("-C opt-level={} {asked}", set("OPT_LEVEL"));
    println!("cargo:rustc-env=FATHOM_COMPILER_FLAGS={}", flags.trim());
    // In a debug build every commit would have all of it compiled again.
    let commit = if set("PROFILE") == "release" { source() } else { None };
    println!("cargo:rustc-env=FATHOM_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

/// The commit of the source: as whoever packs it says, or of the repository that it is built in; told to be altered where it was.
fn source() -> Option<String> {
    println!("cargo:rerun-if-env-changed=FATHOM_SOURCE_COMMIT");
    if let Ok(commit) = env::var("FATHOM_SOURCE_COMMIT") {
        return Some(commit);
    }
    println!("cargo:rerun-if-changed=.git/HEAD");
    println!("cargo:rerun-if-changed=.git/logs/HEAD");
    let commit = said("git", &["rev-parse", "--short=12", "HEAD"])?;
    let altered = said("git", &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if altered.is_empty() { commit } else { format!("{commit}, altered") })
}

/// What a command prints, if it can be run and succeeds.
fn said(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
