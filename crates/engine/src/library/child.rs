//! The entry at which a program becomes a measuring process if it was started as one.

use super::operation::Operation;
use super::session::{Error, Session};
use crate::run::answer_visits;
use anyhow::{Context, Result, anyhow, bail};
use fathom_core::experiment::{Experiment, registry};
use fathom_core::message::tell;
use fathom_core::sampling::child::is_asked;
use fathom_core::sampling::preparing;
use fathom_core::sampling::signals::forget_inherited;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process has named its operations.
static CALLED: AtomicBool = AtomicBool::new(false);

/// Takes the operations of this program, and returns at once with a session that can measure them; in a process that was
/// started to measure one of them it does that instead, and does not return. It must be first in `main`: anything before it
/// runs in every measuring process as well.
///
/// There may be none if experiments are registered: such a session measures [around](Session::around) other work.
///
/// Fails if there is neither an operation nor an experiment, an operation without a name, two with one name, or if it was called before.
pub fn child_main(operations: impl IntoIterator<Item = Operation>) -> Result<Session, Error> {
    let operations: Vec<Operation> = operations.into_iter().collect();
    distinct(&operations)?;
    let session = Session::of(operations.len());
    let leaked = |operation: Operation| -> &'static dyn Experiment { Box::leak(Box::new(operation)) };
    if CALLED.swap(true, Ordering::Relaxed) {
        return Err(anyhow!("child_main was called before: a program names its operations once").into());
    }
    registry::register(operations.into_iter().map(leaked));
    if is_asked() {
        // Measured code waits for its children too.
        forget_inherited();
        // The parent process prints the error.
        let answered = answer().inspect_err(|error| tell(format!("{error:#}")));
        std::process::exit(i32::from(answered.is_err()));
    }
    Ok(session)
}

fn distinct(operations: &[Operation]) -> Result<()> {
    if operations.is_empty() && registry::all().next().is_none() {
        bail!("there is no operation to be measured");
    }
    let mut names = BTreeSet::new();
    for name in operations.iter().map(Operation::name) {
        if name.is_empty() {
            bail!("an operation has no name");
        }
        if !names.insert(name) {
            bail!("two operations are named `{name}`");
        }
    }
    Ok(())
}

/// Measures the operations requested on standard input, and answers on standard output; both are separate from those that
/// the operation itself uses.
fn answer() -> Result<()> {
    preparing::say_ready();
    let mut questions = BufReader::new(take_standard(libc::STDIN_FILENO)?).lines();
    let answers = take_standard(libc::STDOUT_FILENO)?;
    let request = questions.next().context("this measuring process received no request")??;
    answer_visits(&serde_json::from_str(&request)?, questions, answers)
        .context("operations must be the same in every process of a program, whatever its arguments")
}

/// A standard descriptor reserved for this function; it is replaced by one without input and without a reader.
fn take_standard(standard: RawFd) -> Result<File> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    // SAFETY: the standard descriptors of a measuring process are open, because its parent creates them.
    let own = unsafe { BorrowedFd::borrow_raw(standard) }.try_clone_to_owned()?;
    // SAFETY: both descriptors are open, and nothing of this process keeps the one that is replaced.
    if unsafe { libc::dup2(nothing.as_raw_fd(), standard) } < 0 {
        return Err(std::io::Error::last_os_error()).context("a standard descriptor could not be replaced");
    }
    Ok(File::from(own))
}
