//! A guard over settings of the machine: a separate process that restores them when the run ends, however it ends.

use super::set_ledger::{Ledger, SavedValues};
use super::variation::{Arrangement, Originals};
use anyhow::{Context, Result, bail};
use std::io::{BufRead, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// The hidden command that starts the guard.
pub const COMMAND: &str = "restore";

/// Restores everything when it is dropped, or when this process ends.
pub(super) struct Guard {
    child: Option<Child>,
    /// The record, as long as this process lives.
    _ledger: Option<Ledger>,
}

impl Guard {
    /// Starts the guard before any change, with a record on disk in case that it is killed together with the run; without
    /// settings to change neither is made.
    pub fn over(originals: &Originals, arrangements: [&Arrangement; 2]) -> Result<Self> {
        if originals.0.is_empty() {
            return Ok(Guard { child: None, _ledger: None });
        }
        let ledger = Ledger::begin(originals, &arrangements.map(Arrangement::files))
            .context("what is about to be set could not be recorded: nothing was set")?;
        match Guard::started(originals, &ledger) {
            Ok(child) => Ok(Guard { child: Some(child), _ledger: Some(ledger) }),
            Err(error) => {
                let _ = std::fs::remove_file(ledger.path());
                Err(error)
            }
        }
    }

    fn started(originals: &Originals, ledger: &Ledger) -> Result<Child> {
        let own = std::env::current_exe().context("this program cannot find its own executable file")?;
        // In a process group of its own, so that what interrupts the run does not end it.
        let mut child = Command::new(own)
            .arg(COMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .context("the process that restores the settings could not be started")?;
        let saved = SavedValues { originals: originals.0.clone(), ledger: ledger.path().to_owned() };
        let mut line = serde_json::to_string(&saved)?;
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
        Ok(child)
    }
}

impl Guard {
    /// Has everything restored now; fails if something could not be, which the guard has told.
    pub fn end(&mut self) -> Result<()> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        drop(child.stdin.take());
        let status = child.wait().context("the process that restores the settings is gone")?;
        if !status.success() {
            bail!("settings of this machine could not be restored ({status}): they are named above");
        }
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // After a failure elsewhere, which is the one that is reported; the guard tells its own.
        let _ = self.end();
    }
}

/// Waits until the parent process has ended, then restores the settings that it received.
pub fn restore_when_left() -> Result<()> {
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // SAFETY: ignoring a signal runs no code.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let mut input_text = String::new();
    let mut input = std::io::stdin().lock();
    input.read_line(&mut input_text)?;
    let saved: SavedValues = serde_json::from_str(&input_text).context(
        "`fathom restore` is started by `fathom ab`; it expects a list of settings on standard input",
    )?;
    let _held = saved.hold()?;
    let mut out = std::io::stdout();
    out.write_all(b".")?;
    out.flush()?;
    input.read_to_string(&mut input_text)?;
    saved.restore()
}
