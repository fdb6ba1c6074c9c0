//! Sections 3.3 and 3.4: procedure calls and system calls, each between two readings of the clock.

use super::super::repetitions::{RUNS, Repetitions};
use super::empty_functions::{
    fathom_empty_0, fathom_empty_1, fathom_empty_2, fathom_empty_3, fathom_empty_4, fathom_empty_5,
    fathom_empty_6, fathom_empty_7,
};
use super::readings::mean;
use crate::sweep::nearest;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Series, Stage, Statistic, Theirs, timer};
use fathom_core::experiment::{Failure, Placement};
use fathom_core::quantity::Unit;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(90);
/// The report's repetitions in an average.
const REPETITIONS: u64 = 100_000;

const PROCEDURE: Method = Method {
    name: "procedure call",
    text: "The program calls eight functions with 0 to 7 int arguments and empty bodies, each 100,000 times. Every call stands between \
           rdtscStart() and rdtscEnd(); the mean of the differences is one of ten results. The cost of the two readings is not subtracted.",
    differs: "The functions are written in assembly, with the instructions of an unoptimised build (a frame, and the arguments stored in \
              it), because an optimising compiler removes calls of empty functions.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: LIMIT,
    measure: procedures,
};

const SYSTEM: Method = Method {
    name: "system call",
    text: "The program calls getppid() and getpid() of the C library, each 100,000 times. Every call stands between rdtscStart() and \
           rdtscEnd(), and its result is not used; the mean of the differences is one of ten results. The cost of the two readings is not \
           subtracted.",
    differs: "Since glibc 2.25 the C library of Linux no longer caches the process ID, so getpid() enters the kernel here; the library of \
              OS X answered from memory.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: LIMIT,
    measure: services,
};

/// One more argument.
pub const ARGUMENT_ROW: Row = Row {
    section: "3.3",
    operation: "procedure call: one more argument",
    unit: Unit::Nanoseconds,
    per: "argument",
    theirs: Theirs::Printed("s003-0518"),
    replica: Replica::By(&PROCEDURE),
    statistic: Statistic::of(Fit::Slope { from: 0.0, to: 7.0 }),
    fathom: SameQuestion::Slope("cpu/procedure_call", "arguments", |machine| {
        nearest("cpu/procedure_call", machine, &[("form", &["abi"])], &[("arguments", 0)])
            .without("arguments")
    }),
    misleads: "One call is far shorter than the pair of readings around it (33 of 34 cycles in the report's table), and often shorter than \
               the clock's resolution. The slope is therefore mostly noise: the report's table has 2 arguments above 3, and 5 above 6. The \
               functions do not use their arguments, and the cost of the seventh, the only one on the stack, is not shown separately.",
};

/// A call without arguments, as in the report's table.
pub const PROCEDURE_ROW: Row = Row {
    section: "3.3",
    operation: "procedure call without arguments, clock readings included",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s003-0122"),
    replica: Replica::By(&PROCEDURE),
    statistic: Statistic::of(Fit::MeanAt(0.0)),
    fathom: SameQuestion::Point("cpu/procedure_call", |machine| {
        nearest("cpu/procedure_call", machine, &[("form", &["abi"])], &[("arguments", 0)])
    }),
    misleads: "The figure is almost only the cost of reading the clock: two readings with nothing between them give nearly the same. The \
               report then compares it with a system call, whose figure contains the same cost.",
};

/// `getpid`.
pub const GETPID_ROW: Row = Row {
    section: "3.4",
    operation: "getpid() of the C library",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s003-0519"),
    replica: Replica::By(&SYSTEM),
    statistic: Statistic::variant(GETPID, Fit::Mean(Deviation::Sample)),
    fathom: SameQuestion::Point("cpu/system_call", |machine| {
        nearest("cpu/system_call", machine, &[("call", &["getpid by library"])], &[])
    }),
    misleads: "The report's figure is not a system call: the library of OS X had cached the process ID, so what remains is the cost of the \
               clock. Here getpid() enters the kernel, between two CPUIDs that prevent any overlap with other work, and the clock's cost \
               is included.",
};

/// `getppid`.
pub const GETPPID_ROW: Row = Row {
    section: "3.4",
    operation: "system call (getppid)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s003-0520"),
    replica: Replica::By(&SYSTEM),
    statistic: Statistic::variant(GETPPID, Fit::MeanOf { first: 5, last: 10 }),
    fathom: SameQuestion::Point("cpu/system_call", |machine| {
        nearest("cpu/system_call", machine, &[("call", &["getppid"])], &[])
    }),
    misleads: "The figure includes the clock's cost, and each call is isolated by serialising instructions, whereas calls in a row overlap \
               a little. The printed mean is that of trials 5 to 10 of the report's table; the report does not say so. Fathom takes the \
               same trials.",
};

const GETPID: &str = "getpid";
const GETPPID: &str = "getppid";

/// A function that times one call, in ticks.
type Timed = fn() -> i64;

/// The timed calls, indexed by the number of arguments.
const TIMED: [Timed; 8] = [
    || timer::paoloni(|| fathom_empty_0()),
    || timer::paoloni(|| fathom_empty_1(1)),
    || timer::paoloni(|| fathom_empty_2(1, 2)),
    || timer::paoloni(|| fathom_empty_3(1, 2, 3)),
    || timer::paoloni(|| fathom_empty_4(1, 2, 3, 4)),
    || timer::paoloni(|| fathom_empty_5(1, 2, 3, 4, 5)),
    || timer::paoloni(|| fathom_empty_6(1, 2, 3, 4, 5, 6)),
    || timer::paoloni(|| fathom_empty_7(1, 2, 3, 4, 5, 6, 7)),
];

fn procedures(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let repetitions = Repetitions::of(stage, REPETITIONS, RUNS * TIMED.len() as u64);
    let mut series = Series { seen: repetitions.said(), ..Series::default() };
    for (arguments, timed) in TIMED.into_iter().enumerate() {
        let values = (0..RUNS).map(|_| mean(repetitions.count, timed) * ns).collect();
        series = series.and("", arguments as f64, values);
    }
    Ok(series)
}

fn services(stage: &Stage) -> Result<Series, Failure> {
    let ns = stage.ns_per_tick()?;
    let repetitions = Repetitions::of(stage, REPETITIONS, 2 * RUNS);
    let runs = |timed: Timed| (0..RUNS).map(|_| mean(repetitions.count, timed) * ns).collect();
    let getppid = runs(|| {
        timer::paoloni(|| {
            // SAFETY: takes and keeps nothing.
            unsafe { libc::getppid() };
        })
    });
    let getpid = runs(|| {
        timer::paoloni(|| {
            // SAFETY: as above.
            unsafe { libc::getpid() };
        })
    });
    let series = Series { seen: repetitions.said(), ..Series::default() };
    Ok(series.and(GETPPID, 0.0, getppid).and(GETPID, 0.0, getpid))
}
