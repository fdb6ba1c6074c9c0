//! A guard over settings of the machine: a separate process that restores them when the run ends, however it ends.

use super::variation::Originals;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The hidden command that starts the guard.
pub const COMMAND: &str = "restore";

/// Restores everything when it is dropped, or when this process ends.
pub(super) struct Guard {
    child: Option<Child>,
}

impl Guard {
    /// Starts the guard before any change; without settings to change no process is started.
    pub fn over(originals: &Originals) -> Result<Self> {
        if originals.0.is_empty() {
            return Ok(Guard { child: None });
        }
        let own = std::env::current_exe().context("this program cannot find its own executable file")?;
        // In a process group of its own, so that what interrupts the run does not end it.
        let mut child = Command::new(own)
            .arg(COMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .context("the process that restores the settings could not be started")?;
        let mut line = serde_json::to_string(&originals.0)?;
        line.push('\n');
        child.stdin.as_mut().context("it has no input")?.write_all(line.as_bytes())?;
        // It answers when it has read the settings and ignores signals.
        let mut ready = [0; 1];
        child
            .stdout
            .as_mut()
            .context("it has no output")?
            .read_exact(&mut ready)
            .context("the process that restores the settings does not answer: nothing was set")?;
        Ok(Guard { child: Some(child) })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

/// Waits until the parent process has ended, then restores the settings that it received.
pub fn restore_when_left() -> Result<()> {
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // SAFETY: ignoring a signal runs no code.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let mut told = String::new();
    let mut input = std::io::stdin().lock();
    input.read_line(&mut told)?;
    let originals: BTreeMap<PathBuf, String> = serde_json::from_str(&told).context(
        "`fathom restore` is started by `fathom ab`; it expects a list of settings on standard input",
    )?;
    let mut out = std::io::stdout();
    out.write_all(b".")?;
    out.flush()?;
    input.read_to_string(&mut told)?;
    Originals(originals).restore()
}
