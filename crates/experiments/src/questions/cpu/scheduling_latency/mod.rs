//! How late does a thread run that becomes runnable while the CPUs are busy, or while its processor time has a quota?

mod findings;
mod ideal_quota;
mod quota;
mod requests;
mod series;
mod wake;

use super::context_switch;
use crate::apparatus::cpu::busy::LoadPolicy;
use crate::expected::{kernel_service, virtual_exit};
use fathom_core::prelude::*;
use fathom_core::sampling::affinity;
use quota::{PASSED, PERIODS, THROTTLES, USED};
use series::{ALL_SERIES, BusyLoad, RUNNING, SERIES, SLEEPS, WAKE_UPS, beside, limited, served, woken};
use std::time::Duration;
use wake::{Messages, WakingTimer};

const WAKE: Parameter = Parameter::of("wake", "what makes the thread runnable", &[TIMER, MESSAGE, REQUEST]);
const BUSY: Parameter = Parameter::count("busy", "processes on every CPU that only compute meanwhile");
const POLICY: Parameter = Parameter::of(
    "policy",
    "the policy of those processes; none where there are none",
    &[NONE, LoadPolicy::Other.name(), LoadPolicy::Batch.name(), LoadPolicy::Idle.name()],
);
const QUOTA_USE: Parameter = Parameter::count(
    "quota_use",
    "percent of a quota of half a CPU that the thread's work uses; 0 where there is no quota",
);
const FIGURE: Parameter = Parameter::named(
    "figure",
    "lateness: from the moment at which the thread should run to the one at which it does; misses: the share of wake-ups more than \
     1 ms late; interval: the shortest time between requests at which 99 in 100 end within 10 ms; throttling: the share of the \
     quota's periods in which the thread was stopped",
);

pub struct SchedulingLatency;

static ABOUT: About = About {
    name: "cpu/scheduling_latency",
    question: "How late does a runnable thread get to run while the CPUs are busy, or while a quota limits its CPU time?",
    operation: "one wake-up of a pinned thread; the result is the time from the moment at which it should run",
    method: "On every CPU the given number of processes compute without a pause, under SCHED_OTHER, SCHED_BATCH or \
             SCHED_IDLE; they end with the trial. A thread under SCHED_OTHER on one of these CPUs is woken at random \
             intervals of 0.25 to 0.75 ms. Either a timer (slack 1 ns) wakes it, and its lateness is counted from the \
             moment when the timer was due; or a message through a pipe does, and its lateness is counted from the moment \
             when a process on another CPU began to write. A series is 128 wake-ups. The schedule never waits: a wake-up \
             that falls due while an earlier one is still late is late too, as it would be for anyone waiting for an \
             answer (no coordinated omission).\
             \n\nRequests fall due at such moments, and each needs 100 µs of CPU time. The shortest interval between \
             requests is the one at which 99 in 100 still end within 10 ms of falling due. It is found by bisection \
             between 32 times the work of a request and just above that work (by one part in 31), with series of at least \
             300 requests and a quarter of a second.\
             \n\nUnder a quota, a process in a control group of its own may use 10 ms of every 20 ms. Independent \
             requests of 100 µs, 500 in a series, ask for 50, 80 or 100 % of that on average, or for 200 %, twice what \
             there is. The lateness of a request is the time from when it was due until its work begins; the control \
             group's own statistics tell in how many periods the process was stopped.",
    caveats: "The wake-ups of a series are not independent: one stretch without the CPU delays several. The work is \
             pinned; a scheduler that may move a thread to an idle CPU can do better. Misses and stopped periods are \
             counted per series, so those rarer than 1 in 128 wake-ups, or than one period of a series, show only in the \
             percentiles.",
    version: 1,
    timed: Some(TimedCode {
        of: "a wait for a moment",
        source: include_str!("wake.rs"),
        begins: "pub fn sleep_until(",
    }),
    parameters: &[WAKE, BUSY, POLICY, QUOTA_USE, FIGURE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "late by, a timer's wake-up beside one busy process on every CPU",
            &[
                ("wake", At::Name(TIMER)),
                ("busy", At::Number(1)),
                ("policy", At::Name(LoadPolicy::Other.name())),
                ("figure", At::Name(LATENESS)),
            ],
        ),
        MainFigure::of(
            "shortest interval of requests of 100 µs beside one busy process",
            &[
                ("wake", At::Name(REQUEST)),
                ("busy", At::Number(1)),
                ("policy", At::Name(LoadPolicy::Other.name())),
                ("figure", At::Name(INTERVAL)),
            ],
        ),
    ])
    .clauses(&[
        Clause::of("how late a thread runs while the CPUs are busy", |point, _| {
            point.number(&BUSY) > 0 && point.name(&FIGURE) == LATENESS
        }),
        Clause::of("how late a thread runs while a quota limits its CPU time", |point, _| {
            point.number(&QUOTA_USE) > 0 && point.name(&FIGURE) == LATENESS
        }),
    ]),
};

