//! How much of a file does one page fault read and map?

use crate::apparatus::memory::fault::cold_file::{self, ColdFile};
use crate::apparatus::memory::fault::interval_timer::IntervalTimer;
use crate::apparatus::memory::fault::stretch::Mapped;
use crate::apparatus::memory::fault::tally::Faults;
use crate::apparatus::memory::fault::{device_reads, peaks};
use crate::apparatus::memory::pages::{Mapping, Pages};
use crate::expected::device_facts;
use crate::expected::fault::MAPPED_AT_ONCE;
use fathom_core::prelude::*;
use fathom_core::sorting;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

const STATE: Parameter = Parameter::of("state", "whether the file is in the page cache", &[COLD, CACHED]);
const METHOD: Parameter =
    Parameter::of("method", "how the extent is measured", &[RESIDENCY, PAGE_TABLE, PEAKS]);

pub struct FaultExtent;

static ABOUT: About = About {
    name: "memory/fault_extent",
    question: "How much of a file does one page fault read and map?",
    operation: "one fault on a page of a mapped file (a series of faults for the peaks); the result is the number of \
                bytes read or mapped",
    method: "A byte at a random place of the mapped file is read once, and the kernel is asked what changed: \
             `residency` is how much of the file is in memory afterwards (mincore), when nothing was before; `page \
             table` is how much this process can touch without a further fault (/proc/self/pagemap).\n\nThe classic \
             method uses timing only: pages are touched one after the other from a random place on, and each access \
             is timed. Accesses that take at least half as long as the cheapest kind of fault, timed in the same \
             process, are peaks. The result is the typical distance from one peak to the next. Faults counted around \
             every access show whether the peaks were faults.\n\nThe two methods need not agree for a cold file: a \
             fault may read more than it maps, and the kernel continues to read ahead during the series.",
    caveats: "A file may be in the page cache in pieces of different sizes (large folios), depending on how it was \
              written or read; one fault then maps a whole piece.",
    version: 1,
    timed: Some(TimedCode {
        of: "one touch, and what came with it",
        source: include_str!("fault_extent.rs"),
        begins: "fn looked_up<",
    }),
    parameters: &[STATE, METHOD],
    trends: &[],
    shown: Shown::by(&[MainFigure::of(
        "read by one major fault",
        &[("method", At::Name("residency")), ("state", At::Name("cold"))],
    )]),
};

const COLD: &str = "cold";
const CACHED: &str = "cached";
const RESIDENCY: &str = "residency";
const PAGE_TABLE: &str = "page table";
const PEAKS: &str = "peaks of access time";

/// Whether the file system keeps files in the page cache in large pieces.
fn keeps_large_folios(machine: &Machine) -> bool {
    let since = [("xfs", (5, 18)), ("ext4", (6, 16))];
    let own = machine.storage.file_system.value();
    since.iter().any(|(name, (major, minor))| {
        own.is_some_and(|own| own == name) && machine.kernel.is_at_least(*major, *minor)
    })
}

/// Pages of a series: several times a huge page, the maximum that one fault maps.
const SERIES: usize = 8192;

/// Faults by which the cheapest kind is timed.
const CHEAPEST: usize = 31;

