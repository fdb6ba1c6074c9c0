//! What does the first touch of a page cost when no device is needed?

use super::after_fork::{self, Writer};
use super::backing::Backing;
use super::fault_cost::{handling, page_cleared, trap};
use super::fault_tally::{self, Faults, Kind, Tally};
use super::file_mapping::{FileMapping, Sharing};
use super::lap::Lap;
use super::pages::{Mapping, Pages};
use super::stretch::Mapped;
use crate::experiment::{
    About, Bound, Check, Effort, Experiment, Failure, Known, Observed, Parameter, Point, Prediction,
    Requirement, Scale, Site, Workload, ensure,
};
use crate::experiments::test_file::{self, Room, TestFile};
use crate::machine::Machine;
use std::fs::File;
use std::rc::Rc;

/// Which page is touched, and how.
const TOUCH: Parameter =
    Parameter { name: "touch", meaning: "which page is touched, and how", scale: Scale::Name };
/// How much of it.
const STRETCH: Parameter = Parameter {
    name: "stretch",
    meaning: "memory that is touched page by page between two looks at the clock",
    scale: Scale::Bytes,
};

/// What is timed.
pub struct MinorFault;

/// The experiment's name, also for those who build on it.
pub const NAME: &str = "memory/minor_fault";

static ABOUT: About = About {
    name: NAME,
    question: "What does the first touch of a page cost when no device is needed?",
    operation: "one fault, counted by the kernel; the touches that need none because a fault before them mapped their \
                pages as well are part of its time",
    method: "A stretch of pages is touched in the order of addresses, one byte a page, between two readings of the clock; \
             the time is divided by the faults that the kernel counted meanwhile (getrusage), never by a number assumed. \
             Before each observation the pages are taken from the page table again (madvise with MADV_DONTNEED, untimed). \
             Anonymous memory is first written (a page is found, cleared and mapped) or first read (the shared page of \
             zeros is mapped); with huge pages one fault clears 512 times as much. `cleared by the program` is \
             what clearing costs without a fault, so that it can be told from the rest. The same \
             pages are asked for in one system call (MADV_POPULATE_WRITE) to leave out the traps.\n\nFor a file in the page cache the kernel maps \
             neighbours with the page touched; a mapping of single pages gives it no neighbours; a written page of a \
             shared mapping is the file's, of a private one a copy. After fork both processes share every page until one writes: the child or the parent gets a copy; when the child is gone the \
             page is only made writable.\n\nHow many pages one touch maps is looked up in the page table \
             (/proc/self/pagemap): with the number of pages it says how many faults there should be, and the \
             kernel's count must agree to one percent.",
    caveats: "Pages that were freed a moment ago are given out again, so clearing may find them in a cache; in the large \
              stretch it does so less. A virtual machine's first use of memory may cost its hypervisor more than this.",
    version: 1,
    parameters: &[TOUCH, STRETCH],
    trends: &[],
};

const CLEARED: &str = "no fault: cleared by the program";
const FIRST_READ: &str = "anonymous, first read";
const FIRST_WRITE: &str = "anonymous, first write";
const POPULATED: &str = "anonymous, populated by one call";
const HUGE: &str = "anonymous huge page, first write";
const CACHED: &str = "cached file, read with neighbours";
const CACHED_ALONE: &str = "cached file, read, page by page";
const CACHED_SHARED: &str = "cached file, written, shared";
const CACHED_PRIVATE: &str = "cached file, written, private copy";
const CHILD: &str = "after fork, written by the child";
const PARENT: &str = "after fork, written by the parent";
const SURVIVOR: &str = "after fork, written when the child is gone";

/// Usually: some of the second-level cache, and half a thousand faults between two readings.
const SMALL: u64 = 2 << 20;
/// More than most last-level caches hold for one core.
const LARGE: u64 = 64 << 20;
/// Four huge pages of the usual size.
const HUGE_STRETCH: u64 = 8 << 20;

