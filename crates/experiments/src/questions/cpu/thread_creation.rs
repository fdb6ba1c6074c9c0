//! What does it cost to create a thread?

use super::system_call;
use crate::arch;
use crate::expected::kernel_service::scaled;
use crate::expected::published;
use crate::expected::rule_of_thumb::{self, RuleOfThumb};
use fathom_core::prelude::*;
use std::ptr::{null, null_mut};

const MEASURE: Parameter = Parameter::named(
    "measure",
    "create and join: the whole lifetime; create: as the creator sees it; to first instruction: until the \
              thread runs; user-level: a stack inside the same kernel thread",
);

pub struct ThreadCreation;

static ABOUT: About = About {
    name: "cpu/thread_creation",
    question: "What does it cost to create a thread?",
    operation: "pthread_create with default attributes, up to the event named",
    method: "A kernel thread with an empty body is created through the C library with the default stack, as programs \
             do. Three intervals are timed separately, because published reports confused them: until the thread is \
             joined, until pthread_create returns, and until the thread's first instruction, where the thread reads \
             the clock. Each creation is an observation.\n\nFor comparison there is a user-level thread: a stack that \
             is prepared, entered and left once, without the kernel.",
    caveats: "On one CPU the creator usually continues until it waits; the thread's first instruction comes after \
              that.",
    version: 1,
    timed: Some(TimedCode {
        of: "create and join",
        source: include_str!("thread_creation.rs"),
        begins: "fn create_and_join(",
    }),
    parameters: &[MEASURE],
    trends: &[],
    shown: Shown::by(&[MainFigure::leading(
        "kernel thread, create and join",
        &[("measure", At::Name("create and join"))],
    )
    .called("thread, create and join")]),
};

const JOIN: &str = "create and join";
const CREATE: &str = "create";
const FIRST: &str = "to first instruction";
const USER_LEVEL: &str = "user-level";

impl Experiment for ThreadCreation {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let placed =
            |placement| [JOIN, CREATE, FIRST].map(|measure| Point::at(placement).named(&MEASURE, measure));
        let kernel = [Placement::OneCpu, Placement::Free].into_iter().flat_map(placed);
        kernel.chain([Point::new().named(&MEASURE, USER_LEVEL)]).collect()
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        match (point.placement(), point.name(&MEASURE)) {
            (Placement::Free, _) => vec![Requirement::Cpus(2)],
            (_, USER_LEVEL) => vec![Requirement::ASSEMBLY],
            _ => vec![],
        }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        if point.name(&MEASURE) == USER_LEVEL {
            let switches = known.measured_or_assumed(
                "cpu/context_switch",
                &Point::new()
                    .named(&parameter("mechanism"), USER_LEVEL)
                    .named(&parameter("between"), "stacks"),
                3.0,
                "a stack switch of some ten instructions",
            );
            return Ok(Prediction::new().hardware(
                "two changes of stacks and a frame written",
                2.5,
                switches,
            ));
        }
        // A part of what is published of the whole, which it cannot exceed.
        let (what, share) = match point.name(&MEASURE) {
            JOIN => ("a thread: created and joined", 1.0),
            CREATE => ("a thread created and joined, until its call returns, assumed to be half", 0.5),
            _ => ("a thread created and joined, until its first instruction, assumed to be 0.6 of it", 0.6),
        };
        Ok(match point.placement() {
            Placement::OneCpu => published::thread(Prediction::new(), what).times(share),
            _ => scaled(Prediction::new(), what, share, 8_466.4, known),
        })
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        (point.name(&MEASURE) != USER_LEVEL)
            .then(|| Bound::of(100.0 * known.shortest_cycle(), "clone enters the kernel and copies a task"))
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        match point.name(&MEASURE) {
            JOIN => Ok(Workload::each(create_and_join)),
            CREATE => Ok(Workload::until_marked(create_as_seen(site))),
            FIRST => Ok(Workload::until_marked(create_to_first_instruction(site))),
            USER_LEVEL => user_level(site),
            measure => Err(Failure::no_variant(&MEASURE, measure)),
        }
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let switches = observed.per_operation(observed.switches());
        match (point.name(&MEASURE), point.placement()) {
            (USER_LEVEL, _) => {
                vec![Check::within("the kernel made no switches: switches per thread", switches, 0.0, 0.01)]
            }
            // The creator waits in join until the thread ends: at least one switch to the thread.
            (_, Placement::OneCpu) => {
                vec![Check::within(
                    "the kernel switched to each thread: switches per thread",
                    switches,
                    0.9,
                    3.0,
                )]
            }
            _ => vec![],
        }
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let cost = |measure| known.found(ABOUT.name, &Point::new().named(&MEASURE, measure));
        let (Some(join), Some(create)) = (cost(JOIN), cost(CREATE)) else { return vec![] };
        let creation = finding!(
            Question::Experiment,
            "Creating a thread takes its creator {create}; until the thread has run and is joined, it takes \
             {join}.",
            create = create.named("create"),
            join = join.named("create and join")
        );
        [creation].into_iter().chain(by_rules(join, known)).collect()
    }
}

