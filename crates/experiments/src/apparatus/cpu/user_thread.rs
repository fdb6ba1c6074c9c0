//! User-level threads: two stacks in one kernel thread, and a few instructions that change from one to the other. The kernel does
//! not know them; pthreads, which a report called user-level threads, are kernel threads (R-FIX-26).

use crate::arch::State;
use crate::arch::stacks::{ENTRY, FRAME_WORDS, THREAD, entry, switch};

/// Size of the second stack, bytes.
const STACK_BYTES: usize = 16 << 10;

/// A second stack with a function that switches back each time it runs.
pub struct UserThread {
    /// The memory of the second stack.
    stack: Box<[u128]>,
    /// The bytes left free at its end: its place within a page differs from process to process, as that of every buffer, because what an
    /// access costs may depend on it.
    offset: usize,
    state: State,
}

impl UserThread {
    /// Prepares a stack as `switch` leaves one: registers, and the address at which execution resumes. `offset` bytes of it are left free, a
    /// multiple of 64 below a page.
    #[allow(clippy::unnecessary_box_returns, reason = "the second stack holds its address: it must not move")]
    pub fn new(offset: usize) -> Box<Self> {
        let stack = vec![0_u128; STACK_BYTES / 16].into_boxed_slice();
        let mut thread = Box::new(UserThread { stack, offset, state: State { other: 0, turns: 0 } });
        thread.restart();
        thread
    }

    /// Makes the function start at its beginning at its next turn: the cost of creating such a thread.
    pub fn restart(&mut self) {
        let top = self.stack.as_mut_ptr_range().end as usize - self.offset;
        let frame = (top - 16 - FRAME_WORDS * 8) as *mut usize;
        let state = &raw mut self.state;
        // SAFETY: the frame is inside the stack that this thread owns.
        unsafe {
            frame.add(THREAD).write(state as usize);
            frame.add(ENTRY).write(entry as *const () as usize);
        }
        self.state.other = frame as usize;
    }

    /// Number of times that the second stack has run.
    pub fn turns(&self) -> u64 {
        self.state.turns
    }

    /// Runs the second stack until it switches back: two switches.
    #[inline]
    pub fn round_trip(&mut self) {
        // SAFETY: `other` is a stack that `switch` or `begin` left.
        unsafe { switch(&raw mut self.state.other) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_stack_runs_once_a_round_trip_and_starts_anew() {
        let mut thread = UserThread::new(192);
        (0..5).for_each(|_| thread.round_trip());
        assert_eq!(thread.turns(), 5);
        thread.restart();
        thread.round_trip();
        assert_eq!(thread.turns(), 6);
    }
}
