//! Where this thread may run.

use crate::experiment::Failure;

/// The CPUs that the calling thread may run on, in ascending order.
pub fn current() -> Vec<usize> {
    let mut set = empty();
    // SAFETY: `set` is a valid cpu_set_t of the given size.
    unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) };
    // SAFETY: the index stays below the number of bits of the set.
    (0..libc::CPU_SETSIZE as usize).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) }).collect()
}

/// Pins the calling thread to one CPU.
pub fn pin(cpu: usize) -> Result<(), Failure> {
    if set(&[cpu]) { Ok(()) } else { Err(Failure::last(&format!("cannot run on CPU {cpu}"))) }
}

/// Lets the calling thread run on these CPUs only; false where the kernel refuses.
pub fn set(cpus: &[usize]) -> bool {
    let mut set = empty();
    for cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
        // SAFETY: the index was checked against the number of bits of the set.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    // SAFETY: `set` is a valid cpu_set_t of the given size.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) == 0 }
}

fn empty() -> libc::cpu_set_t {
    // SAFETY: a cpu_set_t is an array of integers; all zeros is the empty set.
    unsafe { std::mem::zeroed() }
}
