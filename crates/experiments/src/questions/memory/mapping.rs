//! What does it cost to map, unmap, protect and discard memory, by size?

use crate::apparatus::memory::fault::interval_timer::IntervalTimer;
use crate::apparatus::memory::fault::slots::Slots;
use crate::apparatus::memory::pages::Pages;

use crate::expected::{kernel_service, mode_switch};
use fathom_core::prelude::*;
use fathom_core::quantity::declared;
use std::cell::Cell;
use std::rc::Rc;

const CALL: Parameter = Parameter::of(
    "call",
    "the system call, and the state of the memory",
    &[MMAP, MUNMAP_UNTOUCHED, MUNMAP, MPROTECT, DROP],
);
const SIZE: Parameter = Parameter::bytes("size", "the memory that one call affects");

pub struct MappingCalls;

static ABOUT: About = About {
    name: "memory/mapping",
    question: "What does it cost to map, unmap, protect and discard memory, by size?",
    operation: "one system call on one mapping of anonymous memory in base pages; every return value is checked",
    method: "Several mappings are made, with gaps between them so that the kernel cannot merge them; they are touched \
             where the point says so, and unmapped. Only the calls named are timed, and the time is divided by the \
             number of mappings. `munmap`, `mprotect` and `madvise` (MADV_DONTNEED) are measured on memory of which \
             every page was written, `munmap` also on memory that was never touched. `mprotect` removes and restores \
             write permission in turn; both count as calls.\n\nThe kernel's count of minor faults per page written \
             shows that there was something to free; a tracer counts all system calls of a round, timed or not.",
    caveats: "The process has one thread. With threads on other CPUs, their TLBs must be invalidated too, which costs \
              more.",
    version: 1,
    timed: Some(TimedCode {
        of: "mappings made, changed and unmapped",
        source: include_str!("mapping.rs"),
        begins: "fn round(",
    }),
    parameters: &[CALL, SIZE],
    trends: &[Trend { along: "size", step: 4096.0, slope: "per page of 4 KiB" }],
    shown: Shown::by(&[MainFigure::of(
        "mmap of the smallest size",
        &[("call", At::Name("mmap")), ("size", At::Least)],
    )]),
};

const MMAP: &str = "mmap";
const MUNMAP_UNTOUCHED: &str = "munmap, never touched";
const MUNMAP: &str = "munmap, every page written";
const MPROTECT: &str = "mprotect, every page written";
const DROP: &str = "madvise to drop every page";

/// The longest mapping, bytes.
const LONGEST: u64 = 16 << 20;
/// Maximum total bytes of the mappings in a round, and their maximum number.
const TOGETHER: usize = 4 << 20;
const MOST: usize = 32;

/// Maximum number of the measuring process's own faults in a trial: its stack, and its records.
const OWN_FAULTS: f64 = 10.0;

impl Experiment for MappingCalls {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let sizes =
            |call: &'static str| [4 << 10, 64 << 10, 1 << 20, LONGEST].map(move |bytes| point(call, bytes));
        [MMAP, MUNMAP_UNTOUCHED, MUNMAP, MPROTECT, DROP].into_iter().flat_map(sizes).collect()
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        match (point.name(&CALL), point.number(&SIZE)) {
            (_, 4_096) | (MUNMAP | MPROTECT | DROP, 1_048_576) => Effort::Quick,
            _ => Effort::Standard,
        }
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let touched = !matches!(point.name(&CALL), MMAP | MUNMAP_UNTOUCHED);
        if touched { vec![Requirement::MemoryBytes(LONGEST)] } else { vec![] }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let pages = point.number(&SIZE) as f64 / Pages::Base.bytes() as f64;
        let call = kernel_service::entering(Prediction::new(), "entering the kernel", 1.0, known);
        let with_pages = |what, ns: f64, page, page_ns: f64| {
            kernel_service::assumed(
                kernel_service::assumed(call.clone(), what, ns, known),
                page,
                pages * page_ns,
                known,
            )
        };
        Ok(match point.name(&CALL) {
            MMAP => {
                kernel_service::assumed(call, "a gap found, a mapping created and inserted", 500.0, known)
            }
            MUNMAP_UNTOUCHED => {
                kernel_service::assumed(call, "a mapping found, removed and freed", 500.0, known)
            }
            MUNMAP => with_pages("a mapping removed, TLB entries invalidated", 700.0, "pages freed", 100.0),
            MPROTECT => {
                with_pages("a mapping changed, TLB entries invalidated", 400.0, "entries changed", 30.0)
            }
            _ => with_pages("a mapping found, TLB entries invalidated", 300.0, "pages freed", 100.0),
        })
    }

    fn bound(&self, _: &Point, known: &Known) -> Option<Bound> {
        Some(mode_switch::bound(1.0, "every call enters", known))
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let bytes = (point.number(&SIZE) as usize).next_multiple_of(Pages::Base.bytes());
        let slots = Slots::new((TOGETHER / bytes).clamp(1, MOST), bytes)?;
        let count = slots.count();
        let call = SlotCall { name: point.name(&CALL).to_owned(), slots, timer: IntervalTimer::new(site) };
        let written = Rc::new(Cell::new(0.0));
        let counted = Rc::clone(&written);
        let (pages, timed_calls) = (call.pages_written(), count * call.per_slot());
        let observe = move || {
            let ns = call.round()?;
            written.set(written.get() + pages);
            Ok(Some(ns / timed_calls as f64))
        };
        let workload = Workload::recorded(observe).traced().per_iteration(count as u64);
        let readings = (LAPS * IntervalTimer::READINGS) as f64 / count as f64;
        Ok(workload.stating(READINGS, readings).witnessed(move || vec![(WRITTEN, counted.get())]))
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        // A round maps and unmaps every slot; between the two are the named calls.
        let calls = match point.name(&CALL) {
            MPROTECT => 4.0,
            DROP => 3.0,
            _ => 2.0,
        };
        let readings = observed.witness(READINGS).unwrap_or_default();
        let mut checks = vec![Check::system_calls_and_readings(observed, calls, readings)];
        let faults = observed.counters.minor_faults as f64;
        checks.push(match (point.name(&CALL), observed.witness(WRITTEN)) {
            (MMAP | MUNMAP_UNTOUCHED, _) => {
                let claim = "nothing was touched: minor faults per round";
                let most = 0.5 + observed.others_per_operation(OWN_FAULTS);
                Check::within(claim, observed.per_operation(observed.counters.minor_faults), 0.0, most)
            }
            (_, Some(written)) if written > 0.0 => {
                let claim = "there was something to free: minor faults per page written";
                // If the mapping is large, a whole page table is freed and rebuilt without additional faults.
                let own = OWN_FAULTS * observed.trials as f64 / written;
                Check::within(claim, faults / written, 0.98, 1.05 + own)
            }
            _ => Check::missing("pages that were written"),
        });
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        [each_page_unmapped(known), by_size(known)].into_iter().flatten().collect()
    }
}

