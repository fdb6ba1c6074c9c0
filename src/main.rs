//! The program; what it does stands in the library, which its tests use as well.

#![deny(clippy::disallowed_macros, clippy::disallowed_methods)]

fn main() -> std::process::ExitCode {
    fathom::command_line()
}
