//! What does a page fault cost that reads the page from a device?

use super::minor_fault;
use crate::apparatus::memory::fault::cold_reader::{ColdReader, WINDOW, WRITTEN_PAGES};
use crate::apparatus::memory::fault::tally::{self, FaultKind};
use crate::apparatus::memory::fault::{cold_file, device_reads};
use crate::apparatus::memory::pages::Pages;
use crate::expected::fault::{MAPPED_AT_ONCE, trap};
use crate::expected::kernel_service::assumed;
use crate::expected::{device_facts, fault_per_byte};
use fathom_core::prelude::*;
use fathom_core::quantity::declared;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::time::Duration;

const ACCESS: Parameter = Parameter::of(
    "access",
    "which pages are touched, and in which order",
    &[SHUFFLED, IN_ORDER, FIRST_BYTE, WRITTEN, FIXED, RANDOM],
);
const STRIDE: Parameter = Parameter::bytes("stride", "bytes from one access to the next");

pub struct MajorFault;

static ABOUT: About = About {
    name: "memory/major_fault",
    question: "What does a page fault cost that reads the page from a device?",
    operation: "one access to a byte of a mapped file of which nothing was in memory, whether it faults or finds a \
                page that an earlier fault read; some points are per page instead",
    method: "A file of 128 MiB of random content is written once per run into the measured folder, without a name, \
             and is flushed to its device before anything is timed (fdatasync). Before each series it is evicted from \
             the page cache (posix_fadvise with POSIX_FADV_DONTNEED), and mincore must find no page of it in memory. \
             Then single bytes are read through a mapping; each access is an observation, minus the cost of the \
             clock.\n\n`shuffled pages` reads one byte of each of 64 random pages of the file, with read-ahead \
             switched off for the file and the mapping: each access must be one major fault. `every page in order` \
             leaves read-ahead on and times 32 MiB, evicted before, per page. The strides read the first or a random \
             byte of each of up to 100 stretches, with the kernel's default read-ahead, in series that begin with the \
             file evicted: the order of the observations shows which accesses had to wait.\n\nMajor and minor faults \
             are counted around every access, and so are the bytes that the kernel read from the device for this \
             process.",
    caveats: "`first byte of a fresh mapping` is the method of report 001: a single access, with read-ahead on. \
              `every page written, then synchronised` is the method of report 002: it times reads, writes and a flush \
              of the device under one name. A virtual disk may answer from its host's memory; the figure is then that \
              of the host's memory. Where strides are shorter than what a fault reads, the median is of accesses that \
              do not fault.",
    version: 1,
    timed: Some(TimedCode {
        of: "one access, with the faults that it took",
        source: include_str!("../../apparatus/memory/fault/cold_reader.rs"),
        begins: "fn access(",
    }),
    parameters: &[ACCESS, STRIDE],
    trends: &[],
    shown: Shown::by(&[MainFigure::of(
        "page of a cold file, read-ahead off",
        &[("access", At::Name("shuffled pages, no read-ahead"))],
    )])
    .in_order(|point| (1..=256 << 10).contains(&point.number(&STRIDE))),
};

const SHUFFLED: &str = "shuffled pages, no read-ahead";
const IN_ORDER: &str = "every page in order, with read-ahead";
const FIRST_BYTE: &str = "first byte of a fresh mapping";
const WRITTEN: &str = "every page written, then synchronised";
const FIXED: &str = "first byte of each stride";
const RANDOM: &str = "random byte of each stride";

/// Report 003's strides.
const STRIDES: [u64; 8] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];
/// Report 003's accesses per stride, if the file is long enough.
const ACCESSES: usize = 100;
/// Shuffled pages read before the file is evicted again: half a second's on a rotating disk.
const SHUFFLED_PAGES: usize = 64;

