//! The knee of contention: a device with a limited rate of blocks makes many readers queue. By Little's law the number of
//! readers that saturate it is the latency of a block times that rate; each further reader adds one block's share.

use super::{Conclusion, Premises, Rule};
use crate::results::accuracy::{CLOSE, distance};
use fathom_core::experiment::At::{Any, Name, Number};
use fathom_core::experiment::{Dimension, Found, Known, Placement, Selector, Statement, statement};
use fathom_core::quantity::Unit;

pub(super) const RULE: Rule = Rule {
    name: "device_limit",
    condition: "the largest number of readers, which is more than keep the device busy, waits for a block as long as \
                the device's limit predicts: within a factor of 1.25, and the intervals of both show no difference",
    judge,
    points: &[BETWEEN, READERS],
};

/// The time between completions of random blocks read past the page cache, by the number of requests in flight.
pub(crate) const BETWEEN: Selector = Selector::only(
    "filesystem/read",
    &[
        ("call", Name("io_uring")),
        ("figure", Name("between completions")),
        ("order", Name("random")),
        ("state", Name("direct")),
        ("block", Number(4096)),
        ("file", Number(64 << 20)),
        ("queue_depth", Any),
    ],
);
/// What each of these requests takes, in the same trials.
pub(crate) const EACH: Selector = Selector::only(
    "filesystem/read",
    &[
        ("call", Name("io_uring")),
        ("figure", Name("each request")),
        ("order", Name("random")),
        ("state", Name("direct")),
        ("block", Number(4096)),
        ("file", Number(64 << 20)),
        ("queue_depth", Any),
    ],
);
pub(super) const READERS: Selector = Selector::only(
    "filesystem/contention",
    &[
        ("figure", Name("each process")),
        ("pattern", Name("all random")),
        ("file", Number(4_096_000)),
        ("processes", Any),
    ],
)
.at(Placement::Free);

fn judge(premises: &Premises) -> Option<Conclusion> {
    let known = premises.known;
    let (depth, gap) = least_gap(known)?;
    let (alone, knee) = knee(known)?;
    let readers = READERS.along("processes", known);
    let (most, wait) = readers.last()?;
    let allowed = gap.scaled(*most as f64);
    let held = wait.over(allowed);
    let is_longer = wait.differs_from(&allowed) == Some(true);
    if (*most as f64) <= knee.value || distance(held.value) > CLOSE || is_longer {
        return None;
    }
    let headline = statement!(
        "{most} processes that read in random order wait for a block as long as the rate of one process with many requests in flight predicts: \
         {wait}, predicted {allowed}.",
        wait = wait.named("a block of the most readers"),
        allowed = allowed.named("a block at the rate of many requests in flight")
    );
    let because = statement!(
        "With {depth} requests in flight (io_uring) one is completed every {gap}, {rate} a second. One reader \
         alone takes {alone} for a block, so it takes {knee} readers at least to reach that rate (Little's law), and more where a \
         block takes longer beside others; where it is reached, each further reader adds the time of one block.{near}{slope} Whether the device, its driver or the host sets the rate is not measured.",
        gap = gap.named("between completions"),
        rate = gap.inverse(1e9, Dimension::Count).named("blocks a second"),
        alone = alone.named("a block of one reader"),
        knee = knee.named("readers that reach the rate"),
        near = near(&readers, gap),
        slope = slope(&readers, knee.value)
    );
    Some(Conclusion::of(headline, because))
}

/// The least time between completions, with the number of requests in flight.
fn least_gap(known: &Known) -> Option<(u64, Found)> {
    let gaps = BETWEEN.along("queue_depth", known).into_iter();
    gaps.min_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))
}

/// A block of one reader alone, and the readers that reach the device's rate.
pub(super) fn knee(known: &Known) -> Option<(Found, Found)> {
    let (_, gap) = least_gap(known)?;
    let (_, alone) = *READERS.along("processes", known).first().filter(|(processes, _)| *processes == 1)?;
    Some((alone, Found { dimension: Dimension::Count, ..alone.over(gap) }))
}

