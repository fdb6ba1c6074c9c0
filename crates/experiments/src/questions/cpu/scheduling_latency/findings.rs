//! Findings on late wake-ups: what busy CPUs add, which rate of requests they leave, and what a quota does before it is used up.

use super::requests::WORK_NS;
use super::{
    ABOUT, FIGURE, INTERVAL, LATENESS, LOADS, MESSAGE, MISSES, NONE, QUOTA_USE, REQUEST, THROTTLING, TIMER,
    USES, point, under_quota,
};
use crate::apparatus::cpu::busy::LoadPolicy;
use fathom_core::prelude::*;

pub fn findings(known: &Known) -> Vec<Finding> {
    // The paper has room for the first.
    let mine = [idle_and_busy(known), quotas(known), beside_several(known), tails(known), requests(known)];
    let others =
        [policies(TIMER, known), policies(MESSAGE, known), loads(TIMER, known), loads(MESSAGE, known)];
    mine.into_iter().chain(others).flatten().collect()
}

fn late(wake: &str, load: (u64, &str), known: &Known) -> Option<Found> {
    known.found(ABOUT.name, &point(wake, load, LATENESS))
}

/// The lateness of a wake-up on an idle CPU and beside one busy process.
fn idle_and_busy(known: &Known) -> Option<Finding> {
    let mut idle_is_later = vec![];
    let wakes = [TIMER, MESSAGE].into_iter().filter_map(|wake| {
        let (idle, busy) = (late(wake, (0, NONE), known)?, late(wake, (1, LoadPolicy::Other.name()), known)?);
        if busy.is_of_one_state() && idle.is_of_one_state() && busy.differs_from(&idle) == Some(true) {
            idle_is_later.push(idle.value > busy.value);
        }
        Some((
            wake,
            idle.named(&format!("{wake}, idle CPU")),
            busy.beside(idle, &format!("{wake}, one busy process"), "idle CPU"),
        ))
    });
    let wakes_of_both = wakes.enumerate().map(|(place, (wake, idle, busy))| {
        if place == 0 {
            return statement!(
                "A {wake} wakes a thread {idle} late on an idle CPU, beside one busy process {busy}",
                wake,
                idle,
                busy
            );
        }
        statement!("a {wake} {idle} and {busy}", wake, idle, busy)
    });
    let wakes_of_both = Statement::joined(wakes_of_both, "; ")?;
    let woken = !idle_is_later.is_empty() && idle_is_later.iter().all(|later| *later);
    let because = match idle_is_later[..] {
        _ if woken => ": an idle CPU, here idle for 0.25 to 0.75 ms, has to be woken first",
        // Neither is decided, whichever median is the later.
        [] => ": that an idle CPU answers later is not shown",
        _ => "",
    };
    Some(
        finding!(Question::Experiment, "{wakes_of_both}{because}.", wakes_of_both, because)
            .about("idle and busy"),
    )
}

/// The lateness beside several busy processes, and whether it differs from that beside one; `None` where it was measured beside one only.
fn beside_several(known: &Known) -> Option<Finding> {
    let mut all_are_like = true;
    let mut of_wake = |wake: &'static str| {
        let beside = |busy| late(wake, (busy, LoadPolicy::Other.name()), known);
        let one = beside(1)?;
        let several = LOADS.into_iter().filter(|busy| *busy > 1);
        let several = several.filter_map(|busy| Some((busy, beside(busy)?))).map(|(busy, late)| {
            let is_like = late.is_of_one_state() && late.differs_from(&one) == Some(false);
            all_are_like &= is_like && one.is_of_one_state();
            let late = late.named(&format!("{wake}, {busy} busy processes"));
            statement!("{late} beside {busy}", late, busy = busy.to_string())
        });
        Some(statement!("by a {wake} {several}", wake, several = Statement::joined(several, ", ")?))
    };
    let each: Vec<Statement> = [TIMER, MESSAGE].into_iter().filter_map(&mut of_wake).collect();
    let each = Statement::joined(each, "; ")?;
    let judged = if all_are_like { ", none significantly different from beside one" } else { "" };
    Some(finding!(
        Question::Experiment,
        "How late a thread wakes beside several busy processes on every CPU: {each}{judged}.",
        each,
        judged
    ))
}

