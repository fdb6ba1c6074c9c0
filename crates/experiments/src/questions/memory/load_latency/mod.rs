//! What is the latency of a load, by the size of the array?

mod findings;
mod predicted;

use crate::apparatus::memory::backing::Backing;
use crate::apparatus::memory::chase::arena::Arena;
use crate::apparatus::memory::chase::cycle::{self, Cycle};
use crate::apparatus::memory::chase::random_order::RandomOrder;
use crate::apparatus::memory::chase::{kernel, scattered, sizes, walk};
use crate::apparatus::memory::pages::{PAGES, Pages};
use crate::expected::hierarchy;
use fathom_core::prelude::*;
use fathom_core::quantity::declared;
use std::rc::Rc;
use std::time::Duration;

pub const NAME: &str = "memory/load_latency";

pub const SIZE: Parameter = Parameter::bytes("size", "the size of the array");
const ORDER: Parameter = Parameter::named("order", "the order in which the array is visited");
const STRIDE: Parameter = Parameter::bytes("stride", "bytes from one element to the next");

/// Order: all lines once, none predictable.
const CYCLE: &str = "random cycle";
/// Order: window after window, with all lines of each once, none predictable; prefetchers of adjacent lines and TLBs help.
const WINDOWED: &str = "random within windows of 256 KiB";
/// Order: a constant distance, as in lmbench.
const FIXED: &str = "fixed stride";
/// Order: forward in strides, at a random position within each.
const WITHIN: &str = "random within stride";
/// Order: the same, in a loop of one load.
const WITHIN_ROLLED: &str = "random within stride, not unrolled";
/// Order: addresses that do not depend on loads.
const ELEMENTS: &str = "random elements";
/// The stride within which the random positions are: eight lines.
const WIDE_STRIDE: u64 = 512;

/// The point of the main curve, also for other experiments.
pub fn cycle_point(pages: Pages, size: u64) -> Point {
    Point::new().named(&ORDER, CYCLE).named(&PAGES, pages.name()).with(&SIZE, size)
}

/// A point of the naive variants, on base pages.
fn naive_point(order: &str, size: u64) -> Point {
    Point::new().named(&ORDER, order).named(&PAGES, Pages::Base.name()).with(&SIZE, size)
}

pub struct LoadLatency;

static ABOUT: About = About {
    name: NAME,
    question: "What is the latency of a load, by the size of the array?",
    operation: "one load of a pointer, whose address is the result of the previous load",
    method: "The pointers form one cycle: one per cache line in random order, so that no prefetcher can predict the next \
             one; or, as in lmbench, in fixed strides of 8 to 2048 bytes, which prefetchers may follow. Every line is \
             visited before any is visited again. Every trial has a new order. The cycle is checked before it is timed: every line points to the next one of the \
             order, and the first occurs once. The check visits the lines in the order of the chase, so caches and \
             TLBs are in their steady state when timing begins.\n\nThe array is backed by huge pages, where address \
             translation costs almost nothing, or by base pages; the difference is the cost of TLB misses. The kernel \
             reports which pages it allocated. The chase is unrolled 64 times in assembly; the element at which it \
             ends shows that all loads were made.\n\nLevels are found in the curve, not taken from the data sheet: \
             optimal partitioning with the Bayesian information criterion finds the flat segments. A level ends where \
             a load takes 1.5 times what it takes on the level's plateau, or halfway to the next plateau if that is less; its \
             figure is of the size well within it, or of the nearest one that takes its time. Sizes are 4, 5, 6 \
             and 7 quarters of powers of two.",
    caveats: "`fixed stride` is the method of lmbench and of reports 001 and 003: constant strides are prefetched, \
              and elements share a line where the stride is shorter than a line, so large arrays seem too fast. \
              `random within stride` is the method of report 003: random, but always forward in small steps, which \
              stream prefetchers follow within a page; it is measured unrolled and, as 003 first had it, `not \
              unrolled`. `random elements` is the method of report 002: addresses do not depend on earlier loads, so \
              many loads overlap, and the result is throughput (including the computation of the index), not latency. \
              `random within windows of 256 KiB` is multichase's default: both lines of a pair are visited shortly \
              after each other, so the adjacent-line prefetcher makes memory seem too fast.\n\nOn a virtual machine \
              the last-level cache may be shared with other guests, and the part that this machine gets may be \
              smaller than the declared size. A process that has \
              measured keeps its memory until the next one of its block begins, which gets mostly the same physical \
              pages, cleared.",
    version: 1,
    timed: Some(TimedCode { of: "the chase", source: kernel::CHASE_SOURCE, begins: "pub unsafe fn chase(" }),
    parameters: &[ORDER, PAGES, STRIDE, SIZE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::leading("L1", &[("order", At::Name("random cycle")), ("size", At::Within(1))])
            .with("size")
            .called("load from L1"),
        MainFigure::leading("L2", &[("order", At::Name("random cycle")), ("size", At::Within(2))])
            .with("size")
            .called("load from L2"),
        MainFigure::leading("L3", &[("order", At::Name("random cycle")), ("size", At::Within(3))])
            .with("size")
            .called("load from L3"),
        MainFigure::leading("largest array", &[("order", At::Name("random cycle")), ("size", At::Most)])
            .with("size")
            .called("load, largest array"),
        // The same point, where it is far beyond the last cache that the machine declares.
        MainFigure::leading("main memory", &[("order", At::Name("random cycle")), ("size", At::Memory)])
            .with("size")
            .called("load from memory"),
    ])
    .landmarks(|machine| hierarchy::landmarks(machine, &SIZE))
    .levels(findings::levels),
};

