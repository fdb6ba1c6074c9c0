//! Signals as operations: installation of a handler, delivery, and a protection fault caught by one.

use fathom_core::prelude::*;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Witness: faults that the handler caught.
pub const CAUGHT: &str = "faults_caught";

static DELIVERED: AtomicU64 = AtomicU64::new(0);
static FAULTS: AtomicU64 = AtomicU64::new(0);
static WANTED: AtomicU64 = AtomicU64::new(0);
static PAGE: AtomicPtr<libc::c_void> = AtomicPtr::new(null_mut());

const PAGE_BYTES: usize = 4096;

/// The counts of the handlers.
pub fn witness() -> Vec<(&'static str, f64)> {
    vec![(CAUGHT, FAULTS.load(Ordering::Relaxed) as f64)]
}

extern "C" fn count(_: libc::c_int) {
    DELIVERED.store(DELIVERED.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// The faulting store is restarted when this returns and faults again, until the requested number of faults was caught; then the
/// page is made writable and the store succeeds. One `mprotect` is shared by a batch.
extern "C" fn fault_again(_: libc::c_int) {
    let caught = FAULTS.load(Ordering::Relaxed) + 1;
    FAULTS.store(caught, Ordering::Relaxed);
    if caught >= WANTED.load(Ordering::Relaxed) {
        let page = PAGE.load(Ordering::Relaxed);
        // SAFETY: our own page; mprotect is a bare system call and safe in a handler.
        if unsafe { libc::mprotect(page, PAGE_BYTES, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            // SAFETY: ends the process; otherwise the store would fault for ever.
            unsafe { libc::_exit(3) };
        }
    }
}

fn handle(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) -> libc::c_int {
    // SAFETY: a sigaction of zeros is valid: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    // SAFETY: the handler only touches atomics and makes system calls.
    unsafe { libc::sigaction(signal, &raw const action, null_mut()) }
}

/// `sigaction` of a handler.
pub fn install() -> Result<Box<dyn Operation>, Failure> {
    Ok(Box::new(|n| {
        for _ in 0..n {
            errno("sigaction", handle(libc::SIGUSR1, count))?;
        }
        Ok(())
    }))
}

/// A signal to this process, its handler, and the return from it: `getpid`, `kill` and `rt_sigreturn`.
pub fn deliver() -> Result<Box<dyn Operation>, Failure> {
    errno("sigaction", handle(libc::SIGUSR1, count))?;
    Ok(Box::new(|n| {
        let before = DELIVERED.load(Ordering::Relaxed);
        for _ in 0..n {
            // SAFETY: a signal to this process, whose handler is installed.
            errno("kill", unsafe { libc::kill(libc::getpid(), libc::SIGUSR1) })?;
        }
        ensure(
            DELIVERED.load(Ordering::Relaxed) - before == n,
            "a signal was not delivered before kill returned",
        )
    }))
}

/// A store to a write-protected page, caught as a signal.
pub fn fault() -> Result<Box<dyn Operation>, Failure> {
    // SAFETY: a new anonymous mapping.
    let page = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        libc::mmap(null_mut(), PAGE_BYTES, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    if page == libc::MAP_FAILED {
        return Err(Failure::last("mmap of a page"));
    }
    PAGE.store(page, Ordering::Relaxed);
    errno("sigaction", handle(libc::SIGSEGV, fault_again))?;
    Ok(Box::new(|n| {
        let page = PAGE.load(Ordering::Relaxed);
        WANTED.store(FAULTS.load(Ordering::Relaxed) + n, Ordering::Relaxed);
        // SAFETY: our own page, mapped for as long as this process lives; a store to it faults into the handler.
        unsafe {
            page.cast::<u8>().write_volatile(1); // writable here: the page is present, only its protection will fault
            errno("mprotect", libc::mprotect(page, PAGE_BYTES, libc::PROT_READ))?;
            page.cast::<u8>().write_volatile(2);
        }
        ensure(
            FAULTS.load(Ordering::Relaxed) == WANTED.load(Ordering::Relaxed),
            "a store did not fault as often as expected",
        )
    }))
}