impl Experiment for FaultExtent {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        vec![
            point(COLD, RESIDENCY),
            point(COLD, PAGE_TABLE),
            point(COLD, PEAKS),
            point(CACHED, PAGE_TABLE),
            point(CACHED, PEAKS),
        ]
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        if point.name(&METHOD) == PEAKS { Effort::Standard } else { Effort::Quick }
    }

    fn unit(&self, _: &Point) -> Unit {
        Unit::Bytes
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        // This applies to a cold fault as well: it is retried after its page has been read, and then finds the neighbours read
        // with it.
        let around_bytes = MAPPED_AT_ONCE as f64;
        let folio = Pages::Huge.bytes() as f64;
        let large = Basis::published(
            folio,
            "the kernel maps a large folio whole; a file written here is cached in folios of up to 2 MiB by XFS since Linux 5.18 and ext4 \
             since 6.16",
        );
        if point.name(&STATE) == CACHED && keeps_large_folios(known.machine) {
            return Ok(Prediction::new().software(
                "mapped around the page, with all of its large folio",
                1.0,
                large,
            ));
        }
        let around = Basis::published(
            around_bytes,
            "the kernel maps 64 KiB around a page that is in the page cache (fault_around_bytes)",
        );
        let expected = |what, basis| Ok(Prediction::new().software(what, 1.0, basis));
        match (point.name(&STATE), point.name(&METHOD)) {
            (COLD, RESIDENCY) => expected("read around the page", device_facts::read_ahead(known.machine)),
            (_, PAGE_TABLE) => {
                let what = "mapped around the page, or all of a large folio where the file system keeps them (XFS since Linux 5.18, \
                            ext4 since 6.16)";
                expected(what, around).map(|prediction| prediction.within(Some([around_bytes, folio])))
            }
            _ => expected("mapped around the page", around),
        }
    }

    fn time_limit(&self, _: &Point) -> Duration {
        // The first trial of a run writes the file.
        Duration::from_secs(60)
    }

    fn touches(&self, _: &Point) -> Vec<Touch> {
        vec![Touch::File(cold_file::BYTES)]
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let cold = ColdFile::of(site)?;
        let place = Xoshiro256PlusPlus::seed_from_u64(site.seed);
        let is_cold = point.name(&STATE) == COLD;
        let file = Probed { cold, place, is_cold };
        if !is_cold {
            file.cold.warm()?;
        }
        Ok(match point.name(&METHOD) {
            PEAKS => file.peaks(half_the_cheapest_fault(&IntervalTimer::new(site))?, site),
            method => {
                let present = |cold: &ColdFile| cold.mapping.present_pages();
                file.looked_up(if method == RESIDENCY { ColdFile::pages_come } else { present })
            }
        })
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        if point.name(&METHOD) == PEAKS {
            return peaks_were_faults(observed);
        }
        let (kind, name) = if point.name(&STATE) == COLD { ("major", MAJOR) } else { ("minor", MINOR) };
        let claim = format!("{kind} faults counted by the kernel, per byte touched");
        let mut checks = vec![Check::witnessed(&claim, observed, name, 0.99, 1.01)];
        if point.name(&METHOD) == RESIDENCY {
            let claim = "bytes newly in memory, per byte that the device delivered";
            let served = device_reads::total(observed);
            checks.extend(served.map(|served| {
                let brought = observed.witness(BROUGHT).filter(|_| served > 0.0);
                Check::within(claim, brought.map(|brought| brought / served), 0.95, 1.01)
            }));
        }
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        [read_and_mapped(known), by_the_page_table(known)].into_iter().flatten().collect()
    }
}

/// Whether peaks that are not faults (an interrupt, another process) can change a series' median distance. Each splits one
/// distance into two that are too short: with a share s of them per fault, 2s of 1 + s distances are wrong, and as long as these
/// are fewer than half, s below a third, the median is a distance between faults.
fn could_move(others: usize, faults: usize) -> bool {
    3 * others >= faults
}

/// The result is the median over series, which is correct while fewer than half of them are changed; a little less, because
/// trials have equal weight however many series they have. If peaks are unrelated to faults, all series are changed.
fn peaks_were_faults(observed: &Observed) -> Vec<Check> {
    let both = "accesses that faulted and were peaks, per access that faulted";
    let moved = "series in which peaks without a fault are numerous enough to shift the median distance (a third as \
                 many as faults), per series";
    let both = Check::within(both, observed.ratio(FAULTED_PEAKS, FAULTED), 0.95, 1.0);
    // Of runs of programs that did not leave such series out.
    let moved = observed.witness(MOVED).map(|_| Check::witnessed(moved, observed, MOVED, 0.0, 0.4));
    std::iter::once(both).chain(moved).collect()
}

fn read_and_mapped(known: &Known) -> Option<Finding> {
    let result = |method| known.found(ABOUT.name, &point(COLD, method));
    let (read, mapped) = (result(RESIDENCY)?, result(PAGE_TABLE)?);
    let then = match mapped.differs_from(&read) {
        Some(true) if mapped.value < read.value => {
            ": the pages after that take further faults, which need no device"
        }
        _ => "",
    };
    Some(finding!(
        Question::Experiment,
        "One fault at a random place of a cold file reads {read} and maps {mapped}{then}.",
        read = read.named("read by a fault"),
        mapped = mapped.named("mapped by a fault on a cold file")
    ))
}

/// Why a fault maps more than `fault_around_bytes`: seen in kernels with large folios, where the same file is mapped in pieces of 64 KiB,
/// 1 MiB or 2 MiB, as it was written in small or large pieces or read back from the device.
const LARGE_FOLIO: &str = " That is more than the 64 KiB around a page that the kernel maps by itself (fault_around_bytes). A large folio \
    of the page cache is mapped at once, and its size depends on how the file came into the cache: written in small or large \
    pieces, or read from the device. This run does not see the sizes, and other files (memory/minor_fault) are mapped in other pieces.";