/// The strides of lmbench's curves (and report 003's: 8 bytes, times 4).
const STRIDES: [u64; 5] = [8, 32, 128, 512, 2048];
/// The sizes of the naive variants: few, because their errors show at any size.
const FEW_SIZES: [u64; 6] = [16 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];

/// The windows of multichase, within which its order is random by default.
const WINDOW: u64 = 256 << 10;

const SMALLEST: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

impl Experiment for LoadLatency {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        let random = |pages| {
            let sizes = sizes::four_an_octave(SMALLEST, largest(machine));
            sizes.into_iter().map(move |size| cycle_point(pages, size))
        };
        let few = FEW_SIZES.into_iter().chain([behind_caches(machine)]).collect::<Vec<u64>>();
        let naive = |order: &'static str, stride: u64| {
            few.iter().map(move |size| naive_point(order, *size).with(&STRIDE, stride)).collect::<Vec<_>>()
        };
        let fixed = STRIDES.into_iter().flat_map(|stride| naive(FIXED, stride));
        let within = [WITHIN, WITHIN_ROLLED].into_iter().flat_map(|order| naive(order, WIDE_STRIDE));
        let elements: Vec<Point> = few.iter().map(|size| naive_point(ELEMENTS, *size)).collect();
        let windowed =
            Point::new().named(&ORDER, WINDOWED).named(&PAGES, Pages::Huge.name()).with(&SIZE, GIB);
        Pages::ALL
            .into_iter()
            .flat_map(random)
            .chain([windowed])
            .chain(fixed)
            .chain(within)
            .chain(elements)
            .collect()
    }

    /// An order within windows needs several of them.
    fn sized(&self, point: &Point, bytes: u64) -> Option<Point> {
        (point.name(&ORDER) != WINDOWED || bytes >= 4 * WINDOW).then(|| point.clone().with(&SIZE, bytes))
    }

    fn core_share(&self, point: &Point, machine: &Machine) -> Option<CoreShare> {
        CoreShare::of_array(point.number(&SIZE), machine)
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        vec![Requirement::MemoryBytes(point.number(&SIZE))]
    }

    fn exceeded_for(&self, point: &Point, known: &Known) -> Option<Excess> {
        let machine = known.machine;
        let [second, last] = [2, 3].map(|level| machine.data_cache_bytes(machine.measured_cpu(), level));
        let is_shared = point.number(&SIZE) > second? && point.number(&SIZE) <= last? && machine.is_virtual();
        // What is fetched ahead at a fixed stride costs no load from memory, wherever it comes from.
        (is_shared && point.name(&ORDER) != FIXED).then(|| {
            Excess::of(
                "less of the host's last-level cache than is declared, because other guests use it or because a part is not this guest's: the \
                 less there is, the more loads go to memory",
            )
        })
    }

    fn effort(&self, point: &Point, machine: &Machine) -> Effort {
        match point.name(&ORDER) {
            CYCLE => cycle_effort(Pages::of(point), point.number(&SIZE)),
            // Every element is laid out before it is loaded: short strides have too many for a default run.
            FIXED | WITHIN | WITHIN_ROLLED
                if point.number(&SIZE) == behind_caches(machine) && point.number(&STRIDE) >= 128 =>
            {
                Effort::Standard
            }
            WINDOWED => Effort::Standard,
            _ if point.number(&SIZE) > 16 * MIB => Effort::Thorough,
            _ => Effort::Standard,
        }
    }

    /// Sizes that are laid out in the same memory, one after the other: those of up to four octaves, so that no small size waits
    /// for memory that only a much larger one needs.
    fn block(&self, point: &Point) -> Option<String> {
        let up_to = (20..).step_by(4).map(|power| 1_u64 << power);
        let up_to = up_to.take(10).find(|most| point.number(&SIZE) <= *most)?;
        Some(format!("{} pages, up to {}", Pages::of(point).name(), declared::size(up_to)))
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let size = point.number(&SIZE) as f64;
        Ok(match (point.name(&ORDER), Pages::of(point)) {
            (CYCLE | WINDOWED, pages) => predicted::cycle(known, pages, point.number(&SIZE)),
            (ELEMENTS, _) => predicted::elements(known, size),
            _ => predicted::stride(known, point.name(&ORDER), point.number(&STRIDE) as f64, size),
        })
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let (cycles, because) = match point.name(&ORDER) {
            ELEMENTS => (0.25, "no core starts more than four loads per cycle"),
            _ => (2.0, "a dependent load takes at least two cycles in any first-level cache"),
        };
        Some(Bound::of(cycles * known.shortest_cycle(), because))
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        Pages::ensure(point)?;
        let bytes = point.number(&SIZE) as usize;
        let stride = point.number(&STRIDE);
        match point.name(&ORDER) {
            CYCLE => Ok(walk::one(Rc::new(random_cycle(bytes, Pages::of(point), site)?), bytes, false)),
            FIXED => Ok(walk::one(Rc::new(strided(bytes, stride, site, |_| 0)?), bytes, false)),
            WINDOWED => Ok(walk::one(Rc::new(windowed_cycle(bytes, Pages::of(point), site)?), bytes, false)),
            ELEMENTS => scattered_elements(bytes, site),
            order @ (WITHIN | WITHIN_ROLLED) => {
                let line = sizes::line_bytes(site.home) as u64;
                let lines = (stride / line).max(1);
                let chance = RandomOrder::new(u64::MAX, site.seed);
                let within = move |element| chance.at(element) % lines * line;
                Ok(walk::one(Rc::new(strided(bytes, stride, site, within)?), bytes, order == WITHIN_ROLLED))
            }
            order => Err(Failure::no_variant(&ORDER, order)),
        }
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let mut checks = Backing::evidence(Pages::of(point) == Pages::Huge, observed);
        if point.name(&ORDER) == ELEMENTS {
            checks.push(walk::no_faults(observed));
            return checks;
        }
        checks.push(cycle::whole(observed));
        let rolled = point.name(&ORDER) == WITHIN_ROLLED;
        checks.extend(walk::evidence(observed, if rolled { walk::ROLLED_MOST } else { walk::UNROLLED_MOST }));
        if point.name(&ORDER) == CYCLE {
            checks.extend(cycle::unpredictable(observed));
        }
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }

    fn time_limit(&self, point: &Point) -> Duration {
        // If a host has to allocate the memory first, it takes up to 10 ms per megabyte.
        Duration::from_secs(10) + Duration::from_millis(10 * (point.number(&SIZE) >> 20))
    }
}

