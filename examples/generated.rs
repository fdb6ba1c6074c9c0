//! Writes what the packages bring besides the program and is made from its command line: the manual page, and the completions of
//! bash, zsh and fish. `cargo run --release --example generated -- FOLDER`

use clap_complete::Shell;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: generated FOLDER");
        return ExitCode::from(2);
    };
    match written(folder.as_ref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generated: {error}");
            ExitCode::FAILURE
        }
    }
}

fn written(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut page = vec![];
    clap_mangen::Man::new(fathom::command_line_definition()).render(&mut page)?;
    std::fs::write(folder.join("fathom.1"), page)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut fathom::command_line_definition(), "fathom", folder)?;
    }
    Ok(())
}