fn each_page_unmapped(known: &Known) -> Option<Finding> {
    let cost = |bytes: u64| known.found(ABOUT.name, &point(MUNMAP, bytes));
    let (one, all) = (cost(4 << 10)?, cost(LONGEST)?);
    let pages = (LONGEST / Pages::Base.bytes() as u64) as f64;
    let each = all.beyond(one)?.scaled(1.0 / (pages - 1.0));
    Some(finding!(
        Question::Experiment,
        "Unmapping one written page takes {one}, unmapping {pages} of them {all}: {each} for each \
         further page.",
        one = one.named("one page unmapped"),
        pages = Found::exact(pages, Dimension::Count).named("pages"),
        all = all.named("all pages unmapped"),
        each = each.named("each further page")
    ))
}

/// What the other calls take for the smallest and for the largest mapping that each was measured with.
fn by_size(known: &Known) -> Option<Finding> {
    let calls = [MMAP, MPROTECT, DROP, MUNMAP_UNTOUCHED].into_iter().filter_map(|call| {
        let along = known.found_along(ABOUT.name, &point(call, 0), &SIZE);
        let ((least, short), (most, long)) = (*along.first()?, *along.last()?);
        (least < most).then(|| {
            statement!(
                "{call} {short} for {least} and {long} for {most}",
                short = short.named(&format!("{call}, smallest")),
                least = declared::size(least),
                long = long.named(&format!("{call}, largest")),
                most = declared::size(most)
            )
        })
    });
    let calls = Statement::joined(calls, "; ")?;
    Some(finding!(Question::Experiment, "By the size of the mapping: {calls}.", calls))
}

fn point(call: &str, size: u64) -> Point {
    Point::new().named(&CALL, call).with(&SIZE, size)
}

/// Timed stretches of a round: mapping, the calls between, unmapping.
const LAPS: usize = 3;
/// Stated: readings of the clock per slot.
const READINGS: &str = "clock_readings";
const WRITTEN: &str = "pages_written";

struct SlotCall<'site> {
    name: String,
    slots: Slots,
    timer: IntervalTimer<'site>,
}

impl SlotCall<'_> {
    /// Timed calls per slot.
    fn per_slot(&self) -> usize {
        if self.name == MPROTECT { 2 } else { 1 }
    }

    fn pages_written(&self) -> f64 {
        let touched = !matches!(self.name.as_str(), MMAP | MUNMAP_UNTOUCHED);
        if touched { (self.slots.count() * self.slots.bytes() / Pages::Base.bytes()) as f64 } else { 0.0 }
    }

    /// Maps, touches and unmaps every slot; returns the time of the named calls, nanoseconds.
    fn round(&self) -> Result<f64, Failure> {
        let slots = &self.slots;
        let mapping = self.timer.of(|| slots.map())?;
        if self.pages_written() > 0.0 {
            slots.write();
        }
        let between = self.timer.of(|| match self.name.as_str() {
            MPROTECT => slots.each(|start, bytes| {
                // SAFETY: our own mapping, which nobody uses meanwhile; it is made writable again afterwards.
                unsafe {
                    errno("mprotect", libc::mprotect(start, bytes, libc::PROT_READ))?;
                    errno("mprotect", libc::mprotect(start, bytes, libc::PROT_READ | libc::PROT_WRITE))
                }
            }),
            DROP => slots.each(|start, bytes| {
                // SAFETY: our own mapping, whose contents nobody uses.
                errno("madvise", unsafe { libc::madvise(start, bytes, libc::MADV_DONTNEED) })
            }),
            _ => Ok(()),
        })?;
        let unmapping = self.timer.of(|| slots.unmap())?;
        Ok(match self.name.as_str() {
            MMAP => mapping,
            MUNMAP | MUNMAP_UNTOUCHED => unmapping,
            _ => between,
        })
    }
}
