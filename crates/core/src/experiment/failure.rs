//! Reasons why work could not be done.

/// The reason why work could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// This machine or user cannot do it, as found by the preparation. The point is skipped with this reason.
    #[error("{0}")]
    Unsupported(String),
    /// It was attempted and failed. The trial fails with this reason.
    #[error("{0}")]
    Broke(String),
    /// The preparation would take this many seconds, more than the plan has for it. The trial is not made.
    #[error("its preparation takes {}", crate::quantities::duration(*.0))]
    TooLong(f64),
    /// Its core is shared, and the trial is wanted with the core alone. It is made at another moment.
    #[error("its core is shared")]
    CoreShared,
}

impl Failure {
    /// The last system error, with the attempted action.
    pub fn last(attempt: &str) -> Self {
        Failure::of(attempt, &std::io::Error::last_os_error())
    }

    /// The attempted action and the error: `Unsupported` if the error is a limit of this process or user.
    pub fn of(attempt: &str, error: &std::io::Error) -> Self {
        let limit = match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => "see `ulimit -n`",
            Some(libc::ENOMEM) => {
                "see `ulimit -v`, `ulimit -l`, the control group's limit and vm.overcommit_memory"
            }
            _ => return Failure::Broke(format!("{attempt}: {error}")),
        };
        Failure::Unsupported(format!("{attempt}: {error} ({limit})"))
    }

    /// The failure to create a process or thread, which may be due to a limit of the user or of the control group.
    pub fn no_process(attempt: &str, error: &std::io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EAGAIN) => Failure::Unsupported(format!(
                "{attempt}: {error} (see `ulimit -u`, and pids.max of the control group)"
            )),
            _ => Failure::of(attempt, error),
        }
    }

    /// The failure of a call that only kernels since `since` ("Linux 5.14") have, or that a filter may refuse.
    pub fn of_newer_call(call: &str, since: &str, error: &std::io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::ENOSYS | libc::EINVAL | libc::EOPNOTSUPP) => {
                Failure::Unsupported(format!("this kernel does not have {call}: {since} does ({error})"))
            }
            Some(libc::EPERM | libc::EACCES) => Failure::Unsupported(format!(
                "{call} is refused: {error} (see the container's filter of system calls)"
            )),
            _ => Failure::of(call, error),
        }
    }
}

/// Returns the return value of a system call, or its error with the name of the call. Failing calls are fast, so every return
/// value inside a timed loop is checked here.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Error;

    fn is_unsupported(failure: &Failure) -> bool {
        matches!(failure, Failure::Unsupported(_))
    }

    #[test]
    fn what_an_older_kernel_does_not_know_is_unsupported_and_not_failed() {
        for errno in [libc::EINVAL, libc::ENOSYS, libc::EPERM] {
            let failure =
                Failure::of_newer_call("MADV_PAGEOUT", "Linux 5.4", &Error::from_raw_os_error(errno));
            assert!(is_unsupported(&failure), "{failure}");
        }
        let broken =
            Failure::of_newer_call("MADV_PAGEOUT", "Linux 5.4", &Error::from_raw_os_error(libc::EIO));
        assert!(!is_unsupported(&broken));
    }

    #[test]
    fn a_limit_is_what_the_machine_lacks_and_is_named() {
        for (errno, word) in [(libc::EMFILE, "ulimit -n"), (libc::ENOMEM, "ulimit -v")] {
            let failure = Failure::of("open", &Error::from_raw_os_error(errno));
            assert!(is_unsupported(&failure) && failure.to_string().contains(word), "{failure}");
        }
        let error = Error::from_raw_os_error(libc::EAGAIN);
        assert!(is_unsupported(&Failure::no_process("fork", &error)));
        assert!(!is_unsupported(&Failure::of("read", &error)));
    }
}
