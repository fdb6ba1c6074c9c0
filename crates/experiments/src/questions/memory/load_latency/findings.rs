//! Findings from the curves of latency: levels, translation, and the naive variants compared.

use super::{FIXED, NAME, SIZE, STRIDE, WIDE_STRIDE, WITHIN, WITHIN_ROLLED, cycle_point, naive_point};
use crate::apparatus::memory::pages::Pages;
use crate::expected::level_curve::LevelCurve;
use crate::expected::rule_of_thumb::{PublishedRange, RuleOfThumb};
use crate::expected::{core_facts, last_cache, levels};
use fathom_core::experiment::At::{Any, Name, Number};
use fathom_core::experiment::{Selector, well_within};
use fathom_core::prelude::*;
use fathom_core::quantity::declared;

pub fn findings(known: &Known) -> Vec<Finding> {
    let curves = curves(known);
    let limits = levels::limits_of_caches(known, curves.iter().map(|(_, curve)| curve));
    let levels = curves.iter().filter_map(|(pages, curve)| levels::of_caches(&limits, pages.name(), curve));
    let huge = known.found_along(NAME, &cycle_point(Pages::Huge, 0), &SIZE);
    let last = last_cache::short_of_declared(known, &huge);
    let more =
        [last, of_large_arrays(known), translation_share(known), three_versions(known), beside_tables(known)];
    levels.chain(more.into_iter().flatten()).collect()
}

/// The curves of the random cycle: on huge pages, where translation adds least, and on base pages.
fn curves(known: &Known) -> Vec<(Pages, LevelCurve)> {
    let curve = |pages| (pages, LevelCurve::along(known, NAME, &cycle_point(pages, 0), &SIZE));
    Pages::ALL.map(curve).into_iter().collect()
}

/// The levels of the curve on huge pages, where translation adds least; if none were available, on base pages. Those that only the other
/// curve shows stand beside them.
pub fn levels(known: &Known) -> Option<Levels> {
    let curves = curves(known);
    let limits = levels::limits_of_caches(known, curves.iter().map(|(_, curve)| curve));
    let of_pages = |(pages, curve): &(Pages, LevelCurve)| {
        let levels = levels::levels(&limits, curve);
        let of = cycle_point(*pages, 0).without(SIZE.name);
        (!levels.is_empty()).then_some(Levels { of, along: SIZE.name, levels, elsewhere: vec![] })
    };
    curves.iter().filter_map(of_pages).reduce(Levels::beside)
}

/// One load at a time from memory, on huge pages, by the other experiments that measure it.
const BY_OTHERS: [Selector; 2] = [
    Selector::only(
        "memory/memory_parallelism",
        &[("level", Name("memory")), ("pages", Name("huge")), ("chases", Number(1)), ("size", Any)],
    ),
    Selector::only(
        "memory/loaded_latency",
        &[
            ("figure", Name("latency")),
            ("level", Name("memory")),
            ("load", Name("nothing")),
            ("delay", Number(0)),
            ("load_threads", Number(0)),
            ("size", Any),
        ],
    )
    .at(Placement::Spread),
];