/// Four times the last-level caches together, at least one gigabyte and less than two; a size above half of the available memory
/// is skipped, with the reason.
fn largest(machine: &Machine) -> u64 {
    machine.last_level_caches_bytes().map_or(GIB, |bytes| bytes.saturating_mul(4)).clamp(GIB, 7 * GIB / 4)
}

/// Size of an array of the naive variants that exceeds any last-level cache: twice the declared size, at least 128 MiB and at
/// most a gigabyte.
fn behind_caches(machine: &Machine) -> u64 {
    let last = hierarchy::declared(machine).last().map_or(0, |(_, bytes)| *bytes);
    last.saturating_mul(2).clamp(2 * FEW_SIZES[FEW_SIZES.len() - 1], GIB).next_power_of_two()
}

/// The effort from which on a size is visited. Building a set takes longer than timing it from about 32 MiB on, so a quick run
/// visits two sizes per octave, then whole octaves up to 128 MiB. The default visits four per octave; with huge pages two beyond
/// 64 MiB, and beyond 128 MiB only 256 MiB and a gigabyte; with base pages one beyond 32 MiB, up to 128 MiB. The others are left
/// to a thorough run.
fn cycle_effort(pages: Pages, size: u64) -> Effort {
    let fineness = sizes::fineness(size);
    let (quick, fine) = match pages {
        Pages::Huge => {
            ((fineness <= 2 && size <= 32 * MIB) || (fineness == 1 && size <= 128 * MIB), 64 * MIB)
        }
        Pages::Base => (fineness == 1 && size.ilog2() % 2 == 0 && size <= 64 * MIB, 32 * MIB),
    };
    let large =
        pages == Pages::Huge && ((fineness <= 2 && size <= 128 * MIB) || size == 256 * MIB || size == GIB);
    if quick {
        Effort::Quick
    } else if size <= fine || (fineness == 1 && size <= 128 * MIB) || large {
        Effort::Standard
    } else {
        Effort::Thorough
    }
}

