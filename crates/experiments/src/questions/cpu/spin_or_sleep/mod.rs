//! From which waiting time on is it better to sleep than to spin?

mod findings;
mod pair;
mod waits;

use super::context_switch;
use super::core_to_core;
use crate::expected::{kernel_service, mode_switch, virtual_exit};
use fathom_core::prelude::*;
use pair::{EndedWait, WaitingPair};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use waits::{AnyWait, Asleep, Inheriting, Requeued, Spinning};

const WAY: Parameter = Parameter::of("way", "how the thread waits", &[SPIN, FUTEX, REQUEUE, INHERITING]);
const LENGTH: Parameter = Parameter::nanoseconds("length", "how long it waits before the wait is ended");
const FIGURE: Parameter = Parameter::named(
    "figure",
    "latency: from when the wait is ended until the waiter's answer is here; call: what the call takes the thread that ends \
     the wait (with a requeue: that moves the waiter); cpu time: of the waiter and of that call together",
);

pub use findings::woken_after;

pub struct SpinOrSleep;

static ABOUT: About = About {
    name: "cpu/spin_or_sleep",
    question: "How long must a wait be before sleeping is better than spinning?",
    operation: "one wait of a thread on another CPU, ended by this one after a known time",
    method: "Two threads are pinned to two CPUs. The waiter announces that it waits; then it either reads a word until \
             the word changes (spin) or sleeps on it in the kernel (futex). The other thread spins for 10 µs, 100 µs or 1 \
             ms by the clock, changes the word, wakes the waiter by a system call if it sleeps, and reads a second word \
             until the waiter has answered. Latency is the time from the change to the answer; whichever way the waiter \
             waits, it includes the answer's way back, one hand-over of a line.\
             \n\nThe CPU time of a wait is the CPU time that the kernel charges to the waiter, less what two readings of \
             it cost by themselves, plus the time of the call that wakes it. A wait spent spinning takes as much CPU time \
             as it lasts. So sleeping takes less CPU time once the wait is longer than the CPU time of a wait asleep; for \
             shorter waits spinning is better in both respects. A waiter that spins for that long and then sleeps never \
             needs more than twice the CPU time of the better choice (Karlin et al. 1991, \"Empirical studies of \
             competitive spinning for a shared-memory multiprocessor\").\
             \n\nWith a requeue the waiter is moved from one futex to another without being woken, as condition variables \
             do it, and is then woken there. A mutex with priority inheritance (PI) is handed to the waiter by the \
             kernel; newer kernels let the waiter spin while the owner is running. A wait that ends before the waiter has \
             fallen asleep is no observation of sleeping; such waits are counted. How deeply an idle CPU sleeps, and how \
             quickly a host wakes it, adapts to the work, so sleeping is observed only once its cost is steady.",
    caveats: "CPU time is what the kernel charges to the two threads. It includes neither the idle loop, nor the interrupt \
             on the other CPU, nor the hypervisor's work; on a virtual machine most of waking a CPU is done by the host.",
    version: 1,
    timed: Some(TimedCode {
        of: "the end of a wait, and its answer",
        source: include_str!("pair.rs"),
        begins: "pub fn wait_and_end(",
    }),
    parameters: &[WAY, LENGTH, FIGURE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "a waiter woken by futex after 100 µs",
            &[("way", At::Name(FUTEX)), ("length", At::Number(USUAL)), ("figure", At::Name(LATENCY))],
        ),
        MainFigure::of(
            "CPU time of a wait asleep, 100 µs",
            &[("way", At::Name(FUTEX)), ("length", At::Number(USUAL)), ("figure", At::Name(CPU_TIME))],
        ),
    ])
    .clauses(&[Clause::of(
        "the wait from which sleeping takes less processor time than spinning",
        |point, _| point.name(&WAY) == FUTEX && point.name(&FIGURE) == CPU_TIME,
    )]),
};

const SPIN: &str = "spin";
const FUTEX: &str = "futex";
const REQUEUE: &str = "requeue";
const INHERITING: &str = "PI mutex";
const LATENCY: &str = "latency";
const CALL: &str = "call";
const CPU_TIME: &str = "cpu time";

const LENGTHS: [u64; 3] = [10_000, USUAL, 1_000_000];
const USUAL: u64 = 100_000;

