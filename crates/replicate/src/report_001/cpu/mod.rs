//! Section 3: CPU, scheduling and operating-system services.

mod measured;

use crate::sweep::point;
use crate::{Deviation, Fit, Method, Replica, Row, SameQuestion, Statistic, Theirs};
use fathom_core::experiment::{Placement, Point};
use fathom_core::quantity::Unit;
use measured::{Between, calling, entering, forking, looping, measurement, switching, threading};
use std::time::Duration;

const MINUTE: Duration = Duration::from_mins(1);
const MEAN: Statistic = Statistic::of(Fit::Mean(Deviation::Sample));

static MEASURING: Method = Method {
    name: "measurement overhead",
    text: "The program executes CPUID, RDTSC and at once RDTSCP; the difference of the two readings is averaged over 1000 pairs; ten trials.",
    differs: "The report does not print the number of pairs; its example for a procedure call has 1000.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: MINUTE,
    measure: measurement,
};

static LOOPING: Method = Method {
    name: "loop overhead",
    text: "The program reads the clock before and after an empty loop of 1000 iterations at -O0, whose counter is in memory: add, compare, \
           jump. It subtracts the measurement overhead and divides the rest by 1000; ten trials.",
    differs: "",
    placement: Placement::OneCpu,
    needs: &[],
    limit: MINUTE,
    measure: looping,
};

static CALLING: Method = Method {
    name: "procedure call",
    text: "The same loop calls a procedure with an empty body and 0 to 7 arguments of type int. Measurement and loop overhead are \
           subtracted; ten trials for each number of arguments; a line by least squares.",
    differs: "The report does not say that it subtracted the loop, but its figures are smaller than the loop's.",
    placement: Placement::OneCpu,
    needs: &[],
    limit: MINUTE,
    measure: calling,
};

static ENTERING: Method = Method {
    name: "system call",
    text: "The same loop has syscall(SYS_getpid) in its body; measurement and loop overhead are subtracted; ten trials of 1000 calls.",
    differs: "",
    placement: Placement::OneCpu,
    needs: &[],
    limit: MINUTE,
    measure: entering,
};

static FORKING: Method = Method {
    name: "process creation",
    text: "The parent reads the clock before and after fork(); the child does nothing. The parent waits for each child outside of the \
           timed span; ten trials.",
    differs: "The report does not print how many forks make a trial; here it is 100. The process that forks is Fathom's, which is larger \
              than the report's program.",
    placement: Placement::Free,
    needs: &[],
    limit: MINUTE,
    measure: forking,
};

static THREADING: Method = Method {
    name: "thread creation",
    text: "The program reads the clock before and after pthread_create(); the thread's body is empty. Each thread is joined outside of the \
           timed span; ten trials.",
    differs: "The report does not print how many threads make a trial; here it is 100.",
    placement: Placement::Free,
    needs: &[],
    limit: MINUTE,
    measure: threading,
};

static SWITCHING_PROCESSES: Method = Method {
    name: "process switch",
    text: "Two pipes connect a parent and its child: the parent writes a byte to the first and reads one from the second; the child reads \
           and writes. The time of all round trips is divided by their number and by two; ten trials.",
    differs: "The report does not print how many round trips make a trial; here it is 1000. The two processes are not pinned, because the \
              report's figures suggest that its own were not.",
    placement: Placement::Free,
    needs: &[],
    limit: MINUTE,
    measure: |stage| switching(stage, Between::Processes),
};

static SWITCHING_THREADS: Method = Method {
    name: "thread switch",
    text: "The same two pipes connect two threads of a process.",
    differs: "As between processes.",
    placement: Placement::Free,
    needs: &[],
    limit: MINUTE,
    measure: |stage| switching(stage, Between::Threads),
};

pub const MEASUREMENT: Row = Row {
    section: "3.1",
    operation: "measurement overhead (two readings of the counter)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s001-0076"),
    replica: Replica::By(&MEASURING),
    statistic: MEAN,
    fathom: SameQuestion::Point("cpu/timing_overhead", |_| timing("cost")),
    misleads: "The figure is right as the amount to subtract from a timed span. It is not the cost of measuring to the program, as the \
               report calls it: the CPUID before the first reading is not between the two. It takes about a hundred cycles without a \
               hypervisor and thousands in a virtual machine, where the hypervisor answers it.",
};

pub const LOOP: Row = Row {
    section: "3.2",
    operation: "loop overhead (one iteration)",
    unit: Unit::Nanoseconds,
    per: "iteration",
    theirs: Theirs::Printed("s001-0077"),
    replica: Replica::By(&LOOPING),
    statistic: MEAN,
    fathom: SameQuestion::Slope("cpu/loop_overhead", "iterations", |_| {
        point(Placement::OneCpu, &[("form", "register")], &[])
    }),
    misleads: "At -O0 the counter is in memory, and the figure is the time to forward each store to the next load, which some processors \
               do in no time. A loop whose counter is in a register takes one cycle at most.",
};

