//! The usable part of a last-level cache that is shared with others: loads, reading at full speed and reads of cached files
//! each exceed it at some size, and these sizes agree.

use super::{Conclusion, Premises, Rule};
use crate::results::accuracy::CLOSE;
use fathom_core::experiment::At::{Any, Name, Number};
use fathom_core::experiment::{Dimension, Found, Known, Levels, Point, Selector, Statement, statement};
use fathom_core::quantity::{Unit, declared};

pub(super) const RULE: Rule = Rule {
    name: "usable_last_cache",
    condition: "loads, together with streaming reads or cached files, find the last-level cache smaller than declared; or the level that a \
                curve of loads shows ends below half of what is declared, with its whole interval",
    judge,
    points: &[LOADS, FILES, READ],
};

const LOADS: Selector = Selector::only(
    "memory/load_latency",
    &[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Any)],
);
const FILES: Selector = Selector::only(
    "filesystem/read",
    &[
        ("call", Name("read")),
        ("order", Name("sequential")),
        ("state", Name("warm")),
        ("block", Number(4096)),
        ("file", Any),
    ],
);
const READ: Selector = Selector::only(
    "memory/bandwidth",
    &[("kind", Name("read")), ("level", Any), ("method", Any), ("size", Any)],
);

fn judge(premises: &Premises) -> Option<Conclusion> {
    let known = premises.known;
    let cpu = known.machine.measured_cpu();
    let stated = known.machine.data_cache_bytes(cpu, known.machine.last_level(cpu)?)?;
    let size = |bytes: u64| Found::exact(bytes as f64, Dimension::Of(Unit::Bytes));
    let level = format!("L{}", known.machine.last_level(cpu)?);
    let shown = shown(premises);
    let others = [cached_files(known), full_speed(stated, known)].into_iter().flatten();
    let all: Vec<Edge> =
        loads(known).map(|own| [own].into_iter().chain(others).collect()).unwrap_or_default();
    let below = all.iter().all(|edge| edge.beyond < stated);
    if all.len() < 2 || !below {
        return far_below(&level, size(stated), &shown?);
    }
    let (least, most) = bounds(&all);
    let is_visible = shown.is_none_or(|shown| shown.named(&level).is_some());
    let beyond_second = (!is_visible).then(|| beyond_the_second(known, least)).flatten();
    let headline = headline(is_visible, size(stated), [size(least), size(most)], beyond_second);
    let edges = Statement::joined(all.into_iter().map(|edge| edge.statement), "; ")?;
    Some(Conclusion::of(headline, statement!("{edges}. {WHY}", edges)))
}

const WHY: &str =
    "The rest may be used by other guests, or not be available to this one; that is not visible from inside.";

/// By a flat part of the curve of loads alone, if its end is certainly below half of what is declared.
fn far_below(level: &str, declared: Found, shown: &Levels) -> Option<Conclusion> {
    let end = shown.named(level)?.end?;
    end.ends().filter(|(_, high)| *high < declared.value / 2.0)?;
    let share = end.share_of(declared).named("last cache, found over declared");
    let on = match shown.of.name_of("pages") {
        Some(pages) if shown.levels.iter().any(|one| one.name == level) => format!(" on {pages} pages"),
        Some(pages) => format!(" on other than {pages} pages"),
        None => String::new(),
    };
    let headline = statement!(
        "Of the last-level cache, declared as {declared}, loads of this core{on} find {end}.",
        declared = declared.named("last cache, declared"),
        on,
        end = end.named("last cache, end of its level")
    );
    let because = statement!(
        "The level that the curve of loads shows ends at {share} of what is declared. {WHY}",
        share
    );
    Some(Conclusion::of(headline, because))
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

/// A load from the largest set that is faster than memory for certain, where that is beyond the second level: the cache takes part, though
/// the curve shows no end of it.
fn beyond_the_second(known: &Known, within: u64) -> Option<Statement> {
    let second = known.machine.data_cache_bytes(known.machine.measured_cpu(), 2)?;
    let of = |(size, load): (u64, Found)| (size > second && size == within).then_some(load);
    let load = LOADS.along("size", known).into_iter().find_map(of)?;
    Some(statement!(
        "a load from {within} takes {load}, and ",
        within = declared::size(within),
        load = load.named("a load from the largest set faster than memory")
    ))
}

/// The levels that the curves of loads show, by the function that every report takes its levels from; where they show none at all, too
/// little is known to say that one is missing.
fn shown(premises: &Premises) -> Option<Levels> {
    let loads = premises.points.iter().find(|point| point.experiment == LOADS.experiment);
    let method = loads.and_then(|point| point.method().ok())?;
    (method.about().shown.levels)(premises.known)
}

/// The two sizes between which a working set no longer fits into the cache.
struct Edge {
    within: u64,
    beyond: u64,
    statement: Statement,
}

/// The range in which all edges overlap; if there is none, the range that covers all of them.
fn bounds(all: &[Edge]) -> (u64, u64) {
    let least = |of: fn(&Edge) -> u64| all.iter().map(of).min().unwrap_or(0);
    let most = |of: fn(&Edge) -> u64| all.iter().map(of).max().unwrap_or(0);
    let (low, high) = (most(|edge| edge.within), least(|edge| edge.beyond));
    if low <= high { (low, high) } else { (least(|edge| edge.within), most(|edge| edge.beyond)) }
}

/// The largest size up to which every value is below the level for certain, and the least from which on every value is above it for
/// certain: between the two the curve crosses it.
fn crossing(curve: &[(u64, Found)], level: f64) -> Option<(u64, u64)> {
    let ends = |value: &Found| value.ends().unwrap_or((value.value, value.value));
    let below = curve.iter().take_while(|(_, value)| ends(value).1 < level).last()?;
    let above = curve.iter().rev().take_while(|(_, value)| ends(value).0 > level).last()?;
    Some((below.0, above.0))
}

/// By loads: beyond the cache one takes more than half as long as from memory. Between the two sizes their intervals do not tell.
fn loads(known: &Known) -> Option<Edge> {
    let curve = LOADS.along("size", known);
    let (size, memory) = curve.last()?;
    let (within, beyond) = crossing(&curve, memory.value / 2.0)?;
    let statement = statement!(
        "Up to {within} a load takes less than half of the {memory} that a load from {size} takes, from {beyond} on more",
        within = declared::size(within),
        beyond = declared::size(beyond),
        memory = memory.named("a load from memory, the largest array"),
        size = declared::size(*size)
    );
    Some(Edge { within, beyond, statement })
}

/// By cached files: one that fits into the cache is copied faster than one that does not.
fn cached_files(known: &Known) -> Option<Edge> {
    let curve: Vec<(u64, Found)> = FILES.along("file", known);
    let quickest = curve.iter().map(|(_, value)| value).min_by(|one, two| one.value.total_cmp(&two.value))?;
    let (_, slowest) = curve.last()?;
    let slower = slowest.value > CLOSE * quickest.value && slowest.differs_from(quickest) == Some(true);
    let level = (quickest.value * slowest.value).sqrt();
    let (within, beyond) = crossing(&curve, level).filter(|_| slower)?;
    let statement = statement!(
        "4 KiB of a cached file take {quickest} of files up to {within} and {slowest} of {beyond} and more",
        quickest = quickest.named("block of a small cached file"),
        within = declared::size(within),
        slowest = slowest.named("block of a large cached file"),
        beyond = declared::size(beyond)
    );
    Some(Edge { within, beyond, statement })
}

/// By reading at the rate of memory a set that fits into the declared cache.
fn full_speed(stated: u64, known: &Known) -> Option<Edge> {
    let all = |level: &'static str| {
        let mine = READ.all(known).into_iter().filter(|(point, _)| point.is("level", level));
        mine.map(|(point, rate)| (size(point), rate))
            .max_by(|(_, one), (_, two)| one.value.total_cmp(&two.value))
    };
    let level = format!("L{}", known.machine.last_level(known.machine.measured_cpu())?);
    let (memory, second) = (all("memory")?, all("L2")?);
    let mine = READ.all(known).into_iter().filter(|(point, _)| point.is("level", &level));
    let (set, rate) = mine
        .map(|(point, rate)| (size(point), rate))
        .max_by(|(_, one), (_, two)| one.value.total_cmp(&two.value))?;
    let as_memory = set < stated && rate.value < CLOSE * memory.1.value && second.0 < set;
    as_memory.then(|| Edge {
        within: second.0,
        beyond: set,
        statement: statement!(
            "{set} are read at {rate}, as memory is ({memory})",
            set = declared::size(set),
            rate = rate.named("read of a set that the last cache should hold"),
            memory = memory.1.named("read of memory")
        ),
    })
}

