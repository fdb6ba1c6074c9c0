//! How many pages do the TLBs of a core cover?

use crate::apparatus::memory::backing::Backing;
use crate::apparatus::memory::chase::arena::Arena;
use crate::apparatus::memory::chase::cycle::{self, Cycle, Places};
use crate::apparatus::memory::chase::random_order::RandomOrder;
use crate::apparatus::memory::chase::{sizes, walk};
use crate::apparatus::memory::pages::Pages;
use crate::expected::hierarchy;
use crate::expected::level_curve::LevelCurve;
use crate::expected::levels::{self, Along, Limit};
use fathom_core::prelude::*;
use fathom_core::statistics::{CurvePoint, Interval};
use std::rc::Rc;

const LINES: Parameter =
    Parameter::count("lines", "lines in the cycle; with one line per page, the number of pages");
const LAYOUT: Parameter =
    Parameter::of("layout", "one line per page, or all lines next to each other", &[SPREAD, PACKED]);

pub struct TlbReach;

static ABOUT: About = About {
    name: "memory/tlb_reach",
    question: "How many pages do the TLBs of a core cover?",
    operation: "one load of a pointer, whose address is the result of the previous load",
    method: "A chase runs through one random cycle that has one line on each of a number of base pages, at varying \
             offsets, so that the lines spread over all sets of the caches. The same number of lines packed next to \
             each other needs a sixty-fourth of the pages and the same space in the caches, so the difference is the \
             cost of address translation. Plateaus are found in that difference, added to the latency of the \
             first-level cache, as for the caches. The pages are written first in a random order, so that neighbours \
             in addresses are not neighbours in memory: an entry that may cover several adjacent pages covers one, and \
             the result does not depend on how whole the kernel's free memory is.",
    caveats: "Page walks go through the caches: where the page tables no longer fit into a level, a walk takes \
              longer, and the curve rises although no TLB ends there. On a virtual machine whose host backs it with \
              small pages, the TLB may hold translations for those instead. Where memory is in adjacent pages, processors \
              whose entries may cover several of them (coalesced pages of AMD's, the contiguous hint of Arm's) reach further.",
    version: 2,
    timed: Some(TimedCode {
        of: "the chase",
        source: crate::arch::CHASE_SOURCE,
        begins: "pub unsafe fn chase(",
    }),
    parameters: &[LAYOUT, LINES],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "a line of each of very many pages",
            &[("layout", At::Name(SPREAD)), ("lines", At::Most)],
        ),
        MainFigure::of("as many lines, packed", &[("layout", At::Name(PACKED)), ("lines", At::Most)]),
        MainFigure::of(
            "a line of each of 1 024 pages",
            &[("layout", At::Name(SPREAD)), ("lines", At::Number(1024))],
        ),
        MainFigure::of("1 024 lines, packed", &[("layout", At::Name(PACKED)), ("lines", At::Number(1024))]),
    ])
    .landmarks(landmarks),
};

const SPREAD: &str = "one line a page";
const PACKED: &str = "packed";
const LEAST: u64 = 16;
const MOST: u64 = 16 << 10;
const QUICK_MOST: u64 = 8 << 10;

