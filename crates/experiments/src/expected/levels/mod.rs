//! Levels of the memory hierarchy found in a curve of latency, compared with those that the machine declares.

use super::hierarchy;
use super::level_curve::LevelCurve;
pub use super::level_match::Limit;
use super::level_match::{
    LimitMatch, ShownCurve, boundary, end_of_level, far_below, is_far_below, is_known, matches,
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

/// The declared caches, with the latencies of each and of the level beyond it: those of the levels that the first of these curves shows, so
/// that a level is the same on each kind of page; else published ones.
pub fn limits_of_caches<'curve>(
    known: &Known,
    curves: impl IntoIterator<Item = &'curve LevelCurve>,
) -> Vec<Limit> {
    as_shown(published_limits(known), curves)
}

/// Limits with the times of the levels that the first of these curves shows.
fn as_shown<'curve>(
    mut limits: Vec<Limit>,
    curves: impl IntoIterator<Item = &'curve LevelCurve>,
) -> Vec<Limit> {
    for curve in curves {
        let shown = ShownCurve::of(curve);
        let matches = matches(&shown, &limits, shown.memory_from(&limits));
        let values = matches.iter().map(|matched| match matched {
            LimitMatch::By(plateau, _) => Some(plateau.value),
            LimitMatch::ByNone | LimitMatch::Beyond => None,
        });
        for (index, value) in values.enumerate().collect::<Vec<_>>() {
            let Some(value) = value.filter(|_| !limits[index].is_measured) else { continue };
            let before = index.checked_sub(1);
            let own = &mut limits[index];
            own.expected = own.expected.map(|(_, beyond)| (value, beyond));
            own.is_measured = own.expected.is_some();
            if let Some(expected) = before.and_then(|before| limits[before].expected.as_mut()) {
                expected.1 = value;
            }
        }
    }
    limits
}

fn published_limits(known: &Known) -> Vec<Limit> {
    let levels = hierarchy::levels(known);
    let expected =
        |index: usize| Some((levels.get(index)?.latency().value, levels.get(index + 1)?.latency().value));
    let limit = |(index, (level, at)): (usize, (u8, u64))| Limit {
        name: format!("L{level}"),
        at,
        origin: "declared".to_owned(),
        expected: expected(index),
        is_measured: false,
    };
    hierarchy::declared(known.machine).into_iter().enumerate().map(limit).collect()
}

/// The finding on the caches from a curve over sizes, on pages of this name.
pub fn of_caches(limits: &[Limit], pages: &str, curve: &LevelCurve) -> Option<Finding> {
    let mut levels = Statement::joined(statements(limits, curve, Along::BYTES), "; ")?;
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
        if let LimitMatch::By(plateau, ends) = matched {
            let from = levels.last().and_then(|before| before.to);
            let (name, value) = (limit.name.clone(), plateau.value);
            let end = end_of_level(ends, curve.core);
            levels.push(Level { name, from, to: Some(ends.at.exp2()), end, value });
        }
    }
    let memory = shown.memory_reached(limits);
    levels.extend(memory.map(|(last, from)| Level {
        name: "memory".to_owned(),
        from: Some(from.exp2()),
        to: None,
        end: None,
        value: last.value,
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
        matches.iter().any(|matched| matches!(matched, LimitMatch::By(own, _) if own == plateau))
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
    let first = shown.curve.iter().find(|point| point.0 >= reached).and_then(|point| point.2);
    // A level whose points are apart is not flat, however wide its own interval is.
    let most = first.map_or(last.value, |first| last.value.min(first.high));
    let rising =
        shown.curve.last().filter(|(_, _, interval)| interval.is_some_and(|of| of.low > ABOVE * most));
    let rising = rising.map(|largest| statement!(", and not flat: {of}", of = point(largest, "the largest")));
    let before = shown.curve.iter().rev().find(|point| point.0 < reached);
    let is_of_a_level = |at: f64| {
        let holds = |plateau: &Plateau| 2.0 * plateau.value <= last.value && at <= plateau.to;
        shown.plateaus.iter().any(holds)
    };
    let transition = before
        .filter(|point| !is_of_a_level(point.0))
        .map(|last| statement!(", before which a load takes {of}", of = point(last, "the last before it")));
    Some(statement!(
        "{beyond}: {value}, from {from}{noun} on{transition}{rising}",
        value = value(&last, beyond, shown.core),
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
                short = shown.alone_up_to(plateau, limit).map_or_else(
                    || Statement::from(if is_far_below(*ends, limit) { far_below(shown.core) } else { "" }),
                    |at| with_the_core_alone(at, limit, along)
                ),
                value = value(plateau, name, shown.core),
                sized,
                declared
            )
        }
        LimitMatch::Beyond => {
            let most = Found::exact(largest, along.dimension).named("the largest setting of the curve");
            statement!(
                "{name} is {origin} larger ({declared}) than the largest setting of the curve{state}, {most}, so its {origin} end is \
                 not in the curve",
                declared,
                state = in_state(shown.core),
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

/// That a level reaches further while no neighbour uses the core, and with it the same cache or TLB.
fn with_the_core_alone(at: f64, limit: &Limit, along: Along) -> Statement {
    let reached = at.exp2().round();
    let all = if reached >= limit.at as f64 { ", as much as that" } else { "" };
    statement!(
        ", but with the core alone it holds {reached}{noun}{all}: the rest is what a neighbour on the core takes, which uses it too",
        reached = Found::exact(reached, along.dimension)
            .named(&format!("{}, held with the core alone", limit.name)),
        noun = along.noun,
        all
    )
}

/// The state of the core of a curve whose settings are only those that have a value in it.
fn in_state(core: Option<CoreUse>) -> &'static str {
    match core {
        Some(CoreUse::Alone) => " with the core alone",
        Some(CoreUse::Shared) => " with the core shared",
        Some(CoreUse::Mixture | CoreUse::Both) | None => "",
    }
}

fn value(plateau: &Plateau, name: &str, core: Option<CoreUse>) -> Statement {
    let measured = Measured { value: plateau.value, interval: Some(plateau.interval) };
    statement!("{figure}", figure = latency_of(measured, core).named(&format!("{name}, latency")))
}

/// A time in nanoseconds, of a curve in this state of the core.
fn latency_of(measured: Measured, core: Option<CoreUse>) -> Found {
    Found { core, ..Found::measured(measured, Unit::Nanoseconds) }
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
        is_within && interval.is_some_and(|of| of.low > ABOVE * plateau.varied().high)
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
mod tests;
