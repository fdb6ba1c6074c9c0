//! What does a page fault cost on a page that was swapped out?

use crate::apparatus::memory::fault::interval_timer::IntervalTimer;
use crate::apparatus::memory::fault::stretch::Mapped;
use crate::apparatus::memory::fault::tally::{self, FaultTally, Faults};
use crate::apparatus::memory::pages::{Mapping, Pages};
use crate::expected::device_facts;
use crate::expected::fault::trap;
use crate::expected::kernel_service::assumed;
use crate::expected::mode_switch;
use fathom_core::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::rc::Rc;

const SIZE: Parameter = Parameter::bytes("size", "memory that is swapped out");

pub struct SwapIn;

static ABOUT: About = About {
    name: "memory/swap_in",
    question: "What does a page fault cost on a page that was swapped out?",
    operation: "one read of a byte of a swapped page",
    method: "Anonymous memory of random content is swapped out by request (madvise with MADV_PAGEOUT) until none of \
             it is in the page table, untimed. Then a byte of each of some random pages is read; each read is an \
             observation, minus the cost of the clock. The pages are few, because the kernel also reads the \
             neighbours of a page; then all is swapped out again.\n\nThe kernel's fault counters are read around \
             every access: nine of ten must be major faults.",
    caveats: "Where swap is compressed memory (zram, zswap), no device is involved.",
    version: 1,
    timed: None,
    parameters: &[SIZE],
    trends: &[],
    shown: Shown::by(&[]),
};

const BYTES: u64 = 16 << 20;

/// Pages read before all are swapped out again: few of them are neighbours.
const SERIES: usize = 32;

/// Maximum number of attempts to swap out, with a millisecond between, because writing pages out takes time.
const ATTEMPTS: usize = 200;

impl Experiment for SwapIn {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        vec![Point::new().with(&SIZE, BYTES)]
    }

    fn effort(&self, _: &Point, _: &Machine) -> Effort {
        Effort::Standard
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let bytes = point.number(&SIZE);
        vec![Requirement::SwapBytes(2 * bytes), Requirement::MemoryBytes(bytes)]
    }

    fn predict(&self, _: &Point, known: &Known) -> Result<Prediction, String> {
        let what = "a page allocated, a request, a sleep and a wake-up";
        let prediction = assumed(trap(Prediction::new(), known), what, 4_500.0, known);
        // Swap is usually on the system's disk; which disk that is was not determined.
        Ok(prediction.hardware("the device's answer", 1.0, device_facts::random_read(known)))
    }

    fn bound(&self, _: &Point, known: &Known) -> Option<Bound> {
        Some(mode_switch::bound(1.0, "a fault enters", known))
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let memory = Mapping::untouched(point.number(&SIZE) as usize, Pages::Base)?;
        let mut chance = Xoshiro256PlusPlus::seed_from_u64(site.seed);
        fill(&memory, &mut chance);
        swap_out(&memory)?;
        let (timer, tally) = (IntervalTimer::new(site), FaultTally::new());
        let counts = Rc::clone(&tally);
        let mut read = 0;
        let observe = move || {
            if read == SERIES {
                swap_out(&memory)?;
                read = 0;
                return Ok(None);
            }
            read += 1;
            let page = chance.next_u64() as usize % memory.pages();
            let before = Faults::so_far();
            let ns = timer.of(|| {
                // SAFETY: inside the mapping.
                unsafe { Mapped::start(&memory).add(page * Pages::Base.bytes()).read_volatile() };
                Ok(())
            })?;
            tally.add(1.0, Faults::so_far().since(before), 1);
            Ok(Some(ns))
        };
        Ok(Workload::recorded(observe).witnessed(move || counts.counts()))
    }

    fn evidence(&self, _: &Point, observed: &Observed) -> Vec<Check> {
        let waited = tally::major(observed).map(|major| major / observed.operations.max(1) as f64);
        vec![Check::within("faults that waited for swap, per read", waited, 0.9, 1.0)]
    }
}

/// Random content, which compressed swap cannot shrink.
fn fill(memory: &Mapping, chance: &mut impl Rng) {
    let mut page = vec![0; Pages::Base.bytes()];
    for index in 0..memory.pages() {
        chance.fill_bytes(&mut page);
        // SAFETY: one page inside our own mapping.
        unsafe {
            let to = Mapped::start(memory).add(index * page.len()).as_ptr();
            std::ptr::copy_nonoverlapping(page.as_ptr(), to, page.len());
        }
    }
}

/// Makes the kernel swap all pages out, and verifies that it did.
fn swap_out(memory: &Mapping) -> Result<(), Failure> {
    let mut remaining = memory.pages();
    for _ in 0..ATTEMPTS {
        let start = Mapped::start(memory).as_ptr().cast();
        // SAFETY: our own mapping, whose contents are kept.
        if unsafe { libc::madvise(start, Mapped::bytes(memory), libc::MADV_PAGEOUT) } != 0 {
            let error = std::io::Error::last_os_error();
            return Err(Failure::of_newer_call("MADV_PAGEOUT", "Linux 5.4", &error));
        }
        remaining = memory.present_pages()?;
        if remaining == 0 {
            return Ok(());
        }
        // SAFETY: takes a number.
        unsafe { libc::usleep(1_000) };
    }
    Err(Failure::Unsupported(format!(
        "{remaining} of {} pages stay in memory after a request to swap them out: swap may be full, or not allowed in this \
         control group (memory.swap.max)",
        memory.pages()
    )))
}
