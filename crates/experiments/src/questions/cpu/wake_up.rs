//! How late does a sleeping thread wake up?

use super::{context_switch, spin_or_sleep};
use crate::expected::kernel_service;
use fathom_core::prelude::*;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;

const TIMER: Parameter = Parameter::named("timer", "the call in which the thread sleeps");
const SLEEP: Parameter = Parameter::nanoseconds("sleep", "the requested sleep");
const SLACK: Parameter =
    Parameter::nanoseconds("slack", "how much later the kernel may wake the thread, to save power");

pub struct WakeUp;

static ABOUT: About = About {
    name: "cpu/wake_up",
    question: "How late does a sleeping thread wake up?",
    operation: "one sleep; the result is the time beyond the requested one",
    method: "A pinned thread sleeps for 100 µs or 1 ms, with `clock_nanosleep` or by reading a timerfd that was just \
             armed. The time beyond the requested one is an observation, so there is a distribution. The kernel may \
             delay the wake-up by the timer slack, by default 50 µs; each sleep is measured with that and with a \
             slack of 1 ns. Hosts and governors learn how long a CPU sleeps: the thread sleeps until its lateness is \
             steady before it is observed.",
    caveats: "The lateness includes the system calls, on a CPU that may have entered an idle state.",
    version: 4,
    timed: Some(TimedCode { of: "a sleep", source: include_str!("wake_up.rs"), begins: "fn nanosleep(" }),
    parameters: &[TIMER, SLEEP, SLACK],
    trends: &[],
    shown: Shown::by(&[MainFigure::of(
        "late by, after a sleep of 1 ms",
        &[
            ("timer", At::Name("clock_nanosleep")),
            ("sleep", At::Number(1_000_000)),
            ("slack", At::Number(50_000)),
        ],
    )]),
};

/// The slack that the kernel gives a process by default, nanoseconds (prctl(2), `PR_SET_TIMERSLACK`).
const DEFAULT_SLACK: u64 = 50_000;

impl Experiment for WakeUp {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let sleeps = ["clock_nanosleep", "timerfd"].into_iter().flat_map(|timer| {
            [100_000, 1_000_000].map(|ns| Point::new().named(&TIMER, timer).with(&SLEEP, ns))
        });
        sleeps.flat_map(|point| [DEFAULT_SLACK, 1].map(|slack| point.clone().with(&SLACK, slack))).collect()
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        // A timerfd is exact whatever the slack (timerfd_create(2) does not mention it).
        let slack = if point.name(&TIMER) == "timerfd" { 0.0 } else { point.number(&SLACK) as f64 };
        let woken = context_switch::idle_cpu(known);
        let what = context_switch::as_in_hand_overs("the timer's interrupt reaches a sleeping CPU");
        let reached = Prediction::new().hardware(&what, 1.0, woken).being(TermEvent::WakeUp);
        let idled = context_switch::after_idling(reached, point.number(&SLEEP), known);
        Ok(kernel_service::entering(idled, "system calls", 2.0, known).software(
            "timer slack, used in full when nothing else wakes the CPU",
            1.0,
            Basis::fact(slack, "the slack set with prctl"),
        ))
    }

    fn exceeded_for(&self, point: &Point, known: &Known) -> Option<Excess> {
        spin_or_sleep::woken_after(point.number(&SLEEP), known)
    }

    fn bound(&self, _: &Point, _: &Known) -> Option<Bound> {
        Some(Bound::of(0.0, "a sleeper is never woken before its time (clock_nanosleep(2))"))
    }

    /// How a CPU idles becomes steady once for all points of a process.
    fn block(&self, _: &Point) -> Option<String> {
        Some("sleeps".to_owned())
    }

    fn prepare<'site>(&self, point: &Point, _: &'site Site) -> Result<Workload<'site>, Failure> {
        let sleep_ns = point.number(&SLEEP);
        // SAFETY: sets a number of this thread.
        errno("prctl of the timer slack", unsafe {
            libc::prctl(libc::PR_SET_TIMERSLACK, point.number(&SLACK))
        })?;
        let workload = match point.name(&TIMER) {
            "timerfd" => Workload::each(timerfd(sleep_ns)?),
            "clock_nanosleep" => Workload::each(nanosleep(sleep_ns)),
            timer => return Err(Failure::no_variant(&TIMER, timer)),
        };
        Ok(workload.beyond(sleep_ns as f64).settling(true))
    }

    fn evidence(&self, _: &Point, observed: &Observed) -> Vec<Check> {
        let switches = observed.per_operation(observed.counters.voluntary_switches);
        // A page fault that the process waits for, or the run that requests the trial.
        let most = 1.05 + observed.others_per_operation(2.0);
        vec![Check::within("the thread slept: voluntary switches per sleep", switches, 0.98, most)]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        of_slack(known).into_iter().chain(of_length(known)).collect()
    }
}

