//! Read-ahead: sequential reads of a file are fetched in large requests in advance.

use super::{Conclusion, Premises, Rule};
use crate::results::accuracy::{FAIR, distance};
use fathom_core::experiment::At::{Name, Number};
use fathom_core::experiment::{Dimension, Found, Known, Selector, Statement, statement};
use fathom_core::quantity::Unit;

pub(super) const RULE: Rule = Rule {
    name: "read_ahead",
    condition: "sequential blocks of a cold file cost significantly less with read-ahead than without",
    judge,
    points: &[AHEAD, WITHOUT, LARGE, RANDOM],
};

const AHEAD: Selector = Selector::only(
    "filesystem/read",
    &[
        ("call", Name("read")),
        ("order", Name("sequential")),
        ("state", Name("cold")),
        ("block", Number(4096)),
        ("file", Number(64 << 20)),
    ],
);
const WITHOUT: Selector = Selector::only(
    "filesystem/read",
    &[
        ("call", Name("read")),
        ("order", Name("sequential")),
        ("state", Name("cold")),
        ("read_ahead", Name("off")),
        ("block", Number(4096)),
        ("file", Number(64 << 20)),
    ],
);
const LARGE: Selector = Selector::only(
    "filesystem/read",
    &[
        ("call", Name("read")),
        ("order", Name("sequential")),
        ("state", Name("direct")),
        ("block", Number(REQUEST)),
        ("file", Number(64 << 20)),
    ],
);
const RANDOM: Selector = Selector::only(
    "filesystem/read",
    &[
        ("call", Name("pread")),
        ("order", Name("random")),
        ("state", Name("cold")),
        ("block", Number(4096)),
        ("file", Number(64 << 20)),
    ],
);

/// The largest request that is measured, bytes.
const REQUEST: u64 = 1 << 20;

fn judge(premises: &Premises) -> Option<Conclusion> {
    let known = premises.known;
    let (ahead, without) = (AHEAD.found(known)?, WITHOUT.found(known)?);
    if !is_less(ahead, without) {
        return None;
    }
    let headline = statement!(
        "Read-ahead: sequential blocks of 4 KiB of a cold file take {ahead}, without it {without}: {ratio} times as long.",
        ahead = ahead.named("block in sequence"),
        without = without.named("block in sequence, no read-ahead"),
        ratio = without.over(ahead).named("without read-ahead over with")
    );
    let because = statement!(
        "{window}{in_large_requests}{at_random}",
        window = window(known),
        in_large_requests = in_large_requests(ahead, known),
        at_random = at_random(known)
    );
    Some(Conclusion::of(headline, because))
}

/// Whether one certainly takes less than the other, in each of the states that it has.
fn is_less(one: Found, other: Found) -> bool {
    if one.has_unknown_states() || other.is_mixture {
        return false;
    }
    let least = other.at_least();
    one.in_each_state().iter().all(|state| state.upper_end() < least)
        && (!one.is_of_one_state() || one.differs_from(&other) == Some(true))
}

fn window(known: &Known) -> Statement {
    let device = known.machine.storage.device.value();
    device.and_then(|device| device.read_ahead_bytes.value().copied()).map_or_else(
        Statement::default,
        |bytes| {
            let size = |bytes: u64| {
                Found::exact(bytes as f64, Dimension::Of(Unit::Bytes)).named("window of read-ahead")
            };
            statement!("The device's window is {size}. ", size = size(bytes))
        },
    )
}

/// A block's share of a large request: the least time that read-ahead can reach.
fn in_large_requests(ahead: Found, known: &Known) -> Statement {
    let Some(large) = LARGE.found(known) else { return Statement::default() };
    let share = large.scaled(4096.0 / REQUEST as f64);
    statement!(
        "In requests of 1 MiB past the page cache, the share of 4 KiB is {share}{explains}.",
        share = share.named("share of a large request"),
        explains = compared(ahead, share)
    )
}

