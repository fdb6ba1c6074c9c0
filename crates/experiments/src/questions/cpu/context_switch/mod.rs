//! What does it cost to stop one process or thread and let another run?

mod findings;
mod woken;

pub use woken::{after_idling, as_in_hand_overs, idle_cpu};

use crate::apparatus::cpu::ring::Ring;
use crate::arch;
use crate::expected::{kernel_service, mode_switch, published};
use fathom_core::experiment::errno;
use fathom_core::machine::Machine;
use fathom_core::prelude::*;
use fathom_core::quantities;
use fathom_core::sampling::partner;
use fathom_core::sampling::turn::{self, Ends};

pub const NAME: &str = "cpu/context_switch";

const MECHANISM: Parameter = Parameter::named("mechanism", "how the CPU is handed over");
const BETWEEN: Parameter =
    Parameter::of("between", "processes or threads of one process", &[PROCESSES, THREADS, NOBODY, STACKS]);
const MEMBERS: Parameter = Parameter::count("members", "processes that pass the turn round");
const WORKING_SET: Parameter = Parameter::bytes("working_set", "memory that each member sums in its turn");

/// A byte through a pair of pipes.
const PIPE: &str = "pipe";
/// The same, less the cost of the pipes without a switch.
const PIPE_NET: &str = "pipe less its cost";
/// The pipes without a switch.
const PIPE_ALONE: &str = "pipe alone";
/// Several processes that pass a byte around a ring of pipes.
const RING: &str = "ring of pipes";
/// `sched_yield` between two processes.
const YIELD: &str = "yield";
/// Change of stacks inside one kernel thread.
const USER_LEVEL: &str = "user-level";
/// From just before a child is created to its first instruction.
const START: &str = "start of child";
const PROCESSES: &str = "processes";
/// Between threads of one process.
const THREADS: &str = "threads";
/// No other side: one process alone.
const NOBODY: &str = "nobody";
/// Between two stacks of one thread.
const STACKS: &str = "stacks";

/// A switch between two processes on one CPU, for predictions that contain switches.
pub fn between_processes() -> Point {
    Point::new().named(&MECHANISM, PIPE_NET).named(&BETWEEN, PROCESSES)
}

/// Wake-up of a process on another CPU through a pipe, for predictions that contain it.
pub fn across_cpus() -> Point {
    Point::at(Placement::AcrossCpus).named(&MECHANISM, PIPE).named(&BETWEEN, PROCESSES)
}

/// The same on one CPU, which nothing has to wake.
fn on_one_cpu() -> Point {
    between(PIPE, PROCESSES)
}

/// A hand-over on one CPU by this mechanism.
fn between(mechanism: &str, between: &str) -> Point {
    Point::new().named(&MECHANISM, mechanism).named(&BETWEEN, between)
}

pub struct ContextSwitch;

