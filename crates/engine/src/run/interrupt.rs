//! Ctrl-C and other signals: the run ends normally, with the precision reached so far.

use anyhow::{Context, Result};
use fathom_core::sampling::child::INTERRUPTED;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Makes SIGINT, SIGTERM and SIGHUP stop the current trial and end the run; a second signal ends it at once, because every
/// finished trial is in the file. A run that was started in the background, where SIGINT is ignored, can still be ended; one
/// that was started to survive a hang-up (nohup(1)) ignores it.
pub fn catch_signals() -> Result<()> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && is_ignored(signal, &status) {
            continue;
        }
        // In this order: the first signal finds the flag unset.
        flag::register_conditional_default(signal, Arc::clone(&INTERRUPTED))
            .and_then(|_| flag::register(signal, Arc::clone(&INTERRUPTED)))
            .with_context(|| format!("signal {signal} cannot be caught"))?;
    }
    // A run file that reaches the limit of file sizes causes an error message, like a full disk, instead of killing the
    // process. This holds for measuring processes too, which inherit ignored signals but not handlers.
    // SAFETY: ignores a signal.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    Ok(())
}

/// Whether the process with this `/proc/PID/status` ignores a signal (`SigIgn` in proc(5)).
fn is_ignored(signal: i32, status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Whether the run was asked to end.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hang_up_that_is_ignored_is_told_from_the_kernels_mask() {
        // The masks of `nohup cat /proc/self/status`, and of `cat` alone: SIGPIPE is 13.
        assert!(is_ignored(SIGHUP, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000001\nSigCgt:\t0\n"));
        assert!(
            !is_ignored(SIGHUP, "SigIgn:\t0000000000001000\n")
                && is_ignored(13, "SigIgn:\t0000000000001000\n")
        );
        assert!(!is_ignored(SIGHUP, ""));
    }
}
