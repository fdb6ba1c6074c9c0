//! Parse, run, print, exit.

use clap::Parser;
use fathom::cli::Cli;
use fathom::commands;
use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::run(Cli::parse()) {
        Ok(exit) => exit,
        Err(error) if commands::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fathom: {error:#}");
            ExitCode::from(commands::COULD_NOT_RUN)
        }
    }
}