impl Experiment for MinorFault {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let small = [
            CLEARED,
            FIRST_READ,
            FIRST_WRITE,
            POPULATED,
            CACHED,
            CACHED_ALONE,
            CACHED_SHARED,
            CACHED_PRIVATE,
            CHILD,
            PARENT,
            SURVIVOR,
        ];
        let mut points: Vec<Point> = small.map(|touch| point(touch, SMALL)).into();
        points.insert(3, point(FIRST_WRITE, LARGE));
        points.insert(4, point(HUGE, HUGE_STRETCH));
        points
    }

    fn effort(&self, point: &Point) -> Effort {
        let spared = matches!(point.name(&TOUCH), POPULATED | SURVIVOR) || point.number(&STRETCH) == LARGE;
        if spared { Effort::Standard } else { Effort::Quick }
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        vec![Requirement::MemoryBytes(2 * point.number(&STRETCH))]
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let page = Pages::Base.bytes() as f64;
        let touch = point.name(&TOUCH);
        if touch == CLEARED {
            let bytes = known.cycles(page / 32.0, "32 bytes stored a cycle, as far as caches allow");
            return Ok(Prediction::new().hardware("a page stored through", 1.0, bytes));
        }
        let trapped = if touch == POPULATED { Prediction::new() } else { trap(Prediction::new(), known) };
        let (what, ns) = handled(touch);
        let handled = handling(trapped, what, ns, known);
        let pages = match touch {
            FIRST_WRITE | POPULATED => 1.0,
            HUGE => Pages::Huge.bytes() as f64 / page,
            CACHED_PRIVATE | CHILD | PARENT => 2.0,
            _ => return Ok(handled),
        };
        let what = "pages cleared, or read and written where they are copied";
        Ok(handled.hardware(what, pages, page_cleared(known, page)))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let (cycles, because) = match point.name(&TOUCH) {
            CLEARED => {
                (Pages::Base.bytes() as f64 / 128.0, "no core stores more than two lines of 64 bytes a cycle")
            }
            _ => (40.0, "a fault enters the kernel, which takes some forty cycles on every core"),
        };
        Some(Bound { limit: cycles * known.shortest_cycle(), because: because.to_owned() })
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let bytes = point.number(&STRETCH) as usize;
        match point.name(&TOUCH) {
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
            CHILD => after_fork::workload(Writer::Child, bytes, site),
            PARENT => after_fork::workload(Writer::Parent, bytes, site),
            _ => after_fork::workload(Writer::Survivor, bytes, site),
        }
    }

    fn evidence(&self, point: &Point, seen: &Observed) -> Vec<Check> {
        let touch = point.name(&TOUCH);
        if touch == CLEARED {
            return vec![fault_tally::none(seen)];
        }
        let mut checks = fault_tally::checks(seen, Kind::Minor);
        if !matches!(touch, CHILD | PARENT | SURVIVOR) {
            checks.push(mapped_check(touch, point.number(&STRETCH), seen));
        }
        match touch {
            HUGE => checks.extend(Backing::evidence(true, seen)),
            CACHED | CACHED_ALONE | CACHED_SHARED | CACHED_PRIVATE => {
                let claim = "share of the file in the page cache before it was touched";
                checks.push(match seen.witness(IN_CACHE) {
                    Some(share) => Check::equal(claim, share, 1.0),
                    None => Check::missing(claim),
                });
            }
            _ => {}
        }
        checks
    }

    fn findings(&self, known: &Known) -> Vec<String> {
        let cost = |touch| known.median(NAME, &point(touch, SMALL));
        let huge = known.median(NAME, &point(HUGE, HUGE_STRETCH));
        let mut said = vec![];
        if let (Some(write), Some(read), Some(clear)) = (cost(FIRST_WRITE), cost(FIRST_READ), cost(CLEARED)) {
            said.push(format!(
                "The first write of a page takes {write:.0} ns, the first read {read:.0} ns: finding and clearing a page \
                 costs {:.0} ns more than mapping the page of zeros, of which clearing alone takes {clear:.0} ns in a program.",
                write - read
            ));
        }
        let (page, huge_page) = (Pages::Base.bytes() as f64, Pages::Huge.bytes() as f64);
        if let (Some(write), Some(huge)) = (cost(FIRST_WRITE), huge) {
            let (small_byte, huge_byte) = (write / page, huge / huge_page);
            said.push(format!(
                "A byte of fresh memory costs {small_byte:.3} ns by base pages and {huge_byte:.3} ns by huge ones: {:.1} times \
                 as much.",
                small_byte / huge_byte
            ));
        }
        if let (Some(copy), Some(reuse)) = (cost(CHILD), cost(SURVIVOR)) {
            said.push(format!(
                "A page that is copied after fork costs {copy:.0} ns, one that is only made writable again {reuse:.0} ns."
            ));
        }
        said
    }
}