/// From how many readers on the rate is reached, within a quarter; or with how many, where no more were measured.
fn near(readers: &[(u64, Found)], gap: Found) -> Statement {
    let is_near = |(processes, wait): &&(u64, Found)| wait.value <= CLOSE * gap.value * *processes as f64;
    let Some((from, _)) = readers.iter().rev().take_while(is_near).last() else {
        return Statement::default();
    };
    let range = match readers.last() {
        Some((most, _)) if most == from => format!("with {from} readers"),
        _ => format!("from {from} readers on"),
    };
    statement!(" It is reached within a quarter {range}.", range)
}

/// The observed latency that each further reader adds beyond the knee.
fn slope(readers: &[(u64, Found)], knee: f64) -> Statement {
    let mut beyond = readers.iter().filter(|(processes, _)| *processes as f64 >= knee);
    let (Some((few, low)), Some((many, high))) = (beyond.next(), beyond.next_back()) else {
        return Statement::default();
    };
    let Some(more) = high.beyond(*low) else { return Statement::default() };
    let each = more.scaled(1.0 / (many - few) as f64);
    let each = Found { dimension: Dimension::Of(Unit::Nanoseconds), ..each };
    statement!(
        " From {to_string} to the most readers each adds {each} in the mean.",
        to_string = few.to_string(),
        each = each.named("a further reader beyond the knee")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::statistics::{Interval, Measured};
    use serde_json::json;

    /// A device that completes a block every 10 µs, with the block latency in nanoseconds for each number of readers.
    fn conclusion(readers: &[(u64, f64)]) -> Option<Conclusion> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        for (depth, ns) in [(1, 60e3), (32, 10e3)] {
            BETWEEN.plant_at(&mut known, &[("queue_depth", json!(depth))], ns);
        }
        for (processes, ns) in readers {
            READERS.plant_at(&mut known, &[("processes", json!(processes))], *ns);
        }
        judge(&Premises { known: &known, points: &[] })
    }

    #[test]
    fn many_readers_wait_as_long_as_the_device_makes_them() {
        let conclusion = conclusion(&[(1, 60e3), (8, 82e3), (50, 502e3)]).expect("a mechanism");
        assert!(conclusion.headline.plain().contains("in flight predicts: {502000}, predicted {500000}."));
        let because = conclusion.because.plain();
        assert!(
            because.contains("so it takes {6} readers at least to reach")
                && because.contains("From 8 to the most readers each adds {10000} in the mean."),
            "{because}"
        );
    }

    #[test]
    fn readers_that_wait_longer_than_the_limit_for_certain_are_limited_by_something_more() {
        let machine = planted::machine();
        let judged = |spread: f64| {
            let mut known = Known::new(&machine, None);
            for (depth, ns) in [(1, 60e3), (32, 10e3)] {
                BETWEEN.plant_at(&mut known, &[("queue_depth", json!(depth))], ns);
            }
            READERS.plant_at(&mut known, &[("processes", json!(1))], 60e3);
            let wait = 610e3;
            let interval = Some(Interval { low: wait - spread, high: wait + spread });
            let wait = Found::measured(Measured { value: wait, interval }, Dimension::Of(Unit::Nanoseconds));
            known.learn(READERS.experiment, &READERS.point(&[("processes", json!(50))]), wait);
            judge(&Premises { known: &known, points: &[] })
        };
        assert!(judged(5e3).is_none(), "22 % above, beyond the interval");
        assert!(judged(150e3).is_some(), "the interval reaches the limit");
    }

    #[test]
    fn few_readers_and_those_that_wait_for_something_else_are_no_case() {
        assert!(conclusion(&[(1, 60e3), (4, 60e3)]).is_none(), "below the knee");
        assert!(
            conclusion(&[(1, 60e3), (50, 900e3)]).is_none(),
            "they wait longer than the device makes them"
        );
    }
}
