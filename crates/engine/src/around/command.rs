//! Running a command inside a measurement: its streams, its terminal and its exit status are its own.

pub use super::signals::catch as catch_signals;

use super::guard::StopGuard;
use super::signals::{pass_to, signalled};
use super::surroundings::AroundWork;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::io::{Error, ErrorKind, IsTerminal};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// A command that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    /// Its exit status, as a shell reports it: that of the command, 128 and the signal that ended it, 127 if there is no such
    /// program, and 126 if it cannot be executed.
    pub status: u8,
    /// Whether a signal came while it ran: the user wants no more.
    pub interrupted: bool,
}

/// Runs a command to its end. With `every` it is stopped after each such time, and a phase is measured meanwhile.
///
/// It then has a process group of its own: that of the terminal, or without a terminal one of a new session. For where a group of
/// the same session loses its last parent while it is stopped, as when this program is killed, the kernel continues it with a
/// hang-up (setpgid(2)), which would end it.
pub fn run(words: &[OsString], every: Option<Duration>, around: &mut AroundWork) -> Result<Ended> {
    let (program, arguments) = words.split_first().context("there is no command")?;
    let mut command = Command::new(program);
    command.args(arguments);
    let terminal = every.and_then(|_| Terminal::own());
    if terminal.is_some() {
        command.process_group(0);
        // SAFETY: between fork and exec only system calls are made.
        unsafe { command.pre_exec(|| foreground(libc::getpid())) };
    } else if every.is_some() {
        // SAFETY: between fork and exec only a system call is made.
        unsafe { command.pre_exec(own_session) };
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(Ended { status: not_started(program, &error), interrupted: false }),
    };
    let number = child.id() as libc::pid_t;
    pass_to(if every.is_some() { -number } else { number });
    around.follow(child.id());
    let waited = wait(&child, every, around);
    // Its number may be another's as soon as it is waited for.
    pass_to(0);
    let status = child.wait().context("the command cannot be waited for")?;
    drop(terminal);
    waited?;
    Ok(Ended { status: code(status), interrupted: signalled() })
}

/// Waits for the command to end, with its pauses.
fn wait(child: &Child, every: Option<Duration>, around: &mut AroundWork) -> Result<()> {
    let ended = ending(child.id());
    let Some(every) = every else {
        let _ = ended.recv();
        return Ok(());
    };
    let guard = StopGuard::over(child.id() as libc::pid_t)?;
    while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        if signalled() {
            continue;
        }
        let stopped = guard.stop();
        let done = around.pause();
        drop(stopped);
        done?;
    }
    Ok(())
}

/// A message, or its end, when the process has ended; it is not waited for in the sense of wait(2).
fn ending(process: u32) -> Receiver<()> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut about = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: room for what the call reports.
        while unsafe { libc::waitid(libc::P_PID, process, about.as_mut_ptr(), libc::WEXITED | libc::WNOWAIT) }
            != 0
            && Error::last_os_error().kind() == ErrorKind::Interrupted
        {}
        let _ = sender.send(());
    });
    receiver
}

/// The status of a command that could not be started, with a message.
fn not_started(program: &OsString, error: &Error) -> u8 {
    fathom_core::message::tell(format!("fathom: {}: {error}", program.to_string_lossy()));
    if error.kind() == ErrorKind::NotFound { 127 } else { 126 }
}

/// The exit status as a shell reports it.
fn code(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => (128 + signal) as u8,
        (None, None) => 255,
    }
}

/// Gives this process a session and with it a group of its own.
fn own_session() -> std::io::Result<()> {
    // SAFETY: a system call without arguments.
    if unsafe { libc::setsid() } < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// Makes a process group the one that the terminal on standard input talks to.
fn foreground(group: libc::pid_t) -> std::io::Result<()> {
    // SAFETY: system calls with integers. A process in the background that does this is stopped unless it ignores SIGTTOU.
    unsafe {
        let before = libc::signal(libc::SIGTTOU, libc::SIG_IGN);
        let done = libc::tcsetpgrp(libc::STDIN_FILENO, group);
        libc::signal(libc::SIGTTOU, before);
        if done == 0 { Ok(()) } else { Err(Error::last_os_error()) }
    }
}

/// The terminal on standard input, which this program gives away; it is taken back when this is dropped.
struct Terminal;

impl Terminal {
    /// `None` if there is none, or if this program is in its background.
    fn own() -> Option<Self> {
        // SAFETY: system calls without pointers.
        let mine = unsafe { libc::tcgetpgrp(libc::STDIN_FILENO) == libc::getpgrp() };
        (std::io::stdin().is_terminal() && mine).then_some(Terminal)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // SAFETY: asks for a number.
        let _ = foreground(unsafe { libc::getpgrp() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_that_of_a_shell() {
        let status = |raw: i32| code(ExitStatus::from_raw(raw));
        assert_eq!(status(0), 0);
        assert_eq!(status(7 << 8), 7);
        assert_eq!(status(libc::SIGKILL), 137);
        assert_eq!(not_started(&"nowhere".into(), &Error::from(ErrorKind::NotFound)), 127);
        assert_eq!(not_started(&"nowhere".into(), &Error::from(ErrorKind::PermissionDenied)), 126);
    }
}