/// Reports 000 and 001 predicted a thread as half, and as a tenth, of a process.
fn by_rules(thread: Found, known: &Known) -> Option<Finding> {
    let scaled = "half of lmbench's 0.4 ms for a process at 167 MHz, scaled by clock frequency";
    let calls = known.found("cpu/system_call", &system_call::bare()).map(|call| RuleOfThumb {
        text: "a tenth of a process of 200 system calls (report 001)",
        says: call.scaled(20.0),
    });
    let rules = RuleOfThumb::by_clock_ratio(scaled, 0.2e6, thread, known).into_iter().chain(calls);
    rule_of_thumb::beside("a thread created and joined", thread, rules)
}

/// The point of a thread's complete lifetime, for comparisons.
pub fn whole() -> Point {
    Point::new().named(&MEASURE, JOIN)
}

fn parameter(name: &'static str) -> Parameter {
    Parameter { name, ..MEASURE }
}

/// Creates a thread that runs `body` on `argument`; joins it with [`join`].
fn create(
    body: extern "C" fn(*mut libc::c_void) -> *mut libc::c_void,
    argument: *mut libc::c_void,
) -> Result<libc::pthread_t, Failure> {
    let mut thread = 0;
    // SAFETY: default attributes; the argument outlives the thread, which its creator joins.
    let created = unsafe { libc::pthread_create(&raw mut thread, null(), body, argument) };
    ensure(created == 0, "pthread_create failed: raise the limit of tasks (ulimit -u, pids cgroup)")?;
    Ok(thread)
}

fn join(thread: libc::pthread_t) -> Result<(), Failure> {
    // SAFETY: a thread that was created here and not joined yet.
    ensure(unsafe { libc::pthread_join(thread, null_mut()) } == 0, "pthread_join failed")
}

extern "C" fn nothing(_: *mut libc::c_void) -> *mut libc::c_void {
    null_mut()
}

extern "C" fn stamp(stopwatch: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: `create_to_first_instruction` passes its stopwatch, which outlives the thread.
    unsafe { (*stopwatch.cast::<&dyn Stopwatch>()).stamp() };
    null_mut()
}

fn create_and_join(n: u64) -> Result<(), Failure> {
    (0..n).try_for_each(|_| join(create(nothing, null_mut())?))
}

fn create_as_seen<'site>(site: &'site Site) -> impl FnMut(u64) -> Result<(), Failure> + 'site {
    move |_| {
        let thread = create(nothing, null_mut())?;
        site.stopwatch.stamp();
        join(thread)
    }
}

/// Creates threads that stop the time at their first instruction.
pub fn create_to_first_instruction<'site>(
    site: &'site Site,
) -> impl FnMut(u64) -> Result<(), Failure> + 'site {
    let mut stopwatch = site.stopwatch;
    move |_| join(create(stamp, (&raw mut stopwatch).cast())?)
}

fn user_level<'site>(site: &Site) -> Result<Workload<'site>, Failure> {
    arch::ensure_assembly("the change of stacks is written for x86-64 and aarch64")?;
    let mut thread = crate::apparatus::cpu::user_thread::UserThread::new(site.buffer_offset);
    Ok(Workload::batched(move |n| {
        let before = thread.turns();
        for _ in 0..n {
            thread.restart();
            thread.round_trip();
        }
        ensure(thread.turns() - before == n, "the second stack did not run as often as requested")
    }))
}
