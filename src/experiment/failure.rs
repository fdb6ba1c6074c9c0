//! Why work could not be done.

/// Why work could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// This machine or user cannot do it; found out only while preparing. The point is skipped with this reason.
    #[error("{0}")]
    Unsupported(String),
    /// It was attempted and broke. The trial fails with this reason.
    #[error("{0}")]
    Broke(String),
}

impl Failure {
    /// The last system error, with what was attempted.
    pub fn last(attempt: &str) -> Self {
        Failure::Broke(format!("{attempt}: {}", std::io::Error::last_os_error()))
    }
}

/// Passes the return value of a system call on, or names the call with its error. Failing calls are fast, so every
/// return value inside a timed loop goes through here.
#[inline(always)]
#[allow(clippy::inline_always, reason = "stands inside timed loops: a call here would be measured")]
pub fn errno<T: PartialOrd + Default>(attempt: &'static str, returned: T) -> Result<T, Failure> {
    if returned < T::default() { Err(Failure::last(attempt)) } else { Ok(returned) }
}

/// Fails the trial with `complaint` unless the condition holds.
#[inline(always)]
#[allow(clippy::inline_always, reason = "stands inside timed loops: a call here would be measured")]
pub fn ensure(holds: bool, complaint: &'static str) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure::Broke(complaint.to_owned())) }
}
