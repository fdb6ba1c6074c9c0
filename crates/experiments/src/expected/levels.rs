//! Levels of the memory hierarchy found in a curve of latency, compared with those that the machine declares.

use super::hierarchy;
use super::level_curve::LevelCurve;
pub use super::level_match::Limit;
use super::level_match::{
    FAR_BELOW, LimitMatch, ShownCurve, boundary, end_of_level, is_far_below, is_known, matches,
};
use fathom_core::experiment::Piece;
use fathom_core::prelude::*;
use fathom_core::statistics::{Crossing, CurvePoint, Interval, Measured, Plateau};

/// The axis of a curve: the quantity of x, and the noun after its numbers.
#[derive(Clone, Copy)]
pub struct Along {
    pub dimension: Dimension,
    /// The noun, such as ` pages`; empty if the unit says it.
    pub noun: &'static str,
    /// Name of the level beyond the last limit.
    beyond: &'static str,
}

impl Along {
    /// An axis of sizes.
    pub const BYTES: Along = Along { dimension: Dimension::Of(Unit::Bytes), noun: "", beyond: "memory" };
    pub const PAGES: Along = Along { dimension: Dimension::Count, noun: " pages", beyond: "page walks" };

    /// A position on the axis, given as a logarithm to base 2.
    fn place(self, at: f64, interval: Interval, name: &str) -> Statement {
        // Bytes and pages are whole; logarithms and powers leave a digit of their own.
        let [value, low, high] = [at, interval.low, interval.high].map(|log| log.exp2().round());
        let measured = Measured { value, interval: Some(Interval { low, high }) };
        statement!(
            "{place}{noun}",
            place = Found::measured(measured, self.dimension).named(name),
            noun = self.noun
        )
    }

    fn declared(self, limit: &Limit) -> Statement {
        let name = format!("{}, {}", limit.name, limit.origin);
        statement!(
            "{limit}{noun}",
            limit = Found::exact(limit.at as f64, self.dimension).named(&name),
            noun = self.noun
        )
    }
}

/// The declared caches, with the published latencies of each and of the level beyond it.
pub fn limits_of_caches(known: &Known) -> Vec<Limit> {
    let levels = hierarchy::levels(known);
    let expected =
        |index: usize| Some((levels.get(index)?.latency().value, levels.get(index + 1)?.latency().value));
    let limit = |(index, (level, at)): (usize, (u8, u64))| Limit {
        name: format!("L{level}"),
        at,
        origin: "declared".to_owned(),
        expected: expected(index),
    };
    hierarchy::declared(known.machine).into_iter().enumerate().map(limit).collect()
}

/// The finding on the caches from a curve over sizes, on pages of this name.
pub fn of_caches(known: &Known, pages: &str, curve: &LevelCurve) -> Option<Finding> {
    let mut levels = Statement::joined(statements(&limits_of_caches(known), curve, Along::BYTES), "; ")?;
    // A level has one time and one end on each kind of page.
    for piece in &mut levels.0 {
        if let Piece::Figure(figure) = piece {
            figure.name += &format!(", {pages} pages");
        }
    }
    let lead = format!(
        "Levels found in the curve on {pages} pages, each with the time of its flattest part, over several sizes: "
    );
    Some(finding!(Question::Caches, "{lead}{levels}.", levels).about(pages))
}

/// The levels found in a curve in the order of x: each begins where the one before it ends, and the level beyond the last begins
/// where its latency is reached.
pub fn levels(limits: &[Limit], curve: &LevelCurve) -> Vec<Level> {
    let shown = ShownCurve::of(curve);
    let memory = shown.memory_from(limits);
    let mut levels: Vec<Level> = vec![];
    for (limit, matched) in limits.iter().zip(matches(&shown, limits, memory)) {
        if let LimitMatch::By(_, ends) = matched {
            let from = levels.last().and_then(|before| before.to);
            let name = limit.name.clone();
            levels.push(Level { name, from, to: Some(ends.at.exp2()), end: end_of_level(ends, curve.core) });
        }
    }
    let memory = shown.memory_reached(limits);
    levels.extend(memory.map(|(_, from)| Level {
        name: "memory".to_owned(),
        from: Some(from.exp2()),
        to: None,
        end: None,
    }));
    levels
}