/// How many wake-ups of either kind are more than 1 ms late by the number of busy processes; `None` where neither was measured by several
/// numbers, and the times beside each load say it.
fn tails(known: &Known) -> Option<Finding> {
    let shares = |wake: &str| -> Vec<(u64, Found)> {
        let of = |busy| {
            let load = (busy, LoadPolicy::Other.name());
            Some((busy, known.found(ABOUT.name, &point(wake, load, MISSES))?))
        };
        LOADS.into_iter().filter_map(of).collect()
    };
    let of_each = [TIMER, MESSAGE].map(|wake| (wake, shares(wake)));
    if of_each.iter().all(|(_, shares)| shares.len() < 2) {
        return None;
    }
    let each = of_each.iter().filter(|(_, shares)| !shares.is_empty());
    let each = Statement::joined(each.filter_map(|(wake, shares)| tail(wake, shares, known)), "; of ")?;
    Some(finding!(
        Question::Experiment,
        "Over 1 ms late are, by the busy processes on every CPU, of {each}.",
        each
    ))
}

/// These shares of a wake's, and whether the median follows where they grow.
fn tail(wake: &str, shares: &[(u64, Found)], known: &Known) -> Option<Statement> {
    let load = |busy| (busy, LoadPolicy::Other.name());
    let ((fewest, least), (most, highest)) = (shares.first()?, shares.last()?);
    let grows = highest.value > least.value && highest.differs_from(least) == Some(true);
    let median = late(wake, load(*fewest), known).zip(late(wake, load(*most), known));
    let median = median.filter(|(few, many)| {
        few.is_of_one_state() && many.is_of_one_state() && many.differs_in_one_core_state(few) == Some(false)
    });
    let each = shares.iter().map(|(busy, share)| {
        statement!(
            "{share} beside {busy}",
            share = share.named(&format!("{wake}, misses beside {busy} busy")),
            busy = busy.to_string()
        )
    });
    let judged = match (grows, median) {
        (true, Some(_)) => " (the tail grows, the median does not significantly)",
        (true, None) => " (the tail grows)",
        _ => "",
    };
    Some(statement!(
        "a {wake}'s wake-ups {each}{judged}",
        wake,
        each = Statement::joined(each, ", ")?,
        judged
    ))
}

/// The lateness beside one process of the other policies, against `SCHED_OTHER`; together where none differs.
fn policies(wake: &str, known: &Known) -> Option<Finding> {
    let usual = late(wake, (1, LoadPolicy::Other.name()), known)?;
    let of = |policy: LoadPolicy| Some((policy.name(), late(wake, (1, policy.name()), known)?));
    let others: Vec<(&str, Found)> =
        [LoadPolicy::Batch, LoadPolicy::Idle].into_iter().filter_map(of).collect();
    let is_like = |late: &Found| late.is_of_one_state() && late.differs_from(&usual) == Some(false);
    let all_are_like = usual.is_of_one_state() && others.iter().all(|(_, late)| is_like(late));
    let name = |policy: &str| format!("{wake}, one {policy}");
    let each = others.iter().map(|(policy, late)| {
        let late = if all_are_like {
            late.named(&name(policy)).into()
        } else {
            late.beside(usual, &name(policy), LoadPolicy::Other.name())
        };
        statement!("of {policy} by {late}", late)
    });
    let each = Statement::joined(each, "; ")?;
    if all_are_like {
        let usual = usual.named(&name(LoadPolicy::Other.name()));
        return Some(
            finding!(
                Question::Experiment,
                "A {wake} is late beside one process of SCHED_OTHER by {usual}, {each}: no difference shows.",
                wake,
                usual,
                each
            )
            .about(wake),
        );
    }
    Some(
        finding!(
            Question::Experiment,
            "Against SCHED_OTHER, a {wake} is late beside one process {each}.",
            wake,
            each
        )
        .about(wake),
    )
}

