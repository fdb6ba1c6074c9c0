//! The path to memory that cores near each other share: where a host moves the two CPUs of a guest, two threads together move as much as
//! one at one distance, and more at another.

use super::{Conclusion, Premises, Rule};
use crate::results::PointResult;
use crate::results::accuracy::{CLOSE, distance};
use fathom_core::experiment::At::Any;
use fathom_core::experiment::{Dimension, Figure, Found, Placement, Selector, Statement, statement};
use fathom_core::quantity::Unit;
use fathom_core::statistics;

pub(super) const RULE: Rule = Rule {
    name: "shared_path",
    condition: "two threads move more of memory together, by more than a factor of 1.25, while a cache line takes longer between their \
                CPUs: significantly by one method, or in the median of methods of which so many move more, or of which each moves more in \
                so many trials, that chance would give it in at most one of 64 runs",
    judge,
    points: &[TOGETHER],
};

pub(super) const TOGETHER: Selector = Selector::only(
    "memory/parallel_bandwidth",
    &[("threads", Any), ("kind", Any), ("method", Any), ("level", Any), ("size", Any)],
)
.at(Placement::Spread);

/// The rate of two threads at a distance of their CPUs.
#[derive(Clone, Copy)]
struct AtDistance {
    line_ns: f64,
    rate: Found,
    /// How many trials it has, and the least and the greatest of their medians.
    trials: usize,
    ends: [f64; 2],
}

impl AtDistance {
    fn of(line_ns: f64, rate: Found, medians: &[f64]) -> Self {
        let least = medians.iter().copied().fold(f64::INFINITY, f64::min);
        let most = medians.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        AtDistance { line_ns, rate, trials: medians.len(), ends: [least, most] }
    }
}

pub(super) fn judge(premises: &Premises) -> Option<Conclusion> {
    concluded(at_two_distances(premises, &TOGETHER).collect())
}

/// The rates of two threads at two distances of their CPUs, the shorter one first, by kind and method.
fn at_two_distances(
    premises: &Premises,
    of: &Selector,
) -> impl Iterator<Item = (String, AtDistance, AtDistance)> {
    let machine = premises.known.machine;
    let is_of_two = move |point: &&PointResult| {
        of.selects(&point.experiment, &point.point, machine) && point.point.number_of("threads") == Some(2)
    };
    premises.results().filter(is_of_two).filter_map(|point| {
        let [near, far] =
            point.near_and_far()?.map(|(at, estimate)| (at.line_ns, Found::of(estimate, point.unit)));
        let distance = point.cpu_distance.as_ref()?;
        let [own, other] = &distance.medians;
        let is_own = |line_ns: f64| line_ns.total_cmp(&distance.at.line_ns).is_eq();
        let at = |(line_ns, rate)| AtDistance::of(line_ns, rate, if is_own(line_ns) { own } else { other });
        let [near, far] = [near, far].map(at);
        let what = format!("{}, {}", point.point.name_of("kind")?, point.point.name_of("method")?);
        Some((what, near, far))
    })
}

/// The method that speaks for those by which two threads move more by a factor of 1.25 while their CPUs are farther apart, significant or
/// not: its name, its rate, and what a line takes between the CPUs then.
pub(super) fn most_farther_apart(premises: &Premises, of: &Selector) -> Option<(String, Figure, Figure)> {
    let all: Vec<_> = at_two_distances(premises, of).collect();
    let ratio = statistics::median(&ratios(&all))?;
    let more = all.into_iter().filter(|(_, near, far)| far.rate.value > CLOSE * near.rate.value).collect();
    let (what, _, far) = spokesman(more, ratio)?;
    let line = Found::bare(far.line_ns, Dimension::Of(Unit::Nanoseconds));
    Some((
        what,
        far.rate.named("two threads, farther apart"),
        line.named("a line between them, farther apart"),
    ))
}

/// The chance with which methods of few trials each may all the same show it by their number.
const CHANCE: f64 = 1.0 / 64.0;

/// The chance that of so many methods at least so many move more, if none of the two distances were better (the sign test).
fn chance(more: usize, all: usize) -> f64 {
    let mut ways = 1.0;
    let mut sum = 0.0;
    for number in 0..=all {
        sum += if number >= more { ways } else { 0.0 };
        ways *= (all - number) as f64 / (number + 1) as f64;
    }
    sum / 2.0_f64.powi(i32::try_from(all).unwrap_or(i32::MAX))
}

