//! The usable part of a last-level cache that is shared with others: loads, reading at full speed and reads of cached files
//! each exceed it at some size, and these sizes agree. Where a chase of loads and a stream do not, both are told: a chase comes back to a
//! line later than a stream of the same set, and finds what others have left of it.

use super::cache_edge::{self, CacheEdge, FILES, LOADS, READ, are_apart, beyond_the_second, bounds};
use super::cache_stream::CacheStream;
use super::{Conclusion, Premises, Rule};
use fathom_core::experiment::{CoreUse, Dimension, Found, Known, Levels, Statement, statement};
use fathom_core::quantity::Unit;

pub(super) const RULE: Rule = Rule {
    name: "usable_last_cache",
    condition: "loads, together with streaming reads or cached files, find the last-level cache smaller than declared; or the level that a \
                curve of loads shows ends below half of what is declared, with its whole interval; what they find is usable where a \
                stream through a set of that size, within a factor of 2, is faster than memory in the same state of the core",
    judge,
    points: &[LOADS, FILES, READ],
};

fn judge(premises: &Premises) -> Option<Conclusion> {
    let known = premises.known;
    let cpu = known.machine.measured_cpu();
    let stated = known.machine.data_cache_bytes(cpu, known.machine.last_level(cpu)?)?;
    let size = |bytes: u64| Found::exact(bytes as f64, Dimension::Of(Unit::Bytes));
    let level = format!("L{}", known.machine.last_level(cpu)?);
    let shown = shown(premises, known);
    let others =
        [cache_edge::cached_files(known), cache_edge::full_speed(stated, known)].into_iter().flatten();
    let all: Vec<CacheEdge> =
        cache_edge::loads(known).map(|own| [own].into_iter().chain(others).collect()).unwrap_or_default();
    let below = all.iter().all(|edge| edge.beyond < stated);
    if all.len() < 2 || !below {
        let main = known.decided_by.and_then(|main| self::shown(premises, main));
        return far_below(&level, size(stated), &shown?, main.as_ref(), known);
    }
    let (least, most) = bounds(&all);
    let stream = CacheStream::of(stated, all[0].core, known);
    let is_denied = |stream: &&CacheStream| stream.agrees_with(least as f64, most as f64) == Some(false);
    let denied_by = stream.as_ref().filter(is_denied);
    if denied_by.is_some() || are_apart(&all) {
        let part = statement!(
            "between {within} and {beyond}",
            within = size(all[0].within).named("last cache, all of it found by a chase"),
            beyond = size(all[0].beyond).named("last cache, not found by a chase")
        );
        let headline = between_visits(size(stated), part, "", denied_by);
        let edges = Statement::joined(all.into_iter().map(|edge| edge.statement), "; ")?;
        return Some(Conclusion::of(headline, statement!("{edges}. {APART}", edges)));
    }
    let is_visible = shown.is_none_or(|shown| shown.named(&level).is_some());
    let beyond_second = (!is_visible).then(|| beyond_the_second(known, least)).flatten();
    let headline = headline(is_visible, size(stated), [size(least), size(most)], beyond_second);
    let edges = Statement::joined(all.into_iter().map(|edge| edge.statement), "; ")?;
    Some(Conclusion::of(headline, statement!("{edges}. {WHY}", edges)))
}

const WHY: &str =
    "The rest may be used by other guests, or not be available to this one; that is not visible from inside.";

const UNDECIDED: &str = "What a stream finds of it was not measured in the same state of the core, or its rate does not tell: what this core \
                         can use is open.";

const APART: &str = "A chase comes back to a line later than a stream of the same set does, and others may have used the cache meanwhile: that, \
                     and what the translation of addresses adds, are not distinguished here, so neither is what this core can use.";

/// What a chase finds of the cache when it comes back, which is not what can be used of it; beside a stream that finds another part.
fn between_visits(declared: Found, part: Statement, on: &str, denied_by: Option<&CacheStream>) -> Statement {
    statement!(
        "Of the last-level cache, declared as {declared}, {part} are kept between two visits of a chase of loads{on}{stream}.",
        declared = declared.named("last cache, declared"),
        part,
        on,
        stream = denied_by.map(|stream| statement!("; {stream}", stream = stream.statement()))
    )
}