const TIMER: &str = "timer";
const MESSAGE: &str = "message";
const REQUEST: &str = "request";
const NONE: &str = "none";
const LATENESS: &str = "lateness";
const MISSES: &str = "misses";
const INTERVAL: &str = "interval";
const THROTTLING: &str = "throttling";

/// Processes on every CPU.
const LOADS: [u64; 3] = [1, 2, 4];
/// Percent of a quota: half of it, most, all, and twice as much as there is.
const USES: [u64; 4] = [50, 80, 100, OVERLOAD];
const OVERLOAD: u64 = 200;
/// Stated: busy processes; those of them that have the policy.
const STARTED: &str = "busy_processes";
const UNDER_POLICY: &str = "busy_processes_under_the_policy";

impl Experiment for SchedulingLatency {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let loads = LOADS.into_iter().flat_map(|busy| LoadPolicy::ALL.map(|policy| (busy, policy.name())));
        let loads: Vec<(u64, &str)> = [(0, NONE)].into_iter().chain(loads).collect();
        let woken = [TIMER, MESSAGE].into_iter().flat_map(|wake| {
            loads.iter().flat_map(move |load| [LATENESS, MISSES].map(|figure| point(wake, *load, figure)))
        });
        let served = [(0, NONE), (1, LoadPolicy::Other.name()), (1, LoadPolicy::Idle.name())];
        let served = served.map(|load| point(REQUEST, load, INTERVAL));
        let limited = USES
            .into_iter()
            .flat_map(|share| [LATENESS, MISSES, THROTTLING].map(|of| under_quota(share, of)));
        woken.chain(served).chain(limited).collect()
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        let (wake, busy, policy) = (point.name(&WAKE), point.number(&BUSY), point.name(&POLICY));
        let is_usual = policy == LoadPolicy::Other.name();
        match (wake, busy, point.number(&QUOTA_USE)) {
            (TIMER, 1, 0) if policy != LoadPolicy::Batch.name() => Effort::Quick,
            (MESSAGE, 1, 0) if is_usual => Effort::Quick,
            (TIMER | MESSAGE, 0 | 1, 0) => Effort::Standard,
            (TIMER | MESSAGE, _, 0) | (REQUEST, 1, 0) if is_usual => Effort::Standard,
            (_, _, 1..OVERLOAD) => Effort::Standard,
            _ => Effort::Thorough,
        }
    }

    fn unit(&self, point: &Point) -> Unit {
        if is_share(point) { Unit::PartsPerMillion } else { Unit::Nanoseconds }
    }

    fn step(&self, point: &Point) -> f64 {
        let used_share = point.number(&QUOTA_USE) as f64 / 100.0;
        match point.name(&FIGURE) {
            MISSES if used_share > 0.0 => 1e6 / quota::REQUESTS as f64,
            MISSES => 1e6 / SERIES as f64,
            THROTTLING => 1e6 / quota::periods_of_a_series(used_share),
            _ => 0.0,
        }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let busy = point.number(&BUSY) as f64;
        match point.name(&FIGURE) {
            MISSES | THROTTLING => {
                Err("nothing is published of how often this scheduler lets a thread wait as long".to_owned())
            }
            INTERVAL => {
                let share =
                    if point.name(&POLICY) == LoadPolicy::Other.name() { 1.0 / (1.0 + busy) } else { 1.0 };
                let work = Basis::assumed(requests::WORK_NS, "the work of a request, by the method");
                Ok(Prediction::new().hardware("its work, over a fair share of the CPU", 1.0 / share, work))
            }
            _ if point.number(&QUOTA_USE) > 0 => {
                Ok(limited_predicted(point.number(&QUOTA_USE), lateness_predicted(busy, known)))
            }
            _ => Ok(lateness_predicted(busy, known)),
        }
    }

    fn exceeded_for(&self, point: &Point, known: &Known) -> Option<Excess> {
        findings::late_for_its_quota(point, known)
    }

    fn bound(&self, point: &Point, _: &Known) -> Option<Bound> {
        match point.name(&FIGURE) {
            LATENESS => Some(Bound::of(0.0, "nobody is woken before the time")),
            INTERVAL => Some(Bound::of(
                0.9 * requests::WORK_NS,
                "requests that follow each other faster than they can be served queue up",
            )),
            _ => None,
        }
    }

    fn touches(&self, point: &Point) -> Vec<Touch> {
        let quota = (point.number(&QUOTA_USE) > 0).then_some(Touch::QuotaGroup);
        let busy = (point.number(&BUSY) > 0).then_some(Touch::EveryCpu);
        quota.into_iter().chain(busy).collect()
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        if point.number(&QUOTA_USE) > 0 {
            return limited(point.number(&QUOTA_USE) as f64 / 100.0, site);
        }
        let cpus = affinity::current();
        let load = BusyLoad::start(point, &cpus)?;
        site.home.map_or(Ok(()), affinity::pin)?;
        let (started, under) = (load.count(), load.under());
        let work = match point.name(&WAKE) {
            TIMER => woken(WakingTimer::new(site)?, WakingTimer::begin, load, site),
            MESSAGE => woken(Messages::new(beside(site.home, &cpus), site)?, |_, _| (), load, site),
            REQUEST => served(load, site)?,
            wake => return Err(Failure::no_variant(&WAKE, wake)),
        };
        Ok(work.stating(STARTED, started).stating(UNDER_POLICY, under))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        if point.number(&QUOTA_USE) > 0 {
            return quota_held(point, observed);
        }

        let (started, under) = (observed.witness(STARTED), observed.witness(UNDER_POLICY));
        let busy = started.unwrap_or(0.0);
        let (running, ran) =
            (observed.ratio(RUNNING, ALL_SERIES), "busy processes that ran during a series, on average");
        let load = [
            Check::within(ran, running, 0.95 * busy, busy),
            Check::within("busy processes under their policy, as the kernel tells", under, busy, busy),
        ];
        let load = load.into_iter().filter(|_| point.number(&BUSY) > 0);
        let slept = (point.name(&WAKE) != REQUEST).then(|| slept(point, observed));
        slept.into_iter().chain(load).collect()
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }

    fn time_limit(&self, _: &Point) -> Duration {
        Duration::from_secs(60)
    }
}

