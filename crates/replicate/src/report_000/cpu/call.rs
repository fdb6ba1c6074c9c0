//! Sections 3.3 and 3.4: procedure calls and system calls.

use super::{ASSEMBLY, COMPILED, unoptimised};
use crate::report_000::boilerplate::{ITERATIONS, series, trials};
use crate::sweep::nearest;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs};
use fathom_core::experiment::{Failure, Placement, Point, errno};
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::time::Duration;

static PROCEDURE: Method = Method {
    name: "procedure call",
    text: "For each of 0 to 7 arguments the program calls a function that returns their sum in a loop of 1,000,000 iterations, with the \
           timer around the loop; ten trials. Nothing is subtracted: the figure includes the loop, and storing and loading the arguments \
           in memory. The report does not say how it made one figure per argument from eight results; here it is the slope of a line.",
    differs: ASSEMBLY,
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(1),
    measure: procedures,
};

fn procedures(stage: &Stage) -> Result<Series, Failure> {
    let mut all = Series::default();
    for arguments in 0..=7 {
        let timed = trials(stage, ITERATIONS, 0.12, |n| {
            unoptimised::calls(arguments, n);
            Ok(())
        })?;
        all = all.and("", arguments as f64, timed.values).having_seen(timed.reduced);
    }
    Ok(all)
}

const CALLS: &str = "cpu/procedure_call";

fn call(machine: &Machine, arguments: u64) -> Point {
    nearest(CALLS, machine, &[("form", &["abi"])], &[("arguments", arguments)])
}

/// A call with so many arguments.
const fn procedure(
    operation: &'static str,
    arguments: f64,
    theirs: &'static str,
    point: fn(&Machine) -> Point,
) -> Row {
    Row {
        section: "3.3",
        operation,
        unit: Unit::Nanoseconds,
        per: "",
        theirs: Theirs::Printed(theirs),
        replica: Replica::By(&PROCEDURE),
        statistic: Statistic::of(Fit::MeanAt(arguments)),
        fathom: SameQuestion::Point(CALLS, point),
        misleads: "The calls do not depend on each other, so the core overlaps them with the loop and with one another: the result is what \
                   a call adds to a loop, not its latency. Without optimisation most of it is storing and loading the counter and the \
                   arguments.",
    }
}

/// Table 4, its first line.
pub const NO_ARGUMENT: Row =
    procedure("procedure call, no argument", 0.0, "s000-0016", |machine| call(machine, 0));

/// Table 4, its last line.
pub const SEVEN_ARGUMENTS: Row =
    procedure("procedure call, seven arguments", 7.0, "s000-0023", |machine| call(machine, 7));

/// The summary's row.
pub const ARGUMENT: Row = Row {
    section: "3.3",
    operation: "procedure call, one more argument",
    unit: Unit::Nanoseconds,
    per: "argument",
    theirs: Theirs::Printed("s000-0274"),
    replica: Replica::By(&PROCEDURE),
    statistic: Statistic::of(Fit::Slope { from: 0.0, to: 7.0 }),
    fathom: SameQuestion::Slope(CALLS, "arguments", |machine| call(machine, 0).without("arguments")),
    misleads: "The report's own table gives 0.13 ns per argument (0.25 ticks); the report does not say where its 0.6 comes from. Without \
               optimisation each argument is stored and loaded again, which is what the method measures here.",
};

static WRITE: Method = Method {
    name: "system call",
    text: "The program writes no bytes to /dev/null by write(), as lmbench does, in a loop of 1,000,000 iterations with the timer around \
           it. The figure is the mean of ten trials.",
    differs: COMPILED,
    placement: Placement::OneCpu,
    needs: &[],
    limit: Duration::from_mins(1),
    measure: write_nothing,
};

fn write_nothing(stage: &Stage) -> Result<Series, Failure> {
    let opened = OpenOptions::new().write(true).open("/dev/null");
    let null = opened.map_err(|error| Failure::Broke(format!("/dev/null: {error}")))?;
    let descriptor = null.as_raw_fd();
    let timed = trials(stage, ITERATIONS, 0.9, |n| {
        for _ in 0..n {
            // SAFETY: no byte of the buffer is read.
            errno("write", unsafe { libc::write(descriptor, c"".as_ptr().cast(), 0) })?;
        }
        Ok(())
    })?;
    Ok(series(timed))
}

/// The summary's row; table 5.
pub const SYSTEM_CALL: Row = Row {
    section: "3.4",
    operation: "system call (write of nothing to /dev/null)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s000-0275"),
    replica: Replica::By(&WRITE),
    statistic: Statistic::of(Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point("cpu/system_call", |machine| {
        nearest("cpu/system_call", machine, &[("call", &["write nothing to /dev/null"])], &[])
    }),
    misleads: "Only slightly misleading: loop and timer are a hundredth of the result. Interrupts affect the mean but not the median, and \
               a write does some work besides entering the kernel.",
};
