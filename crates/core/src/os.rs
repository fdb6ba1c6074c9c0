//! What only Linux has, or has in its own way, for the sampler: pinning, an end with the parent, counters, tracing, the machine's
//! counters, its clocks, and shared memory. A port to another system writes these again, and nothing else of this crate's
//! measuring.

use perf_event::events::Hardware;
use perf_event::{Builder, Counter};
use std::io;

/// Asks on which CPUs the calling thread may run, a bit each; false if the kernel's own mask is longer.
pub fn affinity(mask: &mut [libc::c_ulong]) -> bool {
    // SAFETY: the mask has room for its bytes, and a mask of bits has no invalid value.
    unsafe { libc::sched_getaffinity(0, size_of_val(mask), mask.as_mut_ptr().cast()) == 0 }
}

/// Lets the calling thread run on these CPUs only; false if the kernel refuses.
pub fn set_affinity(mask: &[libc::c_ulong]) -> bool {
    // SAFETY: the pointer is to a mask of the given size.
    unsafe { libc::sched_setaffinity(0, size_of_val(mask), mask.as_ptr().cast()) == 0 }
}

/// Makes the kernel kill this process when its parent dies; an error if it has died already. System calls alone, and nothing is
/// allocated, so that it may stand between fork and exec.
pub fn end_with(parent: u32) -> io::Result<()> {
    // SAFETY: prctl and getppid touch no memory of ours.
    let alive = unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        libc::getppid() as u32 == parent
    };
    if alive { Ok(()) } else { Err(io::ErrorKind::Other.into()) }
}

/// Begins to count an event of the processor for this process; `None` if the kernel refuses.
pub fn counter(event: Hardware) -> Option<Counter> {
    let mut counter = Builder::new(event).build().ok()?;
    counter.enable().ok().map(|()| counter)
}

/// The kernel's accounting of this process, of its reaped children or of the calling thread.
pub fn usage(whose: libc::c_int) -> libc::rusage {
    // SAFETY: an rusage is plain integers, and zero is a valid value of each.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid for writing.
    unsafe { libc::getrusage(whose, &raw mut usage) };
    usage
}

/// The reason why system calls were not counted.
pub enum Uncounted {
    /// The kernel does not permit tracing: the error, or 0 if the requesting process is killed.
    Refused(libc::c_int),
    /// The copy could not be made, or its work failed.
    Broke,
}

/// System calls of a forked child during `work`.
pub fn traced<E>(work: impl FnOnce() -> Result<(), E>) -> Result<u64, Uncounted> {
    let parent = std::process::id();
    // SAFETY: a trial is single-threaded or its other threads do not matter to the copy, which only works and exits.
    match unsafe { libc::fork() } {
        -1 => Err(Uncounted::Broke),
        0 => {
            // SAFETY: the child requests tracing, stops until the parent is ready, works and ends. If tracing is refused, it ends
            // before it stops, with the error as its exit status, which has room for it. It ends with its parent: a child that
            // has stopped stays so when its tracer is killed, and one without a parent would be traced by whoever adopts it.
            unsafe {
                if end_with(parent).is_err() {
                    libc::_exit(libc::ESRCH);
                }
                if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) != 0 {
                    libc::_exit(*libc::__errno_location());
                }
                libc::raise(libc::SIGSTOP);
                let done = work();
                libc::_exit(i32::from(done.is_err()))
            }
        }
        child => follow_traced(child),
    }
}

