//! What does an operation cost that several threads do on one object at once?

mod findings;
mod model;
mod predicted;

use crate::apparatus::cpu::contenders::{CommonTime, CommonWork, Contenders};
use crate::apparatus::cpu::locks::{
    AtomicAdd, CompareAndSwap, Contended, FutexLock, Locked, Objects, PthreadMutex, QueueLock, TicketLock,
};
use crate::apparatus::cpu::thread_checks;
use crate::apparatus::spread_cpus::{cpus, thread_counts};
use fathom_core::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

const NAME: &str = "cpu/contention";

const OBJECT: Parameter = Parameter::of("object", "what the threads contend for", &OBJECTS);
const LINES: Parameter = Parameter::of(
    "lines",
    "one line: all threads use one object, whose parts share a line; padded: each has one of its own, in lines of its own",
    &[ONE_LINE, PADDED],
);
const THREADS: Parameter = Parameter::count("threads", "threads that contend");
const FIGURE: Parameter = Parameter::named(
    "figure",
    "operation: time over the operations of all threads together; own: time of one operation for the thread that does it, \
     waiting included; unfairness: by how much the thread with fewest operations is below an equal share",
);

const ADD: &str = "atomic add";
const SWAP: &str = "compare-and-swap";
const TICKET: &str = "ticket lock";
const QUEUE: &str = "queue lock";
const FUTEX: &str = "futex lock";
const MUTEX: &str = "pthread mutex";
const OBJECTS: [&str; 6] = [ADD, SWAP, TICKET, QUEUE, FUTEX, MUTEX];

const ONE_LINE: &str = "one line";
const PADDED: &str = "padded";

const OPERATION: &str = "operation";
const OWN: &str = "own";
const UNFAIRNESS: &str = "unfairness";

/// The objects of which each thread also has one of its own.
const ALSO_PADDED: [&str; 2] = [ADD, MUTEX];

/// What a quick run measures: a word, a lock that spins and one that sleeps.
const QUICK: [&str; 3] = [ADD, QUEUE, MUTEX];

/// Every object by every number of threads. On one CPU two threads stay in the plan, and are skipped with the reason.
fn sweep(machine: &Machine) -> Vec<Point> {
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
fn waits(object: &str) -> bool {
    ![ADD, SWAP].contains(&object)
}

fn effort(point: &Point, machine: &Machine) -> Effort {
    let (threads, object) = (point.number(&THREADS), point.name(&OBJECT));
    let all = machine.allowed_cpus().len().max(2) as u64;
    let ends = [1, all].contains(&threads) && point.name(&LINES) == ONE_LINE;
    let figure = point.name(&FIGURE) == OPERATION || object == MUTEX;
    if ends && figure && QUICK.contains(&object) { Effort::Quick } else { Effort::Standard }
}

/// All threads use one object.
fn of(object: &str, threads: u64, figure: &str) -> Point {
    Point::at(Placement::Spread)
        .named(&OBJECT, object)
        .named(&LINES, ONE_LINE)
        .with(&THREADS, threads)
        .named(&FIGURE, figure)
}

/// One thread uses it.
fn alone(object: &str) -> Point {
    of(object, 1, OPERATION)
}

/// Each thread uses one of its own.
fn padded(object: &str, threads: u64) -> Point {
    of(object, threads, OPERATION).named(&LINES, PADDED)
}

pub struct CpuContention;

static ABOUT: About = About {
    name: NAME,
    question: "What does an operation cost when several threads do it on one object at once?",
    operation: "one addition to a counter: atomic, or while a lock is held",
    method: "Threads, each on its own CPU (first one per core, then the second hardware threads), add to a counter as \
             often as they can: with one atomic instruction, with compare-and-swap until it succeeds, or while holding a \
             ticket lock, a queue lock (Mellor-Crummey & Scott), a lock of one futex (Drepper's second mutex) or a mutex \
             of the C library. Either all threads share one object, whose lock and counter are in the same line, or each \
             has an object in lines of its own (padded). A thread does nothing else between two operations: contention \
             cannot be greater.\
             \n\nThe threads are started before anything is timed, and the measuring thread is one of them. They begin \
             each round together; a round lasts half a millisecond, and 20 µs more for each thread. The clock runs while \
             all of them are counting. The figure is that time divided by the operations of all threads together, so it \
             falls below that of one thread where more threads get more done. Unfairness is how far the thread with the \
             fewest operations of a round is below an equal share. For a lock, one of the threads also times fifteen \
             operations of a round one by one: what an operation costs the thread that asks for it, waiting included, \
             less the cost of reading the clock. While it reads the clock, the others go ahead.\
             \n\nThe counter shows that no two threads ever held a lock at once: at the end it equals the sum of what the \
             threads counted. The results are compared with a model of two numbers: the time of an operation with one \
             thread, and the number of times that a line is handed over between cores (cpu/core_to_core), which follows \
             from the result with two threads. That number is below one where a core completes several operations before \
             it loses the line. Even the measurement of a single thread is made in a process with a second, sleeping one: \
             in a process of one thread the C library's mutex uses no atomic instructions.",
    caveats: "Programs do other work between two operations, so they contend less. If a host takes a CPU away, the thread \
             that holds a lock may not be running, and the others wait for it; the percentiles of single operations show \
             that. With a CPU quota smaller than the number of threads, the quota is what is measured.",
    version: 1,
    timed: Some(TimedCode {
        of: "a queue lock acquired",
        source: include_str!("../../../apparatus/cpu/locks.rs"),
        begins: "impl Lock for QueueLock",
    }),
    parameters: &[OBJECT, LINES, THREADS, FIGURE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "atomic add to one counter, all CPUs",
            &[("object", At::Name(ADD)), ("lines", At::Name(ONE_LINE)), ("threads", At::Most)],
        ),
        MainFigure::of(
            "pthread mutex, all CPUs",
            &[
                ("object", At::Name(MUTEX)),
                ("lines", At::Name(ONE_LINE)),
                ("threads", At::Most),
                ("figure", At::Name(OPERATION)),
            ],
        ),
    ]),
};