/// Witnesses: waits that were ended; those in which the waiter was in the kernel; its switches in those, and in the others.
const WAITS: &str = "waits";
const SLEPT: &str = "waits_asleep";
const SWITCHES: &str = "switches_of_the_waiter_asleep";
const OTHER_SWITCHES: &str = "other_switches_of_the_waiter";
/// Witness: the time that the waits lasted before they were ended, nanoseconds.
const WAITED: &str = "nanoseconds_waited";

impl Experiment for SpinOrSleep {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let spun = LENGTHS.map(|length| at(SPIN, length, LATENCY));
        let slept = LENGTHS.map(|length| [LATENCY, CALL, CPU_TIME].map(|figure| at(FUTEX, length, figure)));
        let further = [REQUEUE, INHERITING].map(|way| [LATENCY, CALL].map(|figure| at(way, USUAL, figure)));
        spun.into_iter().chain(slept.into_iter().flatten()).chain(further.into_iter().flatten()).collect()
    }

    fn requires(&self, _: &Point) -> Vec<Requirement> {
        vec![Requirement::Cpus(2)]
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        let usual = point.number(&LENGTH) == USUAL && [SPIN, FUTEX].contains(&point.name(&WAY));
        if usual { Effort::Quick } else { Effort::Standard }
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let hand_over = core_to_core::between_cores(known);
        if point.name(&WAY) == SPIN {
            let what = "the word handed to the waiter, and its answer back";
            return Ok(Prediction::new().hardware(what, 2.0, hand_over));
        }
        let call = called(Prediction::new(), known);
        Ok(match (point.name(&WAY), point.name(&FIGURE)) {
            (REQUEUE, CALL) => requeued(known),
            (INHERITING, LATENCY) if spins_in_the_kernel(known.machine) => in_the_kernel(1.5, known)
                .hardware("the owner's words and the waiter's answer handed over", 3.0, hand_over),
            // Nobody has to be interrupted.
            (INHERITING, CALL) if spins_in_the_kernel(known.machine) => in_the_kernel(1.0, known),
            (_, figure) => by_waking(figure, point.number(&LENGTH), call, known, hand_over),
        })
    }

    fn exceeded_for(&self, point: &Point, known: &Known) -> Option<Excess> {
        let is_woken = point.name(&WAY) == FUTEX && point.name(&FIGURE) == LATENCY;
        findings::longer_after(point.number(&LENGTH), known).filter(|_| is_woken)
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        Some(match point.name(&WAY) {
            SPIN => Bound::of(
                10.0 * known.shortest_cycle(),
                "two loads that another core's stores must reach first",
            ),
            _ => mode_switch::bound(1.0, "sleeping and waking enter", known),
        })
    }

    /// How a CPU idles becomes steady once for all points of a process.
    fn block(&self, point: &Point) -> Option<String> {
        Some(point.name(&WAY).to_owned())
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let way = point.name(&WAY);
        let mut pair = WaitingPair::start(site.partner, wait_by(way)?, site.stopwatch)?;
        let counts = Rc::new(WaitCounts::default());
        let (counted, length, spins) = (Rc::clone(&counts), point.number(&LENGTH) as f64, way == SPIN);
        let observe = move || {
            let wait = pair.wait_and_end(length, site.stopwatch)?;
            counts.add(&wait);
            Ok(figures(&wait, spins))
        };
        let workload = Workload::figures(observe).settling(!spins);
        Ok(workload.witnessed(move || counted.account()))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let over = |claim: &str, some, all, least, most| {
            Check::within(claim, observed.ratio(some, all), least, most)
        };
        let length = point.number(&LENGTH) as f64;
        let lasted =
            over("nanoseconds that a wait lasted before it was ended", WAITED, WAITS, length, f64::INFINITY);
        if point.name(&WAY) == SPIN {
            let claim = "the waiter spun: its switches because it slept, per wait";
            return vec![lasted, over(claim, OTHER_SWITCHES, WAITS, 0.0, 0.01)];
        }
        let in_kernel = "the waiter was in the kernel when its wait was ended: share of waits";
        let slept = "the kernel counted that it slept: switches per such wait";
        // A kernel may let the waiter for a mutex with priority inheritance spin while the owner runs.
        let sleeps = point.name(&WAY) != INHERITING;
        let slept = sleeps.then(|| over(slept, SWITCHES, SLEPT, 0.98, 2.05));
        [lasted, over(in_kernel, SLEPT, WAITS, 0.5, 1.0)].into_iter().chain(slept).collect()
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }

    fn time_limit(&self, _: &Point) -> Duration {
        Duration::from_secs(20)
    }
}