/// By a flat part of the curve of loads, if its end is certainly below half of what is declared.
fn far_below(
    level: &str,
    declared: Found,
    shown: &Levels,
    main: Option<&Levels>,
    known: &Known,
) -> Option<Conclusion> {
    let end = shown.named(level)?.end?;
    end.ends().filter(|(_, high)| *high < declared.value / 2.0)?;
    let share = end.share_of(declared).named("last cache, found over declared");
    let on = match shown.of.name_of("pages") {
        Some(pages) if shown.levels.iter().any(|one| one.name == level) => format!(" on {pages} pages"),
        Some(pages) => format!(" on other than {pages} pages"),
        None => String::new(),
    };
    let stream = CacheStream::of(declared.value as u64, end.core, known);
    let part = statement!("{end}", end = end.named("last cache, end of its level"));
    let agreed = stream.as_ref().and_then(|stream| stream.agrees_with(end.value, end.value));
    let (headline, why) = match (agreed, &stream) {
        (Some(true), Some(stream)) => {
            let headline = statement!(
                "Of the last-level cache, declared as {declared}, this core can use {part} at full speed: loads{on} find it, and {stream}.",
                declared = declared.named("last cache, declared"),
                part,
                on,
                stream = stream.statement()
            );
            (headline, WHY)
        }
        (Some(false), denied_by) => (between_visits(declared, part, &on, denied_by.as_ref()), APART),
        _ => (between_visits(declared, part, &on, None), UNDECIDED),
    };
    let because = statement!(
        "The level that the curve of loads shows ends at {share} of what is declared. {main}{partly}{why}",
        share,
        partly = cache_edge::partly(known, end.value),
        main = main.map(|main| of_main(level, main)),
        why
    );
    Some(Conclusion::of(headline, because))
}

/// What the curve of the main figures shows of the level, where this is of others.
fn of_main(level: &str, main: &Levels) -> Statement {
    let core = main.levels.iter().find_map(|level| level.end?.core);
    let of =
        if core == Some(CoreUse::Alone) { "With the core alone" } else { "In the curve of the main figures" };
    match main.named(level).map(|level| level.end) {
        Some(Some(end)) => {
            let end = Found { core: None, ..end }.named("last cache, end of its level by the main figures");
            statement!("{of} it ends at {end}. ", end)
        }
        Some(None) => statement!("{of} its end is uncertain. "),
        None => statement!("{of} no flat part ends there. "),
    }
}

/// What is known of the end of the last-level cache, between two sizes: of a level that the curve of loads does not show it is not said
/// that this core can use it.
fn headline(
    is_visible: bool,
    stated: Found,
    [least, most]: [Found; 2],
    within: Option<Statement>,
) -> Statement {
    let at_the_most = most.named("last cache, largest usable size");
    let at_the_least = least.named("last cache, smallest usable size");
    let declared = stated.named("last cache, declared");
    let end = match (is_visible, least.value >= most.value) {
        (true, true) => statement!("about {at_the_most}", at_the_most),
        (true, false) => statement!("{at_the_least} to {at_the_most}", at_the_least, at_the_most),
        (false, true) => statement!("at about {at_the_most}", at_the_most),
        (false, false) => statement!("between {at_the_least} and {at_the_most}", at_the_least, at_the_most),
    };
    if is_visible {
        return statement!(
            "Of the last-level cache, declared as {declared}, {end} are usable by this core.",
            declared,
            end
        );
    }
    statement!(
        "The last-level cache, declared as {declared}, shows this core no flat part that ends: {within}what is faster than memory ends {end}.",
        declared,
        within,
        end
    )
}

