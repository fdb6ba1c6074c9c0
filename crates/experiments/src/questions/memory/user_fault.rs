//! What does a page fault cost that a program handles itself (userfaultfd)?

use super::minor_fault;
use crate::apparatus::memory::fault::interval_timer::IntervalTimer;
use crate::apparatus::memory::fault::stretch::Mapped;
use crate::apparatus::memory::fault::supplied::Supplied;
use crate::apparatus::memory::fault::tally::{self, FaultKind, FaultTally, Faults};
use crate::apparatus::memory::pages::Pages;
use crate::expected::fault::trap;
use crate::expected::kernel_service;
use fathom_core::prelude::*;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const FILL: Parameter =
    Parameter::of("fill", "how the handler fills the missing page", &[COPY, ZEROS, WAITED]);
const DELAY: Parameter = Parameter::nanoseconds("delay", "how long the handler spins before it answers");

pub struct UserFault;

static ABOUT: About = About {
    name: "memory/user_fault",
    question: "What does a page fault cost that a program handles itself (userfaultfd)?",
    operation: "one read of a byte of a missing page, whose value is checked",
    method: "A stretch of memory is registered with userfaultfd for missing pages. One thread reads a byte of each \
             page in the order of addresses; the kernel puts it to sleep and sends a message to a second thread, \
             which supplies the page, a copy (UFFDIO_COPY) or the zero page (UFFDIO_ZEROPAGE), and thereby wakes the \
             first. Both threads are pinned, to one CPU or to two. Each read is an observation, minus the cost of the \
             clock.\n\nThe points with a waiting handler test the instrument: the handler spins for 100 µs before it \
             answers, and the time of the same fault without the wait, measured in the same process and interleaved, \
             is subtracted. The result must be 100 µs.",
    caveats: "Only faults in user mode are handled (UFFD_USER_MODE_ONLY), which needs no privilege.",
    version: 1,
    timed: Some(TimedCode {
        of: "a fault that a program handles",
        source: include_str!("../../apparatus/memory/fault/supplied.rs"),
        begins: "pub fn fault(",
    }),
    parameters: &[FILL, DELAY],
    trends: &[],
    shown: Shown::by(&[MainFigure::of(
        "page supplied by a program",
        &[("fill", At::Name("a copy")), ("delay", At::Least)],
    )]),
};

const COPY: &str = "a copy";
const ZEROS: &str = "zeros";
const WAITED: &str = "a copy, less the same without the wait";

/// A known wait, nanoseconds: long compared with a round trip, short compared with a scheduler's time slice.
const KNOWN_WAIT: u64 = 100_000;

/// Pages read before they are forgotten, if that is possible: they stay in the caches.
const PAGES_REUSED: usize = 256;

/// The byte that fills a copied page.
const CONTENT: u8 = 0x5A;

impl Experiment for UserFault {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let places = [Placement::OneCpu, Placement::AcrossCpus];
        let quick = places.into_iter().flat_map(|place| [COPY, ZEROS].map(|what| point(place, what, 0)));
        quick.chain(places.map(|place| point(place, WAITED, KNOWN_WAIT))).collect()
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        if point.name(&FILL) == COPY { Effort::Quick } else { Effort::Standard }
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        match point.placement() {
            Placement::AcrossCpus => vec![Requirement::Cpus(2)],
            _ => vec![],
        }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let delay = Basis::fact(point.number(&DELAY) as f64, "the handler's wait, as set");
        if point.name(&FILL) == WAITED {
            return Ok(Prediction::new().software("the handler waits", 1.0, delay));
        }
        let calls = "the handler's read, its next read and its answer: an empty system call each";
        let calls = kernel_service::entering(trap(Prediction::new(), known), calls, 3.0, known);
        let place = point.placement();
        let handed = match place {
            Placement::OneCpu => known.measured_or_assumed(
                "cpu/context_switch",
                &hand_over(place),
                1_200.0,
                "a turn handed to another thread on the same CPU in 1.2 µs",
            ),
            _ => known.measured_or_assumed(
                "cpu/context_switch",
                &hand_over(place),
                5_000.0,
                "a turn handed to a thread on another CPU in about 5 µs",
            ),
        };
        let prediction =
            calls.software("to the handler and back: a thread put to sleep, another woken", 2.0, handed);
        Ok(match point.name(&FILL) {
            COPY => prediction.hardware(
                "a page allocated and copied into",
                2.0,
                minor_fault::page_cleared(known, Pages::Base.bytes() as f64),
            ),
            _ => prediction,
        })
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        (point.name(&FILL) != WAITED).then(|| {
            Bound::of(
                3.0 * 40.0 * known.shortest_cycle(),
                "the fault and the handler's two calls enter the kernel, which takes some forty cycles each",
            )
        })
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let content = if point.name(&FILL) == ZEROS { None } else { Some(CONTENT) };
        let supplied = Rc::new(Supplied::new(content, site)?);
        let answered = Arc::clone(&supplied.answered);
        let answered = move || (ANSWERED, answered.load(Ordering::Acquire) as f64);
        Ok(if point.name(&FILL) == WAITED {
            waited(&supplied, point.number(&DELAY)).witnessed(move || vec![answered()])
        } else {
            let tally = FaultTally::new();
            let counts = Rc::clone(&tally);
            singly(supplied, tally, IntervalTimer::new(site)).witnessed(move || {
                let mut counts = counts.counts();
                counts.push(answered());
                counts
            })
        })
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let all = (observed.operations + observed.baseline_iterations).max(1) as f64;
        // The baseline runs once more in every trial, as a rehearsal.
        let most = if observed.baseline_iterations > 0 { 1.01 + observed.trials as f64 / all } else { 1.01 };
        // A fault that had to wait for its handler counts as major, though no device was involved.
        let mut checks = if point.name(&FILL) == WAITED {
            let faults = (observed.counters.minor_faults + observed.counters.major_faults) as f64;
            // Counted over the whole trial, whose process has a few faults of its own.
            let own = 10.0 * observed.trials as f64 / all;
            let claim = "faults counted by the kernel, per fault claimed, including those without the wait";
            vec![Check::within(claim, faults / all, 0.99, most + own)]
        } else {
            tally::checks(observed, FaultKind::Either)
        };
        let claim = "pages that the handler supplied, per fault claimed";
        let answered = observed.witness(ANSWERED).map(|answered| answered / all);
        checks.push(Check::within(claim, answered, 0.99, most));
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        [what_was_put_in(known), against_the_kernel(known)].into_iter().flatten().collect()
    }
}