fn point(touch: &str, stretch: u64) -> Point {
    Point::new().named(&TOUCH, touch).with(&STRETCH, stretch)
}

/// The point of clearing a page without a fault, for predictions.
pub fn cleared_point() -> Point {
    point(CLEARED, SMALL)
}

/// The point of a fault on one page in the page cache, for predictions.
pub fn cached_point() -> Point {
    point(CACHED_ALONE, SMALL)
}

/// What the kernel does at a fault besides trapping and clearing, and what that is assumed to take on report 000's machine.
fn handled(touch: &str) -> (&'static str, f64) {
    match touch {
        FIRST_READ => ("the mapping looked up and the page of zeros mapped", 80.0),
        HUGE => ("a huge page found, accounted and mapped", 2_000.0),
        CACHED => ("the page found in the cache, sixteen mapped, and fifteen touches without a fault", 600.0),
        CACHED_ALONE => ("the page found in the cache and mapped", 200.0),
        CACHED_SHARED => ("the page found, the file system told of the write, and the page mapped", 500.0),
        SURVIVOR => ("the page found to be nobody else's and made writable", 120.0),
        CHILD | PARENT => {
            ("a page found and accounted, the other's entry in the caches of addresses dropped", 300.0)
        }
        _ => ("a page found, accounted and mapped", 200.0),
    }
}

/// How many pages one touch mapped. With a file the kernel decides: some neighbours, or all of a large folio.
fn mapped_check(touch: &str, stretch: u64, seen: &Observed) -> Check {
    let claim = "pages that one touch mapped, as the page table shows";
    let page = Pages::Base.bytes() as u64;
    match (seen.witness(MAPPED), touch) {
        (None, _) => Check::missing(claim),
        (Some(mapped), CACHED | CACHED_SHARED) => Check::within(claim, mapped, 1.0, (stretch / page) as f64),
        (Some(mapped), HUGE) => Check::equal(claim, mapped, (Pages::Huge.bytes() as u64 / page) as f64),
        (Some(mapped), _) => Check::equal(claim, mapped, 1.0),
    }
}

/// Stated: pages that one touch mapped.
const MAPPED: &str = "pages_mapped_by_one_touch";
/// Stated: the share of the file that was in the page cache.
const IN_CACHE: &str = "share_in_page_cache";

/// How pages are touched.
type Touch<M> = fn(&M, usize) -> Result<(), Failure>;

/// Reads one byte of each of the first `pages` pages.
fn read<M: Mapped>(memory: &M, pages: usize) -> Result<(), Failure> {
    memory.read_pages(pages);
    Ok(())
}

/// Writes one byte of each of the first `pages` pages.
fn write<M: Mapped>(memory: &M, pages: usize) -> Result<(), Failure> {
    // SAFETY: every mapping here can be written, and nothing is kept in it.
    unsafe { memory.write_pages(pages) };
    Ok(())
}

/// Asks for the first `pages` pages in one system call (since Linux 5.14).
fn populate<M: Mapped>(memory: &M, pages: usize) -> Result<(), Failure> {
    let bytes = pages.min(memory.pages()) * Pages::Base.bytes();
    let start = memory.start().as_ptr().cast();
    // SAFETY: our own mapping; pages that are not there yet are put there.
    let populated = unsafe { libc::madvise(start, bytes, libc::MADV_POPULATE_WRITE) };
    if populated == 0 {
        return Ok(());
    }
    Err(match std::io::Error::last_os_error().raw_os_error() {
        Some(libc::EINVAL) => {
            Failure::Unsupported("this kernel does not know MADV_POPULATE_WRITE: Linux 5.14 does".to_owned())
        }
        _ => Failure::last("madvise to populate pages"),
    })
}

