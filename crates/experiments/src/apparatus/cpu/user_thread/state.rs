//! State shared by the assembly of both stacks.

/// State of a user-level thread; its address is saved on the second stack.
pub struct State {
    /// Stack pointer of the stack that is not running.
    pub other: usize,
    /// Number of times that the second stack has run.
    pub turns: u64,
}
