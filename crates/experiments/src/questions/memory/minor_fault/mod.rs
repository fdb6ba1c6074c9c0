//! What does a page fault cost that needs no device?

mod points;

use points::page_of_batch_cleared;
pub use points::{NAME, cached_point, made_writable, minor, minor_with_neighbours, page_cleared};

use crate::apparatus::memory::backing::Backing;
use crate::apparatus::memory::fault::after_fork::{self, FirstWriter};
use crate::apparatus::memory::fault::file_mapping::{FileMapping, Sharing};

use crate::apparatus::memory::fault::tally::{self, FaultKind};
use crate::apparatus::memory::fault::touched::{
    IN_CACHE, MAPPED, cached, cleared, file, huge, populate, read, touched, write,
};
use crate::apparatus::memory::pages::{Mapping, Pages};
use crate::expected::fault::trap;
use crate::expected::fault_per_byte;
use crate::expected::kernel_service::assumed;
use crate::expected::mode_switch;
use fathom_core::prelude::*;
use fathom_core::quantity::declared;
use points::{
    ACCESS, BATCH, CACHED, CACHED_ALONE, CACHED_PRIVATE, CACHED_SHARED, CHILD, CLEARED, FIRST_READ,
    FIRST_WRITE, HUGE, HUGE_STRETCH, LARGE, PARENT, POPULATED, SMALL, SURVIVOR, point,
};

pub struct MinorFault;

static ABOUT: About = About {
    name: NAME,
    question: "What does a page fault cost that needs no device?",
    operation: "one fault, counted by the kernel; its time includes the touches of pages that the same fault mapped \
                as well",
    method: "A stretch of pages is touched in the order of addresses, one byte per page, between two readings of the \
             clock. The time is divided by the faults that the kernel counted meanwhile (getrusage), never by an \
             assumed number. Before each observation the pages are removed from the page table (madvise with \
             MADV_DONTNEED, untimed). Anonymous memory is first written (a page is allocated, cleared and mapped) or \
             first read (the shared zero page is mapped); with huge pages one fault clears 512 times as much. \
             `cleared by the program` is the cost of clearing without a fault, to separate it from the rest. \
             MADV_POPULATE_WRITE maps the same pages in one system call, without the traps.\n\nFor a file in the page \
             cache, where it lies in pages and not in large folios, the kernel also maps the neighbours of the page \
             touched; in a mapping of single pages there are none. A written page of a shared mapping is the file's, of \
             a private one a copy. After fork both \
             processes share every page until one writes: the child or the parent gets a copy; after the child has \
             ended, the page is only made writable.\n\nThe number of faults of a pass over the stretch is determined \
             beforehand from the page table (/proc/self/pagemap), by touching each page only if it is not yet mapped. \
             The kernel's count during the timed passes must agree with that to one per cent.",
    caveats: "The kernel reuses pages that were freed a moment ago, so clearing may find them in a cache, less so in \
              the large stretch. The first use of memory in a virtual machine may cost more, because the hypervisor \
              must allocate it.",
    version: 2,
    timed: Some(TimedCode {
        of: "a touch of all pages, and its faults",
        source: include_str!("../../../apparatus/memory/fault/touched.rs"),
        begins: "pub fn touched<",
    }),
    parameters: &[ACCESS, BATCH],
    trends: &[],
    shown: Shown::by(&[MainFigure::of(
        "anonymous page, first write",
        &[("access", At::Name("anonymous, first write"))],
    )]),
};

