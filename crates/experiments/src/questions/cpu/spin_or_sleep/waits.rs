//! Ways to wait for another thread: spinning, and asleep in the kernel.

use fathom_core::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A way to wait, and to end a wait.
pub trait Wait: Send + Sync {
    /// By the side that ends it, before the other waits.
    fn prepare(&self) -> Result<(), Failure>;
    /// Returns when the wait was ended.
    fn wait(&self);
    /// By the waiter, after it has answered.
    fn leave(&self) {}
    /// Ends the wait; `now` reads the clock.
    fn end(&self, now: &dyn Fn() -> f64) -> Result<WaitEnd, Failure>;
}

pub type AnyWait = Arc<dyn Wait>;

/// The end of a wait, as the side sees it that ended it.
#[derive(Debug, Clone, Copy)]
pub struct WaitEnd {
    /// When the wait was ended, nanoseconds.
    pub at: f64,
    /// What the call took, nanoseconds: the one that wakes the waiter, or that moves it.
    pub call_ns: f64,
    /// Whether the kernel says that the waiter was asleep.
    pub slept: bool,
}

/// A word in lines of its own.
#[repr(align(128))]
#[derive(Default)]
struct Word(AtomicU32);

const WAIT: u32 = 0;
const GO: u32 = 1;

impl Word {
    fn set(&self, value: u32) {
        self.0.store(value, Ordering::Release);
    }

    fn is(&self, value: u32) -> bool {
        self.0.load(Ordering::Acquire) == value
    }

    /// A call on this word, between threads of this process.
    fn call(&self, operation: libc::c_int, value: u32) -> libc::c_long {
        let no_timeout = std::ptr::null::<libc::timespec>();
        let operation = operation | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the word outlives the call.
        unsafe { libc::syscall(libc::SYS_futex, self.0.as_ptr(), operation, value, no_timeout) }
    }

    /// Wakes a thread that sleeps on this word, and says how many did.
    fn wake(&self) -> Result<bool, Failure> {
        let woken = self.call(libc::FUTEX_WAKE, 1);
        errno("futex wake", woken)?;
        Ok(woken == 1)
    }
}

/// The waiter reads a word until it changes.
#[derive(Default)]
pub struct Spinning(Word);

impl Wait for Spinning {
    fn prepare(&self) -> Result<(), Failure> {
        self.0.set(WAIT);
        Ok(())
    }

    fn wait(&self) {
        while !self.0.is(GO) {
            std::hint::spin_loop();
        }
    }

    fn end(&self, now: &dyn Fn() -> f64) -> Result<WaitEnd, Failure> {
        let at = now();
        self.0.set(GO);
        Ok(WaitEnd { at, call_ns: 0.0, slept: false })
    }
}

/// The waiter sleeps on a word until it changes.
#[derive(Default)]
pub struct Asleep(Word);

impl Wait for Asleep {
    fn prepare(&self) -> Result<(), Failure> {
        self.0.set(WAIT);
        Ok(())
    }

    fn wait(&self) {
        while !self.0.is(GO) {
            self.0.call(libc::FUTEX_WAIT, WAIT);
        }
    }

    fn end(&self, now: &dyn Fn() -> f64) -> Result<WaitEnd, Failure> {
        let at = now();
        self.0.set(GO);
        let slept = self.0.wake()?;
        Ok(WaitEnd { at, call_ns: now() - at, slept })
    }
}

/// The waiter sleeps on one word, is moved to another without being woken, as a condition variable moves its waiters to the
/// mutex, and is woken there.
#[derive(Default)]
pub struct Requeued {
    first: Word,
    second: Word,
}

impl Wait for Requeued {
    fn prepare(&self) -> Result<(), Failure> {
        self.first.set(WAIT);
        self.second.set(WAIT);
        Ok(())
    }

    fn wait(&self) {
        while !self.second.is(GO) {
            self.first.call(libc::FUTEX_WAIT, WAIT);
        }
    }

    fn end(&self, now: &dyn Fn() -> f64) -> Result<WaitEnd, Failure> {
        let began = now();
        let moved = self.requeue()?;
        let at = now();
        self.second.set(GO);
        let slept = self.second.wake()?;
        if !slept {
            // It was not moved, because it did not sleep yet: it sleeps on the first word by now, or is about to.
            self.first.set(GO);
            self.first.wake()?;
        }
        Ok(WaitEnd { at, call_ns: at - began, slept: slept && moved })
    }
}

impl Requeued {
    /// Moves one waiter, if the first word still says that it waits; none is woken.
    fn requeue(&self) -> Result<bool, Failure> {
        let operation = libc::FUTEX_CMP_REQUEUE | libc::FUTEX_PRIVATE_FLAG;
        let (from, to) = (self.first.0.as_ptr(), self.second.0.as_ptr());
        let (woken, most): (u32, libc::c_long) = (0, 1);
        // SAFETY: both words outlive the call.
        let moved = unsafe { libc::syscall(libc::SYS_futex, from, operation, woken, most, to, WAIT) };
        errno("futex requeue", moved)?;
        Ok(moved == 1)
    }
}

/// A mutex whose owner inherits the priority of its waiters: the waiter wants it, and has it when the owner gives it back.
pub struct Inheriting(Word);

impl Inheriting {
    /// One that is free; refused where the kernel has none.
    pub fn new() -> Result<Self, Failure> {
        let mutex = Inheriting(Word::default());
        if mutex.0.call(libc::FUTEX_LOCK_PI, 0) != 0 || mutex.0.call(libc::FUTEX_UNLOCK_PI, 0) != 0 {
            let error = std::io::Error::last_os_error();
            return Err(Failure::Unsupported(format!(
                "this kernel, or a filter of system calls, allows no futex with priority inheritance: {error}"
            )));
        }
        Ok(mutex)
    }
}

impl Wait for Inheriting {
    fn prepare(&self) -> Result<(), Failure> {
        let free = self.0.0.compare_exchange(WAIT, own_number(), Ordering::Acquire, Ordering::Relaxed);
        ensure(free.is_ok(), "the mutex was not free at the beginning of a round")
    }

    fn wait(&self) {
        let own = own_number();
        while self.0.0.load(Ordering::Acquire) & libc::FUTEX_TID_MASK != own {
            self.0.call(libc::FUTEX_LOCK_PI, 0);
        }
    }

    fn leave(&self) {
        let free = self.0.0.compare_exchange(own_number(), WAIT, Ordering::Release, Ordering::Relaxed);
        if free.is_err() {
            self.0.call(libc::FUTEX_UNLOCK_PI, 0);
        }
    }

    fn end(&self, now: &dyn Fn() -> f64) -> Result<WaitEnd, Failure> {
        let slept = self.0.0.load(Ordering::Acquire) & libc::FUTEX_WAITERS != 0;
        let at = now();
        errno("futex unlock with priority inheritance", self.0.call(libc::FUTEX_UNLOCK_PI, 0))?;
        Ok(WaitEnd { at, call_ns: now() - at, slept })
    }
}

/// The number of this thread.
fn own_number() -> u32 {
    // SAFETY: takes no argument.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}