static ABOUT: About = About {
    name: NAME,
    question: "What does it cost to stop one process or thread and let another run?",
    operation: "one switch: a round trip, there and back, is two",
    method: "Two processes or threads hand a turn to each other: one byte through a pair of pipes, a number through \
             event counters, or a word with a futex. When both are pinned to one CPU, every hand-over forces a \
             switch; the kernel's count of switches proves it. For `pipe less its cost`, the cost of writing and \
             reading the same bytes without a switch is subtracted (two writes and two reads per round trip); it is \
             measured in the same process, interleaved. The other mechanisms are whole hand-overs. `pipe alone` is \
             that subtracted cost, per byte written and read.\n\nAcross CPUs no switch is forced: the figure is the \
             cost of waking the other side on an idle CPU, observed once it is steady (after 100 ms at least). \
             `free` lets the scheduler choose. Rings of processes with \
             working sets follow lmbench's lat_ctx: the cost of the pipes and of summing, without switches, is \
             subtracted. Members run under SCHED_BATCH, so that none preempts the one that woke it and a hand-over is \
             one switch. `yield` is `sched_yield` between two processes that do nothing else. `user-level` changes \
             stacks inside one kernel thread and never enters the kernel.",
    caveats: "`start of child` is the method of report 003: from before fork or pthread_create to the child's first \
              instruction. It measures creation, not a switch. Plain `pipe` figures include the cost of the pipe. Of two \
              processes the woken one may preempt its waker, which then finds its next turn there and does not sleep: \
              such a hand-over costs less than one in a ring.",
    version: 4,
    timed: Some(TimedCode { of: "two turns", source: turn::SOURCE, begins: "pub fn rounds<" }),
    parameters: &[MECHANISM, BETWEEN, MEMBERS, WORKING_SET],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::leading(
            "between processes",
            &[("between", At::Name(PROCESSES)), ("mechanism", At::Name(PIPE_NET))],
        )
        .called("switch between processes"),
        MainFigure::of(
            "between threads",
            &[("between", At::Name(THREADS)), ("mechanism", At::Name(PIPE_NET))],
        ),
        MainFigure::of(
            "in the largest ring, no working set",
            &[("mechanism", At::Name(RING)), ("members", At::Most), ("working_set", At::Least)],
        ),
        MainFigure::of(
            "in the largest ring, the largest working set",
            &[("mechanism", At::Name(RING)), ("members", At::Most), ("working_set", At::Most)],
        ),
    ]),
};

