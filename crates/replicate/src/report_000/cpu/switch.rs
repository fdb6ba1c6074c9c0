//! Section 3.6: context switches through two pipes.

use super::COMPILED;
use crate::report_000::boilerplate::{ITERATIONS, Timed, trials};
use crate::sweep::nearest;
use crate::usage::Usage;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, Point, ensure, errno};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use fathom_core::sampling::partner::{PartnerProcess, pipe};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

const ALONE: &str = "pipe alone";
const BETWEEN_THREADS: &str = "threads";
const BETWEEN_PROCESSES: &str = "processes";
const THREADS_LESS: &str = "threads less pipe";
const PROCESSES_LESS: &str = "processes less pipe";

static SWITCHES: Method = Method {
    name: "context switch",
    text: "Two pipes connect two sides: one writes a byte to the first pipe and reads one from the second, the other reads and then \
           writes. They do this 1,000,000 times, with the timer around the loop in the side that begins; ten trials. The report counts one \
           iteration, there and back, as one switch. The pipe's overhead is one byte that a process writes to a pipe and reads from it \
           again.",
    differs: COMPILED,
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(2),
    measure: switches,
};

fn switches(stage: &Stage) -> Result<Series, Failure> {
    let alone = pipe_alone(stage)?;
    let (threads, seen_of_threads) = counted("Between threads", 2.0, || between_threads(stage))?;
    let (processes, seen_of_processes) = counted("Between processes", 1.0, || between_processes(stage))?;
    let pipe = alone.values.iter().sum::<f64>() / alone.values.len() as f64;
    let less = |timed: &Timed| timed.values.iter().map(|value| value - pipe).collect();
    let (threads_less, processes_less) = (less(&threads), less(&processes));
    let said = [alone.reduced, threads.reduced, processes.reduced].into_iter().flatten();
    let series = Series::default()
        .and(ALONE, 0.0, alone.values)
        .and(BETWEEN_THREADS, 0.0, threads.values)
        .and(BETWEEN_PROCESSES, 0.0, processes.values)
        .and(THREADS_LESS, 0.0, threads_less)
        .and(PROCESSES_LESS, 0.0, processes_less);
    Ok(series.having_seen(said).seen(seen_of_threads).seen(seen_of_processes))
}

/// Trials, with the switches of this process that the kernel counted per iteration; `proving` switches would prove that an
/// iteration is two.
fn counted(
    between: &str,
    proving: f64,
    measure: impl FnOnce() -> Result<(Timed, Usage, u64), Failure>,
) -> Result<(Timed, String), Failure> {
    let (timed, usage, iterations) = measure()?;
    let each = usage.switches() as f64 / iterations as f64;
    let told = format!(
        "{between}, the kernel counted {each:.2} switches of the measuring process per iteration; {proving} would prove that an iteration \
         is two switches"
    );
    Ok((timed, told + "."))
}

fn write_byte(descriptor: &OwnedFd) -> Result<(), Failure> {
    // SAFETY: one byte of a constant is read.
    let wrote = errno("write", unsafe { libc::write(descriptor.as_raw_fd(), c"x".as_ptr().cast(), 1) })?;
    ensure(wrote == 1, "a pipe accepted no byte")
}

fn read_byte(descriptor: &OwnedFd) -> Result<(), Failure> {
    let mut byte = 0_u8;
    // SAFETY: the buffer has room for the byte.
    let read = errno("read", unsafe { libc::read(descriptor.as_raw_fd(), (&raw mut byte).cast(), 1) })?;
    ensure(read == 1, "the other side has ended")
}

fn pipe_alone(stage: &Stage) -> Result<Timed, Failure> {
    let (from, to) = pipe()?;
    trials(stage, ITERATIONS, 0.2, |n| {
        for _ in 0..n {
            write_byte(&to)?;
            read_byte(&from)?;
        }
        Ok(())
    })
}

/// The two pipe ends of one side.
struct Ends {
    from: OwnedFd,
    to: OwnedFd,
}

fn two_sides() -> Result<(Ends, Ends), Failure> {
    let ((from_first, to_second), (from_second, to_first)) = (pipe()?, pipe()?);
    Ok((Ends { from: from_second, to: to_second }, Ends { from: from_first, to: to_first }))
}

