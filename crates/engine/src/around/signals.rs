//! Signals to this program while a command runs are for the command.
//!
//! A terminal sends Ctrl-C to every process of its foreground group, so the command has it already, and it is not sent twice;
//! what another process sends (kill(1), a service manager) reaches this program alone and is passed on. Before and after the
//! command a signal ends the measuring, and a second one ends this program.

use anyhow::{Context, Result};
use fathom_core::sampling::child::INTERRUPTED;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The command that signals are passed on to, as kill(2) takes it: negative for its group; 0 while there is none.
static COMMAND: AtomicI32 = AtomicI32::new(0);

/// The last signal of another process that came while there was no command; 0 for none.
static UNPASSED: AtomicI32 = AtomicI32::new(0);

static SIGNALLED: AtomicBool = AtomicBool::new(false);

const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Catches the signals that end programs, except those that are ignored, which the command ignores too (nohup(1)).
pub fn catch() -> Result<()> {
    LazyLock::force(&INTERRUPTED);
    for signal in SIGNALS {
        // SAFETY: plain data, which the first call fills; the handler makes system calls and touches atomics alone.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0
                && action.sa_sigaction == libc::SIG_IGN
            {
                continue;
            }
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = caught;
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigemptyset(&raw mut action.sa_mask);
            if libc::sigaction(signal, &raw const action, std::ptr::null_mut()) != 0 {
                return Err(std::io::Error::last_os_error()).context("signals cannot be caught");
            }
        }
    }
    Ok(())
}

extern "C" fn caught(signal: libc::c_int, about: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel hands over a valid record; a code of at most 0 is that of a process (sigaction(2)).
    let is_of_a_process = unsafe { (*about).si_code } <= 0;
    let command = COMMAND.load(Ordering::Relaxed);
    if command == 0 {
        if is_of_a_process {
            UNPASSED.store(signal, Ordering::Relaxed);
        }
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            // SAFETY: the default action of a signal, and the signal.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
        return;
    }
    SIGNALLED.store(true, Ordering::Relaxed);
    if is_of_a_process {
        // SAFETY: a signal to our own child, which was not waited for, or to its group.
        unsafe { libc::kill(command, signal) };
    }
}

/// From now on signals are passed on to this command, and one that came since it was started, before this call; to none for 0.
pub(super) fn pass_to(command: libc::pid_t) {
    COMMAND.store(command, Ordering::Relaxed);
    let unpassed = UNPASSED.swap(0, Ordering::Relaxed);
    if command != 0 && unpassed != 0 {
        SIGNALLED.store(true, Ordering::Relaxed);
        // SAFETY: a signal to our own child, which was not waited for, or to its group.
        unsafe { libc::kill(command, unpassed) };
    }
}

/// Whether a signal came while a command ran.
pub(super) fn signalled() -> bool {
    SIGNALLED.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    /// A command may have begun, and whoever saw that may have sent a signal, before its number is known here.
    #[test]
    fn a_signal_between_the_start_of_a_command_and_its_number_is_not_lost() {
        UNPASSED.store(libc::SIGTERM, Ordering::Relaxed);
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        pass_to(child.id() as libc::pid_t);
        pass_to(0);
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
        assert!(signalled());
    }
}