fn by_the_page_table(known: &Known) -> Option<Finding> {
    let result = |method| known.found(ABOUT.name, &point(CACHED, method));
    let table = result(PAGE_TABLE)?;
    let pages = table.counted(1.0 / Pages::Base.bytes() as f64, Dimension::Count);
    let lead = statement!(
        "One fault at a random place of a cached file maps {table}, or {pages} pages, according to the page table",
        table = table.named("mapped by a fault on a cached file"),
        pages = pages.named("pages mapped by a fault on a cached file")
    );
    let peaks = result(PEAKS).map(|peaks| {
        let agree = (table.value - peaks.value).abs() < Pages::Base.bytes() as f64;
        statement!(
            "; the peaks of the access times are {peaks} apart: the two {agree}",
            peaks = peaks.named("distance of peaks"),
            agree = if agree { "agree" } else { "do not agree" }
        )
    });
    let beyond = if table.value > MAPPED_AT_ONCE as f64 { LARGE_FOLIO } else { "" };
    Some(finding!(Question::Experiment, "{lead}{peaks}.{beyond}", lead, peaks, beyond))
}

fn point(state: &str, method: &str) -> Point {
    Point::new().named(&STATE, state).named(&METHOD, method)
}

const MINOR: &str = "minor_faults_in_probes";
const MAJOR: &str = "major_faults_in_probes";
const BROUGHT: &str = "bytes_brought_in";
const FAULTED_PEAKS: &str = "accesses_that_faulted_and_were_peaks";
const MOVED: &str = "series_with_a_third_as_many_other_peaks_as_faults";
const FAULTED: &str = "accesses_that_faulted";

/// The file, restored to its state before every probe.
struct Probed {
    cold: ColdFile,
    place: Xoshiro256PlusPlus,
    is_cold: bool,
}

impl Probed {
    /// Forgets all mapped pages and, if the file is to be cold, all that are in memory; returns the page to probe, far from both
    /// ends.
    fn fresh_place(&mut self) -> Result<usize, Failure> {
        if self.is_cold {
            self.cold.evict()?;
        } else {
            self.cold.mapping.forget()?;
        }
        let pages = cold_file::BYTES as usize / Pages::Base.bytes();
        Ok(pages / 4 + self.place.next_u64() as usize % (pages / 2))
    }

    fn read(&self, page: usize) {
        self.cold.read(page * Pages::Base.bytes());
    }

    /// One touch; the result is the number of bytes that came with it according to the kernel.
    fn looked_up<'site>(mut self, count: fn(&ColdFile) -> Result<usize, Failure>) -> Workload<'site> {
        let sums = Rc::new([const { Cell::new(0.0) }; 3]);
        let counted = Rc::clone(&sums);
        let observe = move || {
            let page = self.fresh_place()?;
            let before = Faults::so_far();
            self.read(page);
            let faults = Faults::so_far().since(before);
            let bytes = (count(&self.cold)? * Pages::Base.bytes()) as f64;
            for (sum, more) in sums.iter().zip([faults.minor as f64, faults.major as f64, bytes]) {
                sum.set(sum.get() + more);
            }
            Ok(Some(bytes))
        };
        Workload::recorded(observe).witnessed(move || {
            let sums = [MINOR, MAJOR, BROUGHT].into_iter().zip(counted.iter().map(Cell::get));
            sums.chain(device_reads::count()).collect()
        })
    }

    /// A series of touches; the result is the distance between the slow ones, if these are the faults. A series that other work took part in
    /// is made again.
    fn peaks<'site>(mut self, least: f64, site: &'site Site) -> Workload<'site> {
        let timer = IntervalTimer::new(site);
        let sums = Rc::new([const { Cell::new(0.0) }; 2]);
        let counted = Rc::clone(&sums);
        let observe = move || {
            let mut reason = "";
            for _ in 0..ATTEMPTS {
                let series = self.series(least, &timer)?;
                match series.distance() {
                    Ok(pages) => {
                        for (sum, more) in sums.iter().zip([series.both, series.faults]) {
                            sum.set(sum.get() + more as f64);
                        }
                        return Ok(Some(pages * Pages::Base.bytes() as f64));
                    }
                    Err(why) => reason = why,
                }
            }
            Err(Failure::Unsupported(format!(
                "{SERIES} consecutive accesses {reason}, in {ATTEMPTS} such series"
            )))
        };
        Workload::recorded(observe).witnessed(move || {
            [FAULTED_PEAKS, FAULTED].into_iter().zip(counted.iter().map(Cell::get)).collect()
        })
    }

    fn series(&mut self, least: f64, timer: &IntervalTimer) -> Result<TouchSeries, Failure> {
        let first = self.fresh_place()?;
        let (mut times, mut faulted) = (Vec::with_capacity(SERIES), Vec::with_capacity(SERIES));
        for page in first..first + SERIES {
            let before = Faults::so_far();
            times.push(timer.of(|| {
                self.read(page);
                Ok(())
            })?);
            faulted.push(Faults::so_far().since(before).all() > 0);
        }
        Ok(TouchSeries::of(peaks::of(&times, least), &faulted))
    }
}