/// The findings on each limit from a curve in the order of x, and its other plateaus.
pub fn statements(limits: &[Limit], curve: &LevelCurve, along: Along) -> Vec<Statement> {
    let shown = ShownCurve::of(curve);
    if shown.plateaus.is_empty() {
        return vec![];
    }
    let memory = shown.memory_from(limits);
    let matches = matches(&shown, limits, memory);
    let claimed = |plateau: &Plateau| {
        matches.iter().any(|matched| matches!(matched, LimitMatch::By(own, _) if std::ptr::eq(*own, plateau)))
    };
    let of_limits =
        limits.iter().zip(&matches).map(|(limit, matched)| limit_statement(limit, matched, along, &shown));
    let mut statements: Vec<Statement> = of_limits.collect();
    let is_memory = |plateau: &Plateau| memory.is_some_and(|memory| plateau.from >= memory);
    let unclaimed = |plateau: &&Plateau| !claimed(plateau) && !is_memory(plateau);
    let besides = shown.plateaus.iter().filter(unclaimed);
    statements.extend(besides.filter_map(|plateau| {
        let name = "a plateau besides";
        let ends = end(plateau, boundary(plateau)?, shown.curve, (along, name));
        Some(statement!(
            "a plateau of {value}{ends}, where no level is declared to end",
            value = value(plateau, name, shown.core),
            ends
        ))
    }));
    statements.extend(beyond_last(&shown, limits, along));
    statements
}

/// The finding on memory, or page walks: the latency of the largest sets, from where on it is reached, and the transition before.
fn beyond_last(shown: &ShownCurve, limits: &[Limit], along: Along) -> Option<Statement> {
    let (last, reached) = shown.memory_reached(limits)?;
    let beyond = along.beyond;
    let point = |(at, latency, interval): &CurvePoint, which: &str| {
        let of = Found::exact(at.exp2().round(), along.dimension).named(&format!("{beyond}, {which}"));
        let measured = Measured { value: *latency, interval: *interval };
        statement!(
            "{latency} at {of}{noun}",
            latency = latency_of(measured, shown.core).named(&format!("{beyond}, latency of {which}")),
            of,
            noun = along.noun
        )
    };
    let rising =
        shown.curve.last().filter(|(_, _, interval)| interval.is_some_and(|of| of.low > ABOVE * last.value));
    let rising = rising.map(|largest| statement!(", and not flat: {of}", of = point(largest, "the largest")));
    let before = shown.curve.iter().rev().find(|point| point.0 < reached);
    let is_of_a_level = |at: f64| {
        let holds = |plateau: &Plateau| 2.0 * plateau.value <= last.value && at <= plateau.to;
        shown.plateaus.iter().any(holds)
    };
    let transition = before.filter(|point| !is_of_a_level(point.0)).map(|last| {
        statement!(
            ", after a transition in which a load still takes {of}",
            of = point(last, "the last of the transition")
        )
    });
    Some(statement!(
        "{beyond}: {value}, from {from}{noun} on{transition}{rising}",
        value = value(last, beyond, shown.core),
        from = Found::exact(reached.exp2().round(), along.dimension).named(&format!("{beyond}, from")),
        noun = along.noun,
        transition,
        rising
    ))
}

/// The finding on a declared limit in a curve.
fn limit_statement(limit: &Limit, matched: &LimitMatch, along: Along, shown: &ShownCurve) -> Statement {
    let largest = shown.curve.last().map_or(0.0, |(at, ..)| at.exp2().round());
    let is_crossed = shown.crosses(limit);
    let (name, origin, declared) = (limit.name.as_str(), limit.origin.as_str(), along.declared(limit));
    match matched {
        LimitMatch::By(plateau, ends) => {
            let sized = end(plateau, *ends, shown.curve, (along, name));
            statement!(
                "{name}: {value}{sized}, {origin} {declared}{short}",
                short = if is_far_below(*ends, limit) { FAR_BELOW } else { "" },
                value = value(plateau, name, shown.core),
                sized,
                declared
            )
        }
        LimitMatch::Beyond => {
            let most = Found::exact(largest, along.dimension).named("the largest setting of the curve");
            statement!(
                "{name} is {origin} larger ({declared}) than the largest setting of the curve, {most}, so its {origin} end is not \
                 in the curve",
                declared,
                most
            )
        }
        LimitMatch::ByNone if is_crossed => statement!(
            "{name} ({declared} {origin}) is contradicted by the curve, which is flat beyond twice that: the curve is of this core, \
             and what is {origin} may be a hypervisor's choice",
            declared
        ),
        LimitMatch::ByNone => {
            statement!("{name} ({declared} {origin}): no separate plateau of the curve ends there", declared)
        }
    }
}

