//! The priority of a process (nice(7)), and whether it may be had.

use std::io;

/// Sets the priority of the calling thread, and of what it starts.
pub(super) fn set(nice: i32) -> io::Result<()> {
    // SAFETY: takes no pointers.
    match unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether this user may start processes of this priority: a thread, which has a priority of its own on Linux, tries it.
pub fn may_have(nice: i32) -> io::Result<()> {
    let tried = std::thread::Builder::new().spawn(move || set(nice))?;
    tried.join().unwrap_or_else(|_| Err(io::Error::other("the thread that tried it has died")))
}