/// Lets the child run from system call to system call until it ends successfully; returns the number of entries.
fn follow_traced(child: libc::pid_t) -> Result<u64, Uncounted> {
    let (mut stops, mut signal) = (0, 0);
    let begun = status_of(child)?;
    if libc::WIFEXITED(begun) {
        return Err(Uncounted::Refused(libc::WEXITSTATUS(begun)));
    }
    if !libc::WIFSTOPPED(begun) {
        return Err(Uncounted::Refused(0));
    }
    loop {
        // SAFETY: the child is ours, traced and stopped.
        if unsafe { libc::ptrace(libc::PTRACE_SYSCALL, child, 0, signal) } != 0 {
            let error = io::Error::last_os_error().raw_os_error().unwrap_or_default();
            end_traced(child);
            return Err(Uncounted::Refused(error));
        }
        let status = status_of(child)?;
        if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
            return Ok(stops / 2);
        }
        if !libc::WIFSTOPPED(status) {
            return Err(Uncounted::Broke);
        }
        // A stop by SIGTRAP is the entry to or return from a system call; other signals are the work's own.
        signal = if libc::WSTOPSIG(status) == libc::SIGTRAP { 0 } else { libc::WSTOPSIG(status) };
        stops += u64::from(signal == 0);
    }
}

/// Ends a child that cannot continue.
fn end_traced(child: libc::pid_t) {
    // SAFETY: the child is ours and not reaped.
    unsafe { libc::kill(child, libc::SIGKILL) };
    let _ = status_of(child);
}

fn status_of(child: libc::pid_t) -> Result<libc::c_int, Uncounted> {
    let mut status = 0;
    // SAFETY: waits for our own child.
    if unsafe { libc::waitpid(child, &raw mut status, 0) } == child {
        Ok(status)
    } else {
        Err(Uncounted::Broke)
    }
}

/// A reading of the machine's counters, from which an earlier one is subtracted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    pub(crate) steal_ticks: Option<u64>,
    pub(crate) interrupts: Option<u64>,
    pub(crate) switches: Option<u64>,
    pub(crate) throttled_periods: Option<u64>,
    pub(crate) throttled_ns: Option<u64>,
}

impl Snapshot {
    /// Reads the counters; those that cannot be read are `None`. `cpu_stat` is the cgroup's file.
    pub fn take(cpu_stat: Option<&str>) -> Self {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let cgroup = cpu_stat.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        Snapshot::parse(&stat, &cgroup)
    }

    pub(crate) fn parse(stat: &str, cgroup: &str) -> Self {
        // proc(5): "cpu user nice system idle iowait irq softirq steal"; the ninth word of the first line.
        let field = |text: &str, name: &str, position: usize| -> Option<u64> {
            let line = text.lines().find(|line| line.split_whitespace().next() == Some(name))?;
            line.split_whitespace().nth(position)?.parse().ok()
        };
        let throttled_ns = field(cgroup, "throttled_time", 1) // version 1, nanoseconds
            .or_else(|| field(cgroup, "throttled_usec", 1)?.checked_mul(1000));
        Snapshot {
            steal_ticks: field(stat, "cpu", 8),
            interrupts: field(stat, "intr", 1),
            switches: field(stat, "ctxt", 1),
            throttled_periods: field(cgroup, "nr_throttled", 1),
            throttled_ns,
        }
    }
}

/// Nanoseconds of one tick in /proc/stat.
pub(crate) fn tick_ns() -> u64 {
    // SAFETY: sysconf reads a constant.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    1_000_000_000 / per_second.max(1) as u64
}

/// Reads a kernel clock, in nanoseconds. Safe in a freshly forked child.
#[inline]
pub fn kernel_clock(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; a clock that does not exist leaves it zero.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The step of a kernel clock as the kernel declares it, nanoseconds; `None` for a clock that does not exist.
pub fn kernel_clock_step(clock: libc::clockid_t) -> Option<f64> {
    let mut step = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `step` is a valid timespec.
    let known = unsafe { libc::clock_getres(clock, &raw mut step) } == 0;
    known.then_some(step.tv_sec as f64 * 1e9 + step.tv_nsec as f64)
}

/// Maps zeroed memory that forked children share with this process.
pub fn map_shared(bytes: usize) -> io::Result<*mut libc::c_void> {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new anonymous mapping, which takes the place of no other.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if page == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(page) }
}
