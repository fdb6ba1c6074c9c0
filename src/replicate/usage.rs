//! The kernel's counts for a process, as the reports read them: `getrusage(2)`.

/// Counts since the process began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Page faults that needed no device ("soft").
    pub minor: u64,
    /// Page faults that waited for a device ("hard").
    pub major: u64,
    /// Switches because the process waited.
    pub voluntary: u64,
    /// Switches because the scheduler took the CPU away.
    pub involuntary: u64,
}

impl Usage {
    /// The counts of this process with all its threads.
    pub fn now() -> Self {
        // SAFETY: an rusage is plain integers, and the call fills it; it cannot fail for this process.
        let told = unsafe {
            let mut told: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut told);
            told
        };
        let count = |number: libc::c_long| u64::try_from(number).unwrap_or(0);
        Usage {
            minor: count(told.ru_minflt),
            major: count(told.ru_majflt),
            voluntary: count(told.ru_nvcsw),
            involuntary: count(told.ru_nivcsw),
        }
    }

    /// The counts since an earlier moment.
    pub fn since(self, earlier: Usage) -> Usage {
        Usage {
            minor: self.minor - earlier.minor,
            major: self.major - earlier.major,
            voluntary: self.voluntary - earlier.voluntary,
            involuntary: self.involuntary - earlier.involuntary,
        }
    }

    /// Both kinds of switches.
    pub fn switches(self) -> u64 {
        self.voluntary + self.involuntary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_written_for_the_first_time_are_counted() {
        let before = Usage::now();
        let pages: Vec<Vec<u8>> = (0..64).map(|_| vec![1; 1 << 20]).collect();
        std::hint::black_box(&pages);
        // Even in huge pages there are 32 of them.
        assert!(Usage::now().since(before).minor >= 16);
    }
}
