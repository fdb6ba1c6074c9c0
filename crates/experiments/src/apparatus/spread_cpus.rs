//! The CPUs of threads that are spread: one each, other cores before second threads of a core.

use fathom_core::machine::{self, Root};
use fathom_core::prelude::*;
use fathom_core::sampling::affinity;

/// Thread counts: powers of two, and all CPUs.
pub fn thread_counts(cpus: usize) -> Vec<u64> {
    let all = cpus.max(1) as u64;
    let mut counts: Vec<u64> = (0..64).map(|power| 1 << power).take_while(|count| *count < all).collect();
    counts.push(all);
    counts
}

/// CPUs in the order in which threads are spread over them.
struct SpreadCpus(Vec<usize>);

/// The CPUs of the threads in the order of use. Determined once in a trial's process: a thread that a point has pinned may use no
/// other.
pub fn cpus(site: &Site, threads: usize) -> Result<Vec<usize>, Failure> {
    let order = site.shared.get_or_make(|| {
        let allowed = affinity::current();
        let home = site.home.or(allowed.first().copied());
        let home =
            home.ok_or_else(|| Failure::Broke("the CPUs that this process may use are unknown".to_owned()))?;
        Ok(SpreadCpus(machine::spread(&Root::default(), home, &allowed)))
    })?;
    let chosen = order.0.get(..threads).map(<[usize]>::to_vec);
    let offered = order.0.len();
    chosen
        .ok_or_else(|| Failure::Unsupported(format!("needs {threads} CPUs; this process may use {offered}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_double_up_to_all() {
        assert_eq!(thread_counts(1), [1]);
        assert_eq!(thread_counts(2), [1, 2]);
        assert_eq!(thread_counts(6), [1, 2, 4, 6]);
        assert_eq!(thread_counts(64), [1, 2, 4, 8, 16, 32, 64]);
    }
}
