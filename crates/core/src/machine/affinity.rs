//! The CPUs on which a thread may run. Masks are as long as the CPUs need: the C library's own ends at 1024 CPUs.

use std::io;

use super::cpu_set::CpuSet;
use crate::os;

const BITS: usize = libc::c_ulong::BITS as usize;
/// More words than the mask of any kernel has.
const MOST_WORDS: usize = 1024;

/// The CPUs on which the calling thread may run, in ascending order.
pub(super) fn of_this_thread() -> Result<Vec<usize>, String> {
    // The kernel answers EINVAL when its own mask is longer.
    let cpus = [16, 128, MOST_WORDS].into_iter().find_map(of_words);
    cpus.ok_or_else(|| io::Error::last_os_error().to_string())
}

/// Requests a mask of this many words; `None` if that is too short for this kernel.
fn of_words(words: usize) -> Option<Vec<usize>> {
    let mut mask: Vec<libc::c_ulong> = vec![0; words];
    if !os::affinity(&mut mask) {
        return None;
    }
    let cpus = (0..words * BITS).filter(|cpu| mask[cpu / BITS] >> (cpu % BITS) & 1 == 1);
    Some(CpuSet::new(cpus).as_slice().to_vec())
}

/// Lets the calling thread run on these CPUs only; false if the kernel refuses.
pub fn allow_this_thread(cpus: &[usize]) -> bool {
    os::set_affinity(&mask(cpus))
}

/// A bit for each CPU; none for a number beyond those of any machine, so that the kernel refuses the mask.
fn mask(cpus: &[usize]) -> Vec<libc::c_ulong> {
    let possible = || cpus.iter().filter(|cpu| **cpu < MOST_WORDS * BITS);
    let mut mask = vec![0; possible().max().map_or(0, |last| last / BITS) + 1];
    for cpu in possible() {
        mask[cpu / BITS] |= 1 << (cpu % BITS);
    }
    mask
}

/// While it exists, the thread that made it runs on one CPU; afterwards on its previous ones.
#[derive(Debug, Default)]
pub struct Pinned {
    before: Vec<usize>,
}

impl Pinned {
    /// Pins the calling thread; if the kernel refuses it is not moved.
    pub(super) fn to(cpu: usize) -> Self {
        let before = of_this_thread().unwrap_or_default();
        if allow_this_thread(&[cpu]) { Pinned { before } } else { Pinned::default() }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if !self.before.is_empty() {
            allow_this_thread(&self.before);
        }
    }
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
}
