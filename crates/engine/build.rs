//! The compiler and its flags, for the header of every run file.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUSTC");
    let version = env::var("RUSTC").ok().and_then(|rustc| Command::new(rustc).arg("--version").output().ok());
    let compiler = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo:rustc-env=FATHOM_COMPILER={}", compiler.unwrap_or_default());
    let set = |name| env::var(name).unwrap_or_default();
    // Separated by a character that no flag contains. Where the source lay is no flag of what was compiled.
    let rustflags = set("CARGO_ENCODED_RUSTFLAGS");
    let flags = rustflags.split('\u{1f}').filter(|flag| !flag.starts_with("--remap-path-prefix"));
    let rustflags = flags.collect::<Vec<_>>().join(" ");
    let flags = format!("-C opt-level={} {rustflags}", set("OPT_LEVEL"));
    println!("cargo:rustc-env=FATHOM_COMPILER_FLAGS={}", flags.trim());
}
