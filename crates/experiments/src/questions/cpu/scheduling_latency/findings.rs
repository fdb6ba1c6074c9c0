//! Findings on late wake-ups: what busy CPUs add, which rate of requests they leave, and what a quota does before it is used up.

use super::requests::WORK_NS;
use super::{
    ABOUT, INTERVAL, LATENESS, LOADS, MESSAGE, MISSES, NONE, REQUEST, THROTTLING, TIMER, USES, point,
    under_quota,
};
use crate::apparatus::cpu::busy::LoadPolicy;
use fathom_core::prelude::*;

pub fn findings(known: &Known) -> Vec<Finding> {
    let all = [loads(TIMER, known), quotas(known), requests(known), loads(MESSAGE, known)];
    all.into_iter().flatten().collect()
}

/// The lateness of a wake-up on idle CPUs, and under every load that was measured.
fn loads(wake: &str, known: &Known) -> Option<Finding> {
    let of = |load, figure| known.found(ABOUT.name, &point(wake, load, figure));
    let busy = LOADS.into_iter().flat_map(|busy| LoadPolicy::ALL.map(|policy| (busy, policy.name())));
    let all = [(0, NONE)].into_iter().chain(busy).filter_map(|load| {
        let (late, misses) = (of(load, LATENESS)?, of(load, MISSES)?);
        let (busy, policy) = load;
        let beside = if busy == 0 {
            "nothing".to_owned()
        } else {
            format!("{busy} {policy} {} on every CPU", if busy == 1 { "process" } else { "processes" })
        };
        Some(statement!(
            "{late} beside {beside} ({misses} more than 1 ms late)",
            late = late.named(&format!("{wake}, beside {beside}")),
            beside = &beside,
            misses = misses.named(&format!("{wake}, misses beside {beside}"))
        ))
    });
    let times = Statement::joined(all, "; ")?;
    Some(finding!(Question::Experiment, "A {wake} wakes a thread late by {times}.", wake, times).about(wake))
}

fn requests(known: &Known) -> Option<Finding> {
    let load = (1, LoadPolicy::Other.name());
    let interval = known.found(ABOUT.name, &point(REQUEST, load, INTERVAL))?;
    let rate = interval.inverse(1e9, Dimension::Count).named("requests a second beside a busy process");
    let share = interval.inverse(WORK_NS, Dimension::Share).named("their share of the CPU");
    Some(finding!(
        Question::Experiment,
        "Beside one busy process on its CPU a thread serves up to {rate} requests of 100 µs a second, 99 in 100 of them within 10 ms \
         of when they were due: {share} of the CPU, where a fair share is a half.",
        rate,
        share
    ))
}

/// How often a quota stops work that needs less than it allows.
fn quotas(known: &Known) -> Option<Finding> {
    let all = USES.into_iter().filter_map(|percent| {
        let of = |figure| known.found(ABOUT.name, &under_quota(percent, figure));
        let (late, throttling) = (of(LATENESS)?, of(THROTTLING)?);
        let misses = of(MISSES)?;
        let used = percent.to_string();
        Some(statement!(
            "where {used} % of it are used a request begins {late} late ({misses} by more than 1 ms), and {throttling} of the periods are \
             throttled",
            used = &used,
            late = late.named(&format!("under a quota, {used} % used")),
            misses = misses.named(&format!("misses under a quota, {used} % used")),
            throttling = throttling.named(&format!("throttled periods, {used} % used"))
        ))
    });
    let times = Statement::joined(all, "; ")?;
    Some(finding!(Question::Experiment, "Under a quota of 10 ms in every 20 ms, {times}.", times))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(planted: &[(Point, f64, Dimension)]) -> String {
        fathom_described::statements(ABOUT.name, planted.iter().cloned(), findings)
    }

    const TIME: Dimension = Dimension::Of(Unit::Nanoseconds);
    const PARTS: Dimension = Dimension::Of(Unit::PartsPerMillion);

    #[test]
    fn loads_are_told_beside_each_other() {
        let load = (2, LoadPolicy::Idle.name());
        let all = [
            (point(TIMER, (0, NONE), LATENESS), 5e3, TIME),
            (point(TIMER, (0, NONE), MISSES), 0.0, PARTS),
            (point(TIMER, load, LATENESS), 9e3, TIME),
            (point(TIMER, load, MISSES), 1e4, PARTS),
        ];
        let text = text(&all);
        assert!(
            text.starts_with("A timer wakes a thread late by {5000} beside nothing")
                && text.contains(
                    "{9000} beside 2 SCHED_IDLE processes on every CPU ({10000} more than 1 ms late)."
                ),
            "{text}"
        );
    }

    #[test]
    fn an_interval_is_told_as_a_rate_and_a_share() {
        let all = [(point(REQUEST, (1, LoadPolicy::Other.name()), INTERVAL), 250e3, TIME)];
        let text = text(&all);
        assert!(
            text.contains("up to {4000} requests of 100 µs a second") && text.contains("{0.4} of the CPU"),
            "{text}"
        );
    }
}
