//! A command that is stopped for a pause is never left stopped: a process of its own continues it when this program ends,
//! however it ends.
//!
//! It is a fork that holds the reading end of a pipe and nothing else. While the command's group is stopped the last byte of the
//! pipe says so; at the end of the pipe, which is the end of this program, it continues a group that is stopped. A stopped group
//! does not end, so its number is still its own.

use anyhow::{Context, Result};
use fathom_core::sampling::partner;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

const STOPPED: u8 = b's';
const CONTINUED: u8 = b'c';

/// The group of a command, and the process that guards it.
pub(super) struct StopGuard {
    group: libc::pid_t,
    pipe: Option<OwnedFd>,
    process: libc::pid_t,
}

impl StopGuard {
    pub fn over(group: libc::pid_t) -> Result<Self> {
        let (reading, writing) = partner::pipe().map_err(|failure| anyhow::anyhow!("{failure}"))?;
        // SAFETY: the child makes system calls alone, and ends without running anything of this process.
        match unsafe { libc::fork() } {
            -1 => Err(std::io::Error::last_os_error()).context("the guard of the command cannot be started"),
            0 => {
                watch(reading.as_raw_fd(), group);
                // SAFETY: ends the child.
                unsafe { libc::_exit(0) }
            }
            process => Ok(StopGuard { group, pipe: Some(writing), process }),
        }
    }

    /// Stops the group; it continues when the answer is dropped.
    pub fn stop(&self) -> Stopped<'_> {
        self.note(STOPPED);
        // SAFETY: a signal to the group of our own child, which was not waited for.
        unsafe { libc::kill(-self.group, libc::SIGSTOP) };
        Stopped(self)
    }

    fn note(&self, state: u8) {
        if let Some(pipe) = &self.pipe {
            // Without a guard the group is continued by this process alone.
            let _ = partner::write_byte(pipe, state);
        }
    }
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        drop(self.pipe.take());
        // SAFETY: waits for our own child, which ends with the pipe.
        unsafe { libc::waitpid(self.process, std::ptr::null_mut(), 0) };
    }
}

/// A group that is stopped until this is dropped.
pub(super) struct Stopped<'a>(&'a StopGuard);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        // SAFETY: a signal to the group of our own child, which was not waited for.
        unsafe { libc::kill(-self.0.group, libc::SIGCONT) };
        self.0.note(CONTINUED);
    }
}

/// The guard itself, in its own process.
fn watch(pipe: RawFd, group: libc::pid_t) {
    // SAFETY: system calls without pointers that outlive them. Other descriptors are closed, so that no reader waits for this
    // process: a few thousand attempts, because an allocation is not allowed here.
    unsafe {
        libc::setpgid(0, 0);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
        (0..MOST_DESCRIPTORS).filter(|descriptor| *descriptor != pipe).for_each(|descriptor| {
            libc::close(descriptor);
        });
        let (mut state, mut byte) = (CONTINUED, 0_u8);
        loop {
            match libc::read(pipe, (&raw mut byte).cast(), 1) {
                1 => state = byte,
                0 => break,
                _ if *libc::__errno_location() == libc::EINTR => {}
                _ => break,
            }
        }
        if state == STOPPED {
            libc::kill(-group, libc::SIGCONT);
        }
    }
}

/// The descriptors that are closed: the usual limit of a process.
const MOST_DESCRIPTORS: RawFd = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    /// How long a busy machine may take for a step.
    const PATIENCE: Duration = Duration::from_secs(30);

    fn sleeper() -> Child {
        let child = Command::new("sleep").arg("60").process_group(0).spawn().expect("sleep");
        let (number, began) = (child.id() as libc::pid_t, Instant::now());
        // An emulator returns before the child has its group.
        // SAFETY: asks for a number.
        while unsafe { libc::getpgid(number) } != number && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        child
    }

    fn is_stopped(child: &Child) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
    }

    fn becomes(child: &Child, stopped: bool) -> bool {
        let began = Instant::now();
        while is_stopped(child) != stopped && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        is_stopped(child) == stopped
    }

    #[test]
    fn a_group_is_stopped_until_the_pause_ends() {
        let mut child = sleeper();
        let guard = StopGuard::over(child.id() as libc::pid_t).expect("a guard");
        let stopped = guard.stop();
        assert!(becomes(&child, true));
        drop(stopped);
        assert!(becomes(&child, false));
        drop(guard);
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }

    #[test]
    fn the_guard_continues_a_group_that_was_left_stopped() {
        let mut child = sleeper();
        let guard = StopGuard::over(child.id() as libc::pid_t).expect("a guard");
        // As if this program were killed: nothing is dropped but what the kernel closes.
        std::mem::forget(guard.stop());
        assert!(becomes(&child, true));
        drop(guard);
        assert!(becomes(&child, false));
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
}
