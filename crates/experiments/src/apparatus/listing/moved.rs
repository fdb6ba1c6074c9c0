//! Memory traffic of one iteration of a loop, on any architecture.

/// Memory traffic of one iteration of a kernel's loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Round {
    /// Bytes of an array by which one iteration advances.
    pub advances: u64,
    pub loads: u64,
    pub loaded: u64,
    /// Store instructions.
    pub stores: u64,
    pub stored: u64,
    /// Store instructions that bypass the caches.
    pub non_temporal: u64,
    pub prefetches: u64,
}

impl Round {
    /// A count of this iteration per 64 bytes of advance; `None` if that is not a whole number.
    pub fn per_line(&self, count: u64) -> Option<u64> {
        let of_lines = count * 64;
        (self.advances > 0 && of_lines.is_multiple_of(self.advances)).then(|| of_lines / self.advances)
    }
}
