//! The other side of an operation: helper processes and threads, pinned, and ended when they are dropped.

pub use crate::os::end_with;

use super::affinity;
use crate::experiment::{Failure, errno};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A forked process for the other side of an operation, killed when it is dropped.
#[derive(Debug)]
pub struct PartnerProcess {
    pid: libc::pid_t,
}

impl PartnerProcess {
    /// Forks a process that runs `work` on `cpu` (not pinned if `None`) and exits. Descriptors that `work` owns, such as the far
    /// ends of pipes, are closed on this side. The process dies with this one.
    pub fn start(cpu: Option<usize>, work: impl FnOnce() -> Result<(), Failure>) -> Result<Self, Failure> {
        let parent = std::process::id();
        // SAFETY: the child runs `work` and `_exit`. Other threads of this process, which a library's user may have, are not in
        // the copy, and what they held stays held there: `work` takes no lock but the allocator's, which the C library (glibc,
        // musl from 1.2.2) holds around the fork so that the copy can use it.
        match unsafe { libc::fork() } {
            -1 => Err(Failure::no_process("fork of a partner process", &io::Error::last_os_error())),
            0 => {
                let outcome = die_with(parent).and_then(|()| run_on(cpu, work));
                // SAFETY: ends the child without running the parent's destructors.
                unsafe { libc::_exit(i32::from(outcome.is_err())) }
            }
            pid => Ok(PartnerProcess { pid }),
        }
    }
}

impl PartnerProcess {
    /// Its process number, for what the kernel reports about it.
    pub fn id(&self) -> libc::pid_t {
        self.pid
    }
}

impl Drop for PartnerProcess {
    fn drop(&mut self) {
        // SAFETY: the child is ours and was not waited for: a measuring process ignores no SIGCHLD (`signals.rs`), so the number
        // still names it.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

/// Makes the kernel kill this process when its parent dies, even if it has died already.
pub fn die_with(parent: u32) -> Result<(), Failure> {
    end_with(parent).map_err(|_| Failure::Broke("the measuring process is gone".to_owned()))
}

/// Makes this process and its future children not preempt the process that wakes them (`SCHED_BATCH`, sched(7)).
pub fn without_preemption() -> Result<(), Failure> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: valid parameters for this process.
    let set = unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameters) };
    if set == 0 { Ok(()) } else { Err(Failure::last("sched_setscheduler to SCHED_BATCH")) }
}

/// Starts a kernel thread that runs `work` on `cpu`. It is not joined: it ends with the trial's process, or when the ends that it
/// uses are closed.
pub fn thread(
    cpu: Option<usize>,
    work: impl FnOnce() -> Result<(), Failure> + Send + 'static,
) -> Result<(), Failure> {
    let run = move || {
        // An error of the other side shows on this side as an end of file or a missing answer.
        let _ = run_on(cpu, work);
    };
    std::thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(run)
        .map(drop)
        .map_err(|error| Failure::no_process("making a partner thread", &error))
}

fn run_on(cpu: Option<usize>, work: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    if let Some(cpu) = cpu {
        affinity::pin(cpu)?;
    }
    work()
}

/// A pipe: its read end and its write end.
pub fn pipe() -> Result<(OwnedFd, OwnedFd), Failure> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors, which are then owned here alone.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(Failure::last("pipe"));
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Writes a byte to a pipe.
#[inline]
pub fn write_byte(end: &OwnedFd, byte: u8) -> Result<(), Failure> {
    // SAFETY: one byte, alive during the call.
    errno("write to a pipe", unsafe { libc::write(end.as_raw_fd(), (&raw const byte).cast(), 1) }).map(drop)
}

/// The next byte of a pipe; `None` at its end.
#[inline]
pub fn read_byte(end: &OwnedFd) -> Result<Option<u8>, Failure> {
    let mut byte = 0_u8;
    // SAFETY: room for one byte, alive during the call.
    let read = errno("read from a pipe", unsafe { libc::read(end.as_raw_fd(), (&raw mut byte).cast(), 1) })?;
    Ok((read == 1).then_some(byte))
}
