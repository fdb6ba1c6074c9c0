//! What threads contend for: a word that they change by one instruction, and locks around a counter.

use super::contenders::{CommonWork, PIECE};
use std::cell::UnsafeCell;
use std::ptr::{from_ref, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// One operation that threads contend for.
pub trait Contended: Default + Send + Sync {
    /// Does it, as the thread with this node; `section` is what is done while others wait.
    fn operate(&self, node: &QueueNode, section: &impl Fn());

    /// How often it was done; no thread is at it.
    fn count(&self) -> u64;
}

/// Objects to contend for: one for all threads, or one for each, in lines of its own.
pub struct Objects<T, S> {
    all: Vec<InOwnLines<T>>,
    nodes: Vec<QueueNode>,
    section: S,
    piece: u64,
}

/// Aligned to two lines, for processors that fetch lines in pairs.
#[repr(align(128))]
#[derive(Default)]
struct InOwnLines<T>(T);

impl<T: Contended, S: Fn() + Send + Sync> Objects<T, S> {
    /// One for all of so many threads.
    pub fn common(threads: usize, section: S) -> Self {
        Self::new(1, threads, section)
    }

    /// One for each of so many threads.
    pub fn of_each(threads: usize, section: S) -> Self {
        Self::new(threads, threads, section)
    }

    fn new(objects: usize, threads: usize, section: S) -> Self {
        let all = (0..objects).map(|_| InOwnLines::default()).collect();
        Objects { all, nodes: (0..threads).map(|_| QueueNode::default()).collect(), section, piece: PIECE }
    }

    /// Each operation is counted by itself: it is long.
    #[must_use]
    pub fn one_by_one(self) -> Self {
        Objects { piece: 1, ..self }
    }
}

impl<T: Contended, S: Fn() + Send + Sync> CommonWork for Objects<T, S> {
    fn repeat(&self, member: usize, operations: u64) {
        let (object, node) = (&self.all[member % self.all.len()].0, &self.nodes[member]);
        for _ in 0..operations {
            object.operate(node, &self.section);
        }
    }

    fn total(&self) -> u64 {
        self.all.iter().map(|object| object.0.count()).sum()
    }

    fn piece(&self) -> u64 {
        self.piece
    }
}

/// An addition by one instruction.
#[derive(Default)]
pub struct AtomicAdd(AtomicU64);

impl Contended for AtomicAdd {
    #[inline]
    fn operate(&self, _: &QueueNode, _: &impl Fn()) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// A load, and an exchange that succeeds if nobody has changed the word since; repeated until it does.
#[derive(Default)]
pub struct CompareAndSwap(AtomicU64);

impl Contended for CompareAndSwap {
    #[inline]
    fn operate(&self, _: &QueueNode, _: &impl Fn()) {
        let mut now = self.0.load(Ordering::Relaxed);
        while let Err(other) =
            self.0.compare_exchange_weak(now, now + 1, Ordering::Relaxed, Ordering::Relaxed)
        {
            now = other;
        }
    }

    fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

pub trait Lock: Default + Send + Sync {
    /// Returns when this thread has it.
    fn acquire(&self, node: &QueueNode);
    /// Gives it to the next.
    fn release(&self, node: &QueueNode);
}

/// A lock with what it protects beside it: a counter that loses increments where two threads have the lock at once.
#[derive(Default)]
pub struct Locked<L> {
    lock: L,
    counter: UnsafeCell<u64>,
}

// SAFETY: the counter is changed by the thread that has the lock, and read when no thread is at it.
unsafe impl<L: Lock> Sync for Locked<L> {}

impl<L: Lock> Contended for Locked<L> {
    #[inline]
    fn operate(&self, node: &QueueNode, section: &impl Fn()) {
        self.lock.acquire(node);
        let counter = self.counter.get();
        // SAFETY: this thread has the lock. The accesses are volatile so that a lock that does not exclude loses increments, and
        // the evidence shows it.
        unsafe {
            let before = counter.read_volatile();
            section();
            counter.write_volatile(before + 1);
        }
        self.lock.release(node);
    }

    fn count(&self) -> u64 {
        // SAFETY: no thread is at it.
        unsafe { self.counter.get().read_volatile() }
    }
}

/// Each thread draws a number and waits until it is served: in the order of arrival.
#[derive(Default)]
pub struct TicketLock {
    next: AtomicU32,
    served: AtomicU32,
}

impl Lock for TicketLock {
    #[inline]
    fn acquire(&self, _: &QueueNode) {
        let own = self.next.fetch_add(1, Ordering::Relaxed);
        while self.served.load(Ordering::Acquire) != own {
            std::hint::spin_loop();
        }
    }

    #[inline]
    fn release(&self, _: &QueueNode) {
        let own = self.served.load(Ordering::Relaxed);
        self.served.store(own.wrapping_add(1), Ordering::Release);
    }
}

/// A thread's place in a queue, in lines of its own.
#[repr(align(128))]
#[derive(Default)]
pub struct QueueNode {
    next: AtomicPtr<QueueNode>,
    waits: AtomicBool,
}

impl QueueNode {
    fn address(&self) -> *mut QueueNode {
        from_ref(self).cast_mut()
    }
}

/// Threads wait in a queue, each at a word of its own (Mellor-Crummey & Scott 1991, "Algorithms for scalable synchronization on
/// shared-memory multiprocessors", ACM TOCS 9).
#[derive(Default)]
pub struct QueueLock {
    tail: AtomicPtr<QueueNode>,
}

impl Lock for QueueLock {
    #[inline]
    fn acquire(&self, node: &QueueNode) {
        node.next.store(null_mut(), Ordering::Relaxed);
        node.waits.store(true, Ordering::Relaxed);
        let before = self.tail.swap(node.address(), Ordering::AcqRel);
        if before.is_null() {
            return;
        }
        // SAFETY: nodes live as long as the objects, and its thread does not leave the queue before it has found this one.
        unsafe { (*before).next.store(node.address(), Ordering::Release) };
        while node.waits.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
    }

    #[inline]
    fn release(&self, node: &QueueNode) {
        let mut next = node.next.load(Ordering::Acquire);
        if next.is_null() {
            let is_last =
                self.tail.compare_exchange(node.address(), null_mut(), Ordering::Release, Ordering::Relaxed);
            if is_last.is_ok() {
                return;
            }
            while next.is_null() {
                std::hint::spin_loop();
                next = node.next.load(Ordering::Acquire);
            }
        }
        // SAFETY: as above.
        unsafe { (*next).waits.store(false, Ordering::Release) };
    }
}

/// The mutex of the C library, with its default attributes.
pub struct PthreadMutex(UnsafeCell<libc::pthread_mutex_t>);

impl Default for PthreadMutex {
    fn default() -> Self {
        PthreadMutex(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER))
    }
}

// SAFETY: it is made for several threads.
unsafe impl Send for PthreadMutex {}
// SAFETY: as above; it stays where it is once threads use it.
unsafe impl Sync for PthreadMutex {}

impl Lock for PthreadMutex {
    #[inline]
    fn acquire(&self, _: &QueueNode) {
        // SAFETY: an initialised mutex that this thread does not have. If it failed, the counter would lose increments.
        unsafe { libc::pthread_mutex_lock(self.0.get()) };
    }

    #[inline]
    fn release(&self, _: &QueueNode) {
        // SAFETY: this thread has it.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
    }
}

/// A word, and the kernel's queue only where a thread has to wait: the second mutex of Drepper 2011, "Futexes are tricky". It
/// spins for no time.
#[derive(Default)]
pub struct FutexLock(AtomicU32);

const FREE: u32 = 0;
const TAKEN: u32 = 1;
const AWAITED: u32 = 2;

impl FutexLock {
    fn call(&self, operation: libc::c_int, value: u32) {
        let no_timeout = std::ptr::null::<libc::timespec>();
        let operation = operation | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the word outlives the call. A wait that returns early is repeated by the caller.
        unsafe { libc::syscall(libc::SYS_futex, self.0.as_ptr(), operation, value, no_timeout) };
    }
}

impl Lock for FutexLock {
    #[inline]
    fn acquire(&self, _: &QueueNode) {
        if self.0.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return;
        }
        while self.0.swap(AWAITED, Ordering::Acquire) != FREE {
            self.call(libc::FUTEX_WAIT, AWAITED);
        }
    }

    #[inline]
    fn release(&self, _: &QueueNode) {
        if self.0.swap(FREE, Ordering::Release) == AWAITED {
            self.call(libc::FUTEX_WAKE, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted<T: Contended>(threads: usize, each: u64) -> u64 {
        let objects = Objects::<T, _>::common(threads, || ());
        std::thread::scope(|scope| {
            for member in 0..threads {
                let objects = &objects;
                scope.spawn(move || objects.repeat(member, each));
            }
        });
        objects.total()
    }

    #[test]
    fn no_increment_is_lost() {
        assert_eq!(counted::<AtomicAdd>(3, 2000), 6000);
        assert_eq!(counted::<CompareAndSwap>(3, 2000), 6000);
        assert_eq!(counted::<Locked<PthreadMutex>>(3, 2000), 6000);
        assert_eq!(counted::<Locked<FutexLock>>(3, 2000), 6000);
        // More threads than CPUs would wait for a thread that does not run: few operations.
        assert_eq!(counted::<Locked<TicketLock>>(2, 50), 100);
        assert_eq!(counted::<Locked<QueueLock>>(2, 50), 100);
    }

    /// A lock that lets everyone in.
    #[derive(Default)]
    struct Open;

    impl Lock for Open {
        fn acquire(&self, _: &QueueNode) {}
        fn release(&self, _: &QueueNode) {}
    }

    #[test]
    fn a_lock_that_does_not_exclude_loses_increments() {
        // The second thread comes while the first is within: its increment is overwritten.
        let both = std::sync::Barrier::new(2);
        let objects = Objects::<Locked<Open>, _>::common(2, || {
            both.wait();
        });
        std::thread::scope(|scope| {
            scope.spawn(|| objects.repeat(0, 1));
            objects.repeat(1, 1);
        });
        assert_eq!(objects.total(), 1);
    }

    #[test]
    fn objects_of_each_thread_are_in_lines_of_their_own() {
        let objects = Objects::<AtomicAdd, _>::of_each(2, || ());
        objects.repeat(0, 3);
        objects.repeat(1, 4);
        assert_eq!((objects.all[0].0.count(), objects.total()), (3, 7));
        let distance = from_ref(&objects.all[1]) as usize - from_ref(&objects.all[0]) as usize;
        assert_eq!(distance % 128, 0);
    }
}
