//! The commit that this program was built from, for `--version` and the header of every run file.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // In a debug build every commit would have the program linked again.
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if let Some(commit) = release.then(source).flatten() {
        println!("cargo:rustc-env=FATHOM_COMMIT={commit}");
    }
}

/// The commit as the packager gives it, or that of the repository around the source; marked where files were altered since.
fn source() -> Option<String> {
    println!("cargo:rerun-if-env-changed=FATHOM_SOURCE_COMMIT");
    if let Ok(commit) = env::var("FATHOM_SOURCE_COMMIT") {
        return Some(commit);
    }
    println!("cargo:rerun-if-changed=.git/HEAD");
    println!("cargo:rerun-if-changed=.git/logs/HEAD");
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let altered = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if altered.is_empty() { commit } else { format!("{commit}, altered") })
}

/// What git prints, if it is there and succeeds.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