/// The latencies of arrays beyond the caches in one sentence, by their size and pages, with those by other experiments: each of its own
/// state of the core, which is named.
fn of_large_arrays(known: &Known) -> Option<Finding> {
    let by_others = BY_OTHERS.iter().flat_map(|points| {
        let sized =
            |(point, load): (&Point, Found)| Some((point.number_of(SIZE.name)?, points.experiment, load));
        points.all(known).into_iter().filter_map(sized)
    });
    let by_others: Vec<(u64, &str, Found)> = by_others.collect();
    let largest =
        |pages| known.found_along(NAME, &cycle_point(pages, 0), &SIZE).last().map(|(size, _)| *size);
    let least = by_others.iter().map(|(size, ..)| *size).min()?;
    let mut sizes: Vec<u64> = by_others.iter().map(|(size, ..)| *size).collect();
    sizes.extend(Pages::ALL.into_iter().filter_map(largest).filter(|size| *size > least));
    sizes.sort_unstable();
    sizes.dedup();
    let mut loads: Vec<Statement> = vec![];
    for (size, pages) in sizes.into_iter().flat_map(|size| Pages::ALL.map(|pages| (size, pages))) {
        let own = known.found(NAME, &cycle_point(pages, size)).map(|load| (NAME, load));
        let is_alike = |other: &&(u64, &str, Found)| other.0 == size && pages == Pages::Huge;
        let others = by_others.iter().filter(is_alike).map(|(_, by, load)| (*by, *load));
        let of = format!("{} on {} pages", declared::size(size), pages.name());
        loads.extend(own.into_iter().chain(others).map(|(by, load)| latency_in_words(load, &of, by)));
    }
    let are_several = loads.len() > 1;
    let loads = Statement::joined(loads, ", ").filter(|_| are_several)?;
    Some(finding!(
        Question::Experiment,
        "Loads one at a time from large arrays, by size and pages: {loads}.",
        loads
    ))
}

/// A latency with what it is of in words, its state of the core too.
fn latency_in_words(load: Found, of: &str, by: &str) -> Statement {
    let state = match load.core {
        Some(CoreUse::Alone) => ", core alone",
        Some(CoreUse::Shared) => ", core shared",
        Some(CoreUse::Mixture | CoreUse::Both) => ", core shared part of the time",
        None => "",
    };
    let by_another = if by == NAME { String::new() } else { format!(", {by}") };
    let load = Found { core: None, ..load }.named(&format!("load from {of}{by_another}"));
    statement!("{load} ({of}{state}{by_another})", load)
}

/// The table from which report 001 predicted (its table 16; Stokes, Understanding CPU caching and performance, 2002), the range that
/// report 003 gave for memory, and the loads from which report 000 predicted.
fn beside_tables(known: &Known) -> Option<Finding> {
    let ranges = [("L1", (2.0, 8.0)), ("L2", (5.0, 12.0)), ("L3", (12.0, 30.0)), ("memory", (10.0, 60.0))];
    // What a host declares of its last-level cache is not all of this machine's.
    let is_its_own = |level: usize| level != 2 || !known.machine.is_virtual();
    let load = |level| typical(level, known).filter(|_| is_its_own(level));
    let of_level = |(level, (of, ns))| Some(PublishedRange { of, ns }.beside(load(level)?));
    let table = Statement::joined(ranges.into_iter().enumerate().filter_map(of_level), "; ")?;
    let range = PublishedRange { of: "loads from memory", ns: (10.0, 450.0) };
    let memory = load(3)
        .map(|load| statement!(" Report 003 gave another range: {range}.", range = range.beside(load)));
    let rules = SCALED.into_iter().enumerate().filter_map(|(level, (text, cycles, ns))| {
        let (load, hz) = (load(level)?, known.core_hz?);
        Some(RuleOfThumb::of_time(text, ns + cycles / hz * 1e9, load).statement(load))
    });
    let rules = Statement::joined(rules, "; ");
    let scaled =
        rules.map(|rules| statement!(" As in report 000, each with a load of five cycles, {rules}.", rules));
    Some(finding!(
        Question::Prediction,
        "Beside the ranges for caches that report 001 cites (Stokes, Understanding CPU caching and performance): {table}.{memory}{scaled}",
        table,
        memory,
        scaled
    ))
}

/// What report 000 predicted a load of each level by: lmbench's loads on an Alpha of 182 MHz, in cycles of that and of this core, with
/// five more of the load itself; and nanoseconds that do not follow the clock. Its L3, which that machine had not, is five times its L2,
/// rounded as there; its memory is a tenth of lmbench's 350 ns.
const SCALED: [(&str, f64, f64); 4] = [
    ("lmbench's 10 ns for L1, scaled from 182 MHz,", 10.0 * 0.182 + 5.0, 0.0),
    ("its 50 ns for L2, scaled,", 50.0 * 0.182 + 5.0, 0.0),
    ("210 ns for L3, scaled,", 210.0 * 0.182 + 5.0, 0.0),
    ("a tenth of lmbench's 350 ns for memory", 5.0, 35.0),
];