fn at(way: &str, length: u64, figure: &str) -> Point {
    Point::at(Placement::AcrossCpus).named(&WAY, way).with(&LENGTH, length).named(&FIGURE, figure)
}

fn wait_by(way: &str) -> Result<AnyWait, Failure> {
    match way {
        SPIN => Ok(Arc::new(Spinning::default())),
        FUTEX => Ok(Arc::new(Asleep::default())),
        REQUEUE => Ok(Arc::new(Requeued::default())),
        INHERITING => Ok(Arc::new(Inheriting::new()?)),
        way => Err(Failure::no_variant(&WAY, way)),
    }
}

/// A waiter that had to be woken and did not sleep shows nothing of sleeping.
fn figures(wait: &EndedWait, spins: bool) -> Vec<FigureValue> {
    let latency = (LATENCY, wait.latency_ns);
    match (spins, wait.slept) {
        (true, _) => vec![latency],
        (false, true) => {
            vec![latency, (CALL, wait.call_ns), (CPU_TIME, wait.waiter_ns + wait.call_ns)]
        }
        (false, false) => vec![],
    }
}

/// Putting a sleeper from one queue into another, without waking it.
fn requeued(known: &Known) -> Prediction {
    kernel_service::entering(Prediction::new(), "entering the kernel", 1.0, known).software(
        "two queues locked, and the waiter moved from one to the other",
        1.0,
        known.assumed_cycles(1_000.0, "two hash buckets found and locked, an order of magnitude"),
    )
}

/// Since Linux 5.15 who waits first for a mutex with priority inheritance spins in the kernel while the owner runs
/// (`rtmutex_spin_on_owner` in kernel/locking/rtmutex.c, commit 992caf7f1724).
fn spins_in_the_kernel(machine: &Machine) -> bool {
    machine.kernel.is_at_least(5, 15)
}

/// A mutex passed to a waiter that spins in the kernel, with so many entries: the owner's call, and half for the waiter's way back.
fn in_the_kernel(entries: f64, known: &Known) -> Prediction {
    kernel_service::entering(Prediction::new(), "entering the kernel", entries, known).software(
        "the waiter made the owner, which spins in the kernel while the owner runs",
        1.0,
        known.assumed_cycles(
            3_000.0,
            "the queue of waiters locked and changed by both, an order of magnitude",
        ),
    )
}

fn by_waking(figure: &str, length: u64, call: Prediction, known: &Known, hand_over: Basis) -> Prediction {
    match figure {
        CALL => call,
        CPU_TIME => slept(call, known),
        _ => context_switch::after_idling(
            kernel_service::entering(Prediction::new(), "entering the kernel", 1.0, known)
                .software(
                    &context_switch::as_in_hand_overs("an idle CPU woken"),
                    1.0,
                    context_switch::idle_cpu(known),
                )
                .being(TermEvent::WakeUp)
                .hardware("the waiter's answer handed back", 1.0, hand_over),
            length,
            known,
        ),
    }
}

/// What the call does that wakes a thread. A guest leaves for its hypervisor to interrupt another CPU, unless its hardware does that.
fn called(prediction: Prediction, known: &Known) -> Prediction {
    let interrupted = virtual_exit::interrupting_a_cpu(prediction, known);
    kernel_service::entering(interrupted, "entering the kernel", 1.0, known).software(
        "the waiter found, queued on its CPU, and that CPU interrupted",
        1.0,
        known.assumed_cycles(3_000.0, "a wake-up and an interrupt for another CPU, an order of magnitude"),
    )
}

/// What the waiter does to sleep, beyond the call that wakes it.
fn slept(call: Prediction, known: &Known) -> Prediction {
    let switch = known.measured_or_assumed(
        "cpu/context_switch",
        &context_switch::between_processes(),
        1_000.0,
        "a switch, an order of magnitude",
    );
    kernel_service::entering(call, "entering the kernel to sleep", 1.0, known).software(
        "switches to the idle task and back",
        2.0,
        switch,
    )
}