/// The lateness of a wake-up on idle CPUs, and under every load that was measured; where none of a series' wake-ups was more than 1 ms late, no
/// share of them is known.
fn loads(wake: &str, known: &Known) -> Option<Finding> {
    let busy = LOADS.into_iter().flat_map(|busy| LoadPolicy::ALL.map(|policy| (busy, policy.name())));
    let all = [(0, NONE)].into_iter().chain(busy).filter_map(|load| {
        let late = late(wake, load, known)?;
        let (busy, policy) = load;
        let beside = if busy == 0 {
            "nothing".to_owned()
        } else {
            format!("{busy} {policy} {} on every CPU", if busy == 1 { "process" } else { "processes" })
        };
        let misses = known.found(ABOUT.name, &point(wake, load, MISSES)).map(|misses| {
            let misses = misses.named(&format!("{wake}, misses beside {beside}"));
            statement!(" ({misses} more than 1 ms late)", misses)
        });
        Some(statement!(
            "{late} beside {beside}{misses}",
            late = late.named(&format!("{wake}, beside {beside}")),
            beside = &beside,
            misses
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
        "Beside one busy process on its CPU a thread serves up to {rate} requests of 100 µs a second, 99 in 100 within 10 ms of \
         falling due: {share} of the CPU, where a fair share is a half.",
        rate,
        share
    ))
}

/// How late work begins where it uses the least and the most of a quota that was measured, and how often that stops it; where none of a series
/// was over 1 ms late, or no period was throttled, no share of them is known.
fn quotas(known: &Known) -> Option<Finding> {
    let late = |percent: &u64| known.found(ABOUT.name, &under_quota(*percent, LATENESS));
    let used: Vec<(u64, Found)> =
        USES.iter().filter_map(|percent| Some((*percent, late(percent)?))).collect();
    let least = used.first()?;
    let most = used.last().filter(|_| used.len() > 1);
    let each = [least].into_iter().chain(most).map(|(percent, late)| {
        let of = |figure| known.found(ABOUT.name, &under_quota(*percent, figure));
        let misses = of(MISSES).map(|misses| {
            let misses = misses.named(&format!("misses under a quota, {percent} % used"));
            statement!("{misses} over 1 ms", misses)
        });
        let throttling = of(THROTTLING).map(|throttling| {
            let throttling = throttling.named(&format!("throttled periods, {percent} % used"));
            statement!("{throttling} of the periods throttled", throttling)
        });
        let beside = Statement::joined(misses.into_iter().chain(throttling), ", ");
        statement!(
            "{late} where {percent} % of it are used{beside}",
            late = late.named(&format!("under a quota, {percent} % used")),
            percent = percent.to_string(),
            beside = beside.map(|beside| statement!(" ({beside})", beside))
        )
    });
    let times = Statement::joined(each, "; ")?;
    Some(finding!(
        Question::Experiment,
        "Under a quota of 10 ms in every 20 ms a request begins late by {times}.",
        times
    ))
}

/// Why requests are later than predicted where they use so much of a quota that most of its periods were throttled.
pub fn late_for_its_quota(point: &Point, known: &Known) -> Option<Excess> {
    let percent = point.number(&QUOTA_USE);
    let throttling = known.found(ABOUT.name, &under_quota(percent, THROTTLING))?;
    let is_late = point.name(&FIGURE) == LATENESS && percent > 0;
    (is_late && throttling.value >= MOST_PERIODS).then(|| {
        Excess::shown_by(
            "the quota: where the requests are to use all of it, a little more work for each than planned makes a queue of them, which grows until the series ends",
            statement!(
                "{throttling} of its periods were throttled",
                throttling = throttling.named("throttled periods")
            ),
        )
    })
}

/// Half of the periods, in parts of a million.
const MOST_PERIODS: f64 = 5e5;

#[cfg(test)]
mod tests {
    use super::*;

    fn text(planted: &[(Point, f64)]) -> String {
        fathom_described::statements(&super::super::SchedulingLatency, planted.iter().cloned(), findings)
    }

    const OTHER: &str = LoadPolicy::Other.name();

    #[test]
    fn loads_are_told_beside_each_other() {
        let load = (2, LoadPolicy::Idle.name());
        let all = [
            (point(TIMER, (0, NONE), LATENESS), 5e3),
            (point(TIMER, load, LATENESS), 9e3),
            (point(TIMER, load, MISSES), 1e4),
        ];
        assert_eq!(
            text(&all),
            "A timer wakes a thread late by {5000} beside nothing; {9000} beside 2 SCHED_IDLE processes on every CPU ({10000} \
             more than 1 ms late).\n"
        );
    }

    #[test]
    fn an_idle_cpu_is_compared_with_a_busy_one() {
        let said = |timer: f64, message: f64| {
            text(&[
                (point(TIMER, (0, NONE), LATENESS), 40e3),
                (point(TIMER, (1, OTHER), LATENESS), timer),
                (point(MESSAGE, (0, NONE), LATENESS), 30e3),
                (point(MESSAGE, (1, OTHER), LATENESS), message),
            ])
        };
        let sooner = said(20e3, 15e3);
        assert!(
            sooner.starts_with(
                "A timer wakes a thread {40000} late on an idle CPU, beside one busy process {20000}, {0.5} times; a message \
                 {30000} and {15000}, {0.5} times: an idle CPU, here idle for 0.25 to 0.75 ms, has to be \
                 woken first.\n"
            ),
            "{sooner}"
        );
        assert!(said(40e3, 15e3).contains("{40000}, not significantly different; a message"));
        let alike = said(40e3, 30e3);
        assert!(alike.contains("answers later is not shown.\n"), "{alike}");
        assert!(!said(80e3, 15e3).contains("woken first") && !alike.contains("be woken first.\n"));
    }

    #[test]
    fn several_busy_processes_stand_beside_one() {
        let said = text(&[
            (point(TIMER, (0, NONE), LATENESS), 40e3),
            (point(TIMER, (1, OTHER), LATENESS), 20e3),
            (point(TIMER, (LOADS[1], OTHER), LATENESS), 20.1e3),
            (point(TIMER, (LOADS[2], OTHER), LATENESS), 10e3),
        ]);
        assert!(
            said.contains("How late a thread wakes beside several busy processes on every CPU: by a timer {20100} beside 2, {10000} beside 4.\n"),
            "{said}"
        );
        let alike = text(&[1, 2].map(|busy| (point(TIMER, (busy, OTHER), LATENESS), 20e3)));
        assert!(alike.contains("{20000} beside 2, none significantly different from beside one.\n"));
    }

    #[test]
    fn the_tail_grows_where_intervals_show_it() {
        let said = |shares: [f64; 3], medians: [f64; 2]| {
            let misses = LOADS.into_iter().zip(shares);
            let misses = misses.map(|(busy, share)| (point(TIMER, (busy, OTHER), MISSES), share));
            let times = [LOADS[0], LOADS[2]].into_iter().zip(medians);
            let times = times.map(|(busy, ns)| (point(TIMER, (busy, OTHER), LATENESS), ns));
            text(&misses.chain(times).collect::<Vec<_>>())
        };
        let grows = said([2e4, 4e4, 14e4], [20e3, 20.1e3]);
        assert!(
            grows.contains(
                "Over 1 ms late are, by the busy processes on every CPU, of a timer's wake-ups {20000} beside 1, {40000} beside 2, \
                 {140000} beside 4 (the tail grows, the median does not significantly).\n"
            ),
            "{grows}"
        );
        assert!(said([2e4, 4e4, 14e4], [20e3, 30e3]).contains("(the tail grows).\n"));
        assert!(said([2e4, 4e4, 2e4], [20e3, 20e3]).contains("{20000} beside 4.\n"));
    }

    #[test]
    fn messages_over_1_ms_late_stand_beside_a_timers() {
        let misses = |wake, busy, share| (point(wake, (busy, OTHER), MISSES), share);
        let all = [misses(TIMER, 1, 2e4), misses(TIMER, 2, 4e4), misses(MESSAGE, 1, 3e4)];
        let said = text(&all);
        assert!(said.contains("of a timer's wake-ups {20000} beside 1, {40000} beside 2"), "{said}");
        assert!(said.contains("; of a message's wake-ups {30000} beside 1.\n"), "{said}");
        assert_eq!(text(&[misses(TIMER, 1, 2e4)]), "", "told beside its load");
    }

    #[test]
    fn a_quota_is_told_by_the_share_that_is_used_of_it_also_where_nothing_was_late() {
        let all = [
            (under_quota(50, LATENESS), 20e3),
            (under_quota(80, LATENESS), 30e3),
            (under_quota(100, LATENESS), 50e3),
            (under_quota(100, MISSES), 3e4),
            (under_quota(100, THROTTLING), 6e5),
        ];
        assert_eq!(
            text(&all),
            "Under a quota of 10 ms in every 20 ms a request begins late by {20000} where 50 % of it are used; {50000} where 100 % of \
             it are used ({30000} over 1 ms, {600000} of the periods throttled).\n"
        );
    }

    #[test]
    fn other_policies_stand_against_the_usual_one() {
        let at = |policy: LoadPolicy, ns| (point(TIMER, (1, policy.name()), LATENESS), ns);
        let all = [at(LoadPolicy::Other, 20e3), at(LoadPolicy::Batch, 20.1e3), at(LoadPolicy::Idle, 10e3)];
        assert!(
            text(&all).starts_with(
                "Against SCHED_OTHER, a timer is late beside one process of SCHED_BATCH by {20100}, not significantly different; \
                 of SCHED_IDLE by {10000}, {0.5} times.\n"
            ),
            "{}",
            text(&all)
        );
        let alike = [at(LoadPolicy::Other, 20e3), at(LoadPolicy::Batch, 20.1e3), at(LoadPolicy::Idle, 20e3)];
        assert!(
            text(&alike).contains(
                "A timer is late beside one process of SCHED_OTHER by {20000}, of SCHED_BATCH by {20100}; of SCHED_IDLE by {20000}: no difference \
                 shows.\n"
            )
        );
    }

    #[test]
    fn an_interval_is_told_as_a_rate_and_a_share() {
        let all = [(point(REQUEST, (1, LoadPolicy::Other.name()), INTERVAL), 250e3)];
        let text = text(&all);
        assert!(
            text.contains("up to {4000} requests of 100 µs a second") && text.contains("{0.4} of the CPU"),
            "{text}"
        );
    }

    #[test]
    fn a_quota_is_why_requests_are_late_where_most_of_its_periods_are_throttled() {
        let machine = fathom_described::machine();
        let said = |figure: &str, throttled: f64| {
            let mut known = Known::new(&machine, None);
            let share = Found::bare(throttled, Dimension::Of(Unit::PartsPerMillion));
            known.learn(ABOUT.name, &under_quota(100, THROTTLING), share);
            Some(late_for_its_quota(&under_quota(100, figure), &known)?.shown?.plain())
        };
        assert_eq!(said(LATENESS, 8e5).as_deref(), Some("{800000} of its periods were throttled"));
        assert_eq!([said(LATENESS, 1e5), said(MISSES, 8e5)], [None, None]);
    }
}
