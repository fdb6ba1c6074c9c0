//! Standard input and output.

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use std::io::Write;
use std::process::{Command, Stdio};

/// Writes a text and ends its line.
pub(super) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

/// Columns and rows of the terminal that results go to; `None` where there is none.
pub(super) fn window() -> Option<(usize, usize)> {
    // SAFETY: a winsize is plain integers, and the call fills it where standard output is a terminal.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size);
        size
    };
    (size.ws_col > 0).then(|| (usize::from(size.ws_col), usize::from(size.ws_row)))
}

/// Prints a text, on a terminal that is too low for it by a pager: that of `PAGER`, else `less`.
pub(super) fn print_by_pages(text: &str) -> Result<()> {
    let fits = window().is_none_or(|(_, rows)| text.lines().count() < rows);
    let pager = std::env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    if fits || pager.is_empty() {
        return print(text);
    }
    let mut command = Command::new("sh");
    command.args(["-c", &pager]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Colours as they are, and the screen as it was left.
        command.env("LESS", "RX");
    }
    let Ok(mut child) = command.spawn() else { return print(text) };
    // SAFETY: it changes what this process does about ^C, which is the pager's while it shows something.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
    if let Some(mut input) = child.stdin.take() {
        // Whoever has seen enough ends the pager before it has read all.
        let _ = input.write_all(text.as_bytes());
    }
    // A shell that knows no such program has said so.
    if child.wait()?.code() == Some(NO_SUCH_PROGRAM) { print(text) } else { Ok(()) }
}

/// What a shell ends with where there is no program of the name.
const NO_SUCH_PROGRAM: i32 = 127;

/// What a process that measures is asked on its standard input.
pub(super) fn request<R: DeserializeOwned>(command: &str, by: &str) -> Result<R> {
    let mut text = String::new();
    std::io::stdin().read_line(&mut text)?;
    serde_json::from_str(&text).with_context(|| {
        format!("`fathom {command}` is what `fathom {by}` starts; it wants a request on standard input")
    })
}