impl Experiment for MinorFault {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        points::all()
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        let spared = matches!(point.name(&ACCESS), POPULATED | SURVIVOR) || point.number(&BATCH) == LARGE;
        if spared { Effort::Standard } else { Effort::Quick }
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        vec![Requirement::MemoryBytes(2 * point.number(&BATCH))]
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let page = Pages::Base.bytes() as f64;
        let access = point.name(&ACCESS);
        if access == CLEARED {
            let bytes = known.assumed_cycles(page / 32.0, "32 bytes stored a cycle, as far as caches allow");
            return Ok(Prediction::new().hardware("a page stored through", 1.0, bytes));
        }
        let trapped = if access == POPULATED { Prediction::new() } else { trap(Prediction::new(), known) };
        let (what, ns) = handled(access);
        let handled = assumed(trapped, what, ns, known);
        let pages = match access {
            FIRST_WRITE | POPULATED => 1.0,
            HUGE => Pages::Huge.bytes() as f64 / page,
            CACHED_PRIVATE | CHILD | PARENT => 2.0,
            _ => return Ok(handled),
        };
        let what = "pages cleared, or read and written where they are copied";
        let cleared = match access {
            HUGE | FIRST_WRITE => page_of_batch_cleared(known, page, point.number(&BATCH)),
            _ => page_cleared(known, page),
        };
        Ok(handled.hardware(what, pages, cleared))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        if point.name(&ACCESS) != CLEARED {
            return Some(mode_switch::bound(1.0, "a fault enters", known));
        }
        let cycles = Pages::Base.bytes() as f64 / 128.0;
        let because = "no core stores more than two lines of 64 bytes a cycle";
        Some(Bound::of(cycles * known.shortest_cycle(), because))
    }

    fn touches(&self, point: &Point) -> Vec<Touch> {
        match point.name(&ACCESS) {
            CACHED | CACHED_ALONE | CACHED_SHARED | CACHED_PRIVATE => vec![Touch::File(point.number(&BATCH))],
            _ => vec![],
        }
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let bytes = point.number(&BATCH) as usize;
        match point.name(&ACCESS) {
            CLEARED => cleared(bytes, site),
            FIRST_READ => touched(Mapping::untouched(bytes, Pages::Base)?, read, site),
            FIRST_WRITE => touched(Mapping::untouched(bytes, Pages::Base)?, write, site),
            POPULATED => touched(Mapping::untouched(bytes, Pages::Base)?, populate, site),
            HUGE => huge(bytes, site),
            CACHED => cached(FileMapping::whole(&file(bytes, site)?, bytes, Sharing::Shared)?, read, site),
            CACHED_ALONE => cached(FileMapping::in_single_pages(&file(bytes, site)?, bytes)?, read, site),
            CACHED_SHARED => {
                cached(FileMapping::whole(&file(bytes, site)?, bytes, Sharing::Shared)?, write, site)
            }
            CACHED_PRIVATE => {
                cached(FileMapping::whole(&file(bytes, site)?, bytes, Sharing::Private)?, write, site)
            }
            CHILD => after_fork::workload(FirstWriter::Child, bytes, site),
            PARENT => after_fork::workload(FirstWriter::Parent, bytes, site),
            SURVIVOR => after_fork::workload(FirstWriter::Survivor, bytes, site),
            access => Err(Failure::no_variant(&ACCESS, access)),
        }
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let access = point.name(&ACCESS);
        if access == CLEARED {
            return vec![tally::none(observed)];
        }
        let mut checks = tally::checks(observed, FaultKind::Minor);
        if !matches!(access, CHILD | PARENT | SURVIVOR) {
            checks.push(mapped_check(access, point.number(&BATCH), observed));
        }
        match access {
            HUGE => checks.extend(Backing::evidence(true, observed)),
            CACHED | CACHED_ALONE | CACHED_SHARED | CACHED_PRIVATE => {
                let claim = "share of the file in the page cache before it was touched";
                checks.push(Check::equal(claim, observed.witness(IN_CACHE), 1.0));
            }
            _ => {}
        }
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        [
            what_clearing_costs(known),
            shared_write(known),
            fresh_memory(known),
            after_a_fork(known),
            against_a_load(known),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// A minor fault that brings in a page of a file, as a major one does, against a load from memory.
fn against_a_load(known: &Known) -> Option<Finding> {
    let fault = known.found(NAME, &cached_point())?;
    let mut finding = fault_per_byte::finding("minor", fault, known)?;
    finding.statement.push(" The fault is a cached file's.");
    Some(finding)
}

fn what_clearing_costs(known: &Known) -> Option<Finding> {
    let cost = |access| known.found(NAME, &point(access, SMALL));
    let (write, read, clear) = (cost(FIRST_WRITE)?, cost(FIRST_READ)?, cost(CLEARED)?);
    let clearing = match write.beyond(read) {
        Some(more) => {
            statement!(
                "allocating and clearing a page takes {more} more",
                more = more.named("write less read")
            )
        }
        None => write.not_beyond(&read).into(),
    };
    Some(finding!(
        Question::Experiment,
        "The first write of a page takes {write}, the first read, which maps the zero page, {read}: \
         {clearing}. A program clears a page in {clear}.",
        write = write.named("first write"),
        read = read.named("first read"),
        clearing,
        clear = clear.named("page cleared by a program")
    ))
}

fn fresh_memory(known: &Known) -> Option<Finding> {
    let by = |access, stretch, pages: Pages| {
        known.found(NAME, &point(access, stretch)).map(|page| page.scaled(1.0 / pages.bytes() as f64))
    };
    let base = by(FIRST_WRITE, SMALL, Pages::Base)?;
    let huge = by(HUGE, HUGE_STRETCH, Pages::Huge)?;
    Some(finding!(
        Question::Experiment,
        "A byte of fresh memory costs {base} by base pages ({few}) and {huge} by huge ones ({many}), which the kernel clears where they lie, \
         perhaps in a cache: {ratio}.",
        few = declared::size(SMALL),
        many = declared::size(HUGE_STRETCH),
        base = base.named("byte by base pages"),
        huge = huge.named("byte by huge pages"),
        ratio = base.times_as("much", huge, "base over huge pages, per byte")
    ))
}

fn after_a_fork(known: &Known) -> Option<Finding> {
    let cost = |access| known.found(NAME, &point(access, SMALL));
    let (copied, reused) = (cost(CHILD)?, cost(SURVIVOR)?);
    Some(finding!(
        Question::Experiment,
        "A page that is copied after fork costs {copied}, one that is only made writable again {reused}: \
         {ratio}.",
        copied = copied.named("page copied"),
        reused = reused.named("page reused"),
        ratio = copied.times_as("much", reused, "copied over reused")
    ))
}

/// What a write through a shared mapping of a file takes beyond one through a private mapping, which copies the page.
fn shared_write(known: &Known) -> Option<Finding> {
    let cost = |access| known.found(NAME, &point(access, SMALL));
    let (shared, private) = (cost(CACHED_SHARED)?, cost(CACHED_PRIVATE)?);
    let more = shared.beyond(private)?;
    Some(finding!(
        Question::Experiment,
        "The first write of a page of a cached file takes {shared} through a shared mapping, and {private} through a private one, which copies the \
         page: {more} more. Of the two only the former calls the file system before the page may change (page_mkwrite: the Linux kernel's \
         documentation, filesystems/locking.rst).",
        shared = shared.named("page written, shared"),
        private = private.named("page written, private"),
        more = more.named("page written, shared beyond private")
    ))
}

/// The kernel's work at a fault besides trapping and clearing, and its assumed time on report 000's machine.
fn handled(access: &str) -> (&'static str, f64) {
    match access {
        FIRST_READ => ("the mapping looked up and the zero page mapped", 150.0),
        HUGE => ("a huge page allocated, accounted and mapped", 2_000.0),
        CACHED => ("the page found in the cache, sixteen mapped, and fifteen touches without a fault", 700.0),
        CACHED_ALONE => ("the page found in the cache and mapped", 300.0),
        CACHED_SHARED => {
            ("the page found, the file system notified of the write, and the page mapped", 500.0)
        }
        SURVIVOR => ("the page found to be unshared and made writable", 150.0),
        CHILD | PARENT => ("a page allocated and accounted, the other's TLB entry invalidated", 500.0),
        _ => ("a page allocated, accounted and mapped", 400.0),
    }
}

/// The number of pages mapped per fault. With a file that is read the kernel decides: some neighbours.
fn mapped_check(access: &str, stretch: u64, observed: &Observed) -> Check {
    let claim = "pages that one fault maps, on average, as the page table shows";
    let page = Pages::Base.bytes() as u64;
    let mapped = observed.witness(MAPPED);
    match access {
        CACHED => Check::within(claim, mapped, 1.0, (stretch / page) as f64),
        HUGE => Check::equal(claim, mapped, (Pages::Huge.bytes() as u64 / page) as f64),
        _ => Check::equal(claim, mapped, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::memory::load_latency;

    #[test]
    fn the_fault_that_is_compared_with_a_load_is_named() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        let of_memory = load_latency::cycle_point(Pages::Huge, 1 << 30);
        fathom_described::plant(&mut known, &MinorFault, [(cached_point(), 1_200.0)]);
        fathom_described::plant(&mut known, &load_latency::LoadLatency, [(of_memory, 200.0)]);
        let said = against_a_load(&known).map(|finding| finding.statement.plain()).unwrap_or_default();
        assert!(said.ends_with(" The fault is a cached file's."), "{said}");
    }

    #[test]
    fn a_shared_write_is_set_against_the_private_one_that_copies() {
        let told = |shared: f64| {
            let both = [(CACHED_SHARED, shared), (CACHED_PRIVATE, 1_900.0)];
            let both = both.map(|(access, ns)| (point(access, SMALL), ns));
            fathom_described::statements(&MinorFault, both, shared_write)
        };
        let more = told(11_800.0);
        assert!(more.contains("{11800} through a shared mapping") && more.contains("{9900} more"), "{more}");
        assert_eq!(told(1_900.0), "", "nothing is more");
    }
}
