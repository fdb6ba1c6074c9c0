//! Memory whose missing pages a second thread of the same process supplies.

use super::stretch::Mapped;
use super::user_page::UserFaults;
use crate::apparatus::memory::pages::{Mapping, Pages};
use fathom_core::message::tell;
use fathom_core::prelude::*;
use fathom_core::sampling::affinity;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};

/// Pages of the stretch: more than a trial reads that cannot forget them between two readings of the clock.
const PAGES_READ: usize = 4096;

/// Memory whose missing pages a second thread supplies. The page after those that are read serves to end the thread.
pub struct Supplied<'site> {
    /// The memory; its forgotten pages are missing again.
    pub memory: Mapping,
    /// The byte that fills each page.
    content: Option<u8>,
    /// The page to be read next.
    pub next: Cell<usize>,
    waits_ns: Arc<AtomicU64>,
    /// Pages supplied until now.
    pub answered: Arc<AtomicU64>,
    ends: Arc<AtomicBool>,
    handler: Option<JoinHandle<()>>,
    _stopwatch: PhantomData<&'site dyn Stopwatch>,
}

impl<'site> Supplied<'site> {
    /// Starts the handler on the CPU of the other side; it supplies pages filled with `content`, or the zero page.
    pub fn new(content: Option<u8>, site: &'site Site) -> Result<Self, Failure> {
        let memory = Mapping::untouched((PAGES_READ + 1) * Pages::Base.bytes(), Pages::Base)?;
        let faults = UserFaults::over(&memory)?;
        let (waits_ns, answered) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let ends = Arc::<AtomicBool>::default();
        let handler = Handler {
            faults,
            page: content.map(|byte| vec![byte; Pages::Base.bytes()]),
            waits_ns: Arc::clone(&waits_ns),
            stopwatch: site.stopwatch,
            answered: Arc::clone(&answered),
            ends: Arc::clone(&ends),
        };
        let cpu = site.partner;
        // SAFETY: the thread borrows the stopwatch of the site, which outlives this value; dropping this value ends the thread
        // and joins it, and it is not leaked.
        let started =
            unsafe { Builder::new().stack_size(64 << 10).spawn_unchecked(move || handler.run(cpu)) };
        let handler = started.map_err(|error| {
            Failure::Broke(format!("the thread of the handler could not be made: {error}"))
        })?;
        let (next, handler) = (Cell::new(0), Some(handler));
        Ok(Supplied { memory, content, next, waits_ns, answered, ends, handler, _stopwatch: PhantomData })
    }

    /// Reads the next page, which is missing; the handler waits for `waits_ns` before it answers.
    #[inline]
    pub fn fault(&self, waits_ns: u64) -> Result<(), Failure> {
        self.waits_ns.store(waits_ns, Ordering::Release);
        let page = self.next.get();
        ensure(page < PAGES_READ, "all pages were read: none is missing any more")?;
        self.next.set(page + 1);
        let byte = self.read(page);
        ensure(byte == self.content.unwrap_or(0), "the page does not hold what the handler supplied")
    }

    #[inline]
    fn read(&self, page: usize) -> u8 {
        // SAFETY: inside the mapping; missing pages are supplied.
        unsafe { Mapped::start(&self.memory).add(page * Pages::Base.bytes()).read_volatile() }
    }
}

impl Drop for Supplied<'_> {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        // A last fault wakes the handler, which then sees that it must end.
        self.read(PAGES_READ);
        let _ = self.handler.take().map(JoinHandle::join);
    }
}

/// The thread that supplies pages.
struct Handler<'site> {
    faults: UserFaults,
    page: Option<Vec<u8>>,
    waits_ns: Arc<AtomicU64>,
    stopwatch: &'site dyn Stopwatch,
    answered: Arc<AtomicU64>,
    ends: Arc<AtomicBool>,
}

impl Handler<'_> {
    fn run(self, cpu: Option<usize>) {
        let served = cpu.map_or(Ok(()), affinity::pin).and_then(|()| self.serve());
        if let Err(failure) = served {
            // A thread that waits for a page would wait for ever: the trial ends here, with the reason.
            tell(format!("the handler of page faults: {failure}"));
            std::process::exit(1);
        }
    }

    fn serve(&self) -> Result<(), Failure> {
        while !self.ends.load(Ordering::Acquire) {
            let address = self.faults.wait()?;
            self.wait();
            // Before the page is supplied: the thread that waits for it may run and read the count before this thread continues.
            self.answered.fetch_add(1, Ordering::AcqRel);
            match &self.page {
                Some(page) => self.faults.supply(address, page)?,
                None => self.faults.supply_zeros(address)?,
            }
        }
        Ok(())
    }

    /// Spins for the requested time.
    fn wait(&self) {
        let waits_ns = self.waits_ns.load(Ordering::Acquire) as f64;
        if waits_ns > 0.0 {
            let until = self.stopwatch.now_ns() + waits_ns;
            while self.stopwatch.now_ns() < until {
                std::hint::spin_loop();
            }
        }
    }
}