/// All lines of an array in one random cycle.
pub fn random_cycle(
    bytes: usize,
    pages: Pages,
    site: &Site,
) -> Result<Cycle<impl cycle::Places + use<>>, Failure> {
    let order = RandomOrder::new((bytes / sizes::line_bytes(site.home)) as u64, site.seed);
    lines_in_order(bytes, pages, site, move |element| order.at(element))
}

/// All lines of an array in one cycle: the windows in random order, and the lines in random order within each.
fn windowed_cycle(
    bytes: usize,
    pages: Pages,
    site: &Site,
) -> Result<Cycle<impl cycle::Places + use<>>, Failure> {
    let line = sizes::line_bytes(site.home) as u64;
    lines_in_order(bytes, pages, site, windowed(bytes as u64 / line, WINDOW / line, site.seed))
}

/// All lines of an array in one cycle, in this order.
fn lines_in_order<Order: Fn(u64) -> u64>(
    bytes: usize,
    pages: Pages,
    site: &Site,
    order: Order,
) -> Result<Cycle<impl cycle::Places + use<Order>>, Failure> {
    let line = sizes::line_bytes(site.home);
    let offset = site.buffer_offset / line * line;
    let arena = Arena::of_block(site, bytes + offset, pages)?;
    Cycle::build(arena, offset, (bytes / line) as u64, move |element| order(element) as usize * line)
}

/// A random order of windows of `window` elements, and one within each of them.
fn windowed(elements: u64, window: u64, seed: u64) -> impl Fn(u64) -> u64 {
    let (windows, within) =
        (RandomOrder::new(elements / window, seed), RandomOrder::new(window, seed.wrapping_add(1)));
    move |element| windows.at(element / window) * window + within.at(element % window)
}

/// One element in every stride, from the first stride to the last, at offset `within` in each.
fn strided(
    bytes: usize,
    stride: u64,
    site: &Site,
    within: impl Fn(u64) -> u64 + 'static,
) -> Result<Cycle<impl cycle::Places + 'static>, Failure> {
    let elements = bytes as u64 / stride;
    let place = move |element: u64| (element * stride + within(element)) as usize;
    let arena = Arena::of_block(site, bytes + site.buffer_offset, Pages::Base)?;
    Cycle::build(arena, site.buffer_offset, elements, place)
}

fn scattered_elements<'site>(bytes: usize, site: &Site) -> Result<Workload<'site>, Failure> {
    let arena = Arena::of_block(site, bytes, Pages::Base)?;
    let backing = arena.backing;
    Ok(backing.stated(scattered::workload(arena, bytes, site.seed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_within_windows_meets_every_element_once_and_one_window_after_the_other() {
        let order = windowed(1024, 64, 7);
        let met: Vec<u64> = (0..1024).map(&order).collect();
        let mut sorted = met.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1024).collect::<Vec<u64>>());
        assert!(met.chunks(64).all(|window| window.iter().all(|element| element / 64 == window[0] / 64)));
        let windows = met.chunks(64).map(|window| window[0] / 64);
        let in_steps = met.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        assert!(!windows.is_sorted() && in_steps < 100, "{in_steps}: it can be foreseen");
    }
}
