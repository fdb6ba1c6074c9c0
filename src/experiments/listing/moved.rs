//! What a round of a loop moves, whatever the architecture.

/// What one iteration of a kernel's loop moves between registers and memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Round {
    /// Bytes of an array that one round goes on by.
    pub advances: u64,
    /// Load instructions, and the bytes that they load together.
    pub loads: u64,
    /// Bytes loaded.
    pub loaded: u64,
    /// Store instructions.
    pub stores: u64,
    /// Bytes stored.
    pub stored: u64,
    /// Of the stores those that go around the caches.
    pub non_temporal: u64,
    /// Prefetch instructions.
    pub prefetches: u64,
}

impl Round {
    /// A count of this round for every 64 bytes that it goes on by; `None` where that is no whole number.
    pub fn per_line(&self, count: u64) -> Option<u64> {
        let of_lines = count * 64;
        (self.advances > 0 && of_lines.is_multiple_of(self.advances)).then(|| of_lines / self.advances)
    }
}

/// What there is one of.
pub fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}

/// Bytes of code after which a kernel must have returned.
pub const LONGEST_KERNEL: usize = 4096;