fn what_was_put_in(known: &Known) -> Option<Finding> {
    let waited = known.found(ABOUT.name, &point(Placement::OneCpu, WAITED, KNOWN_WAIT))?;
    let set = Found::exact(KNOWN_WAIT as f64, waited.dimension);
    Some(finding!(
        Question::Experiment,
        "A handler that waits {set} makes a fault longer by {waited}: the instrument finds {share} of the \
         wait that was set.",
        set = set.named("wait put in"),
        waited = waited.named("wait found"),
        share = waited.share_of(set).named("wait found over wait put in")
    ))
}

fn against_the_kernel(known: &Known) -> Option<Finding> {
    let own = known.found(ABOUT.name, &point(Placement::OneCpu, COPY, 0))?;
    let kernels = known.found(minor_fault::NAME, &minor_fault::cached_point())?;
    Some(finding!(
        Question::Experiment,
        "A fault handled by a program takes {own}, one handled by the kernel from its page cache {kernels}: \
         {ratio}.",
        own = own.named("fault answered by a program"),
        kernels = kernels.named("fault answered by the kernel"),
        ratio = own.times_as("long", kernels, "program over kernel")
    ))
}

/// The point on one CPU at which the handler waits, with the experiment's name, and the wait, nanoseconds.
pub fn known_wait() -> ((&'static str, Point), u64) {
    ((ABOUT.name, point(Placement::OneCpu, WAITED, KNOWN_WAIT)), KNOWN_WAIT)
}

fn point(placement: Placement, fill: &str, delay: u64) -> Point {
    Point::at(placement).named(&FILL, fill).with(&DELAY, delay)
}

/// The point of `cpu/context_switch` at which two threads hand a turn to each other by futexes.
fn hand_over(placement: Placement) -> Point {
    let parameter = |name| Parameter::named(name, "");
    Point::at(placement).named(&parameter("mechanism"), "futex").named(&parameter("between"), "threads")
}

const ANSWERED: &str = "pages_supplied";

/// One fault after another, each an observation; pages are forgotten between them.
fn singly<'site>(
    supplied: Rc<Supplied<'site>>,
    tally: Rc<FaultTally>,
    timer: IntervalTimer<'site>,
) -> Workload<'site> {
    Workload::recorded(move || {
        if supplied.next.get() == PAGES_REUSED {
            supplied.memory.forget()?;
            supplied.next.set(0);
        }
        let before = Faults::so_far();
        let ns = timer.of(|| supplied.fault(0))?;
        tally.add(1.0, Faults::so_far().since(before), 1);
        Ok(Some(ns))
    })
}

/// Faults answered after a wait, compared with faults answered at once.
fn waited<'site>(supplied: &Rc<Supplied<'site>>, waits_ns: u64) -> Workload<'site> {
    let faults = |waits_ns| {
        let supplied = Rc::clone(supplied);
        move |n| (0..n).try_for_each(|_| supplied.fault(waits_ns))
    };
    Workload::each(faults(waits_ns)).against(faults(0))
}