/// Whether methods show it together, however few trials each of them has.
fn is_by_number(ratios: &[f64]) -> bool {
    let more = ratios.iter().filter(|ratio| **ratio > 1.0).count();
    chance(more, ratios.len()) <= CHANCE && statistics::median(ratios).is_some_and(|ratio| ratio > CLOSE)
}

/// The chance that every one of so many trials exceeds every one of so many others, if the two were alike (an exact test of ranks:
/// Wilcoxon 1945, Mann and Whitney 1947): one over the number of ways to choose the trials.
fn chance_of_ranks(near: usize, far: usize) -> f64 {
    (1..=far).fold(1.0, |chance, place| chance * place as f64 / (near + place) as f64)
}

/// Whether the trials show it: of each method every one farther apart exceeds every one nearer. Methods that were measured by the
/// same visits are as one, so that several say no more than the one with the fewest trials.
fn is_by_ranks(rates: &[(String, AtDistance, AtDistance)]) -> bool {
    let is_apart = |near: &AtDistance, far: &AtDistance| far.ends[0] > near.ends[1];
    let chances =
        rates.iter().map(
            |(_, near, far)| {
                if is_apart(near, far) { chance_of_ranks(near.trials, far.trials) } else { 1.0 }
            },
        );
    chances.reduce(f64::max).is_some_and(|chance| chance <= CHANCE)
}

/// The rates at the pair of distances at which there are most of them.
fn of_one_pair(mut rates: Vec<(String, AtDistance, AtDistance)>) -> Vec<(String, AtDistance, AtDistance)> {
    let pairs: Vec<[f64; 2]> = rates.iter().map(|(_, near, far)| [near.line_ns, far.line_ns]).collect();
    let is_like = |one: &[f64; 2], other: &[f64; 2]| {
        one.iter().zip(other).all(|(one, other)| distance(one / other) <= CLOSE)
    };
    let number = |pair: &&[f64; 2]| pairs.iter().filter(|other| is_like(pair, other)).count();
    if let Some(most) = pairs.iter().max_by_key(number) {
        rates.retain(|(_, near, far)| is_like(&[near.line_ns, far.line_ns], most));
    }
    rates
}

/// How many times as much each method moves farther apart.
fn ratios(rates: &[(String, AtDistance, AtDistance)]) -> Vec<f64> {
    rates.iter().map(|(_, near, far)| far.rate.value / near.rate.value).collect()
}

/// The method that speaks for all: that with the most trials at both distances, of several that nearest to the ratio of all. The highest of
/// many methods would be so by chance.
fn spokesman(
    rates: Vec<(String, AtDistance, AtDistance)>,
    ratio: f64,
) -> Option<(String, AtDistance, AtDistance)> {
    let trials = |near: &AtDistance, far: &AtDistance| near.trials.min(far.trials);
    let most = rates.iter().map(|(_, near, far)| trials(near, far)).max()?;
    let apart = |(_, near, far): &(String, AtDistance, AtDistance)| {
        distance(far.rate.value / near.rate.value / ratio)
    };
    let well_known = rates.into_iter().filter(|(_, near, far)| trials(near, far) == most);
    well_known.min_by(|one, other| apart(one).total_cmp(&apart(other)))
}

/// What all methods show together, if there are several.
fn of_all_methods(ratios: &[f64], trials: usize) -> Option<Statement> {
    let median = statistics::median(ratios).filter(|_| ratios.len() > 1)?;
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let times = |value: f64, name| Found::bare(value, Dimension::Ratio).named(name);
    Some(statement!(
        " In the median of all methods it is {median} times, from {least} to {most}, of {trials} trials farther apart in all.",
        median = times(median, "two threads farther apart over nearer, median of methods"),
        least = times(least, "two threads farther apart over nearer, least of methods"),
        most = times(most, "two threads farther apart over nearer, most of methods")
    ))
}

/// How many of the methods move more in the median farther apart, and how many of those with an interval at both distances do so
/// significantly.
fn counted(rates: &[(String, AtDistance, AtDistance)]) -> String {
    let number = |is: &dyn Fn(Found, Found) -> bool| {
        rates.iter().filter(|(_, near, far)| is(near.rate, far.rate)).count()
    };
    let (all, more) = (rates.len(), number(&|near, far| far.value > near.value));
    let known = number(&|near, far| near.ends().is_some() && far.ends().is_some());
    let surely = number(&|near, far| far.value > near.value && far.differs_from(&near) == Some(true));
    let significant = match known {
        0 => "none of them has an interval at both".to_owned(),
        _ => format!("{surely} of the {known} with an interval at both significantly"),
    };
    let (methods, were) = if all == 1 { ("method", "was") } else { ("methods", "were") };
    format!(
        "of {all} {methods} that {were} measured at these two distances {more} move more farther apart in the median, {significant}"
    )
}