/// A load from a level, as the main figures have it: from an array well within a cache; of memory the largest array.
fn typical(level: usize, known: &Known) -> Option<Found> {
    let cpu = *known.machine.allowed_cpus().first()?;
    let curve = Pages::ALL.into_iter().find_map(|pages| {
        let curve = known.found_along(NAME, &cycle_point(pages, 0), &SIZE);
        (!curve.is_empty()).then_some(curve)
    })?;
    let cache = |number: usize| known.machine.data_cache_bytes(cpu, number as u8);
    if level == 3 {
        return curve.last().map(|(_, load)| *load);
    }
    let before = level.checked_sub(1).and_then(|_| cache(level));
    let declared = well_within(before, cache(level + 1)?, curve.iter().map(|(size, _)| *size))?;
    let loads = || curve.iter().map(|(size, load)| (*size, load.measured));
    let typical = match levels(known) {
        Some(levels) => levels.named(&format!("L{}", level + 1))?.representative(declared, loads())?,
        None => declared,
    };
    curve.into_iter().find_map(|(size, load)| (size == typical).then_some(load))
}

/// Report 003's three versions of the chase, over the largest array that all of them visited.
fn three_versions(known: &Known) -> Option<Finding> {
    let along = |order| known.found_along(NAME, &naive_point(order, 0).with(&STRIDE, WIDE_STRIDE), &SIZE);
    let of = |order, size| {
        let at_size = along(order).into_iter().find(|(other, _)| *other == size);
        at_size.map(|(_, latency)| latency)
    };
    let both = |(size, fixed)| Some((size, fixed, of(WITHIN_ROLLED, size)?, of(WITHIN, size)?));
    let (size, fixed, rolled, unrolled) =
        along(FIXED).into_iter().filter_map(both).max_by_key(|(size, ..)| *size)?;
    let verdict =
        |one: Found, other: Found, more: &str, less: &str, alike: &str| match one.differs_from(&other) {
            Some(true) if one.value > other.value => more.to_owned(),
            Some(true) => less.to_owned(),
            _ => alike.to_owned(),
        };
    let prefetched = verdict(
        unrolled,
        fixed,
        "so a prefetcher follows the fixed stride",
        "so prefetchers follow the fixed stride no better than the random offsets",
        "the two are not significantly different",
    );
    let looped = verdict(
        rolled,
        unrolled,
        "the loop adds to it",
        "unrolling does not help",
        "the loop adds nothing significant",
    );
    Some(finding!(
        Question::Caches,
        "Over {size} in steps of {WIDE_STRIDE} bytes, a load takes {fixed} with a fixed stride and \
         {unrolled} with a random offset within the stride: {prefetched}. Not unrolled, the latter takes \
         {rolled}: {looped}.",
        size = declared::size(size),
        fixed = fixed.named("fixed stride"),
        unrolled = unrolled.named("random within stride"),
        rolled = rolled.named("random within stride, not unrolled")
    ))
}

/// The latency that base pages add in memory.
fn translation_share(known: &Known) -> Option<Finding> {
    let base = known.found_along(NAME, &cycle_point(Pages::Base, 0), &SIZE);
    let both =
        |(size, base): (u64, Found)| Some((size, base, known.found(NAME, &cycle_point(Pages::Huge, size))?));
    let (size, base, huge) = base.into_iter().filter_map(both).max_by_key(|(size, ..)| *size)?;
    let translation = if base.differs_from(&huge) == Some(false) {
        statement!("the two are not significantly different, so the cost of address translation is unknown")
    } else if base.value < huge.value {
        statement!("something else than address translation differs between them, so its cost is unknown")
    } else {
        let share = huge.share_of(base).rest().named("translation over load, base pages");
        statement!("what base pages add is {share} of the former", share)
    };
    Some(finding!(
        Question::Caches,
        "Over {size}, a load takes {base} with base pages and {huge} with huge ones: {translation}.{in_pieces}",
        size = declared::size(size),
        base = base.named("load, base pages"),
        huge = huge.named("load, huge pages"),
        translation,
        in_pieces = in_pieces(known)
    ))
}