impl Experiment for TlbReach {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        let lines = sizes::four_an_octave(LEAST, MOST);
        let along = |layout| lines.iter().map(move |lines| point(layout, *lines));
        along(SPREAD).chain(along(PACKED)).collect()
    }

    /// Each load has its line, and its page's entry in the page table.
    fn core_share(&self, point: &Point, machine: &Machine) -> Option<CoreShare> {
        let line = machine.data_cache(machine.measured_cpu(), 1)?.line_bytes.value()?;
        CoreShare::of_array(2 * line * point.number(&LINES), machine)
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let page = Pages::Base.bytes() as u64;
        vec![Requirement::MemoryBytes(point.number(&LINES) * page)]
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        let lines = point.number(&LINES);
        if sizes::fineness(lines) == 1 && lines <= QUICK_MOST { Effort::Quick } else { Effort::Standard }
    }

    /// All numbers of lines are laid out in the same memory, one after the other.
    fn block(&self, point: &Point) -> Option<String> {
        Some(point.name(&LAYOUT).to_owned())
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let lines = point.number(&LINES) as f64;
        let (line, page) = (known.machine.line_bytes() as f64, known.machine.page_bytes());
        let bytes = lines * line;
        let pages = if point.name(&LAYOUT) == SPREAD { lines } else { (bytes / page as f64).ceil() };
        let prediction = hierarchy::answered(Prediction::new(), known, bytes, page);
        Ok(hierarchy::translated(prediction, known, pages, page))
    }

    fn exceeded_for(&self, point: &Point, known: &Known) -> Option<Excess> {
        beyond_the_second_level(point, known)
    }

    fn bound(&self, _: &Point, known: &Known) -> Option<Bound> {
        let because = "a dependent load takes at least two cycles in any first-level cache";
        Some(Bound::of(2.0 * known.shortest_cycle(), because))
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let lines = point.number(&LINES);
        let line = sizes::line_bytes(site.home);
        if point.name(&LAYOUT) == PACKED {
            let bytes = lines as usize * line;
            let order = RandomOrder::new(lines, site.seed);
            let place = move |element| order.at(element) as usize * line;
            return built(bytes, lines, place, site);
        }
        let page = Pages::Base.bytes();
        let order = RandomOrder::new(lines, site.seed);
        // The line within a page rotates with the page's number: every set of the nearest cache gets as many lines as if they
        // were packed.
        let place = move |element| {
            let number = order.at(element) as usize;
            number * page + number % (page / line) * line
        };
        built(lines as usize * page, lines, place, site)
    }

    fn evidence(&self, _: &Point, observed: &Observed) -> Vec<Check> {
        let mut checks = Backing::evidence(false, observed);
        checks.push(cycle::whole(observed));
        checks.extend(walk::evidence(observed, walk::UNROLLED_MOST));
        checks.extend(cycle::unpredictable(observed));
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let levels = levels::statements(&limits(known.machine), &translation(known), Along::PAGES);
        let lead = "A load from the first-level cache with what translation adds to it: ";
        let finding = |levels| finding!(Question::Caches, "{lead}{levels}.", levels);
        Statement::joined(levels, "; ").map(finding).into_iter().chain(cost_of_a_walk(known)).collect()
    }
}

/// The ends of the TLBs as declared or published.
fn limits(machine: &Machine) -> Vec<Limit> {
    let entries = hierarchy::tlb_entries(machine, machine.page_bytes());
    let published = hierarchy::published_tlb_entries(machine);
    let limit = |(level, entries): (usize, Option<u64>)| {
        let name = format!("level {} TLB", level + 1);
        let declared = entries.map(|entries| (entries, "declared".to_owned()));
        let published =
            || published.as_ref().map(|(all, source)| (all[level], format!("published ({source})")));
        let (at, origin) = declared.or_else(published)?;
        Some(Limit { name, at, origin, expected: None, is_measured: false })
    };
    entries.into_iter().enumerate().filter_map(limit).collect()
}

/// Of loads from pages that the second-level TLB should hold as declared or published, and that are more than it holds as the curve shows.
fn beyond_the_second_level(point: &Point, known: &Known) -> Option<Excess> {
    let (limit, end) = second_level(known)?;
    let lines = point.number(&LINES);
    let is_to_hold = point.name(&LAYOUT) == SPREAD && lines <= limit.at;
    // The upper end is the first number of pages that is beyond the level for certain.
    let is_beyond = end.ends().is_some_and(|(_, high)| high <= lines as f64);
    (is_to_hold && is_beyond).then(|| {
        Excess::in_its_curve(
            "walks through the page tables: the second-level TLB ends before so many pages",
            statement!(
                "it holds {end} pages as the curve shows{state}, {assumed} in the prediction",
                state = end.core.map_or("", CoreUse::in_words),
                end = Found { dimension: Dimension::Count, ..end }.named("end of the second-level TLB"),
                assumed = Found::exact(limit.at as f64, Dimension::Count)
                    .named("pages of the second-level TLB, as predicted")
            ),
        )
    })
}

/// The second-level TLB as declared or published, and where it ends as the curve shows; `None` if that is unknown.
fn second_level(known: &Known) -> Option<(Limit, Found)> {
    let mut limits = limits(known.machine);
    let levels = levels::levels(&limits, &translation(known));
    let limit = (limits.len() > 1).then(|| limits.swap_remove(1))?;
    let end = levels.into_iter().find(|level| level.name == limit.name)?.end?;
    Some((limit, end))
}

