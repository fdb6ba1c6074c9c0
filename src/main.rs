//! The program; what it does stands in the library, which its tests use as well.

fn main() -> std::process::ExitCode {
    fathom::command_line()
}