impl Experiment for ContextSwitch {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        let at = |placement, mechanism, between| {
            Point::at(placement).named(&MECHANISM, mechanism).named(&BETWEEN, between)
        };
        let mut points = vec![at(Placement::OneCpu, PIPE_ALONE, NOBODY)];
        for between in [PROCESSES, THREADS] {
            points.push(at(Placement::OneCpu, PIPE_NET, between));
            for mechanism in [PIPE, "eventfd", "futex"] {
                points.extend(
                    [Placement::OneCpu, Placement::AcrossCpus]
                        .map(|placement| at(placement, mechanism, between)),
                );
            }
            points.push(at(Placement::Free, PIPE, between));
            points.push(at(Placement::OneCpu, START, between));
        }
        if machine.spans_packages() {
            points.push(at(Placement::AcrossPackages, PIPE, PROCESSES));
            points.push(at(Placement::AcrossPackages, "futex", THREADS));
        }
        points.push(at(Placement::OneCpu, YIELD, PROCESSES));
        points.push(at(Placement::OneCpu, USER_LEVEL, STACKS));
        for members in [2, 8, 16] {
            let ring = |kib: u64| {
                at(Placement::OneCpu, RING, PROCESSES).with(&MEMBERS, members).with(&WORKING_SET, kib << 10)
            };
            points.extend([0, 16, 64].map(ring));
        }
        points
    }

    fn core_share(&self, point: &Point, machine: &Machine) -> Option<CoreShare> {
        // A child that is started has an address space to be made first.
        if point.name(&MECHANISM) == START {
            return None;
        }
        let number = |parameter: &Parameter| point.number_of(parameter.name).unwrap_or(0);
        match number(&WORKING_SET) * number(&MEMBERS) {
            0 => Some(CoreShare::NEARLY_WHOLE),
            summed => CoreShare::of_array(summed, machine),
        }
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        match (point.placement(), point.name(&MECHANISM)) {
            (Placement::AcrossCpus | Placement::AcrossPackages, _) => vec![Requirement::Cpus(2)],
            (_, USER_LEVEL) => vec![Requirement::ASSEMBLY],
            _ => vec![],
        }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let calls = |count: f64| {
            let what = "system calls, each a bare entry at least";
            kernel_service::entering(Prediction::new(), what, count, known)
        };
        let estimated = |ns| Basis::assumed(ns, "estimated from the path in the kernel");
        Ok(match (point.name(&MECHANISM), point.placement()) {
            (USER_LEVEL, _) => Prediction::new().hardware(
                "six registers and a stack pointer saved and restored",
                1.0,
                known.assumed_cycles(8.0, "fourteen memory instructions, two a cycle, and a return"),
            ),
            (PIPE_ALONE, _) => {
                calls(2.0).software("a pipe's lock, copy and wake-up check, twice", 2.0, estimated(100.0))
            }
            (PIPE_NET, Placement::OneCpu) if point.name(&BETWEEN) == PROCESSES => {
                published::switches(Prediction::new(), 1.0)
            }
            (PIPE_NET, _) => scheduler(Prediction::new(), point, known),
            (START, _) => created(point, known),
            (YIELD, _) => scheduler(calls(1.0), point, known),
            (RING, _) => scheduler(Prediction::new(), point, known).hardware(
                "the working set fetched again from the next cache",
                point.number(&WORKING_SET) as f64 / 64.0,
                known.assumed_cycles(
                    4.0,
                    "a line from the second-level cache in some 4 cycles when prefetched",
                ),
            ),
            (_, Placement::OneCpu) => scheduler(calls(2.0), point, known).software(
                "the mechanism's own work",
                1.0,
                estimated(200.0),
            ),
            // It depends on whether an idle CPU polls or sleeps; a virtual one must be woken by the hypervisor.
            _ => calls(2.0).software("an idle CPU woken", 1.0, woken(point, known)).being(TermEvent::WakeUp),
        })
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let in_kernel = !matches!(point.name(&MECHANISM), USER_LEVEL | PIPE_NET | RING);
        in_kernel.then(|| mode_switch::bound(1.0, "every hand-over enters", known))
    }

    fn touches(&self, _: &Point) -> Vec<Touch> {
        vec![Touch::BatchPolicy]
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        match point.name(&MECHANISM) {
            PIPE => hand_over(turn::pipes()?, point, site),
            PIPE_NET => Ok(hand_over(turn::pipes()?, point, site)?.against(pipe_round_trip()?)),
            PIPE_ALONE => Ok(Workload::batched(pipe_round_trip()?).per_iteration(2)),
            "eventfd" => hand_over(turn::eventfds()?, point, site),
            "futex" => hand_over(turn::futexes()?, point, site),
            RING => ring(point, site),
            YIELD => yielding(site),
            START => start_of_child(point, site),
            USER_LEVEL => user_level(site),
            mechanism => Err(Failure::no_variant(&MECHANISM, mechanism)),
        }
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let switches = observed.per_operation(observed.switches());
        let others = observed.others_per_operation(1.0);
        let mechanism = point.name(&MECHANISM);
        match (mechanism, point.placement()) {
            (PIPE_ALONE | USER_LEVEL, _) => {
                vec![Check::within(
                    "the kernel made no switches: switches per operation",
                    switches,
                    0.0,
                    0.01 + others,
                )]
            }
            (START, _) => vec![],
            // This side is switched out once per round trip; the kernel counts both sides of threads here.
            (_, Placement::OneCpu) => {
                let claim = "switches counted by the kernel per switch claimed, to the other side and back";
                let (own, of) = match (mechanism, point.name(&BETWEEN)) {
                    (RING, _) => (1.0 / point.number(&MEMBERS) as f64, "this process's share"),
                    (_, THREADS) => (1.0, "both threads"),
                    _ => (0.5, "one side of two"),
                };
                vec![Check::within(
                    format!("{claim} ({of}: {})", quantities::number(own)),
                    switches,
                    own * 0.97 - others,
                    own * 1.1 + others,
                )]
            }
            _ => vec![Check::within(
                "sides slept and were woken: switches per hand-over, at most one",
                switches,
                0.0,
                1.05 + others,
            )],
        }
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }
}

/// Waking the other side's CPU. The hand-over from which other predictions have it is not predicted from itself.
fn woken(point: &Point, known: &Known) -> Basis {
    if *point == across_cpus() { woken::before_measuring(known) } else { idle_cpu(known) }
}

