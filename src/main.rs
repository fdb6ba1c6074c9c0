//! Parse, run, print, exit.
fn main() {}
