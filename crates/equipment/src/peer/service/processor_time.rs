//! The processor time of this process.

use std::time::Duration;

/// Processor time of this process, in user mode and in the kernel together; `None` if the system does not report it.
pub fn processor_time() -> Option<Duration> {
    // SAFETY: a rusage is plain integers, which the call fills.
    let (code, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::getrusage(libc::RUSAGE_SELF, &raw mut usage), usage)
    };
    let time = |of: libc::timeval| Duration::new(of.tv_sec as u64, of.tv_usec as u32 * 1000);
    (code == 0).then(|| time(usage.ru_utime) + time(usage.ru_stime))
}
