//! Section 3.6: what the report calls a context switch: the start of a process or thread that has just been created.

use super::tasks::runs;
use crate::sweep::nearest;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, timer};
use fathom_core::experiment::{Failure, Placement, ensure, errno};
use fathom_core::quantity::Unit;
use fathom_core::sampling::partner::pipe;
use std::os::fd::AsRawFd;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(1);

const PROCESS: Method = Method {
    name: "switch to a new process",
    text: "The program calls fork(). The parent calls rdtscStart() and then wait(NULL). The child calls rdtscEnd() first, writes its value \
           into a pipe and calls exit(1); the parent reads the value and takes the difference.",
    differs: "The report does not say how many differences make one of its ten results. Here there are 200, as in its creation of processes.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: LIMIT,
    measure: process,
};

const THREAD: Method = Method {
    name: "switch to a new thread",
    text: "The program calls pthread_create(), then rdtscStart(), then pthread_join(). The new thread calls rdtscEnd() first. The \
           difference of the two readings is the result.",
    differs: "The report does not say how many differences make one of its ten results. Here there are 200, as in its creation of threads.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: LIMIT,
    measure: thread,
};

/// To a process.
pub const PROCESS_ROW: Row = Row {
    section: "3.6.1",
    operation: "process context switch (to a child that was just forked)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s003-0523"),
    replica: Replica::By(&PROCESS),
    statistic: Statistic::of(Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point("cpu/context_switch", |machine| {
        let names: &[(&str, &[&str])] = &[
            ("mechanism", &["pipe less its cost"]),
            ("between", &["processes"]),
            ("placement", &["one-cpu"]),
        ];
        nearest("cpu/context_switch", machine, names, &[])
    }),
    misleads: "The figure is the start of a new process, not a context switch. It includes the parent's entry into wait(), the end of \
               fork() in the child, and the child's first page faults on pages that both share until one writes. A switch between two \
               processes that already run costs far less.",
};

/// To a thread.
pub const THREAD_ROW: Row = Row {
    section: "3.6.2",
    operation: "kernel thread context switch (to a thread that was just created)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s003-0524"),
    replica: Replica::By(&THREAD),
    statistic: Statistic::of(Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point("cpu/context_switch", |machine| {
        let names: &[(&str, &[&str])] =
            &[("mechanism", &["pipe less its cost"]), ("between", &["threads"]), ("placement", &["one-cpu"])];
        nearest("cpu/context_switch", machine, names, &[])
    }),
    misleads: "The figure is the start of a new thread, not a context switch. It includes the thread's first instructions, with page \
               faults on its new stack, and the creator's entry into pthread_join(). If the scheduler runs the new thread before its \
               creator continues, the difference is negative. The printed mean of 6196.8 cycles has a wrong digit: its ten trials give \
               6396.8.",
};

fn process(stage: &Stage) -> Result<Series, Failure> {
    let (reader, writer) = pipe()?;
    let (from, to) = (reader.as_raw_fd(), writer.as_raw_fd());
    runs(stage, || {
        let mut end = 0_u64;
        let start;
        // SAFETY: this process has one thread; the child reads the clock, writes eight bytes that it owns, and ends.
        let read = unsafe {
            let forked = libc::fork();
            if forked == 0 {
                end = timer::stop_with_trailing_cpuid();
                libc::write(to, (&raw const end).cast(), size_of::<u64>());
                libc::exit(1);
            }
            start = timer::start();
            errno("fork", forked)?;
            libc::wait(null_mut());
            libc::read(from, (&raw mut end).cast(), size_of::<u64>())
        };
        ensure(read == size_of::<u64>() as isize, "the child did not report when it began")?;
        Ok(end.wrapping_sub(start) as i64)
    })
}

static END: AtomicU64 = AtomicU64::new(0);

extern "C" fn foo(_: *mut libc::c_void) -> *mut libc::c_void {
    END.store(timer::stop_with_trailing_cpuid(), Ordering::Release);
    null_mut()
}

fn thread(stage: &Stage) -> Result<Series, Failure> {
    runs(stage, || {
        let mut thread = 0;
        // SAFETY: the thread stores into a static, and is joined where it was made.
        let start = unsafe {
            let created = libc::pthread_create(&raw mut thread, null(), foo, null_mut());
            let start = timer::start();
            ensure(created == 0, "a thread could not be created")?;
            libc::pthread_join(thread, null_mut());
            start
        };
        Ok(END.load(Ordering::Acquire).wrapping_sub(start) as i64)
    })
}
