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
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
            usage
        };
        let count = |number: libc::c_long| u64::try_from(number).unwrap_or(0);
        Usage {
            minor: count(usage.ru_minflt),
            major: count(usage.ru_majflt),
            voluntary: count(usage.ru_nvcsw),
            involuntary: count(usage.ru_nivcsw),
        }
    }

    /// The counts since an earlier moment.
    #[must_use]
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
    fn what_was_counted_before_is_no_part_of_the_counts() {
        let counted = |minor, major, voluntary, involuntary| Usage { minor, major, voluntary, involuntary };
        let since = counted(12, 3, 9, 4).since(counted(10, 3, 5, 1));
        assert_eq!((since, since.switches()), (counted(2, 0, 4, 3), 7));
    }
}
