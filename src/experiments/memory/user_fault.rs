//! What does a page fault cost that a program answers itself?

use super::fault_cost::{self, trap};
use super::fault_tally::{self, Faults, Kind, Tally};
use super::lap::Lap;
use super::pages::{Mapping, Pages};
use super::stretch::Mapped;
use super::user_page::UserFaults;
use crate::experiment::{
    About, Basis, Bound, Check, Effort, Experiment, Failure, Known, Observed, Parameter, Placement, Point,
    Prediction, Requirement, Scale, Site, Stopwatch, Workload, ensure,
};
use crate::experiments::cpu::null_write;
use crate::machine::Machine;
use crate::sampling::affinity;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};

/// What the handler puts there.
const SUPPLIES: Parameter = Parameter {
    name: "supplies",
    meaning: "what the handler puts into the missing page",
    scale: Scale::Name,
};
/// How long it waits before.
const WAITS: Parameter = Parameter {
    name: "waits",
    meaning: "how long the handler spins before it answers",
    scale: Scale::Nanoseconds,
};

/// What is timed.
pub struct UserFault;

static ABOUT: About = About {
    name: "memory/user_fault",
    question: "What does a page fault cost that a program answers itself?",
    operation: "one read of a byte of a missing page, from the fault to the byte, whose value is checked",
    method: "A stretch of memory is registered with userfaultfd for missing pages. One thread reads a byte of each page in the \
             order of addresses; the kernel puts it to sleep and sends a message to a second thread, which supplies the page and so wakes \
             the first: a copy of a page (UFFDIO_COPY) or the page of zeros (UFFDIO_ZEROPAGE). Both threads are \
             pinned, to one CPU or to two. Each read is an observation, less the cost of the clock.\n\nThe points on which the handler spins for 100 µs \
             first are a test of the instrument: their figure must be that of the same point without the wait, and \
             100 µs more.",
    caveats: "Only faults of the program itself are handled (UFFD_USER_MODE_ONLY), which needs no privilege.",
    version: 1,
    parameters: &[SUPPLIES, WAITS],
    trends: &[],
};

const COPY: &str = "a copy";
const ZEROS: &str = "zeros";

/// A known wait, nanoseconds: long against a round trip, short against a scheduler's slice.
const KNOWN_WAIT: u64 = 100_000;

/// Pages of the stretch, forgotten again when all were read.
const PAGES_READ: usize = 256;

/// What a copied page is full of.
const CONTENT: u8 = 0x5A;

impl Experiment for UserFault {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let places = [Placement::OneCpu, Placement::AcrossCpus];
        let quick = places.into_iter().flat_map(|place| [COPY, ZEROS].map(|what| point(place, what, 0)));
        quick.chain(places.map(|place| point(place, COPY, KNOWN_WAIT))).collect()
    }

    fn effort(&self, point: &Point) -> Effort {
        match (point.placement(), point.name(&SUPPLIES)) {
            (Placement::OneCpu, COPY) => Effort::Quick,
            (_, COPY) if point.number(&WAITS) == 0 => Effort::Quick,
            _ => Effort::Standard,
        }
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        match point.placement() {
            Placement::AcrossCpus => vec![Requirement::Cpus(2)],
            _ => vec![],
        }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let calls = trap(Prediction::new(), known).software(
            "the handler's read, its next read and its answer: a bare entry each",
            3.0,
            null_write::entry(known),
        );
        let place = point.placement();
        let handed = match place {
            Placement::OneCpu => known.measured_or(
                "cpu/context_switch",
                &hand_over(place),
                1_200.0,
                "a turn handed to another thread on the same CPU in 1.2 µs",
            ),
            _ => known.measured_or(
                "cpu/context_switch",
                &hand_over(place),
                5_000.0,
                "a turn handed to a thread on another CPU in about 5 µs",
            ),
        };
        let prediction =
            calls.software("to the handler and back: a thread put to sleep, another woken", 2.0, handed);
        let waits = Basis::fact(point.number(&WAITS) as f64, "the handler's own wait, as set");
        let prediction = prediction.software("the handler waits", 1.0, waits);
        Ok(match point.name(&SUPPLIES) {
            COPY => prediction.hardware(
                "a page cleared of its old content and copied into",
                2.0,
                fault_cost::page_cleared(known, Pages::Base.bytes() as f64),
            ),
            _ => prediction,
        })
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let kernel = 3.0 * 40.0 * known.shortest_cycle();
        Some(Bound {
            limit: point.number(&WAITS) as f64 + kernel,
            because: "the fault and the handler's two calls enter the kernel, which takes some forty cycles each, beside \
                      what the handler waits"
                .to_owned(),
        })
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let content = if point.name(&SUPPLIES) == COPY { Some(CONTENT) } else { None };
        let supplied = Supplied::new(content, point.number(&WAITS) as f64, site)?;
        let (lap, tally) = (Lap::new(site), Tally::new());
        let (counts, answered) = (Rc::clone(&tally), Arc::clone(&supplied.answered));
        let mut next = 0;
        let observe = move || {
            if next == PAGES_READ {
                supplied.memory.forget()?;
                next = 0;
            }
            let before = Faults::so_far();
            let mut byte = 0;
            let ns = lap.of(|| {
                byte = supplied.read(next);
                Ok(())
            })?;
            tally.add(1.0, Faults::so_far().since(before), 1);
            next += 1;
            ensure(byte == content.unwrap_or(0), "the page does not hold what the handler supplied")?;
            Ok(Some(ns))
        };
        Ok(Workload::recorded(observe).witnessed(move || {
            let mut counts = counts.counts();
            counts.push((ANSWERED, answered.load(Ordering::Acquire) as f64));
            counts
        }))
    }

    fn evidence(&self, _: &Point, seen: &Observed) -> Vec<Check> {
        // A fault that had to wait for its handler counts as major, though no device was asked.
        let mut checks = fault_tally::checks(seen, Kind::Either);
        checks.push(Check::witnessed(
            "pages that the handler supplied, per fault claimed",
            seen,
            ANSWERED,
            0.99,
            1.01,
        ));
        checks
    }

    fn findings(&self, known: &Known) -> Vec<String> {
        let cost = |place, wait| known.median(ABOUT.name, &point(place, COPY, wait));
        let one = Placement::OneCpu;
        let mut said = vec![];
        if let (Some(plain), Some(waited)) = (cost(one, 0), cost(one, KNOWN_WAIT)) {
            said.push(format!(
                "With a handler that waits 100 µs a fault takes {:.2} µs more than without ({:.2} µs): the instrument finds \
                 what was put in to {:+.2} %.",
                (waited - plain) / 1e3,
                plain / 1e3,
                ((waited - plain) / KNOWN_WAIT as f64 - 1.0) * 100.0
            ));
        }
        let minor = known.median(super::minor_fault::NAME, &super::minor_fault::cached_point());
        if let (Some(plain), Some(minor)) = (cost(one, 0), minor) {
            said.push(format!(
                "A fault answered by a program takes {:.1} times as long as one answered by the kernel from its page cache.",
                plain / minor
            ));
        }
        said
    }
}