fn point(wake: &str, (busy, policy): (u64, &str), figure: &str) -> Point {
    Point::at(Placement::Spread)
        .named(&WAKE, wake)
        .with(&BUSY, busy)
        .named(&POLICY, policy)
        .with(&QUOTA_USE, 0)
        .named(&FIGURE, figure)
}

fn under_quota(percent: u64, figure: &str) -> Point {
    point(REQUEST, (0, NONE), figure).with(&QUOTA_USE, percent)
}

fn is_share(point: &Point) -> bool {
    [MISSES, THROTTLING].contains(&point.name(&FIGURE))
}

/// The shortest time for which a CPU without busy processes idles before a wake-up, nanoseconds.
const SHORTEST_IDLE_NS: u64 = 250_000;

/// A waking thread is put before one that has used its share, so that the busy ones cost a switch.
fn lateness_predicted(busy: f64, known: &Known) -> Prediction {
    let entered = kernel_service::entering(Prediction::new(), "system calls", 2.0, known);
    if busy > 0.0 {
        let interrupted = entered.hardware(
            "a timer's or another CPU's interrupt of a CPU at work",
            1.0,
            known.assumed_cycles(3_000.0, "entering and leaving an interrupt, and choosing another thread"),
        );
        let interrupted = if known.machine.is_virtual() {
            interrupted
                .software(
                    "its exits to the hypervisor",
                    virtual_exit::OF_AN_INTERRUPT,
                    virtual_exit::exit(known),
                )
                .being(TermEvent::VmExit)
        } else {
            interrupted
        };
        return kernel_service::assumed(interrupted, "a switch from the busy process", 1_000.0, known);
    }
    let woken = context_switch::idle_cpu(known);
    let what = context_switch::as_in_hand_overs("the interrupt reaches a sleeping CPU");
    let reached = entered.hardware(&what, 1.0, woken).being(TermEvent::WakeUp);
    context_switch::after_idling(reached, SHORTEST_IDLE_NS, known)
}