impl Experiment for MajorFault {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let single = [SHUFFLED, IN_ORDER, FIRST_BYTE, WRITTEN].map(point);
        let strides =
            [FIXED, RANDOM].into_iter().flat_map(|access| STRIDES.map(|bytes| stride(access, bytes)));
        single.into_iter().chain(strides).collect()
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        match (point.name(&ACCESS), point.number(&STRIDE)) {
            (SHUFFLED | IN_ORDER | FIRST_BYTE, _) | (FIXED, 4_096 | 65_536 | 1_048_576) => Effort::Quick,
            (RANDOM, 1_048_576..) => Effort::Thorough,
            _ => Effort::Standard,
        }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let page = Pages::Base.bytes() as f64;
        let faulting = trap(Prediction::new(), known);
        let waiting = |prediction| {
            let what = "a request to the device, a sleep and a wake-up";
            let prediction = assumed(prediction, what, 4_000.0, known);
            prediction
                .hardware("the device's answer", 1.0, device_facts::random_read(known))
                .within(device_facts::usual_random_read(known))
        };
        let read_ahead = device_facts::read_ahead(known.machine).value;
        let with_read_ahead =
            |what, bytes| waiting(faulting.clone()).hardware(what, bytes, device_facts::byte(known));
        let streamed = |prediction: Prediction| {
            let what = "the bytes of a page, streamed from the device";
            prediction.hardware(what, page, device_facts::byte(known))
        };
        let present = "accesses that find a page in memory that is not mapped yet";
        Ok(match point.name(&ACCESS) {
            IN_ORDER => streamed(Prediction::new().software(present, 1.0 / 16.0, minor_fault::minor(known))),
            WRITTEN => {
                let faults = Prediction::new().software(present, 1.0, minor_fault::minor(known)).software(
                    "the first write to a page of a file",
                    1.0,
                    minor_fault::made_writable(known),
                );
                assumed(streamed(faults), "the file system's work for each page", 1_000.0, known).hardware(
                    "a flush of the device, shared by the pages",
                    1.0 / WRITTEN_PAGES as f64,
                    device_facts::random_read(known),
                )
            }
            FIXED | RANDOM if point.number(&STRIDE) < MAPPED_AT_ONCE => Prediction::new().hardware(
                "a load of a line that no cache holds",
                1.0,
                fault_per_byte::load(known),
            ),
            // The kernel reads as much before the page as after it: the next accesses are in memory until half of that is passed.
            FIXED | RANDOM if (point.number(&STRIDE) as f64) < read_ahead / 2.0 => Prediction::new()
                .software(
                    "a fault on a page that is in memory, with its neighbours",
                    1.0,
                    minor_fault::minor_with_neighbours(known),
                )
                .hardware("a load of a line that no cache holds", 1.0, fault_per_byte::load(known)),
            FIXED | RANDOM => with_read_ahead(
                "the bytes read around the page and not around the previous one",
                read_ahead.min(point.number(&STRIDE) as f64),
            ),
            SHUFFLED => waiting(faulting),
            _ => with_read_ahead("the bytes read with it, of which half come before it", read_ahead / 2.0),
        })
    }

    fn bound(&self, point: &Point, _: &Known) -> Option<Bound> {
        // Report 000 believed a "hard fault" of 110 ns (R-FIX-53).
        matches!(point.name(&ACCESS), SHUFFLED | FIRST_BYTE).then(|| Bound::of(500.0, "a request takes the block layer and the fastest device more than half a microsecond; anything \
                      faster was in memory"))
    }

    fn time_limit(&self, _: &Point) -> Duration {
        // The first trial of a run writes the file.
        Duration::from_secs(60)
    }

    fn touches(&self, _: &Point) -> Vec<Touch> {
        vec![Touch::File(cold_file::BYTES)]
    }

    fn waits_for_the_device(&self, _: &Point) -> bool {
        true
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let reader = ColdReader::new(site)?;
        let mut chance = Xoshiro256PlusPlus::seed_from_u64(site.seed);
        Ok(match point.name(&ACCESS) {
            SHUFFLED => {
                reader.cold.without_read_ahead()?;
                reader.accesses(move || shuffled(&mut chance))
            }
            IN_ORDER => reader.windows(),
            FIRST_BYTE => reader.fresh_mappings(),
            WRITTEN => reader.written(),
            access => {
                let (stride, random) = (point.number(&STRIDE) as usize, access == RANDOM);
                reader.accesses(move || strides(stride, random, &mut chance))
            }
        })
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let page = Pages::Base.bytes() as f64;
        let read = |claim, low, high| device_reads::check(observed, claim, low * page, high * page);
        let whole = cold_file::BYTES as f64 / page;
        let device = match point.name(&ACCESS) {
            SHUFFLED => read("bytes that the device delivered, per access: one page", 0.99, 1.05),
            FIRST_BYTE => {
                read("bytes that the device delivered, per access: a page and its read-ahead", 0.99, whole)
            }
            // Read-ahead continues beyond the end.
            IN_ORDER => {
                let window = (WINDOW / Pages::Base.bytes()) as f64;
                read("bytes that the device delivered, per 32 MiB touched: all of them", 0.99 * window, whole)
            }
            WRITTEN => None,
            _ => device_reads::per_major_fault(observed, page, cold_file::BYTES as f64),
        };
        let faults = match point.name(&ACCESS) {
            SHUFFLED | FIRST_BYTE => tally::checks(observed, FaultKind::Major),
            WRITTEN => tally::checks(observed, FaultKind::Either),
            _ => vec![],
        };
        faults.into_iter().chain(device).collect()
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let Some(major) = known.found(ABOUT.name, &point(SHUFFLED)) else { return vec![] };
        let usual = device_facts::against_the_usual(major, known)
            .map(|place| finding!(Question::Published, "A fault that reads one page takes {place}.", place));
        let findings = [
            usual,
            against_minor(major, known),
            fault_per_byte::finding("major", major, known),
            always_faulting(major, known),
        ];
        findings.into_iter().flatten().collect()
    }
}