/// The scheduler's decision and the change of task: half of report 000's round trips (table 7: 1785.8 and 2145.6 ns), less its
/// pipe (579.2 ns). The report's own differences, 586.9 and 761.8 ns, are miscalculated.
fn scheduler(prediction: Prediction, point: &Point, known: &Known) -> Prediction {
    let (what, round_trip_ns) = match point.name(&BETWEEN) {
        THREADS => ("choosing and changing to another thread", 1_206.6),
        _ => ("choosing and changing to another process", 1_566.4),
    };
    kernel_service::scaled(prediction, what, 0.5, round_trip_ns, known)
}

/// Creation of a child up to its first instruction: most of the cost of its complete creation.
fn created(point: &Point, known: &Known) -> Prediction {
    let (what, whole_ns) = match point.name(&BETWEEN) {
        PROCESSES => ("most of a process made and reaped", 42_803.4),
        _ => ("most of a thread made and joined", 8_466.4),
    };
    kernel_service::scaled(Prediction::new(), what, 0.7, whole_ns, known)
}

/// Round trips with a partner that echoes.
fn hand_over<'site>((near, far): Ends, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let other = match point.name(&BETWEEN) {
        PROCESSES => Some(partner::PartnerProcess::start(site.partner, move || turn::echo(far))?),
        THREADS => {
            partner::thread(site.partner, move || turn::echo(far))?;
            None
        }
        between => return Err(Failure::no_variant(&BETWEEN, between)),
    };
    Ok(turn::rounds(near, other).settling(point.placement() != Placement::OneCpu))
}

/// The cost of the pipes in a round trip without waiting: two bytes written and read.
fn pipe_round_trip() -> Result<impl FnMut(u64) -> Result<(), Failure>, Failure> {
    let mut own = turn::pipe_to_self()?;
    Ok(move |n| {
        for _ in 0..2 * n {
            own.give()?;
            own.wait()?;
        }
        Ok(())
    })
}

fn ring<'site>(point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let (members, bytes) = (point.number(&MEMBERS) as usize, point.number(&WORKING_SET) as usize);
    let mut ring = Ring::start(members, bytes, site)?;
    let mut alone = Ring::alone(members, bytes, site)?;
    let pass = move |n| ring.pass(n);
    let idle = move |n| alone.pass(n);
    Ok(Workload::batched(pass).against(idle).per_iteration(members as u64))
}

/// Two processes that only yield: our yield switches to the other process, and its yield switches back.
fn yielding<'site>(site: &'site Site) -> Result<Workload<'site>, Failure> {
    let yield_once = || {
        // SAFETY: takes no arguments.
        errno("sched_yield", unsafe { libc::sched_yield() })
    };
    let other = partner::PartnerProcess::start(site.partner, move || {
        loop {
            yield_once()?;
        }
    })?;
    let play = move |n| {
        let _keep = &other;
        for _ in 0..n {
            yield_once()?;
        }
        Ok(())
    };
    Ok(Workload::batched(play).per_iteration(2))
}

fn start_of_child<'site>(point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    match point.name(&BETWEEN) {
        PROCESSES => Ok(Workload::until_marked(super::process_creation::fork_to_first_instruction(site))),
        THREADS => Ok(Workload::until_marked(super::thread_creation::create_to_first_instruction(site))),
        between => Err(Failure::no_variant(&BETWEEN, between)),
    }
}

fn user_level<'site>(site: &Site) -> Result<Workload<'site>, Failure> {
    arch::ensure_assembly("the change of stacks is written for x86-64 and aarch64")?;
    let mut thread = crate::apparatus::cpu::user_thread::UserThread::new(site.buffer_offset);
    let play = move |n| {
        let before = thread.turns();
        for _ in 0..n {
            thread.round_trip();
        }
        ensure(thread.turns() - before == n, "the second stack did not run as often as requested")
    };
    Ok(Workload::batched(play).per_iteration(2))
}