#[derive(Default)]
struct WaitCounts {
    waits: Cell<f64>,
    slept: Cell<f64>,
    switches: Cell<f64>,
    other_switches: Cell<f64>,
    waited_ns: Cell<f64>,
}

impl WaitCounts {
    fn add(&self, wait: &EndedWait) {
        let add = |to: &Cell<f64>, more: f64| to.set(to.get() + more);
        add(&self.waits, 1.0);
        add(&self.waited_ns, wait.waited_ns);
        add(&self.slept, f64::from(u8::from(wait.slept)));
        let switches = if wait.slept { &self.switches } else { &self.other_switches };
        add(switches, wait.switches as f64);
    }

    fn account(&self) -> Vec<(&'static str, f64)> {
        let counts = [
            (WAITS, &self.waits),
            (SLEPT, &self.slept),
            (SWITCHES, &self.switches),
            (OTHER_SWITCHES, &self.other_switches),
            (WAITED, &self.waited_ns),
        ];
        counts.into_iter().map(|(name, count)| (name, count.get())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(way: &str, otherwise: (&str, f64)) -> bool {
        let asleep = if way == SPIN { 0.0 } else { 100.0 };
        let usual =
            [(WAITS, 100.0), (SLEPT, asleep), (SWITCHES, asleep), (OTHER_SWITCHES, 0.0), (WAITED, 1.01e7)];
        let observed = fathom_described::observed(0, usual.into_iter().chain([otherwise]));
        SpinOrSleep.evidence(&at(way, USUAL, LATENCY), &observed).iter().all(|check| check.holds)
    }

    #[test]
    fn a_waiter_that_slept_instead_of_spinning_or_did_not_sleep_is_found_out() {
        assert!(holds(SPIN, ("nothing", 0.0)) && holds(FUTEX, ("nothing", 0.0)));
        assert!(!holds(SPIN, (OTHER_SWITCHES, 40.0)), "it slept");
        assert!(!holds(FUTEX, (SLEPT, 30.0)), "it was awake most of the time");
        assert!(!holds(FUTEX, (SWITCHES, 20.0)), "the kernel counted no sleep");
        assert!(!holds(FUTEX, (WAITED, 1e5)), "the waits were short");
        assert!(holds(INHERITING, (SWITCHES, 0.0)), "it may spin in the kernel");
        assert!(!holds(INHERITING, (SLEPT, 0.0)), "it never waited in the kernel");
    }

    #[test]
    fn a_wait_in_which_nobody_slept_is_no_observation_of_sleeping() {
        let wait = |slept| EndedWait {
            latency_ns: 5e3,
            call_ns: 1e3,
            waiter_ns: 2e3,
            waited_ns: 1e5,
            slept,
            switches: 1,
        };
        assert_eq!(figures(&wait(false), true), [(LATENCY, 5e3)]);
        assert_eq!(figures(&wait(true), false), [(LATENCY, 5e3), (CALL, 1e3), (CPU_TIME, 3e3)]);
        assert!(figures(&wait(false), false).is_empty());
    }

    /// Whatever CPUs there are, each way ends its waits.
    #[test]
    fn every_way_ends_its_waits() {
        struct Real(std::sync::atomic::AtomicU64);
        impl Stopwatch for Real {
            fn stamp(&self) {}
            fn now_ns(&self) -> f64 {
                std::thread::yield_now();
                self.0.fetch_add(1000, std::sync::atomic::Ordering::Relaxed) as f64
            }
            fn spin(&self, _: f64) -> Spin {
                Spin::default()
            }
            fn core(&self) -> CoreWidth {
                CoreWidth { addition_ns: 1.0, quotient: 1.0 }
            }
        }
        let clock = Real(std::sync::atomic::AtomicU64::new(0));
        for way in [SPIN, FUTEX, REQUEUE, INHERITING] {
            let mut pair = WaitingPair::start(None, wait_by(way).unwrap(), &clock).unwrap();
            for _ in 0..20 {
                let wait = pair.wait_and_end(1e5, &clock).unwrap();
                assert!(wait.waited_ns >= 1e5, "{way}: {wait:?}");
            }
        }
    }
}
