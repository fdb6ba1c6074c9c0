//! Section 3.5: creating threads and processes.

use super::COMPILED;
use crate::report_000::boilerplate::{series, trials};
use crate::sweep::nearest;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, ensure, errno};
use fathom_core::quantity::Unit;
use std::ptr::{null, null_mut};
use std::time::Duration;

static THREADS: Method = Method {
    name: "thread creation",
    text: "The program creates a thread that returns at once (pthread_create) and joins it (pthread_join), in a loop of 10,000 iterations \
           with the timer around it. The figure is the mean of ten trials.",
    differs: COMPILED,
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(1),
    measure: threads,
};

extern "C" fn enter(_: *mut libc::c_void) -> *mut libc::c_void {
    null_mut()
}

fn threads(stage: &Stage) -> Result<Series, Failure> {
    let timed = trials(stage, 10_000, 0.9, |n| {
        for _ in 0..n {
            create_and_join()?;
        }
        Ok(())
    })?;
    Ok(series(timed))
}

fn create_and_join() -> Result<(), Failure> {
    // SAFETY: the thread takes nothing and is joined before its id goes.
    unsafe {
        let mut thread: libc::pthread_t = std::mem::zeroed();
        let created = libc::pthread_create(&raw mut thread, null(), enter, null_mut());
        ensure(created == 0, "pthread_create failed: raise the limit on tasks (ulimit -u, pids cgroup)")?;
        ensure(libc::pthread_join(thread, null_mut()) == 0, "pthread_join failed")
    }
}

/// The summary's row; table 6.
pub const THREAD: Row = Row {
    section: "3.5",
    operation: "kernel thread: create and join",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s000-0276"),
    replica: Replica::By(&THREADS),
    statistic: Statistic::of(Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point("cpu/thread_creation", |machine| {
        nearest(
            "cpu/thread_creation",
            machine,
            &[("measure", &["create and join"]), ("placement", &["one-cpu"])],
            &[],
        )
    }),
    misleads: "Only slightly misleading: both methods time creating, running and joining on one CPU, including two switches. The mean over \
               the whole loop includes interrupts and deferred work of the kernel; Fathom's median of single creations does not.",
};

static PROCESSES: Method = Method {
    name: "process creation",
    text: "The program forks a child that exits at once and waits for it (fork(), wait()), in a loop of 100 iterations with the timer \
           around it. The figure is the mean of ten trials.",
    differs: COMPILED,
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(1),
    measure: processes,
};

fn processes(stage: &Stage) -> Result<Series, Failure> {
    let timed = trials(stage, 100, 0.9, |n| {
        for _ in 0..n {
            fork_and_wait()?;
        }
        Ok(())
    })?;
    Ok(series(timed))
}

fn fork_and_wait() -> Result<(), Failure> {
    // SAFETY: this process has one thread, so its child may call what it likes; it calls exit alone.
    unsafe {
        if errno("fork", libc::fork())? == 0 {
            libc::exit(0);
        }
        errno("wait", libc::wait(null_mut())).map(drop)
    }
}

/// The summary's row; table 6.
pub const PROCESS: Row = Row {
    section: "3.5",
    operation: "user process: fork, exit and wait",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s000-0277"),
    replica: Replica::By(&PROCESSES),
    statistic: Statistic::of(Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point("cpu/process_creation", |machine| {
        nearest(
            "cpu/process_creation",
            machine,
            &[("measure", &["fork, exit, wait"]), ("placement", &["one-cpu"])],
            &[],
        )
    }),
    misleads: "The report's child ends by exit(), which does more than the bare system call that ends Fathom's, in pages that the child \
               must copy first. Interrupts affect the mean but not the median. The cost grows with the memory of the parent, whose size \
               the report does not give.",
};
