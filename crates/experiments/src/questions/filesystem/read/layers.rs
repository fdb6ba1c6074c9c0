//! Findings across points: the layers compared, order by the size of the file, requests in flight.

use super::points::{
    COLD, DIRECT, FILE, NAME, QUEUE_DEPTHS, RANDOM, SEQUENTIAL, USUAL_BLOCK, USUAL_FILE, WARM, queue, usual,
};
use crate::apparatus::filesystem::uring::{INTERVAL, LATENCY};
use crate::expected::rule_of_thumb::{PublishedRange, RuleOfThumb};
use fathom_core::prelude::*;
use fathom_core::quantity::declared;

pub fn findings(known: &Known) -> Vec<Finding> {
    let orders = [
        (COLD, "through an empty page cache"),
        (WARM, "from the page cache"),
        (DIRECT, "past the page cache"),
    ];
    let layers = [cache_against_device(known), past_the_cache(known)];
    let orders = orders.into_iter().filter_map(|(state, name)| order(state, name, known));
    layers.into_iter().flatten().chain(deep(known)).chain(orders).chain(beside_tables(known)).collect()
}

/// Figures of tables that reports cite for disks: a seek of a solid-state drive (report 002, from Wikipedia), and a MB in sequence (report
/// 001, from Scott, Latency numbers every programmer should know).
fn beside_tables(known: &Known) -> Option<Finding> {
    let random = known.found(NAME, &usual(DIRECT, RANDOM, USUAL_FILE))?;
    let mib = known.found(NAME, &super::points::largest_direct())?;
    let rule = RuleOfThumb::of_time("0.85 ms a MB (report 001)", 0.85e6 * f64::from(1 << 20) / 1e6, mib);
    Some(finding!(
        Question::Prediction,
        "Beside tables that reports cite: {random} (seeks of solid-state drives, report 002). Of a MiB in sequence, {mib}: {rule}.",
        random = PublishedRange { of: "a random block", ns: (80e3, 160e3) }.beside(random),
        mib = mib.named("a MiB in sequence, beside a published one"),
        rule = rule.statement(mib)
    ))
}

fn random(state: &str, known: &Known) -> Option<Found> {
    known.found(NAME, &usual(state, RANDOM, USUAL_FILE))
}

fn cache_against_device(known: &Known) -> Option<Finding> {
    let (warm, cold) = (random(WARM, known)?, random(COLD, known)?);
    Some(finding!(
        Question::Experiment,
        "A random block of 4 KiB of a file of {usual_file} costs {warm} from the page cache and {cold} where \
         it is not cached: {ratio}.",
        usual_file = declared::size(USUAL_FILE),
        warm = warm.named("random block, warm"),
        cold = cold.named("random block, cold"),
        ratio = cold.times_as("much", warm, "cold over warm")
    ))
}

fn past_the_cache(known: &Known) -> Option<Finding> {
    let (cold, direct) = (random(COLD, known)?, random(DIRECT, known)?);
    let cost = direct.named("random block, direct");
    Some(finding!(
        Question::Experiment,
        "{verdict}.",
        verdict = if direct.differs_from(&cold) == Some(false)
            && direct.is_of_one_state()
            && cold.is_of_one_state()
        {
            statement!(
                "Past the page cache: {cost}, not significantly different from {through} through it, uncached",
                cost,
                through = cold.named("random block, cold")
            )
        } else {
            statement!(
                "Bypassing the page cache such a block costs {cost} instead of {through} through it: {ratio}",
                cost,
                through = cold.named("random block, cold"),
                ratio = direct.times_as("much", cold, "direct over cold")
            )
        }
    ))
}

/// Random compared with sequential order, in the same state of the cache and with the same block size (R-FIX-56), by the size of
/// the file; sizes without a significant difference together.
fn order(state: &str, name: &str, known: &Known) -> Option<Finding> {
    let sequential = known.found_along(NAME, &usual(state, SEQUENTIAL, 0), &FILE);
    // One block has no order.
    let several = sequential.into_iter().filter(|(file, _)| *file > USUAL_BLOCK);
    let both = several.filter_map(|(file, sequential)| {
        let random = known.found(NAME, &usual(state, RANDOM, file))?;
        Some((declared::size(file), sequential, random))
    });
    let (apart, alike): (Vec<_>, Vec<_>) =
        both.partition(|(_, sequential, random)| random.differs_from(sequential) != Some(false));
    let apart = apart.into_iter().map(|(size, sequential, random)| {
        let named = |value: Found, what: &str| value.named(&format!("{what}, {size}, {name}"));
        statement!(
            "{random} over {sequential}, {ratio} times, in one of {size}",
            ratio = named(random.over(sequential), "random over sequential"),
            random = named(random, "random"),
            sequential = named(sequential, "sequential"),
            size = size.as_str()
        )
    });
    let alike = alike.into_iter().map(|(size, ..)| size).collect::<Vec<_>>();
    let alike = (!alike.is_empty())
        .then(|| statement!("not significantly different in {sizes}", sizes = alike.join(", ")));
    let sizes = Statement::joined(apart.chain(alike), "; ")?;
    let lead =
        format!("A block of 4 KiB, {name}, in random over sequential order, by the size of the file: ");
    Some(finding!(Question::Order, "{lead}{sizes}.", sizes).about(name))
}