const CALLED: &str = "At -O0 the loop around the call waits for its counter to be stored and loaded again, and the call runs meanwhile. \
                      Subtracting the loop therefore leaves only the part of the call that did not overlap with it, not the time of a \
                      call. Arguments are stored to the frame although nothing reads them. The seventh is on the stack and its cost \
                      differs from that of the six in registers.";

pub const PER_ARGUMENT: Row = Row {
    section: "3.3",
    operation: "procedure call: each further argument",
    unit: Unit::Nanoseconds,
    per: "argument",
    theirs: Theirs::Printed("s001-0078"),
    replica: Replica::By(&CALLING),
    statistic: Statistic::of(Fit::Slope { from: 0.0, to: 7.0 }),
    fathom: SameQuestion::Slope("cpu/procedure_call", "arguments", |_| {
        point(Placement::OneCpu, &[("form", "abi")], &[])
    }),
    misleads: CALLED,
};

pub const NO_ARGUMENT: Row = Row {
    operation: "procedure call without arguments",
    per: "",
    theirs: Theirs::Printed("s001-0005"),
    statistic: Statistic::of(Fit::MeanAt(0.0)),
    fathom: SameQuestion::Point("cpu/procedure_call", |_| calls(0)),
    ..PER_ARGUMENT
};

pub const SEVEN_ARGUMENTS: Row = Row {
    operation: "procedure call with seven arguments",
    theirs: Theirs::Printed("s001-0012"),
    statistic: Statistic::of(Fit::MeanAt(7.0)),
    fathom: SameQuestion::Point("cpu/procedure_call", |_| calls(7)),
    ..NO_ARGUMENT
};

pub const SYSTEM_CALL: Row = Row {
    section: "3.4",
    operation: "system call (getpid by number)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s001-0079"),
    replica: Replica::By(&ENTERING),
    statistic: MEAN,
    fathom: SameQuestion::Point("cpu/system_call", |_| point(Placement::OneCpu, &[("call", "getpid")], &[])),
    misleads: "The method is right: a thousand calls between two readings give the cost of a call. A single interrupted trial affects a \
               mean over ten, which would show in the deviation. This does not explain the report's 1.31 µs, many times the cost on other \
               machines of the time, because its deviation is small.",
};

pub const PROCESS_CREATION: Row = Row {
    section: "3.5",
    operation: "process creation (fork)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s001-0080"),
    replica: Replica::By(&FORKING),
    statistic: MEAN,
    fathom: SameQuestion::Point("cpu/process_creation", |_| {
        point(Placement::Free, &[("measure", "fork, exit, wait")], &[])
    }),
    misleads: "The report times only the parent's work. A process must also start, end and be reaped, which is left out.",
};

pub const THREAD_CREATION: Row = Row {
    section: "3.5",
    operation: "thread creation (pthread_create)",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s001-0081"),
    replica: Replica::By(&THREADING),
    statistic: MEAN,
    fathom: SameQuestion::Point("cpu/thread_creation", |_| {
        point(Placement::Free, &[("measure", "create and join")], &[])
    }),
    misleads: "The report times only the call, neither the thread's start nor its end. Its ratio of a process to a thread therefore \
               compares two calls that leave different work for later.",
};

const SWITCHED: &str = "The two sides are not held on one CPU. If the scheduler places them on two, they do not switch: each sleeps on its \
                        own CPU, and the figure is the time to wake the other. If it places them on one, the figure includes reading and \
                        writing the pipes; a side that is woken may also preempt the one that woke it at once, so a round trip can include \
                        more than two switches.";

pub const PROCESS_SWITCH: Row = Row {
    section: "3.6",
    operation: "process context switch",
    unit: Unit::Nanoseconds,
    per: "",
    theirs: Theirs::Printed("s001-0082"),
    replica: Replica::By(&SWITCHING_PROCESSES),
    statistic: MEAN,
    fathom: SameQuestion::Point("cpu/context_switch", |_| switches("processes")),
    misleads: SWITCHED,
};

pub const THREAD_SWITCH: Row = Row {
    operation: "thread context switch",
    theirs: Theirs::Printed("s001-0083"),
    replica: Replica::By(&SWITCHING_THREADS),
    fathom: SameQuestion::Point("cpu/context_switch", |_| switches("threads")),
    ..PROCESS_SWITCH
};

/// The report's timer, or this architecture's counter where it has another.
fn timing(aspect: &str) -> Point {
    let reading = if cfg!(target_arch = "x86_64") { "cpuid-rdtsc rdtscp" } else { "counter" };
    point(Placement::OneCpu, &[("measure", aspect), ("reading", reading)], &[])
}

fn calls(arguments: u64) -> Point {
    point(Placement::OneCpu, &[("form", "abi")], &[("arguments", arguments)])
}

fn switches(between: &str) -> Point {
    point(Placement::OneCpu, &[("between", between), ("mechanism", "pipe less its cost")], &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::registry;

    #[test]
    fn slopes_are_asked_for_along_sweeps_of_more_than_two_points() {
        let machine = fathom_described::machine();
        for row in [LOOP, PER_ARGUMENT] {
            let points = row.fathom.points(&machine);
            assert!(points.len() > 2, "{}", row.operation);
            assert!(points.iter().all(|(name, _)| registry::find(name).is_some()));
        }
    }
}
