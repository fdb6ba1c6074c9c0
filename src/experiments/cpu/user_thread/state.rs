//! What the assembly of both stacks shares.

/// The state of a user-level thread, at the address that its second stack holds.
pub struct State {
    /// The stack pointer of whoever does not run.
    pub other: usize,
    /// Times that the second stack has run.
    pub turns: u64,
}
