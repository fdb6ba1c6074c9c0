//! A point: how the CPU is handed over, and between what.

use crate::experiment::{Parameter, Placement, Point, Scale};

/// The experiment.
pub const NAME: &str = "cpu/context_switch";

/// How the CPU is handed over.
pub const MECHANISM: Parameter =
    Parameter { name: "mechanism", meaning: "how the CPU is handed over", scale: Scale::Name };
/// What it is handed between.
pub const BETWEEN: Parameter =
    Parameter { name: "between", meaning: "processes or threads of one process", scale: Scale::Name };
/// Members of a ring.
pub const MEMBERS: Parameter =
    Parameter { name: "members", meaning: "processes that pass the turn round", scale: Scale::Count };
/// What each touches.
pub const WORKING_SET: Parameter = Parameter {
    name: "working_set",
    meaning: "memory that each member sums in its turn",
    scale: Scale::Bytes,
};

/// A byte through a pair of pipes.
pub const PIPE: &str = "pipe";
/// The same, less what the pipes cost without a switch.
pub const PIPE_NET: &str = "pipe less its cost";
/// What the pipes cost without a switch.
pub const PIPE_ALONE: &str = "pipe alone";
/// Several processes that pass a byte round.
pub const RING: &str = "ring of pipes";
/// `sched_yield` between two processes.
pub const YIELD: &str = "yield";
/// Stacks changed inside one kernel thread.
pub const USER_LEVEL: &str = "user-level";
/// From before a child is made to its first instruction.
pub const START: &str = "start of child";
/// Between processes.
pub const PROCESSES: &str = "processes";
/// Between threads of one process.
pub const THREADS: &str = "threads";
/// No other side.
pub const NOBODY: &str = "nobody";
/// Between two stacks of one thread.
pub const STACKS: &str = "stacks";

/// A switch between two processes on one CPU, for predictions that contain switches.
pub fn between_processes() -> Point {
    Point::new().named(&MECHANISM, PIPE_NET).named(&BETWEEN, PROCESSES)
}

/// A process on another CPU woken through a pipe, for predictions that contain that.
pub fn across_cpus() -> Point {
    Point::at(Placement::AcrossCpus).named(&MECHANISM, PIPE).named(&BETWEEN, PROCESSES)
}

/// A hand-over on one CPU.
pub fn between(mechanism: &str, between: &str) -> Point {
    Point::new().named(&MECHANISM, mechanism).named(&BETWEEN, between)
}