/// What translation costs a load of one page of many: the same lines on pages of their own, less those next to each other. Of the pages
/// that the second-level TLB holds, and of twice as many or more, which a walk through the page tables has to find.
fn cost_of_a_walk(known: &Known) -> Option<Finding> {
    let [_, entries] = hierarchy::tlb_entries(known.machine, known.machine.page_bytes());
    let entries =
        entries.or_else(|| hierarchy::published_tlb_entries(known.machine).map(|(all, _)| all[1]))?;
    let (within, beyond) = (entries.next_power_of_two() / 4, (2 * entries).next_power_of_two());
    // Neither is said of pages of which the curve shows something else.
    let is_denied = |(low, high): (f64, f64)| high < within as f64 || low > beyond as f64;
    if second_level(known).is_some_and(|(_, end)| end.ends().is_some_and(is_denied)) {
        return None;
    }
    let added = |lines: u64| {
        let at = |layout| known.found(ABOUT.name, &point(layout, lines));
        at(SPREAD)?.beyond(at(PACKED)?)
    };
    let (held, walked) = (added(within)?, added(beyond)?);
    let dimensions = if known.machine.is_virtual() {
        "; whether it is one in two dimensions, in which each level of this guest's tables is found through the host's, was not measured"
    } else {
        ""
    };
    let counted = |pages: u64, name: &str| Found::exact(pages as f64, Dimension::Count).named(name);
    Some(finding!(
        Question::Caches,
        "Translation adds {held} to a load of one of {few} pages, which the second-level TLB holds, and {walked} to one of {many}, most of \
         which a walk through the page tables finds{dimensions}.",
        held = held.named("translation by the second-level TLB"),
        few = counted(within, "pages that the second-level TLB holds"),
        walked = walked.named("translation by a walk"),
        many = counted(beyond, "pages that need walks")
    ))
}

fn landmarks(machine: &Machine) -> Vec<Landmark> {
    let entries = hierarchy::tlb_entries(machine, machine.page_bytes()).into_iter().enumerate();
    let landmark = |(level, entries): (usize, Option<u64>)| {
        let at = entries? as f64;
        Some(Landmark { along: LINES.name, at, name: format!("L{} TLB {at}", level + 1), is_share: false })
    };
    entries.filter_map(landmark).collect()
}

fn point(layout: &str, lines: u64) -> Point {
    Point::new().named(&LAYOUT, layout).with(&LINES, lines)
}

fn built<'site, P: Places + 'site>(
    bytes: usize,
    lines: u64,
    place: P,
    site: &Site,
) -> Result<Workload<'site>, Failure> {
    // Lines on their own pages begin at the start of the page; packed ones anywhere in a page.
    let offset = if bytes as u64 / lines < Pages::Base.bytes() as u64 { site.buffer_offset } else { 0 };
    let arena = Arena::scattered_of_block(site, bytes + offset)?;
    Ok(walk::one(Rc::new(Cycle::build(arena, offset, lines, place)?), bytes, false))
}

