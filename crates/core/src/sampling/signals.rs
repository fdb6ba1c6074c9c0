//! What a process inherits of its parent's signals: which are ignored, and which are blocked. Both outlive `execve`
//! (signal(7)), so a parent that ignores SIGCHLD, as some services and test programs do, makes every `wait` of its
//! descendants fail and every number of a child free as soon as that child has ended.

use std::ptr;

/// Signals that are ignored by whoever started this program on purpose, and stay ignored: those that end or stop what belongs to
/// a terminal (nohup(1), and a shell that starts a job in the background), a write without a reader, which the runtime turns
/// into an error, and a file that has reached its limit, which the run turns into one (`run/interrupt.rs` of `fathom-engine`).
const KEPT: [libc::c_int; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGPIPE,
    libc::SIGXFSZ,
];

/// The number of the last signal of Linux (signal(7)).
pub(super) const LAST: libc::c_int = 64;

/// Undoes what this process has inherited: no signal is blocked, and every ignored one has its default action again, except
/// those in `KEPT`. Handlers are not inherited, and those of this process stay. To be called before there are other threads.
pub fn forget_inherited() {
    for signal in (1..=LAST).filter(|signal| !KEPT.contains(signal)) {
        if is_ignored(signal) {
            // SAFETY: the default action runs no code of ours.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    }
    block_none();
}

/// No signal is blocked. System calls alone: safe in a freshly forked child.
pub(super) fn block_none() {
    // SAFETY: a set of signals is plain integers, which the first call fills; no pointer is kept.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

/// Whether this process ignores a signal; false for those that cannot be asked about, which the library keeps for itself.
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: a sigaction is plain data, which the call fills if it succeeds; nothing is changed.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a child finds that has inherited this: ignored and blocked signals, as `/proc/self/status` shows them.
    fn inherited_by_a_child(before: impl Fn()) -> (bool, bool, bool) {
        // SAFETY: the child makes system calls only, and ends without running anything of the parent's.
        let child = unsafe { libc::fork() };
        if child == 0 {
            before();
            forget_inherited();
            // SAFETY: plain data, filled by the calls.
            let blocked = unsafe {
                let mut mask: libc::sigset_t = std::mem::zeroed();
                libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), &raw mut mask);
                libc::sigismember(&raw const mask, libc::SIGUSR1) == 1
            };
            let code = i32::from(is_ignored(libc::SIGCHLD))
                | i32::from(is_ignored(libc::SIGHUP)) << 1
                | i32::from(blocked) << 2;
            // SAFETY: ends the child.
            unsafe { libc::_exit(code) };
        }
        let mut status = 0;
        // SAFETY: waits for our own child.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        let code = libc::WEXITSTATUS(status);
        (code & 1 == 1, code & 2 == 2, code & 4 == 4)
    }

    #[test]
    fn what_was_ignored_or_blocked_is_not_but_a_hang_up_stays_ignored() {
        let result = inherited_by_a_child(|| {
            // SAFETY: ignores and blocks signals in the child alone.
            unsafe {
                libc::signal(libc::SIGCHLD, libc::SIG_IGN);
                libc::signal(libc::SIGHUP, libc::SIG_IGN);
                let mut all: libc::sigset_t = std::mem::zeroed();
                libc::sigfillset(&raw mut all);
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, ptr::null_mut());
            }
        });
        assert_eq!(result, (false, true, false), "ignored SIGCHLD, ignored SIGHUP, blocked SIGUSR1");
    }
}