fn size(point: &Point) -> u64 {
    point.number_of("size").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::machine::{Fact, Machine};
    use serde_json::json;

    const MIB: u64 = 1 << 20;

    /// A machine with one cache of this declared capacity.
    fn declaring(bytes: u64) -> Machine {
        let mut machine = planted::machine();
        let fact = |number: u64| json!({ "value": number, "source": "a test" });
        let instances = [machine.measured_cpu().to_string()];
        let cache = json!({
            "level": 3, "kind": "unified", "size_bytes": fact(bytes), "ways": fact(8), "line_bytes": fact(64),
            "sets": fact(bytes / 512), "instances": instances,
        });
        let caches = serde_json::from_value(json!([cache])).expect("a cache");
        machine.caches = Fact::known(caches, "a test");
        machine
    }

    fn conclusion(stated: u64, files: [f64; 3]) -> Option<Conclusion> {
        let machine = declaring(stated);
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
            let level = Level { name: "L3".to_owned(), from: None, to: Some(end.value), end: Some(end) };
            let shown = Levels { of: Point::new(), along: "size", levels: vec![], elsewhere: vec![level] };
            far_below("L3", size(32 * MIB), &shown).map(|conclusion| conclusion.headline.plain())
        };
        let small = said(0.2).expect("a conclusion");
        assert!(small.ends_with(&format!("find {{{}}}.", 10 * MIB)), "{small}");
        assert_eq!(said(0.7), None, "it may be more than half");
    }

    #[test]
    fn what_lies_between_the_second_level_and_memory_is_told_with_its_time() {
        let mut machine = declaring(480 * MIB);
        let mut caches = machine.caches.value().expect("caches").clone();
        let mut second = caches[0].clone();
        (second.level, second.size_bytes) = (2, Fact::known(2 * MIB, "a test"));
        caches.push(second);
        machine.caches = Fact::known(caches, "a test");
        let mut known = Known::new(&machine, None);
        for (mib, ns) in [(1, 5.0), (4, 40.0), (64, 150.0)] {
            LOADS.plant_at(&mut known, &[("size", json!(mib * MIB))], ns);
        }
        let told = |mib: u64| beyond_the_second(&known, mib * MIB).map(|told| told.plain());
        assert_eq!(told(4).as_deref(), Some("a load from 4 MiB takes {40}, and "));
        assert_eq!(told(1), None, "the second level has it");
    }

    #[test]
    fn a_cache_that_holds_what_it_declares_is_no_case() {
        assert!(conclusion(24 * MIB, [200.0, 210.0, 600.0]).is_none());
        assert!(conclusion(480 * MIB, [200.0, 210.0, 205.0]).is_none(), "files of every size cost the same");
    }
}