/// The gain from more requests in flight.
fn deep(known: &Known) -> Option<Finding> {
    let interval = |depth| known.found(NAME, &queue(depth, INTERVAL));
    let measured = QUEUE_DEPTHS.into_iter().filter_map(|depth| Some((depth, interval(depth)?)));
    let (one, (depth, best)) =
        (interval(1)?, measured.min_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))?);
    let a_second = |time: Found| time.inverse(1e9, Dimension::Count);
    // Of requests that take one of several times, one after the other, a mean is of none.
    let takes_several = known.found(NAME, &queue(1, LATENCY)).is_some_and(|each| each.is_mixture);
    let ratio = if takes_several {
        "not compared, because one at a time they take one of several times".into()
    } else {
        one.times_as("many", best, "most over one in flight")
    };
    // The same work by another call, which may be the better way to make one request.
    let by_calls = random(DIRECT, known).map(|direct| {
        let by_calls = a_second(direct).named("random blocks a second, by a call for each");
        statement!(" By a call (pread) for each it serves {by_calls}.", by_calls)
    });
    Some(finding!(
        Question::Experiment,
        "By a ring of requests (io_uring), one at a time, the device serves {one} random blocks a second; the most, {most}, with \
         {depth} in flight: {ratio}.{by_calls}",
        one = a_second(one).named("random blocks a second, one in flight"),
        most = a_second(best).named("random blocks a second, most"),
        ratio,
        by_calls
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::statistics::Measured;

    /// Alone in flight each request took 41.0 or 62.1 µs, and a ratio of 5.56 was drawn from a mean of 60.6.
    #[test]
    fn a_mean_over_requests_that_take_several_times_has_no_ratio() {
        let machine = fathom_described::machine();
        let said = |is_mixture| {
            let mut known = Known::new(&machine, None);
            let mut learn = |depth, figure, found| known.learn(NAME, &queue(depth, figure), found);
            let ns = |ns| fathom_described::found(ns, Unit::Nanoseconds);
            learn(1, INTERVAL, ns(60.6e3));
            learn(64, INTERVAL, ns(10.9e3));
            learn(1, LATENCY, Found { is_mixture, ..ns(41e3) });
            deep(&known).expect("both are known").statement.plain()
        };
        assert!(said(false).contains(" times as many."), "{}", said(false));
        assert!(
            said(true).contains("in flight: not compared, because one at a time they take"),
            "{}",
            said(true)
        );
    }

    /// It was "costs 38.9 µs or 50.0 µs, not compared, because the machine was in several states as through it".
    #[test]
    fn a_block_past_the_cache_is_said_beside_one_through_it_in_every_case() {
        let machine = fathom_described::machine();
        let said = |direct: f64, states: Option<[f64; 2]>| {
            let mut known = Known::new(&machine, None);
            let mut learn = |state, found| known.learn(NAME, &usual(state, RANDOM, USUAL_FILE), found);
            let ns = |ns| fathom_described::found(ns, Unit::Nanoseconds);
            learn(COLD, ns(50e3));
            let states = states.map(|states| states.map(Measured::exact));
            learn(DIRECT, Found { is_mixture: states.is_some(), states, ..ns(direct) });
            past_the_cache(&known).expect("both are known").statement.plain()
        };
        let past = "Bypassing the page cache such a block costs {40000} instead of {50000} through it: ";
        let one = said(40e3, None);
        assert!(one.starts_with(past) && one.ends_with(" times as much."), "{one}");
        let two = said(40e3, Some([38e3, 55e3]));
        assert_eq!(two, format!("{past}not compared, because the machine was in several states."));
    }

    /// "35.3 µs (28.9–41.6), not significantly different from uncached" stood below "56.9 µs (50.4–62.0) where it is not cached", which was
    /// with the core shared.
    #[test]
    fn what_does_not_differ_stands_beside_what_it_was_compared_with() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        for (state, ns) in [(DIRECT, 35.3e3), (COLD, 54.2e3)] {
            let found = fathom_described::found_within(0.3, ns, Unit::Nanoseconds);
            known.learn(NAME, &usual(state, RANDOM, USUAL_FILE), found);
        }
        assert_eq!(
            past_the_cache(&known).expect("both are known").statement.plain(),
            "Past the page cache: {35300}, not significantly different from {54200} through it, uncached."
        );
    }
}
