//! What a process leaves behind: standard output, read through a pager where it is long, and its exit status; and what it is
//! asked on standard input.

use anyhow::{Context, Result};
use fathom_core::message::shown;
use serde::de::DeserializeOwned;
use std::io::Write;
use std::process::{Command, Stdio};

/// Everything succeeded.
pub(super) const DONE: u8 = 0;
pub(super) const REGRESSED: u8 = 1;
/// A usage error, or the command could not run.
pub(super) const COULD_NOT_RUN: u8 = 2;
/// The data were not conclusive.
pub(super) const INCONCLUSIVE: u8 = 3;
pub(super) const SOME_FAILED: u8 = 4;

/// Writes a text and a line feed, as a terminal may see it. That the reader has gone, as `head` does, is no error, and
/// changes no exit status.
pub(super) fn print(text: &str) -> Result<()> {
    let mut text = shown(text);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("standard output could not be written")
        }
        _ => Ok(()),
    }
}

/// Columns and rows of the terminal for results; `None` if there is none.
pub(super) fn window() -> Option<(usize, usize)> {
    // SAFETY: a winsize is plain integers, and the call fills it where standard output is a terminal.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size);
        size
    };
    (size.ws_col > 0).then(|| (usize::from(size.ws_col), usize::from(size.ws_row)))
}

/// Prints a text, through a pager if the terminal is too low for it: that of `PAGER`, otherwise `less`.
pub(super) fn print_by_pages(text: &str) -> Result<()> {
    let fits = window().is_none_or(|(_, rows)| text.lines().count() < rows);
    let pager = std::env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    if fits || pager.is_empty() {
        return print(text);
    }
    let mut command = Command::new("sh");
    command.args(["-c", &pager]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Keep colours, and leave the screen unchanged.
        command.env("LESS", "RX");
    }
    let Ok(mut child) = command.spawn() else { return print(text) };
    // SAFETY: it changes what this process does about ^C, which is the pager's while it shows something.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
    if let Some(mut input) = child.stdin.take() {
        // A user may quit the pager before it has read everything.
        let _ = input.write_all(shown(text).as_bytes());
    }
    // The shell has already reported an unknown program.
    if child.wait()?.code() == Some(NO_SUCH_PROGRAM) { print(text) } else { Ok(()) }
}

/// The exit status of a shell if there is no program of the name.
const NO_SUCH_PROGRAM: i32 = 127;

/// Reads the request of a measuring process from standard input.
pub(super) fn request<R: DeserializeOwned>(command: &str, by: &str) -> Result<R> {
    let mut text = String::new();
    std::io::stdin().read_line(&mut text)?;
    serde_json::from_str(&text).with_context(|| {
        format!("`fathom {command}` is started by `fathom {by}`; it expects a request on standard input")
    })
}
