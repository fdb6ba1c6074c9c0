//! Pages shared by parent and child after `fork`, until one of them writes.

use super::interval_timer::IntervalTimer;
use super::stretch::Mapped;
use super::tally::{FaultTally, Faults};
use crate::apparatus::memory::pages::{Mapping, Pages};
use fathom_core::prelude::*;
use fathom_core::sampling::partner::{PartnerProcess, pipe};
use fathom_core::sampling::shared_memory::shared_memory;
use std::io::Read;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The process that writes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstWriter {
    /// The child, which gets copies.
    Child,
    /// The parent, while the child lives: the parent gets copies.
    Parent,
    /// The parent, after the child has exited: it owns the pages alone again, and they are only made writable.
    Survivor,
}

/// One process writes every page of written memory just after a fork; the result is per fault counted in it.
pub fn workload<'site>(
    writer: FirstWriter,
    bytes: usize,
    site: &'site Site,
) -> Result<Workload<'site>, Failure> {
    let (memory, _) = Mapping::resident(bytes, Pages::Base)?;
    let (timer, tally) = (IntervalTimer::new(site), FaultTally::new());
    let counts = Rc::clone(&tally);
    let report = ChildReport::new()?;
    let observe = move || {
        let (ns, faults) = match writer {
            FirstWriter::Child => written_by_child(&memory, &timer, &report)?,
            FirstWriter::Parent => {
                let _child = waiting_child(site)?;
                timed_writes(&memory, memory.all_pages(), &timer)?
            }
            FirstWriter::Survivor => {
                drop(waiting_child(site)?);
                timed_writes(&memory, memory.all_pages(), &timer)?
            }
        };
        tally.add(memory.pages() as f64, faults, memory.pages() as u64);
        ensure(faults.all() > 0, "writing shared pages took no fault")?;
        Ok(Some(ns / faults.all() as f64))
    };
    Ok(Workload::recorded(observe).witnessed(move || counts.counts()))
}

fn timed_writes(
    memory: &Mapping,
    pages: Range<usize>,
    timer: &IntervalTimer,
) -> Result<(f64, Faults), Failure> {
    let before = Faults::so_far();
    let ns = timer.of(|| {
        // SAFETY: our own mapping, whose contents nobody uses.
        unsafe { memory.write_pages(pages) };
        Ok(())
    })?;
    Ok((ns, Faults::so_far().since(before)))
}

/// Results that a child reports to its parent.
struct ChildReport {
    picoseconds: &'static AtomicU64,
    minor: &'static AtomicU64,
    major: &'static AtomicU64,
}

impl ChildReport {
    fn new() -> Result<Self, Failure> {
        let number =
            || shared_memory().map_err(|error| Failure::Broke(format!("shared memory for a child: {error}")));
        Ok(ChildReport { picoseconds: number()?, minor: number()?, major: number()? })
    }
}

/// Forks a child that times and counts its own writes, and waits for it.
fn written_by_child(
    memory: &Mapping,
    timer: &IntervalTimer,
    report: &ChildReport,
) -> Result<(f64, Faults), Failure> {
    report.picoseconds.store(0, Ordering::Release);
    // SAFETY: a trial has one thread; the child writes memory and ends.
    let child = match unsafe { libc::fork() } {
        -1 => return Err(Failure::last("fork")),
        0 => {
            // The child's stack and data are shared with the parent as well: a rehearsal without a page faults them in.
            let rehearsed = timed_writes(memory, 0..0, timer).is_ok();
            let status = match timed_writes(memory, memory.all_pages(), timer) {
                Ok((ns, faults)) if rehearsed => {
                    report.minor.store(faults.minor, Ordering::Relaxed);
                    report.major.store(faults.major, Ordering::Relaxed);
                    report.picoseconds.store((ns * 1e3) as u64, Ordering::Release);
                    0
                }
                _ => 1,
            };
            // SAFETY: ends the child without running the parent's destructors.
            unsafe { libc::_exit(status) }
        }
        child => child,
    };
    let mut status = 0;
    // SAFETY: waits for our own child.
    errno("waitpid", unsafe { libc::waitpid(child, &raw mut status, 0) })?;
    let ns = report.picoseconds.load(Ordering::Acquire) as f64 / 1e3;
    ensure(status == 0 && ns > 0.0, "the child did not write its pages")?;
    let counted = |count: &AtomicU64| count.load(Ordering::Relaxed);
    Ok((ns, Faults { minor: counted(report.minor), major: counted(report.major) }))
}

/// A child that shares every page and only sleeps, until it is dropped.
fn waiting_child(site: &Site) -> Result<PartnerProcess, Failure> {
    let (ready, tell) = pipe()?;
    let child = PartnerProcess::start(site.home, move || {
        drop(tell);
        loop {
            // SAFETY: sleeps until the parent kills this process.
            unsafe { libc::pause() };
        }
    })?;
    // The child closes its end of the pipe just before it sleeps; yielding the CPU once lets it get there.
    let mut nothing = [0_u8];
    let read = std::fs::File::from(ready).read(&mut nothing);
    ensure(matches!(read, Ok(0)), "the child did not start")?;
    // SAFETY: takes no arguments.
    unsafe { libc::sched_yield() };
    Ok(child)
}