/// The time of a round, and what is added for each thread, whose count is read at either end, nanoseconds.
const ROUND_NS: f64 = 500e3;
const FOR_EACH_NS: f64 = 20e3;

impl Experiment for CpuContention {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        sweep(machine)
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let threads = point.number(&THREADS) as usize;
        if threads > 1 { vec![Requirement::Cpus(threads)] } else { vec![] }
    }

    fn effort(&self, point: &Point, machine: &Machine) -> Effort {
        effort(point, machine)
    }

    fn unit(&self, point: &Point) -> Unit {
        if point.name(&FIGURE) == UNFAIRNESS { Unit::PartsPerMillion } else { Unit::Nanoseconds }
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        Ok(predicted::predicted(point, known))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let at_once = if point.name(&FIGURE) == OPERATION { point.number(&THREADS) as f64 } else { 1.0 };
        let because = "an addition takes the thread that does it a cycle at least".to_owned();
        let is_time = point.name(&FIGURE) != UNFAIRNESS;
        is_time.then(|| Bound::of(known.shortest_cycle() / at_once, because))
    }

    fn touches(&self, point: &Point) -> Vec<Touch> {
        if point.number(&THREADS) > 1 { vec![Touch::EveryCpu] } else { vec![] }
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let threads = point.number(&THREADS) as usize;
        let work = common_work(point, threads)?;
        let contenders = Contenders::start(&cpus(site, threads)?, work, site.stopwatch)?;
        let cpus_of = contenders.cpus();
        let contenders = Rc::new(RefCell::new(contenders));
        let accounted = Rc::clone(&contenders);
        let lasts_ns = ROUND_NS + FOR_EACH_NS * threads as f64;
        let singles = threads > 1 && waits(point.name(&OBJECT));
        let observe = move || {
            let time = contenders.borrow_mut().together(lasts_ns, singles, site.stopwatch)?;
            Ok(figures(&time))
        };
        let workload = Workload::figures(observe).stating(thread_checks::CPUS, cpus_of);
        Ok(workload.witnessed(move || accounted.borrow().account()))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        thread_checks::checks(point.number(&THREADS) as f64, observed)
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }
}

fn figures(time: &CommonTime) -> Vec<FigureValue> {
    let all = time.per_operation().map(|ns| (OPERATION, ns));
    let unfairness = time.shortfall().map(|share| (UNFAIRNESS, 1e6 * share));
    all.into_iter().chain(unfairness).chain(time.singles_ns.iter().map(|ns| (OWN, *ns))).collect()
}

fn common_work(point: &Point, threads: usize) -> Result<Box<dyn CommonWork>, Failure> {
    let make = match point.name(&OBJECT) {
        ADD => objects::<AtomicAdd>,
        SWAP => objects::<CompareAndSwap>,
        TICKET => objects::<Locked<TicketLock>>,
        QUEUE => objects::<Locked<QueueLock>>,
        FUTEX => objects::<Locked<FutexLock>>,
        MUTEX => objects::<Locked<PthreadMutex>>,
        object => return Err(Failure::no_variant(&OBJECT, object)),
    };
    Ok(make(point.name(&LINES) == PADDED, threads))
}

fn objects<T: Contended + 'static>(padded: bool, threads: usize) -> Box<dyn CommonWork> {
    let nothing = || ();
    if padded {
        Box::new(Objects::<T, _>::of_each(threads, nothing))
    } else {
        Box::new(Objects::<T, _>::common(threads, nothing))
    }
}