/// A stretch that is forgotten, untimed, and touched, again and again; the result is per fault counted.
fn touched<'site, M: Mapped + 'site>(
    memory: M,
    touch: Touch<M>,
    site: &'site Site,
) -> Result<Workload<'site>, Failure> {
    let mapped = mapped_by(&memory, touch)?;
    let claimed = memory.pages() as f64 / mapped;
    let (lap, tally) = (Lap::new(site), Tally::new());
    let counts = Rc::clone(&tally);
    let observe = move || {
        memory.forget()?;
        let before = Faults::so_far();
        let ns = lap.of(|| touch(&memory, usize::MAX))?;
        let faults = Faults::so_far().since(before);
        tally.add(claimed, faults, memory.pages() as u64);
        ensure(faults.all() > 0, "the first touch of pages took no fault")?;
        Ok(Some(ns / faults.all() as f64))
    };
    Ok(Workload::recorded(observe).witnessed(move || counts.counts()).stating(MAPPED, mapped))
}

/// How many pages one touch maps, as the page table shows it.
fn mapped_by<M: Mapped>(memory: &M, touch: Touch<M>) -> Result<f64, Failure> {
    memory.forget()?;
    touch(memory, 1)?;
    let mapped = memory.present_pages()?;
    ensure(mapped > 0, "a page that was touched is not in the page table")?;
    Ok(mapped as f64)
}

/// Huge pages, verified to be such before they are touched anew.
fn huge<'site>(bytes: usize, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let memory = Mapping::untouched(bytes, Pages::Huge)?;
    write(&memory, usize::MAX)?;
    let backing = Backing::of(Mapped::start(&memory).as_ptr() as usize)?;
    if backing.huge < backing.mapped {
        return Err(Failure::Unsupported(format!(
            "the kernel backed {} MiB of {} MiB with huge pages; memory may be fragmented: try after `echo 1 > \
             /proc/sys/vm/compact_memory` as root",
            backing.huge >> 20,
            backing.mapped >> 20
        )));
    }
    Ok(backing.stated(touched(memory, write, site)?))
}

/// Pages of a file that are all in the page cache.
fn cached<'site>(
    memory: FileMapping,
    touch: Touch<FileMapping>,
    site: &'site Site,
) -> Result<Workload<'site>, Failure> {
    let share = memory.resident_pages()? as f64 / memory.pages() as f64;
    Ok(touched(memory, touch, site)?.stating(IN_CACHE, share))
}

/// A file without a name that was just written, and so is in the page cache.
fn file(bytes: usize, site: &Site) -> Result<File, Failure> {
    let test = TestFile::nameless(site, bytes as u64, Room::DEFAULT)?;
    test_file::warm(&test)?;
    Ok(test.file)
}

/// Clears pages that are there already.
fn cleared<'site>(bytes: usize, site: &'site Site) -> Result<Workload<'site>, Failure> {
    let (memory, _) = Mapping::resident(bytes, Pages::Base)?;
    let (lap, tally) = (Lap::new(site), Tally::new());
    let counts = Rc::clone(&tally);
    let (page, pages) = (Pages::Base.bytes(), memory.pages());
    let observe = move || {
        let before = Faults::so_far();
        let ns = lap.of(|| {
            for index in 0..pages {
                // SAFETY: one page inside our own mapping.
                unsafe {
                    std::hint::black_box(Mapped::start(&memory).add(index * page)).write_bytes(0, page)
                };
            }
            Ok(())
        })?;
        tally.add(0.0, Faults::so_far().since(before), pages as u64);
        Ok(Some(ns / pages as f64))
    };
    Ok(Workload::recorded(observe).witnessed(move || counts.counts()))
}