fn value(plateau: &Plateau, name: &str, core: Option<CoreUse>) -> Statement {
    let measured = Measured { value: plateau.value, interval: Some(plateau.interval) };
    statement!("{figure}", figure = latency_of(measured, core).named(&format!("{name}, latency")))
}

/// A time in nanoseconds, of a curve in this state of the core.
fn latency_of(measured: Measured, core: Option<CoreUse>) -> Found {
    Found { core, ..Found::measured(measured, Dimension::Of(Unit::Nanoseconds)) }
}

/// The share by which a point of a plateau must be above it for certain so that the plateau is not flat up to its end.
const ABOVE: f64 = 1.1;

/// The statement on the end of a plateau of a curve, and whether it was flat up to there.
fn end(plateau: &Plateau, ends: Crossing, curve: &[CurvePoint], (along, name): (Along, &str)) -> Statement {
    if !is_known(ends) {
        return ", whose end is uncertain by more than a factor of 4".into();
    }
    let sloping = plateau.ends.filter(|flat| flat.high < ends.interval.low - 0.5);
    let is_above = |(at, _, interval): &&CurvePoint| {
        let is_within = *at > plateau.from && *at < ends.at;
        is_within && interval.is_some_and(|of| of.low > ABOVE * plateau.interval.high)
    };
    let higher = curve.iter().find(is_above).map(|(at, ..)| (*at, Interval { low: *at, high: *at }));
    let rises = sloping
        .map(|flat| (plateau.to, flat))
        .into_iter()
        .chain(higher)
        .min_by(|one, other| one.0.total_cmp(&other.0));
    let sloping = rises.map(|(at, interval)| {
        let rises = along.place(at, interval, &format!("{name}, flat up to"));
        statement!(" (rising from {rises} on)", rises)
    });
    let place = along.place(ends.at, ends.interval, &format!("{name}, found"));
    statement!(" up to {place}{sloping}", place, sloping)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(steps: &[(f64, f64)], last: f64) -> LevelCurve {
        let quarters = (40..=(last * 4.0) as u32).map(|quarter| f64::from(quarter) / 4.0);
        let y = |x: f64| steps.iter().rev().find(|(from, _)| x > *from).map_or(1.0, |(_, y)| *y);
        LevelCurve { points: quarters.map(|x| (x, y(x), None)).collect(), core: None }
    }

    /// A curve of these sizes (octaves) and times, each within 4 %.
    fn measured(points: &[(f64, f64)]) -> LevelCurve {
        let point = |(x, y): &(f64, f64)| (*x, *y, Some(Interval { low: 0.96 * y, high: 1.04 * y }));
        LevelCurve { points: points.iter().map(point).collect(), core: None }
    }

    #[test]
    fn memory_begins_where_no_point_takes_less_than_it_and_what_is_before_is_a_transition() {
        let at = |from: f64, values: &[f64]| -> Vec<(f64, f64)> {
            values.iter().enumerate().map(|(nth, y)| (from + 0.25 * nth as f64, *y)).collect()
        };
        let cache = at(16.0, &[4.0; 17]);
        let rising = at(20.25, &[30.0, 60.0, 90.0, 127.0, 128.0, 131.0, 130.0]);
        let memory = at(22.0, &[178.0, 182.0, 180.0, 181.0, 179.0, 180.0, 181.0, 180.0, 180.0]);
        let curve = measured(&[cache.clone(), rising, memory.clone()].concat());
        let limits = limits(&[20]);
        let shown = text(&limits, &curve);
        assert!(
            shown.contains(
                "from {4194304} on, after a transition in which a load still takes {130} at {3526975}"
            ),
            "{shown}"
        );
        assert_eq!(levels(&limits, &curve).last().and_then(|level| level.from), Some(4_194_304.0));
        let sharp = text(&limits, &measured(&[cache, at(20.25, &[180.0; 7]), memory].concat()));
        assert!(sharp.contains("memory: {") && !sharp.contains("transition"), "{sharp}");
    }

    /// A wide interval does not make memory of a set whose median is far below it.
    #[test]
    fn memory_begins_with_a_set_that_takes_as_long() {
        let mut points: Vec<CurvePoint> = (0..36)
            .map(|nth| {
                let at = 16.0 + 0.25 * f64::from(nth);
                let ns = if at > 20.0 { 180.0 } else { 4.0 };
                (at, ns, Some(Interval { low: 0.96 * ns, high: 1.04 * ns }))
            })
            .collect();
        points[17].1 = 107.0;
        points[17].2 = Some(Interval { low: 28.0, high: 182.0 });
        let shown = levels(&limits(&[20]), &LevelCurve { points, core: None });
        let from = shown.last().and_then(|level| level.from).expect("memory");
        assert!((from.log2() - 20.5).abs() < 1e-6, "{from}");
    }

    #[test]
    fn a_limit_that_the_curve_contradicts_is_said_to_be() {
        let curve = steps(&[(14.0, 4.0), (20.0, 16.0)], 24.0);
        let text = |at: &[u32]| {
            let all = statements(&limits(at), &curve, Along::BYTES);
            all.iter().map(Statement::plain).collect::<Vec<_>>().join("; ")
        };
        let masked = text(&[14, 16, 20]);
        assert!(masked.contains("L2") && masked.contains("is contradicted by the curve"), "{masked}");
        assert!(!text(&[14, 20]).contains("contradicted"), "{}", text(&[14, 20]));
    }

    fn limits(at: &[u32]) -> Vec<Limit> {
        at.iter()
            .enumerate()
            .map(|(index, at)| Limit {
                name: format!("L{}", index + 1),
                at: 1 << at,
                origin: "declared".to_owned(),
                expected: None,
            })
            .collect()
    }

    fn text(limits: &[Limit], curve: &LevelCurve) -> String {
        Statement::joined(statements(limits, curve, Along::BYTES), "; ").unwrap_or_default().plain()
    }

    #[test]
    fn a_place_is_a_whole_number_of_bytes() {
        let at = 327_680_f64.log2();
        assert_eq!(Along::BYTES.place(at, Interval { low: at, high: at }, "end").plain(), "{327680}");
    }

    #[test]
    fn an_end_that_may_be_anywhere_between_two_levels_is_no_end() {
        let of = |high: f64, load: f64| {
            let ends = Crossing { at: 15.0, interval: Interval { low: 14.5, high } };
            let (from, to, value) = (10.0, 15.0, 2.0);
            let interval = Interval { low: 1.9, high: 2.1 };
            let plateau = Plateau { from, to, value, interval, ends: None, half_way: Some(ends), points: 5 };
            end(
                &plateau,
                ends,
                &[(14.0, load, Some(Interval { low: load, high: 2.0 * load }))],
                (Along::BYTES, "L1"),
            )
            .plain()
        };
        let text = |high: f64| of(high, 2.0);
        assert_eq!(text(15.5), " up to {32768}");
        assert_eq!(text(20.0), ", whose end is uncertain by more than a factor of 4");
        let higher = of(15.5, 2.5);
        assert_eq!(
            higher, " up to {32768} (rising from {16384} on)",
            "a load from within takes more for certain"
        );
    }

    #[test]
    fn levels_that_end_where_they_are_declared_are_named() {
        let text = text(&limits(&[15, 20]), &steps(&[(15.0, 4.0), (20.0, 100.0)], 24.0));
        assert!(
            text.contains("L1: {1} up to {")
                && text.contains("L2: {4} up to {")
                && text.contains("declared {32768}"),
            "{text}"
        );
    }

    #[test]
    fn a_level_without_a_plateau_of_its_own_is_said_not_to_be_told_apart() {
        let text = text(&limits(&[15, 20, 25]), &steps(&[(15.0, 4.0), (20.0, 100.0)], 28.0));
        assert!(text.contains("L3 ({33554432} declared): no separate plateau"), "{text}");
    }

    #[test]
    fn a_level_before_one_without_a_plateau_ends_half_way_to_what_is_published_of_that() {
        // The second level ends at 1 MiB; from there latency rises continuously into memory, which is not a third level.
        let rising = |x: f64| match x {
            x if x <= 15.0 => 1.0,
            x if x <= 20.0 => 4.0,
            x => (4.0 * (x - 20.0).mul_add(0.8, 0.3).exp()).min(150.0),
        };
        let points =
            (40..116).map(|quarter| f64::from(quarter) / 4.0).map(|x| (x, rising(x), None)).collect();
        let curve = LevelCurve { points, core: None };
        let mut limits = limits(&[15, 20, 25]);
        for (limit, expected) in limits.iter_mut().zip([(1.0, 4.0), (4.0, 14.0), (14.0, 90.0)]) {
            limit.expected = Some(expected);
        }
        let text = text(&limits, &curve);
        assert!(
            text.contains("L2: {4} up to {")
                && text.contains("L3 ({33554432} declared): no separate plateau"),
            "{text}"
        );
        assert!(!text.contains("L3: {150"), "{text}");
    }

    #[test]
    fn a_plateau_far_below_a_declared_last_cache_is_memory_and_the_one_before_it_that_cache() {
        // L3 ends at 8 MiB and is declared as 256 MiB; the sweep goes to 1 GiB.
        let curve = steps(&[(15.0, 4.0), (20.0, 35.0), (23.0, 142.0)], 30.0);
        let mut limits = limits(&[15, 20, 28]);
        for (limit, expected) in limits.iter_mut().zip([(1.0, 4.0), (4.0, 33.0), (33.0, 110.0)]) {
            limit.expected = Some(expected);
        }
        let text = text(&limits, &curve);
        assert!(text.contains("L3: {34.99") && text.contains("declared {268435456}"), "{text}");
        assert!(text.contains("declared {268435456}, of which the larger part is not to be seen"), "{text}");
        assert_eq!(text.matches("the larger part").count(), 1, "the others end where they are declared to");
        assert!(text.contains("memory: {141.99") && !text.contains("nothing is declared"), "{text}");
    }

    #[test]
    fn a_plateau_is_of_the_level_whose_time_its_loads_take() {
        // L2 ends where it is declared to, at 2 MiB. Others use most of the last cache: half of a load's way from it to memory.
        let curve = steps(&[(15.5, 6.2), (20.75, 30.0), (21.5, 72.0), (24.0, 147.0)], 30.0);
        let mut limits = limits(&[15, 21, 28]);
        for (limit, expected) in limits.iter_mut().zip([(1.0, 6.0), (6.0, 33.0), (33.0, 110.0)]) {
            limit.expected = Some(expected);
        }
        let text = text(&limits, &curve);
        assert!(
            text.contains("L2: {6.2") && text.contains("L3 ({268435456} declared): no separate plateau"),
            "{text}"
        );
        assert!(text.contains("a plateau of {7"), "{text}");
        let without_l2 = self::text(&limits, &steps(&[(15.5, 6.2), (22.5, 147.0)], 30.0));
        assert!(!without_l2.contains("L3: {6"), "{without_l2}");
    }

    #[test]
    fn a_plateau_that_a_sweep_ends_on_within_the_last_cache_is_not_memory() {
        let mut limits = limits(&[15, 20, 28]);
        for (limit, expected) in limits.iter_mut().zip([(1.0, 4.0), (4.0, 33.0), (33.0, 110.0)]) {
            limit.expected = Some(expected);
        }
        let text = text(&limits, &steps(&[(15.0, 4.0), (20.0, 35.0)], 26.0));
        assert!(!text.contains("memory"), "{text}");
    }

    #[test]
    fn levels_stand_from_the_end_of_the_one_before_to_their_own() {
        let curve = steps(&[(15.0, 4.0), (20.0, 100.0)], 24.0);
        let found = levels(&limits(&[15, 20]), &curve);
        let names: Vec<&str> = found.iter().map(|level| level.name.as_str()).collect();
        assert_eq!(names, ["L1", "L2", "memory"]);
        let near = |place: Option<f64>, truth: f64| place.is_some_and(|at| (at.log2() - truth).abs() <= 0.25);
        assert!(found[0].from.is_none() && near(found[0].to, 15.0), "{found:?}");
        assert!(near(found[1].from, 15.0) && near(found[1].to, 20.0), "{found:?}");
        assert!(near(found[2].from, 20.25) && found[2].to.is_none(), "{found:?}");
    }

    #[test]
    fn what_the_sweep_does_not_reach_is_said_so() {
        let text = text(&limits(&[15, 40]), &steps(&[(15.0, 4.0)], 24.0));
        assert!(
            text.contains("L2 is declared larger ({1099511627776}) than the largest setting of the curve"),
            "{text}"
        );
    }
}