/// The conclusion from the rates of some methods at two distances, the shorter one first.
fn concluded(rates: Vec<(String, AtDistance, AtDistance)>) -> Option<Conclusion> {
    let rates = of_one_pair(rates);
    let ratios = ratios(&rates);
    let ratio = statistics::median(&ratios)?;
    let together =
        of_all_methods(&ratios, rates.iter().map(|(.., far)| far.trials).sum()).unwrap_or_default();
    let (is_by_all, counts) = (is_by_number(&ratios) || is_by_ranks(&rates), counted(&rates));
    let is_more = |near: Found, far: Found| far.value > CLOSE * near.value;
    let is_surely_more =
        |near: Found, far: Found| is_more(near, far) && far.differs_from(&near) == Some(true);
    let surely: Vec<_> = rates
        .into_iter()
        .filter(|(_, near, far)| {
            is_surely_more(near.rate, far.rate) || is_by_all && is_more(near.rate, far.rate)
        })
        .collect();
    let (what, near, far) = spokesman(surely, ratio)?;
    let line = |of: &AtDistance, name| Found::bare(of.line_ns, Dimension::Of(Unit::Nanoseconds)).named(name);
    let headline = statement!(
        "Two threads ({what}) move {far_rate} of memory together while a cache line takes {far_line} between their CPUs, and {near_rate} \
         while it takes {near_line}: near each other they share a part of the path to memory that is not the memory's own limit.",
        far_rate = far.rate.named("two threads on CPUs farther apart"),
        far_line = line(&far, "a line between CPUs farther apart"),
        near_rate = near.rate.named("two threads on CPUs nearer to each other"),
        near_line = line(&near, "a line between CPUs nearer to each other")
    );
    let [near_trials, far_trials] = [near.trials, far.trials];
    let because = statement!(
        "The host moved the CPUs during the run; {counts}, here \
         {times} times as much ({near_trials} and {far_trials} trials, nearer and farther apart).{together} Which part it is (a cache, the link of a group of cores) is not visible from inside.",
        times = far.rate.over(near.rate).named("two threads farther apart over nearer"),
        together
    );
    Some(Conclusion::of(headline, because))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::statistics::{Interval, Measured};

    fn at(line_ns: f64, rate: f64, width: f64) -> AtDistance {
        let interval = Some(Interval { low: rate - width, high: rate + width });
        let measured = Measured { value: rate, interval };
        let rate = Found::measured(measured, Dimension::Of(Unit::BytesPerSecond));
        AtDistance { line_ns, rate, trials: 7, ends: [rate.value - width, rate.value + width] }
    }

    fn text(near: AtDistance, far: AtDistance) -> Option<String> {
        concluded(vec![("read, avx2".to_owned(), near, far)]).map(|of| of.headline.plain())
    }

    #[test]
    fn cpus_farther_apart_that_move_more_share_less() {
        let text = text(at(32.5, 32e9, 1e9), at(173.0, 59e9, 2e9)).expect("a mechanism");
        assert!(
            text.contains("move {59000000000} of memory together while a cache line takes {173}"),
            "{text}"
        );
    }

    #[test]
    fn what_each_of_many_methods_shows_once_is_shown() {
        let one_trial = |rate: f64| AtDistance {
            line_ns: 177.0,
            rate: Found::bare(rate, Dimension::Of(Unit::BytesPerSecond)),
            trials: 1,
            ends: [rate, rate],
        };
        let rates = |number: usize, last: f64| {
            let method = |place: usize| {
                let far = if place + 1 == number { last } else { 60e9 };
                (format!("read, {place}"), at(32.7, 32e9, 1e9), one_trial(far))
            };
            concluded((0..number).map(method).collect()).is_some()
        };
        assert!(rates(6, 60e9), "by each of six");
        assert!(!rates(6, 31e9), "one of them does not");
        assert!(rates(12, 31e9), "one of many does not");
        assert!(!rates(5, 60e9), "too few methods");
    }

    #[test]
    fn the_chance_of_as_many_is_that_of_as_many_heads_of_coins() {
        for (more, all, expected) in [(6, 6, 1.0 / 64.0), (5, 6, 7.0 / 64.0), (0, 4, 1.0), (2, 2, 0.25)] {
            assert!((chance(more, all) - expected).abs() < 1e-12, "{more} of {all}");
        }
        assert!(!is_by_number(&[1.1; 12]), "not by enough");
    }

    /// Seven trials nearer and three farther apart, too few for an interval: in one of 120 orders are the three the greatest by chance.
    #[test]
    fn trials_of_which_none_overlap_show_it_without_an_interval() {
        let dimension = Dimension::Of(Unit::BytesPerSecond);
        let few = |rate: f64, trials: usize, ends: [f64; 2]| AtDistance {
            line_ns: 164.0,
            rate: Found::bare(rate, dimension),
            trials,
            ends,
        };
        let shown = |of: &[AtDistance]| {
            let rates = of.iter().map(|far| (String::new(), at(32.9, 34e9, 3e9), *far));
            concluded(rates.collect()).is_some()
        };
        let apart = few(63e9, 3, [60e9, 66e9]);
        assert!(shown(&[apart]) && shown(&[apart; 4]));
        assert!(!shown(&[few(63e9, 2, [60e9, 66e9])]), "two trials: in one of 36");
        assert!(!shown(&[apart, few(63e9, 3, [36e9, 66e9])]), "of one method they overlap");
        assert!((chance_of_ranks(7, 3) - 1.0 / 120.0).abs() < 1e-12);
    }

    #[test]
    fn the_highest_of_many_methods_does_not_speak_for_them() {
        let few = |rate: f64, trials: usize| AtDistance {
            line_ns: 167.0,
            rate: Found::bare(rate, Dimension::Of(Unit::BytesPerSecond)),
            trials,
            ends: [rate, rate],
        };
        let once = [80e9, 60e9, 62e9, 30e9, 66e9, 61e9, 65e9].map(|rate| (rate, 1));
        let rates = once.into_iter().chain([(64e9, 3), (58e9, 3), (70e9, 3)]);
        let named = rates
            .into_iter()
            .map(|(rate, trials)| (format!("read, {}", rate / 1e9), at(32.0, 32e9, 1e9), few(rate, trials)));
        let told = concluded(named.collect()).expect("a mechanism");
        let headline = told.headline.plain();
        assert!(headline.starts_with("Two threads (read, 64) move {64000000000} of memory"), "{headline}");
        let because = told.because.plain();
        assert!(
            because.contains("(7 and 3 trials, nearer and farther apart). In the median of all methods it is {1.96875} times, from {0.9375} to {2.5}, of 16 trials"),
            "{because}"
        );
    }

    /// Of nine methods five had one trial farther apart, one an interval that overlaps, and all nine were said to show it.
    #[test]
    fn what_moves_more_in_the_median_is_told_from_what_does_so_significantly() {
        let once = AtDistance {
            line_ns: 159.0,
            rate: Found::bare(56e9, Dimension::Of(Unit::BytesPerSecond)),
            trials: 1,
            ends: [56e9, 56e9],
        };
        let near = |rate, width| at(32.9, rate, width);
        let rates = [(near(36e9, 2e9), once); 5]
            .into_iter()
            .chain([(near(35e9, 1e9), at(159.0, 56e9, 6e9)), (near(36e9, 2e9), at(159.0, 51e9, 16e9))]);
        let rates = rates.map(|(near, far)| (String::new(), near, far));
        let because = concluded(rates.collect()).expect("a mechanism").because.plain();
        assert!(
            because.contains("of 7 methods that were measured at these two distances 7 move more farther apart in the median, 1 of the 2 with an interval at both significantly, here"),
            "{because}"
        );
        let alone = counted(&[(String::new(), near(36e9, 2e9), once)]);
        assert!(
            alone.starts_with("of 1 method that was")
                && alone.ends_with("none of them has an interval at both")
        );
    }

    #[test]
    fn another_pair_of_distances_is_not_counted_in() {
        let rates = (0..7).map(|place| {
            let (near, far) = if place < 6 { (32.0, 170.0) } else { (16.0, 32.0) };
            (place.to_string(), at(near, 32e9, 20e9), at(far, 60e9, 30e9))
        });
        assert_eq!(of_one_pair(rates.collect()).len(), 6);
    }

    #[test]
    fn no_more_or_perhaps_no_more_is_none() {
        assert_eq!(text(at(32.5, 32e9, 1e9), at(173.0, 33e9, 1e9)), None);
        assert_eq!(text(at(32.5, 32e9, 1e9), at(173.0, 50e9, 20e9)), None);
        assert_eq!(
            text(at(32.5, 59e9, 1e9), at(173.0, 32e9, 1e9)),
            None,
            "slower where they are farther apart"
        );
    }
}