/// The side that begins, for so many iterations.
fn produce(ends: &Ends, n: u64) -> Result<(), Failure> {
    for _ in 0..n {
        write_byte(&ends.to)?;
        read_byte(&ends.from)?;
    }
    Ok(())
}

/// The other side, which answers until the first has closed its pipe.
fn consume(ends: &Ends) {
    while read_byte(&ends.from).and_then(|()| write_byte(&ends.to)).is_ok() {}
}

/// Trials of the side that begins, with what the kernel counted in all of its iterations.
fn watched(stage: &Stage, ends: &Ends) -> Result<(Timed, Usage, u64), Failure> {
    let (before, mut iterations) = (Usage::now(), 0);
    let timed = trials(stage, ITERATIONS, 0.35, |n| {
        iterations += n;
        produce(ends, n)
    })?;
    Ok((timed, Usage::now().since(before), iterations))
}

fn between_processes(stage: &Stage) -> Result<(Timed, Usage, u64), Failure> {
    let (first, second) = two_sides()?;
    let _second = PartnerProcess::start(stage.site.partner, move || {
        consume(&second);
        Ok(())
    })?;
    watched(stage, &first)
}

fn between_threads(stage: &Stage) -> Result<(Timed, Usage, u64), Failure> {
    let (first, second) = two_sides()?;
    std::thread::scope(|scope| {
        scope.spawn(move || consume(&second));
        let found = watched(stage, &first);
        // When the ends are closed, the other thread reads the end of the pipe and ends.
        drop(first);
        found
    })
}

const SWITCH: &str = "cpu/context_switch";

fn net(machine: &Machine, between: &str) -> Point {
    nearest(SWITCH, machine, &[("mechanism", &["pipe less its cost"]), ("between", &[between])], &[])
}

fn net_threads(machine: &Machine) -> Point {
    net(machine, "threads")
}

fn net_processes(machine: &Machine) -> Point {
    net(machine, "processes")
}

const fn switch(
    operation: &'static str,
    variant: &'static str,
    theirs: &'static str,
    point: fn(&Machine) -> Point,
    misleads: &'static str,
) -> Row {
    Row {
        section: "3.6",
        operation,
        unit: Unit::Nanoseconds,
        per: "",
        theirs: Theirs::Printed(theirs),
        replica: Replica::By(&SWITCHES),
        statistic: Statistic::variant(variant, Fit::Mean(Deviation::Sample)),
        fathom: SameQuestion::Point(SWITCH, point),
        misleads,
    }
}

const ROUND_TRIP: &str = "An iteration is two switches, two writes and two reads, and the report counts it as one switch: the figure is \
                          more than twice the cost of a switch.";

/// The summary's row; table 7.
pub const THREAD_SWITCH: Row =
    switch("context switch between kernel threads", BETWEEN_THREADS, "s000-0278", net_threads, ROUND_TRIP);

/// The summary's row; table 7.
pub const PROCESS_SWITCH: Row =
    switch("context switch between processes", BETWEEN_PROCESSES, "s000-0279", net_processes, ROUND_TRIP);

const LESS: &str = "The round trip is two switches and two passages through a pipe; the report subtracts one passage and does not divide \
                    by two.";

/// Section 3.6.3.
pub const THREAD_SWITCH_LESS_PIPE: Row = switch(
    "context switch between kernel threads less pipe overhead",
    THREADS_LESS,
    "s000-0039",
    net_threads,
    LESS,
);

/// Section 3.6.3.
pub const PROCESS_SWITCH_LESS_PIPE: Row = switch(
    "context switch between processes less pipe overhead",
    PROCESSES_LESS,
    "s000-0040",
    net_processes,
    LESS,
);

/// Table 7.
pub const PIPE: Row = switch(
    "pipe overhead (one byte written and read by one process)",
    ALONE,
    "s000-0036",
    |machine| nearest(SWITCH, machine, &[("mechanism", &["pipe alone"])], &[]),
    "The method is right: this is the cost of a byte through a pipe when nobody has to wait.",
);