/// The latency that translation adds to a load from the first-level cache, by the number of pages.
fn translation(known: &Known) -> LevelCurve {
    let of_layout = |layout| LevelCurve::along(known, ABOUT.name, &point(layout, 0), &LINES);
    let (spread, packed) = (of_layout(SPREAD), of_layout(PACKED));
    let nearest = packed.points.iter().map(|point| point.1).reduce(f64::min);
    let added = |(x, y, interval): CurvePoint| {
        let (_, packed, around) = *packed.points.iter().find(|packed| packed.0.total_cmp(&x).is_eq())?;
        let own = y - packed + nearest?;
        // The errors of the two are independent (Zou 2007); that of the nearest is far below both.
        let ends = interval.zip(around).map(|(spread, around)| Interval {
            low: own - (y - spread.low).hypot(around.high - packed),
            high: own + (spread.high - y).hypot(packed - around.low),
        });
        Some((x, own, ends))
    };
    let points = spread.points.into_iter().filter_map(added).collect();
    // What a whole load takes is no less than the nearest with what translation adds.
    LevelCurve { points, core: CoreUse::of_both(spread.core, packed.core), alone: spread.alone }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::machine::Fact;

    #[test]
    fn the_cost_of_a_walk_is_that_of_pages_beyond_the_second_tlb() {
        let mut machine = fathom_described::machine();
        machine.processor.microarchitecture = Fact::known("Zen 4".to_owned(), "a test");
        let told = |spread: f64| {
            let mut known = Known::new(&machine, None);
            // Of 3 072 entries.
            for (lines, walked) in [(1024, 4.0), (8192, spread)] {
                let both = [(point(SPREAD, lines), walked), (point(PACKED, lines), 2.0)];
                fathom_described::plant(&mut known, &TlbReach, both);
            }
            cost_of_a_walk(&known).map(|finding| finding.statement.plain())
        };
        let text = told(22.0).expect("a walk that shows");
        assert!(text.contains("adds {2} to a load") && text.contains("and {20} to one of"), "{text}");
        assert_eq!(told(1.0), None, "no cost of translation shows");
    }

    #[test]
    fn what_translation_adds_has_the_interval_of_a_difference() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        let planted = [(SPREAD, 64, 4.0), (PACKED, 64, 2.0), (SPREAD, 16_384, 38.0), (PACKED, 16_384, 9.0)];
        let planted = planted.map(|(layout, lines, load)| (point(layout, lines), load));
        fathom_described::plant(&mut known, &TlbReach, planted);
        let curve = translation(&known);
        let (_, added, ends) = curve.points[1];
        let ends = ends.expect("an interval");
        assert!((added - (38.0 - 9.0 + 2.0)).abs() < 1e-9, "{added}");
        assert!(
            ends.contains(added) && ends.high < 32.0 && ends.low > 30.0,
            "within that of a load as a whole: {ends:?}"
        );
    }

    #[test]
    fn pages_beyond_the_end_that_the_curve_shows_are_found_by_walks() {
        let mut machine = fathom_described::machine();
        machine.processor.microarchitecture = Fact::known("Zen 4".to_owned(), "a test");
        machine.processor.tlbs = Fact::unknown("not declared", "a test");
        let excess = |end: u64, (lines, layout): (u64, &str), core: Option<CoreUse>| {
            let mut known = Known::new(&machine, None);
            let load = |lines: u64| {
                if lines <= 64 {
                    1.1
                } else if lines <= end {
                    3.1
                } else {
                    40.0
                }
            };
            let sizes = sizes::four_an_octave(LEAST, MOST);
            let spread = sizes.iter().map(|lines| (point(SPREAD, *lines), load(*lines)));
            let packed = sizes.iter().map(|lines| (point(PACKED, *lines), 1.1));
            for (point, ns) in spread.chain(packed) {
                let found = fathom_described::found(ns, Unit::Nanoseconds);
                known.learn(ABOUT.name, &point, Found { core, ..found });
            }
            beyond_the_second_level(&point(layout, lines), &known)
        };
        let told = |end: u64, lines: u64, layout: &str| {
            excess(end, (lines, layout), None).map(|excess| excess.cause)
        };
        let shown =
            |core| excess(2048, (3072, SPREAD), core).and_then(|excess| excess.shown).expect("shown").plain();
        assert!(shown(Some(CoreUse::Shared)).contains("as the curve shows with the core shared, {"));
        assert!(shown(None).contains("as the curve shows, {"));
        let cause = told(2048, 3072, SPREAD).expect("a cause");
        assert!(cause.contains("ends before so many pages"), "{cause}");
        assert_eq!(told(3072, 3072, SPREAD), None, "the TLB holds them");
        assert_eq!(told(2048, 1024, SPREAD), None, "as many as it holds");
        assert_eq!(told(2048, 4096, SPREAD), None, "more than declared");
        assert_eq!(told(2048, 3072, PACKED), None, "few pages");
    }

    /// "512 pages, which the second-level TLB holds" where the curve had it end before 256.
    #[test]
    fn nothing_is_said_of_pages_that_the_curve_denies_the_second_tlb() {
        let mut machine = fathom_described::machine();
        machine.processor.microarchitecture = Fact::known("Zen 4".to_owned(), "a test");
        machine.processor.tlbs = Fact::unknown("not declared", "a test");
        let told = |end: u64| {
            let load = |lines: u64| match lines {
                _ if lines <= 64 => 1.1,
                _ if lines <= end => 3.1,
                _ => 40.0,
            };
            let sizes = sizes::four_an_octave(LEAST, MOST);
            let spread = sizes.iter().map(|lines| (point(SPREAD, *lines), load(*lines)));
            let packed = sizes.iter().map(|lines| (point(PACKED, *lines), 1.1));
            let mut known = Known::new(&machine, None);
            fathom_described::plant(&mut known, &TlbReach, spread.chain(packed));
            cost_of_a_walk(&known).is_some()
        };
        assert!(told(3072) && told(2048) && !told(512));
    }

    #[test]
    fn a_walk_of_a_guest_is_not_said_to_be_in_two_dimensions_for_certain() {
        let mut machine = fathom_described::machine();
        machine.processor.microarchitecture = Fact::known("Zen 4".to_owned(), "a test");
        machine.virtualization.hypervisor = Fact::known(Some("KVM".to_owned()), "a test");
        let mut known = Known::new(&machine, None);
        for (lines, walked) in [(1024, 4.0), (8192, 22.0)] {
            let both = [(point(SPREAD, lines), walked), (point(PACKED, lines), 2.0)];
            fathom_described::plant(&mut known, &TlbReach, both);
        }
        let text = cost_of_a_walk(&known).expect("a cost").statement.plain();
        assert!(
            text.contains("whether it is one in two dimensions") && text.contains("was not measured"),
            "{text}"
        );
    }
}
