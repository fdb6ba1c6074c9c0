//! Points of `cpu/context_switch`: the mechanism of the hand-over, and its two sides.

use fathom_core::prelude::*;

pub const NAME: &str = "cpu/context_switch";

pub const MECHANISM: Parameter = Parameter::named("mechanism", "how the CPU is handed over");
pub const BETWEEN: Parameter =
    Parameter::of("between", "processes or threads of one process", &[PROCESSES, THREADS, NOBODY, STACKS]);
pub const MEMBERS: Parameter = Parameter::count("members", "processes that pass the turn round");
pub const WORKING_SET: Parameter =
    Parameter::bytes("working_set", "memory that each member sums in its turn");

/// A byte through a pair of pipes.
pub const PIPE: &str = "pipe";
/// The same, less the cost of the pipes without a switch.
pub const PIPE_NET: &str = "pipe less its cost";
/// The pipes without a switch.
pub const PIPE_ALONE: &str = "pipe alone";
/// Several processes that pass a byte around a ring of pipes.
pub const RING: &str = "ring of pipes";
/// `sched_yield` between two processes.
pub const YIELD: &str = "yield";
/// Change of stacks inside one kernel thread.
pub const USER_LEVEL: &str = "user-level";
/// From just before a child is created to its first instruction.
pub const START: &str = "start of child";
pub const PROCESSES: &str = "processes";
/// Between threads of one process.
pub const THREADS: &str = "threads";
/// No other side: one process alone.
pub const NOBODY: &str = "nobody";
/// Between two stacks of one thread.
pub const STACKS: &str = "stacks";

/// A switch between two processes on one CPU, for predictions that contain switches.
pub fn between_processes() -> Point {
    Point::new().named(&MECHANISM, PIPE_NET).named(&BETWEEN, PROCESSES)
}

/// Wake-up of a process on another CPU through a pipe, for predictions that contain it.
pub fn across_cpus() -> Point {
    Point::at(Placement::AcrossCpus).named(&MECHANISM, PIPE).named(&BETWEEN, PROCESSES)
}

/// The same on one CPU, which nothing has to wake.
pub fn on_one_cpu() -> Point {
    between(PIPE, PROCESSES)
}

/// A hand-over on one CPU by this mechanism.
pub fn between(mechanism: &str, between: &str) -> Point {
    Point::new().named(&MECHANISM, mechanism).named(&BETWEEN, between)
}