/// The levels that the curves of loads show, by the function that every report takes its levels from; where they show none at all, too
/// little is known to say that one is missing.
fn shown(premises: &Premises, known: &Known) -> Option<Levels> {
    let loads = premises.results().find(|point| point.experiment == LOADS.experiment);
    let method = loads.and_then(|point| point.method().ok())?;
    (method.about().shown.levels)(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Point;
    use serde_json::json;

    const MIB: u64 = 1 << 20;

    fn conclusion(stated: u64, files: [f64; 3]) -> Option<Conclusion> {
        let machine = planted::declaring(stated);
        let mut known = Known::new(&machine, None);
        for (mib, ns) in [(1, 5.0), (8, 40.0), (16, 45.0), (32, 110.0), (1024, 150.0)] {
            LOADS.plant_at(&mut known, &[("size", json!(mib * MIB))], ns);
        }
        for (mib, ns) in [1, 16, 64].into_iter().zip(files) {
            FILES.plant_at(&mut known, &[("file", json!(mib * MIB))], ns);
        }
        judge(&Premises { known: &known, points: &[] })
    }

    #[test]
    fn what_loads_and_files_agree_about_is_the_usable_part() {
        let conclusion = conclusion(480 * MIB, [200.0, 210.0, 600.0]).expect("a mechanism");
        assert_eq!(
            conclusion.headline.plain(),
            format!(
                "Of the last-level cache, declared as {{{}}}, {{{}}} to {{{}}} are usable by this core.",
                480 * MIB,
                16 * MIB,
                32 * MIB
            )
        );
    }

    #[test]
    fn of_a_level_that_the_curve_does_not_show_nothing_is_usable() {
        let size = |mib: u64| Found::exact((mib * MIB) as f64, Dimension::Of(Unit::Bytes));
        let text = |visible| headline(visible, size(300), [size(4), size(16)], None).plain();
        assert!(text(true).ends_with("are usable by this core."), "{}", text(true));
        assert!(!text(false).contains("usable") && text(false).contains("no flat part that ends"));
        let at_once = headline(false, size(300), [size(8); 2], None).plain();
        assert!(at_once.contains("ends at about"), "{at_once}");
    }

    #[test]
    fn a_level_that_ends_below_half_of_what_is_declared_is_enough_by_itself() {
        use fathom_core::experiment::Level;
        let size = |bytes: u64| Found::exact(bytes as f64, Dimension::Of(Unit::Bytes));
        let said = |within: f64| {
            let end = fathom_described::found_within(within, (10 * MIB) as f64, Dimension::Of(Unit::Bytes));
            let level =
                Level { name: "L3".to_owned(), from: None, to: Some(end.value), end: Some(end), value: 16.0 };
            let shown = Levels { of: Point::new(), along: "size", levels: vec![], elsewhere: vec![level] };
            let machine = planted::machine();
            let known = Known::new(&machine, None);
            let none = Levels { elsewhere: vec![], ..shown.clone() };
            let conclusion = far_below("L3", size(32 * MIB), &shown, Some(&none), &known)?;
            Some(format!("{} {}", conclusion.headline.plain(), conclusion.because.plain()))
        };
        let small = said(0.2).expect("a conclusion");
        let text = format!("{{{}}} are kept between two visits of a chase of loads", 10 * MIB);
        assert!(small.contains(&text) && small.contains("what this core can use is open"), "{small}");
        assert!(small.contains("In the curve of the main figures no flat part ends there. "), "{small}");
        assert_eq!(said(0.7), None, "it may be more than half");
    }

    #[test]
    fn a_size_is_usable_only_where_a_stream_agrees_with_the_loads() {
        use fathom_core::experiment::Level;
        let machine = planted::declaring(32 * MIB);
        let said = |end_mib: f64, rate: f64| {
            let mut known = Known::new(&machine, None);
            for (level, mib, rate) in [("L3", 4, rate), ("memory", 128, 10e9)] {
                let at = [("level", json!(level)), ("method", json!("sse")), ("size", json!(mib * MIB))];
                READ.plant_at(&mut known, &at, rate);
            }
            let end = fathom_described::found(end_mib * MIB as f64, Dimension::Of(Unit::Bytes));
            let level = Level { name: "L3".to_owned(), from: None, to: None, end: Some(end), value: 16.0 };
            let shown = Levels { of: Point::new(), along: "size", levels: vec![level], elsewhere: vec![] };
            let declared = Found::exact((32 * MIB) as f64, Dimension::Of(Unit::Bytes));
            far_below("L3", declared, &shown, None, &known).expect("a conclusion").headline.plain()
        };
        let alike = said(3.0, 36e9);
        assert!(
            alike.contains(
                "this core can use {3145728} at full speed: loads find it, and a stream reads 4 MiB"
            ),
            "{alike}"
        );
        let more = said(1.25, 36e9);
        let both = "{1310720} are kept between two visits of a chase of loads; a stream reads 4 MiB at {36000000000}, {3.6} times as fast \
                    as memory ({10000000000})";
        assert!(more.contains(both) && !more.contains("can use"), "{more}");
    }

    #[test]
    fn loads_and_files_that_end_at_unlike_sizes_tell_no_usable_one() {
        let apart = conclusion(480 * MIB, [200.0, 600.0, 610.0]);
        let headline = apart.expect("a conclusion").headline.plain();
        assert!(headline.contains("usable"), "16 MiB and 16 MiB are alike: {headline}");
    }

    #[test]
    fn a_cache_that_holds_what_it_declares_is_no_case() {
        assert!(conclusion(24 * MIB, [200.0, 210.0, 600.0]).is_none());
        assert!(conclusion(480 * MIB, [200.0, 210.0, 205.0]).is_none(), "files of every size cost the same");
    }
}