/// Whether the sequential cost is that share; empty where intervals overlap around unlike values, which shows neither.
fn compared(ahead: Found, share: Found) -> &'static str {
    match ahead.differs_from(&share) {
        // What is true in one state may not be in another.
        _ if ahead.is_mixture || share.is_mixture => "",
        Some(true) if ahead.value < share.value => {
            ", more than the sequential cost: large requests alone are not the reason, and how many are in flight at once was not measured"
        }
        Some(true) => ", less than the sequential cost",
        Some(false) if distance(ahead.over(share).value) <= FAIR => {
            ", from which the sequential cost does not differ significantly"
        }
        _ => "",
    }
}

/// In random order there is nothing to read ahead.
fn at_random(known: &Known) -> Statement {
    RANDOM.found(known).map_or_else(Statement::default, |random| {
        statement!(
            " In random order, where nothing can be read ahead, they take {random}.",
            random = random.named("block at random")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};

    fn conclusion(ahead: f64, large: f64) -> Option<Conclusion> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        AHEAD.plant(&mut known, ahead);
        WITHOUT.plant(&mut known, 60e3);
        LARGE.plant(&mut known, large);
        judge(&Premises { known: &known, points: &[] })
    }

    #[test]
    fn a_sequence_costs_the_share_of_a_large_request() {
        let conclusion = conclusion(2e3, 512e3).expect("a mechanism");
        assert!(conclusion.headline.plain().contains("take {2000}, without it {60000}: {30} times as long."));
        assert!(conclusion.because.plain().contains(
            "the share of 4 KiB is {2000}, from which the sequential cost does not differ significantly."
        ));
    }

    #[test]
    fn a_sequence_of_two_states_is_compared_in_each_or_no_cause() {
        let machine = planted::machine();
        let said = |states: [f64; 2], has_more_states| {
            let mut known = Known::new(&machine, None);
            let of = |ns| fathom_described::found_within(0.1, ns, Dimension::Of(Unit::Nanoseconds));
            let both = Some(states.map(|ns| of(ns).measured));
            let ahead = Found { is_mixture: true, states: both, has_more_states, ..of(states[0]) };
            known.learn(AHEAD.experiment, &AHEAD.point(&[]), ahead);
            known.learn(WITHOUT.experiment, &WITHOUT.point(&[]), of(45e3));
            known.learn(LARGE.experiment, &LARGE.point(&[]), of(742e3));
            judge(&Premises { known: &known, points: &[] })
        };
        let conclusion = said([2.5e3, 7.5e3], false).expect("a mechanism");
        let headline = conclusion.headline.plain();
        assert!(headline.ends_with(" times as long.") && !headline.contains("not compared"), "{headline}");
        let because = conclusion.because.plain();
        assert!(because.contains("share of 4 KiB is {2898.4375}."), "of neither state: {because}");
        assert!(said([2.5e3, 44e3], false).is_none(), "in one state it is no less");
        assert!(said([2.5e3, 7.5e3], true).is_none(), "a third is not known");
    }

    #[test]
    fn another_cost_is_not_explained_and_none_is_no_case() {
        assert!(conclusion(2e3, 5_120e3).is_some_and(|conclusion| {
            conclusion.because.plain().contains("large requests alone are not the reason")
        }));
        assert!(conclusion(60e3, 512e3).is_none());
    }

    #[test]
    fn intervals_that_overlap_around_unlike_values_show_neither() {
        let nanoseconds =
            |share, value| fathom_described::found_within(share, value, Dimension::Of(Unit::Nanoseconds));
        assert_eq!(compared(nanoseconds(0.9, 2e3), nanoseconds(0.3, 4.9e3)), "");
        let apart = compared(nanoseconds(0.01, 2e3), nanoseconds(0.01, 2.2e3));
        assert!(apart.contains("more than the sequential cost"), "{apart}");
        let less = compared(nanoseconds(0.01, 2.2e3), nanoseconds(0.01, 2e3));
        assert_eq!(less, ", less than the sequential cost");
    }
}