/// How often a series is made until its peaks are its faults.
const ATTEMPTS: usize = 3;

/// The accesses of a series that took long.
struct TouchSeries {
    /// Their places, ascending.
    peaks: Vec<usize>,
    /// How many of them faulted.
    both: usize,
    /// How many accesses faulted.
    faults: usize,
}

impl TouchSeries {
    fn of(peaks: Vec<usize>, faulted: &[bool]) -> Self {
        let both = peaks.iter().filter(|place| faulted[**place]).count();
        TouchSeries { peaks, both, faults: faulted.iter().filter(|faulted| **faulted).count() }
    }

    /// The median distance of the peaks, pages; else why it is not that of faults.
    fn distance(&self) -> Result<f64, &'static str> {
        if could_move(self.peaks.len() - self.both, self.faults) {
            return Err("have so many slow ones without a fault that these shift the median distance");
        }
        peaks::period(&self.peaks).ok_or("have too few peaks to find their period")
    }
}

/// Half of the time (median) of the first read of an anonymous page, which only maps the zero page.
fn half_the_cheapest_fault(timer: &IntervalTimer) -> Result<f64, Failure> {
    let memory = Mapping::untouched(CHEAPEST * Pages::Base.bytes(), Pages::Base)?;
    let timed = |page: usize| {
        timer.of(|| {
            memory.read_pages(page..page + 1);
            Ok(())
        })
    };
    let mut times = (0..CHEAPEST).map(timed).collect::<Result<Vec<f64>, Failure>>()?;
    sorting::numbers(&mut times);
    Ok(times[CHEAPEST / 2] / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of faults in a series in which every sixteenth page faults.
    const FAULTS: usize = SERIES / 16;

    /// Whether ten series are accepted, given the share of faults that were peaks and the other peaks in each series.
    fn believed(share: f64, others: [usize; 10]) -> bool {
        let moved = others.into_iter().filter(|others| could_move(*others, FAULTS)).count();
        let faults = 10.0 * FAULTS as f64;
        let counts = [(FAULTED, faults), (FAULTED_PEAKS, share * faults), (MOVED, moved as f64)];
        peaks_were_faults(&fathom_described::observed(10, counts)).iter().all(|check| check.holds)
    }

    #[test]
    fn a_busy_host_is_no_doubt_and_peaks_that_are_no_faults_are() {
        assert!(believed(1.0, [0; 10]));
        assert!(believed(1.0, [SERIES * 74 / 10_000; 10]), "as many as a busy host was seen to add");
        let all_in_some = [SERIES, SERIES / 2, 0, 0, SERIES, 0, 0, 0, 0, 0];
        assert!(believed(1.0, all_in_some), "a few series that another process took part in");
        assert!(!believed(1.0, [FAULTS / 2; 10]), "as many as can move the median");
        assert!(!believed(1.0, [SERIES - FAULTS; 10]), "every access is a peak");
        assert!(!believed(0.06, [FAULTS; 10]), "peaks as frequent as faults, at other places");
    }

    /// Of each cold series of a default run so many accesses were slow without a fault that "do not use" led its screen.
    #[test]
    fn a_series_whose_slow_accesses_are_no_faults_has_no_distance() {
        let faulted: Vec<bool> = (0..SERIES).map(|place| place % 16 == 0).collect();
        let faults: Vec<usize> = (0..SERIES).step_by(16).collect();
        assert_eq!(TouchSeries::of(faults.clone(), &faulted).distance(), Ok(16.0));
        let all: Vec<usize> = (0..SERIES).step_by(4).collect();
        let why = TouchSeries::of(all, &faulted).distance().expect_err("three of four did not fault");
        assert!(why.contains("without a fault"), "{why}");
        assert!(
            TouchSeries::of(faults[..1].to_vec(), &faulted).distance().is_err(),
            "one peak has no distance"
        );
    }

    #[test]
    fn the_most_that_is_believed_does_not_move_the_median() {
        // Every fourth of the distances of 16 pages has a peak within it.
        let faults = (0..SERIES).step_by(16);
        let mut peaks: Vec<usize> = faults.clone().chain(faults.step_by(4).map(|place| place + 7)).collect();
        peaks.sort_unstable();
        assert_eq!(peaks::period(&peaks), Some(16.0));
    }
}