/// Intervals of loads on base and huge pages that are no further apart are of one curve.
const ONE_CURVE: f64 = 1.02;

/// That loads on huge pages become slower where those on base pages outgrow the first level of the TLB, within the second-level cache:
/// then the processor probably holds them in pieces, as it does where a host maps its guest in base pages.
fn in_pieces(known: &Known) -> Option<Statement> {
    let within = known.machine.data_cache_bytes(known.machine.measured_cpu(), 2)? / 2;
    let reach = core_facts::of(known.machine).tlb_entries?[0] * known.machine.page_bytes();
    let at = |pages: Pages| known.found_along(NAME, &cycle_point(pages, 0), &SIZE);
    let (base, huge) = (at(Pages::Base), at(Pages::Huge));
    let of = |size: u64| {
        Some((size, base.iter().find(|(at, _)| *at == size)?.1, huge.iter().find(|(at, _)| *at == size)?.1))
    };
    let both: Vec<(u64, Found, Found)> = base.iter().filter_map(|(size, _)| of(*size)).collect();
    let (_, before, _) = both.iter().rfind(|(size, ..)| *size <= reach)?;
    let beyond: Vec<_> = both.iter().filter(|(size, ..)| *size > reach && *size <= within).collect();
    let is_one = |(_, base, huge): &&&(u64, Found, Found)| {
        base.value > ONE_CURVE * before.value
            && base.differs_from(before) == Some(true)
            && (huge.value / base.value).max(base.value / huge.value) <= ONE_CURVE
    };
    let (size, base, huge) =
        beyond.last().filter(|_| beyond.len() > 1 && beyond.iter().all(|both| is_one(&both)))?;
    Some(statement!(
        " Probably the TLB holds these huge pages in pieces, as where a host maps its guest in base pages: in {size} a load takes {base} \
         with base pages and {huge} with huge ones, both more than the {before} of what its first level of base pages reaches. Then \
         loads from memory contain walks with either.",
        size = declared::size(*size),
        base = base.named("beyond the TLB's first level, base pages"),
        huge = huge.named("beyond the TLB's first level, huge pages"),
        before = before.named("within the TLB's first level, base pages")
    ))
}

#[cfg(test)]
mod tests {
    use super::super::LoadLatency;
    use super::*;

    /// The finding for three versions of these latencies in nanoseconds.
    fn compared(fixed: f64, unrolled: f64, rolled: f64) -> String {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        for (order, ns) in [(FIXED, fixed), (WITHIN, unrolled), (WITHIN_ROLLED, rolled)] {
            let at = |size| naive_point(order, size).with(&STRIDE, WIDE_STRIDE);
            // Over the smaller array the versions do not differ.
            fathom_described::plant(&mut known, &LoadLatency, [(at(1 << 20), 5.0), (at(1 << 30), ns)]);
        }
        three_versions(&known).unwrap().statement.plain()
    }

