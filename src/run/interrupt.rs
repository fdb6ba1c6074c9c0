//! Ctrl-C and its kin: the run ends in an orderly way, with the precision reached so far.

use crate::sampling::child::INTERRUPTED;
use std::sync::atomic::Ordering;

extern "C" fn stop(signal: libc::c_int) {
    INTERRUPTED.store(true, Ordering::Relaxed);
    // The second time it ends at once: every finished trial is in the file.
    // SAFETY: restores the default action; both calls are safe in a handler.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Has SIGINT, SIGTERM and SIGHUP end the run after the trial in hand was stopped. Dispositions that were inherited are
/// not relied on: a run started in the background, where SIGINT is ignored, can still be ended.
pub fn catch_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler stores a flag and restores the default.
        unsafe { libc::signal(signal, stop as *const () as libc::sighandler_t) };
    }
    // A run file that reaches the limit of file sizes is an error with words, like a full disk, and not a death.
    // SAFETY: ignores a signal.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Whether somebody wants the run to end.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