fn point(placement: Placement, supplies: &str, waits: u64) -> Point {
    Point::at(placement).named(&SUPPLIES, supplies).with(&WAITS, waits)
}

/// The point of `cpu/context_switch` at which two threads hand a turn to each other by futexes.
fn hand_over(placement: Placement) -> Point {
    let parameter = |name| Parameter { name, meaning: "", scale: Scale::Name };
    Point::at(placement).named(&parameter("by"), "futex").named(&parameter("between"), "threads")
}

/// Witness: pages supplied.
const ANSWERED: &str = "pages_supplied";

/// Memory whose missing pages a second thread supplies. The page behind those that are read is for saying goodbye.
struct Supplied<'site> {
    memory: Mapping,
    answered: Arc<AtomicU64>,
    ends: Arc<AtomicBool>,
    handler: Option<JoinHandle<()>>,
    _stopwatch: PhantomData<&'site dyn Stopwatch>,
}

impl<'site> Supplied<'site> {
    fn new(content: Option<u8>, waits_ns: f64, site: &'site Site) -> Result<Self, Failure> {
        let memory = Mapping::untouched((PAGES_READ + 1) * Pages::Base.bytes(), Pages::Base)?;
        let faults = UserFaults::over(&memory)?;
        let (answered, ends) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let handler = Handler {
            faults,
            page: content.map(|byte| vec![byte; Pages::Base.bytes()]),
            waits_ns,
            stopwatch: site.stopwatch,
            answered: Arc::clone(&answered),
            ends: Arc::clone(&ends),
        };
        let cpu = site.partner;
        // SAFETY: the thread borrows the stopwatch of the site, which outlives this value; dropping it ends the thread and
        // waits for that, and it is not leaked.
        let started =
            unsafe { Builder::new().stack_size(64 << 10).spawn_unchecked(move || handler.run(cpu)) };
        let handler = started.map_err(|error| {
            Failure::Broke(format!("the thread of the handler could not be made: {error}"))
        })?;
        Ok(Supplied { memory, answered, ends, handler: Some(handler), _stopwatch: PhantomData })
    }

    #[inline]
    fn read(&self, page: usize) -> u8 {
        // SAFETY: inside the mapping; what is missing is supplied.
        unsafe { Mapped::start(&self.memory).add(page * Pages::Base.bytes()).read_volatile() }
    }
}

impl Drop for Supplied<'_> {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        // A last fault wakes the handler, which finds that it is to end.
        self.read(PAGES_READ);
        let _ = self.handler.take().map(JoinHandle::join);
    }
}

/// The thread that supplies pages.
struct Handler<'site> {
    faults: UserFaults,
    page: Option<Vec<u8>>,
    waits_ns: f64,
    stopwatch: &'site dyn Stopwatch,
    answered: Arc<AtomicU64>,
    ends: Arc<AtomicBool>,
}

impl Handler<'_> {
    fn run(self, cpu: Option<usize>) {
        let served = cpu.map_or(Ok(()), affinity::pin).and_then(|()| self.serve());
        if let Err(failure) = served {
            // Whoever waits for a page would wait for ever: the trial ends here, and says why.
            eprintln!("the handler of page faults: {failure}");
            std::process::exit(1);
        }
    }

    fn serve(&self) -> Result<(), Failure> {
        while !self.ends.load(Ordering::Acquire) {
            let address = self.faults.wait()?;
            self.wait();
            match &self.page {
                Some(page) => self.faults.supply(address, page)?,
                None => self.faults.supply_zeros(address)?,
            }
            self.answered.fetch_add(1, Ordering::AcqRel);
        }
        Ok(())
    }

    /// Spins for as long as it was told to.
    fn wait(&self) {
        if self.waits_ns > 0.0 {
            let until = self.stopwatch.now_ns() + self.waits_ns;
            while self.stopwatch.now_ns() < until {
                std::hint::spin_loop();
            }
        }
    }
}