/// The lateness of a request that may have to wait for others and for its quota.
fn limited_predicted(percent: u64, woken: Prediction) -> Prediction {
    let wait = ideal_quota::wait_ns(percent as f64 / 100.0);
    if wait <= 0.0 {
        return woken;
    }
    let why = "the method's series under a quota that is kept exactly, simulated";
    woken.software(
        "a wait for the requests before it and for the quota's next period",
        1.0,
        Basis::assumed(wait, why),
    )
}

/// A sleep is a switch to another thread. A moment that has passed needs none, and of a message that waits already nobody knows.
fn slept(point: &Point, observed: &Observed) -> Check {
    let by_message = point.name(&WAKE) == MESSAGE;
    let (claim, name, least) = if by_message {
        ("the thread slept: voluntary switches over messages, of which some wait already", WAKE_UPS, 0.1)
    } else {
        ("the thread slept: voluntary switches over wake-ups for which it was in time to sleep", SLEEPS, 0.9)
    };
    match observed.witness(name).filter(|count| *count > 0.0) {
        Some(count) => {
            Check::within(claim, observed.counters.voluntary_switches as f64 / count, least, f64::INFINITY)
        }
        None => Check::judged(claim, false, "it was never in time to sleep"),
    }
}

/// That there was a quota, and how much of it was used.
fn quota_held(point: &Point, observed: &Observed) -> Vec<Check> {
    let share = (point.number(&QUOTA_USE) as f64 / 100.0).min(1.0);
    let used = observed.ratio(USED, PASSED).map(|used| used / quota::SHARE / share);
    let claim = "processor time used over what the quota allows, of the point's share";
    let mut checks = vec![Check::within(claim, used, 0.75, 1.25)];
    let claim = "periods of the quota in a trial, by the group's own account";
    checks.push(Check::within(claim, observed.per_trial(PERIODS), 3.0, f64::INFINITY));
    if point.number(&QUOTA_USE) == OVERLOAD {
        let claim = "more work than the quota allows is stopped in nearly every period: the share of those";
        checks.push(Check::within(claim, observed.ratio(THROTTLES, PERIODS), 0.8, 1.0));
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(point: &Point, usual: &[(&str, f64)], otherwise: (&str, f64)) -> bool {
        let mut seen = fathom_described::observed(10, usual.iter().copied().chain([otherwise]));
        seen.counters.voluntary_switches = 1280;
        SchedulingLatency.evidence(point, &seen).iter().all(|check| check.holds)
    }

    #[test]
    fn a_load_that_did_not_run_and_a_thread_that_did_not_sleep_are_found_out() {
        let point = point(TIMER, (2, LoadPolicy::Batch.name()), LATENESS);
        let usual = [
            (ALL_SERIES, 10.0),
            (WAKE_UPS, 1280.0),
            (SLEEPS, 1250.0),
            (RUNNING, 40.0),
            (STARTED, 4.0),
            (UNDER_POLICY, 4.0),
        ];
        let holds = |otherwise| judged(&point, &usual, otherwise);
        assert!(holds(("nothing", 0.0)));
        assert!(!holds((RUNNING, 30.0)), "one of four never ran");
        assert!(!holds((UNDER_POLICY, 3.0)), "one has another policy");
        assert!(!holds((SLEEPS, 0.0)), "it was always late");
        assert!(!holds((SLEEPS, 2000.0)), "it polled");
        let message = point.named(&WAKE, MESSAGE);
        assert!(judged(&message, &usual, ("nothing", 0.0)));
        assert!(!judged(&message, &usual, (WAKE_UPS, 128_000.0)), "hardly any message woke it");
    }

    #[test]
    fn a_quota_that_does_not_hold_or_is_not_used_is_found_out() {
        let usual = [(USED, 40e6), (PASSED, 100e6), (PERIODS, 5.0), (THROTTLES, 1.0)];
        let holds = |percent, otherwise| judged(&under_quota(percent, LATENESS), &usual, otherwise);
        assert!(holds(80, ("nothing", 0.0)));
        assert!(!holds(80, (USED, 80e6)), "twice the quota");
        assert!(!holds(80, (USED, 10e6)), "hardly any of it");
        assert!(!holds(80, (PERIODS, 0.0)), "there was none");
        assert!(!holds(OVERLOAD, (USED, 50e6)), "more than there is, and it was not stopped");
    }
}
