//! Points of `cpu/contention`: the object, how many threads use it, and what of a round is the figure.

use crate::apparatus::spread_cpus::thread_counts;
use fathom_core::prelude::*;

pub const NAME: &str = "cpu/contention";

pub const OBJECT: Parameter = Parameter::of("object", "what the threads contend for", &OBJECTS);
pub const LINES: Parameter = Parameter::of(
    "lines",
    "one line: all threads use one object, whose parts share a line; padded: each has one of its own, in lines of its own",
    &[ONE_LINE, PADDED],
);
pub const THREADS: Parameter = Parameter::count("threads", "threads that contend");
pub const FIGURE: Parameter = Parameter::named(
    "figure",
    "operation: time over the operations of all threads together; own: time of one operation for the thread that does it, \
     waiting included; unfairness: by how much the thread with fewest operations is below an equal share",
);

pub const ADD: &str = "atomic add";
pub const SWAP: &str = "compare-and-swap";
pub const TICKET: &str = "ticket lock";
pub const QUEUE: &str = "queue lock";
pub const FUTEX: &str = "futex lock";
pub const MUTEX: &str = "pthread mutex";
pub const OBJECTS: [&str; 6] = [ADD, SWAP, TICKET, QUEUE, FUTEX, MUTEX];

pub const ONE_LINE: &str = "one line";
pub const PADDED: &str = "padded";

pub const OPERATION: &str = "operation";
pub const OWN: &str = "own";
pub const UNFAIRNESS: &str = "unfairness";

/// The objects of which each thread also has one of its own.
const ALSO_PADDED: [&str; 2] = [ADD, MUTEX];

/// What a quick run measures: a word, a lock that spins and one that sleeps.
const QUICK: [&str; 3] = [ADD, QUEUE, MUTEX];

/// Every object by every number of threads. On one CPU two threads stay in the plan, and are skipped with the reason.
pub fn sweep(machine: &Machine) -> Vec<Point> {
    let counts = thread_counts(machine.allowed_cpus().len().max(2));
    let by_counts = |object| {
        let figures =
            [OPERATION, UNFAIRNESS, OWN].into_iter().filter(|figure| *figure != OWN || waits(object));
        let several = counts.iter().filter(|count| **count > 1);
        let contended = several.flat_map(|count| figures.clone().map(|figure| of(object, *count, figure)));
        [alone(object)].into_iter().chain(contended).collect::<Vec<_>>()
    };
    let most = counts.last().copied().unwrap_or(2);
    let padded = ALSO_PADDED.map(|object| padded(object, most));
    OBJECTS.into_iter().flat_map(by_counts).chain(padded).collect()
}

/// Whether a thread waits for the others: an instruction takes less than reading the clock.
pub fn waits(object: &str) -> bool {
    ![ADD, SWAP].contains(&object)
}

pub fn effort(point: &Point, machine: &Machine) -> Effort {
    let (threads, object) = (point.number(&THREADS), point.name(&OBJECT));
    let all = machine.allowed_cpus().len().max(2) as u64;
    let ends = [1, all].contains(&threads) && point.name(&LINES) == ONE_LINE;
    let figure = point.name(&FIGURE) == OPERATION || object == MUTEX;
    if ends && figure && QUICK.contains(&object) { Effort::Quick } else { Effort::Standard }
}

/// All threads use one object.
pub fn of(object: &str, threads: u64, figure: &str) -> Point {
    Point::at(Placement::Spread)
        .named(&OBJECT, object)
        .named(&LINES, ONE_LINE)
        .with(&THREADS, threads)
        .named(&FIGURE, figure)
}

/// One thread uses it.
pub fn alone(object: &str) -> Point {
    of(object, 1, OPERATION)
}

/// Each thread uses one of its own.
pub fn padded(object: &str, threads: u64) -> Point {
    of(object, threads, OPERATION).named(&LINES, PADDED)
}