    #[test]
    fn latencies_of_large_arrays_name_their_size_pages_and_state_of_the_core() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        let chased = 128 << 20;
        let load = |value: f64, core: CoreUse| {
            let result = fathom_described::found_within(0.02, value, Unit::Nanoseconds);
            Found { core: Some(core), ..result }
        };
        let one_chase = Point::at(Placement::OneCpu).named(&Parameter::named("level", ""), "memory");
        let one_chase = one_chase.named(&Parameter::named("pages", ""), "huge").with(&SIZE, chased);
        let one_chase = one_chase.with(&Parameter::count("chases", ""), 1);
        known.learn(BY_OTHERS[0].experiment, &one_chase, load(169.0, CoreUse::Alone));
        assert_eq!(of_large_arrays(&known), None, "one latency needs no order");
        known.learn(NAME, &cycle_point(Pages::Huge, 4 * chased), load(220.0, CoreUse::Alone));
        known.learn(NAME, &cycle_point(Pages::Base, chased), load(225.0, CoreUse::Shared));
        let text = of_large_arrays(&known).expect("three latencies").statement.plain();
        let expected = "{169} (128 MiB on huge pages, core alone, memory/memory_parallelism), {225} (128 MiB on base pages, core \
                        shared), {220} (512 MiB on huge pages, core alone).";
        assert!(text.ends_with(expected), "{text}");
    }

    /// Loads in arrays of 256, 320 and 384 KiB on a core whose TLB reaches 288 KiB, on base pages and on huge ones.
    fn pieces(base: [f64; 3], huge: [f64; 3]) -> Option<String> {
        let mut machine = fathom_described::machine();
        machine.processor.microarchitecture = fathom_core::machine::Fact::known("Zen 4".to_owned(), "a test");
        let mut known = Known::new(&machine, None);
        for (pages, costs) in [(Pages::Base, base), (Pages::Huge, huge)] {
            for (size, ns) in [256_u64, 320, 384].into_iter().zip(costs) {
                let found = fathom_described::found_within(0.005, ns, Unit::Nanoseconds);
                known.learn(NAME, &cycle_point(pages, size << 10), found);
            }
        }
        in_pieces(&known).map(|statement| statement.plain())
    }

    #[test]
    fn huge_pages_that_cost_what_base_pages_do_beyond_the_tlb_are_held_in_pieces() {
        let text = pieces([3.81, 4.05, 4.38], [3.81, 4.046, 4.377]).expect("one curve");
        assert!(
            text.contains("in 384 KiB a load takes {4.38} with base pages and {4.377} with huge ones"),
            "{text}"
        );
        assert_eq!(pieces([3.81, 4.05, 4.38], [3.81, 3.81, 3.82]), None, "huge pages are held whole");
        assert_eq!(pieces([3.81, 3.81, 3.82], [3.81, 3.81, 3.82]), None, "neither rises");
    }

    #[test]
    fn the_three_versions_are_told_apart_where_intervals_tell() {
        let hidden = compared(20.0, 90.0, 90.5);
        assert!(
            hidden.contains("Over 1 GiB") && hidden.contains("a prefetcher follows the fixed stride"),
            "{hidden}"
        );
        assert!(hidden.contains("the loop adds nothing significant"), "{hidden}");
        let alike = compared(90.0, 90.5, 99.0);
        assert!(
            alike.contains("are not significantly different") && alike.contains("the loop adds to it"),
            "{alike}"
        );
    }

    #[test]
    fn report_000_predicted_a_cycle_s_share_of_the_alpha_s_loads_and_five_cycles_more() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, Some(3.9e9));
        let (l1, memory) = (16 << 10, 1 << 30);
        for (size, ns) in [(l1, 1.5), (memory, 90.0)] {
            let found = Found::exact(ns, Unit::Nanoseconds);
            known.learn(NAME, &cycle_point(Pages::Huge, size), found);
        }
        let said = beside_tables(&known).expect("two levels").statement.plain();
        // 10 ns / 21.4 + 5 / 3.9 GHz; the report rounds the ratio to 21 and takes its counter's cycle for the core's.
        let predicts =
            |text: &str, ns: f64| said.contains(&format!("{text} predicts {{{}", &ns.to_string()[..6]));
        assert!(predicts("scaled from 182 MHz,", 10.0 * 182e6 / 3.9e9 + 5.0 / 3.9), "{said}");
        assert!(said.contains("loads from memory {90}, within {10} to {450}"), "{said}");
        assert!(predicts("350 ns for memory", 35.0 + 5.0 / 3.9), "{said}");
    }
}
