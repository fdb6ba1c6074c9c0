//! Where this thread may run. Masks are as long as the CPUs need: the C library's own ends at 1024 CPUs.

use crate::experiment::Failure;
use crate::machine::{Host, Live};

/// The CPUs that the calling thread may run on, in ascending order; none where the kernel does not tell.
pub fn current() -> Vec<usize> {
    Live.affinity().unwrap_or_default()
}

/// Pins the calling thread to one CPU.
pub fn pin(cpu: usize) -> Result<(), Failure> {
    if set(&[cpu]) { Ok(()) } else { Err(Failure::last(&format!("cannot run on CPU {cpu}"))) }
}

/// Lets the calling thread run on these CPUs only; false where the kernel refuses.
pub fn set(cpus: &[usize]) -> bool {
    let mask = mask(cpus);
    // SAFETY: the pointer is to a mask of the given size.
    unsafe { libc::sched_setaffinity(0, size_of_val(mask.as_slice()), mask.as_ptr().cast()) == 0 }
}

/// A bit for each CPU, in words as long as the kernel's.
fn mask(cpus: &[usize]) -> Vec<libc::c_ulong> {
    const BITS: usize = libc::c_ulong::BITS as usize;
    let mut mask = vec![0; cpus.iter().max().map_or(0, |last| last / BITS) + 1];
    for cpu in cpus {
        mask[cpu / BITS] |= 1 << (cpu % BITS);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_room_for_every_cpu() {
        assert_eq!(mask(&[0, 2]), [5]);
        let many = mask(&[63, 64, 1500]);
        assert_eq!((many.len(), many[0], many[1]), (24, 1 << 63, 1));
        assert_eq!(many[23], 1 << (1500 - 23 * 64));
    }

    #[test]
    fn what_was_set_is_told() {
        let all = current();
        assert!(set(&all[..1]));
        assert_eq!(current(), all[..1]);
        assert!(set(&all) && !set(&[]) && !set(&[100_000]));
    }
}
