//! Memory traffic of one iteration of a loop, on any architecture.

/// Memory traffic of one iteration of a kernel's loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Round {
    /// Bytes of an array by which one iteration advances.
    pub advances: u64,
    /// Load instructions.
    pub loads: u64,
    /// Bytes loaded.
    pub loaded: u64,
    /// Store instructions.
    pub stores: u64,
    /// Bytes stored.
    pub stored: u64,
    /// Store instructions that bypass the caches.
    pub non_temporal: u64,
    /// Prefetch instructions.
    pub prefetches: u64,
}

impl Round {
    /// A count of this iteration per 64 bytes of advance; `None` if that is not a whole number.
    pub fn per_line(&self, count: u64) -> Option<u64> {
        let of_lines = count * 64;
        (self.advances > 0 && of_lines.is_multiple_of(self.advances)).then(|| of_lines / self.advances)
    }
}

/// The only item; `None` if there is none or more than one.
pub fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}
