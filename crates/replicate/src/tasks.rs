//! Processes and threads that do nothing, created as the reports created them, and the priority that the reports asked for.

use super::operations::broke;
use fathom_core::experiment::Failure;
use std::ffi::c_void;
use std::io::Error;

/// `fork` of a child that exits at once; returns its number to the parent.
#[inline]
pub fn fork() -> Result<libc::pid_t, Failure> {
    // SAFETY: a method's process is single-threaded here; the child does nothing but end.
    match unsafe { libc::fork() } {
        -1 => Err(Failure::last("fork")),
        // SAFETY: ends the child without running the parent's destructors.
        0 => unsafe { libc::_exit(0) },
        child => Ok(child),
    }
}

/// Waits until a child has ended.
pub fn reap(child: libc::pid_t) -> Result<(), Failure> {
    // SAFETY: no status is asked for.
    let reaped = unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    if reaped == child { Ok(()) } else { Err(Failure::last("waitpid")) }
}

extern "C" fn nothing(_: *mut c_void) -> *mut c_void {
    std::ptr::null_mut()
}

/// `pthread_create` of a thread with an empty body and default attributes.
#[inline]
pub fn thread() -> Result<libc::pthread_t, Failure> {
    // SAFETY: a pthread_t is plain integers or a pointer; the call fills it.
    unsafe {
        let mut thread = std::mem::zeroed();
        match libc::pthread_create(&raw mut thread, std::ptr::null(), nothing, std::ptr::null_mut()) {
            0 => Ok(thread),
            error => Err(broke("pthread_create")(Error::from_raw_os_error(error))),
        }
    }
}

pub fn join(thread: libc::pthread_t) -> Result<(), Failure> {
    // SAFETY: a thread of ours that was not joined before.
    match unsafe { libc::pthread_join(thread, std::ptr::null_mut()) } {
        0 => Ok(()),
        error => Err(broke("pthread_join")(Error::from_raw_os_error(error))),
    }
}

/// Asks for the highest priority that `nice` gives, at which the programs of reports 001 and 002 ran; returns a sentence if it is
/// refused.
pub fn raise_priority() -> Option<String> {
    // SAFETY: takes no pointers.
    let refused = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) } != 0;
    refused.then(|| {
        "The method ran at normal priority, because this user may not raise it (nice) as the authors did."
            .to_owned()
    })
}

/// Resident memory of this process, bytes: a fork has to copy its page tables.
pub fn resident_bytes() -> Option<u64> {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()?;
    // SAFETY: takes no pointers.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok().map(|page| pages * page)
}