fn point(access: &str) -> Point {
    Point::new().named(&ACCESS, access)
}

fn stride(access: &str, bytes: u64) -> Point {
    point(access).with(&STRIDE, bytes)
}

fn against_minor(major: Found, known: &Known) -> Option<Finding> {
    let minor = known.found(minor_fault::NAME, &minor_fault::cached_point())?;
    Some(finding!(
        Question::Fault,
        "A fault that waits for the device takes {major}, one that finds its page in memory {minor}: \
         {ratio}.",
        major = major.named("major fault"),
        minor = minor.named("minor fault"),
        ratio = major.times_as("long", minor, "major over minor fault")
    ))
}

/// The stride from which on most accesses are major faults (R-MEM-28).
fn always_faulting(major: Found, known: &Known) -> Option<Finding> {
    let curve = known.along(ABOUT.name, &stride(FIXED, 0), &STRIDE);
    let waits = |time: f64| time > major.value / 4.0;
    let Some(first) = curve.iter().position(|(_, time)| waits(*time)) else {
        return never_faulting(major, known);
    };
    let (closer, apart) = curve.split_at(first);
    // Between the two strides nothing was measured.
    let closer = closer.last().map_or_else(String::new, |(stride, _)| {
        let size = declared::size(*stride);
        format!("; those at most {size} apart mostly find pages that an earlier access read")
    });
    apart.iter().all(|(_, time)| waits(*time)).then(|| {
        finding!(
            Question::Experiment,
            "With default read-ahead, accesses at least {from} apart wait for the device{closer}.",
            from = declared::size(apart[0].0),
            closer
        )
    })
}

/// Strides of which none mostly waits for the device: why they take less than a fault that does.
fn never_faulting(major: Found, known: &Known) -> Option<Finding> {
    let curve = known.found_along(ABOUT.name, &stride(FIXED, 0), &STRIDE);
    let least = curve.iter().min_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))?.1;
    let most = curve.iter().max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))?.1;
    let (nearest, furthest) = (curve.first()?.0, curve.last()?.0);
    Some(finding!(
        Question::Experiment,
        "With default read-ahead, accesses {nearest} to {furthest} apart take {least} to {most}, less than the \
         {major} of a fault that waits for the device. An access either finds a page that an earlier one has read or waits for the \
         device, and these times are over both kinds.",
        nearest = declared::size(nearest),
        furthest = declared::size(furthest),
        least = least.named("access, the quickest stride"),
        most = most.named("access, the slowest stride"),
        major = major.named("major fault")
    ))
}

/// Some pages in random order, each once: the beginning of a shuffle of all (Fisher and Yates).
fn shuffled(chance: &mut impl Rng) -> Vec<usize> {
    let page = Pages::Base.bytes();
    let mut offsets: Vec<usize> = (0..cold_file::BYTES as usize).step_by(page).collect();
    for place in 0..SHUFFLED_PAGES {
        let other = place + chance.next_u64() as usize % (offsets.len() - place);
        offsets.swap(place, other);
    }
    offsets.truncate(SHUFFLED_PAGES);
    offsets
}

/// One byte in each of the first strides of the file.
fn strides(stride: usize, random: bool, chance: &mut impl Rng) -> Vec<usize> {
    let starts = (0..cold_file::BYTES as usize).step_by(stride).take(ACCESSES);
    let within = |start| if random { start + chance.next_u64() as usize % stride } else { start };
    starts.map(within).collect()
}