/// What a longer sleep adds, by timers without slack: an idle CPU is put to sleep more deeply the longer it idles, a virtual one by its
/// host as well.
fn of_length(known: &Known) -> Option<Finding> {
    let late = |ns: u64| {
        let point = Point::new().named(&TIMER, "clock_nanosleep").with(&SLEEP, ns).with(&SLACK, 1);
        known.found(ABOUT.name, &point)
    };
    let (short, long) = (late(100_000)?, late(1_000_000)?);
    // Of unlike states of the core the difference may be the neighbour's.
    if long.core != short.core {
        return None;
    }
    if long.differs_from(&short) != Some(true) || long.value < short.value {
        return None;
    }
    let host = if context_switch::after_idling(Prediction::new(), 1_000_000, known).total() > 0.0 {
        " A possible cause, which this run does not measure: by default a host under KVM keeps a core waiting for an idle virtual CPU \
         for up to 200 µs (the Linux kernel's documentation, halt polling), and has to wake its own thread after that."
    } else {
        ""
    };
    Some(finding!(
        Question::Experiment,
        "A sleep of 1 ms ends {long} late, one of 100 µs {short}: {added} more.{host}",
        long = long.named("late, after 1 ms"),
        short = short.named("late, after 100 µs"),
        added = long.minus(short).named("added by a longer sleep"),
        host = host
    ))
}

/// What the default slack adds, beside the slack itself; a timer that a program reads is armed without any.
fn of_slack(known: &Known) -> Option<Finding> {
    let late = |timer: &str, slack: u64| {
        let point = Point::new().named(&TIMER, timer).with(&SLEEP, 100_000).with(&SLACK, slack);
        known.found(ABOUT.name, &point)
    };
    let (usual, none) = (late("clock_nanosleep", DEFAULT_SLACK)?, late("clock_nanosleep", 1)?);
    let timer = late("timerfd", DEFAULT_SLACK)?;
    let slack = Found::exact(DEFAULT_SLACK as f64, usual.dimension);
    let added = match usual.beyond(none) {
        Some(added) => statement!("the slack adds {added}", added = added.named("added by the slack")),
        None => "the slack adds nothing significant".into(),
    };
    Some(finding!(
        Question::Experiment,
        "A sleep of 100 µs ends {usual} late with the default timer slack of {slack} and {none} without: {added}. A \
         timerfd, which takes no slack, is {timer} late.",
        usual = usual.named("late, with slack"),
        slack = slack.named("timer slack"),
        none = none.named("late, without slack"),
        added,
        timer = timer.named("timerfd, late")
    ))
}

fn timespec(nanoseconds: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as i64,
        tv_nsec: (nanoseconds % 1_000_000_000) as i64,
    }
}

fn nanosleep(sleep_ns: u64) -> impl FnMut(u64) -> Result<(), Failure> {
    let sleep = timespec(sleep_ns);
    move |n| {
        for _ in 0..n {
            // SAFETY: a valid time; the remaining time after a signal is not requested.
            let slept =
                unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &raw const sleep, null_mut()) };
            ensure(slept == 0, "a sleep was interrupted")?;
        }
        Ok(())
    }
}

fn timerfd(sleep_ns: u64) -> Result<impl FnMut(u64) -> Result<(), Failure>, Failure> {
    // SAFETY: the new descriptor is owned here alone.
    let timer = unsafe {
        let descriptor = libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC);
        OwnedFd::from_raw_fd(errno("timerfd_create", descriptor)?)
    };
    let once = libc::itimerspec { it_interval: timespec(0), it_value: timespec(sleep_ns) };
    Ok(move |n| {
        for _ in 0..n {
            let mut expirations = 0_u64;
            // SAFETY: a valid time, and room for the eight bytes that a timerfd returns.
            let read = unsafe {
                errno(
                    "timerfd_settime",
                    libc::timerfd_settime(timer.as_raw_fd(), 0, &raw const once, null_mut()),
                )?;
                libc::read(timer.as_raw_fd(), (&raw mut expirations).cast(), 8)
            };
            ensure(read == 8 && expirations == 1, "a timer did not expire exactly once")?;
        }
        Ok(())
    })
}
