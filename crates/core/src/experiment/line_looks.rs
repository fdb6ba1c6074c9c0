//! What the looks at a cache line between the two CPUs of a run found.

/// One distance of the run's two CPUs: a host may move virtual CPUs to cores that are nearer or further apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineLooks {
    /// Time of a cache line's hand-over, nanoseconds: the median of the looks.
    pub line_ns: f64,
    /// The share of the time, 0 to 1.
    pub share: f64,
    /// The number of looks that found it.
    pub looks: usize,
}
