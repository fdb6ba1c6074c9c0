//! Write-allocate: a store through the caches reads its line first; a non-temporal one does not, so a line crosses the bus
//! once instead of twice.

use super::{Conclusion, Premises, Rule};
use crate::results::accuracy::{CLOSE, distance};
use fathom_core::experiment::At::{Any, Name, Number};
use fathom_core::experiment::{Found, Known, Placement, Point, Selector, Statement, statement};

pub(super) const RULE: Rule = Rule {
    name: "write_allocate",
    condition: "non-temporal stores write memory significantly faster than the same stores through the caches, both in one state of the \
                machine, and twice as fast within a factor of 1.25",
    judge,
    points: &[WRITE, WRITE_BY_ONE, COPY, COPY_BY_THREADS],
};

const WRITE: Selector = Selector::only(
    "memory/bandwidth",
    &[("kind", Name("write")), ("level", Name("memory")), ("method", Any), ("size", Any)],
);
/// The same by the one thread of those beside which others are measured.
const WRITE_BY_ONE: Selector = Selector::only(
    "memory/parallel_bandwidth",
    &[
        ("kind", Name("write")),
        ("level", Name("memory")),
        ("method", Any),
        ("size", Any),
        ("threads", Number(1)),
    ],
)
.at(Placement::Spread);
const COPY: Selector = Selector::only(
    "memory/bandwidth",
    &[("kind", Name("copy")), ("level", Name("memory")), ("method", Any), ("size", Any)],
);

/// The same by several threads, and by one of them.
const COPY_BY_THREADS: Selector = Selector::only(
    "memory/parallel_bandwidth",
    &[("kind", Name("copy")), ("level", Name("memory")), ("method", Any), ("size", Any), ("threads", Any)],
)
.at(Placement::Spread);

const NON_TEMPORAL: &str = " non-temporal";

/// The same stores, through the caches and non-temporal, of one experiment.
struct StorePair {
    method: String,
    experiment: &'static str,
    threads: Option<u64>,
    through: Found,
    past: Found,
}

impl StorePair {
    /// Whether each has one value: two of unlike states have no ratio.
    fn is_of_one_state(&self) -> bool {
        !self.past.is_mixture && !self.through.is_mixture
    }
}

fn judge(premises: &Premises) -> Option<Conclusion> {
    let known = premises.known;
    let StorePair { method, experiment, through, past, .. } = quickest(known)?;
    let times = past.over(through);
    let faster = past.value > through.value && past.differs_from(&through) == Some(true);
    if !faster || distance(times.value / 2.0) > CLOSE {
        return None;
    }
    let headline = statement!(
        "Non-temporal stores write memory {times} times as fast: a store through the caches reads its line \
         first.",
        times = times.named("non-temporal over through the caches, write")
    );
    let because = statement!(
        "{method}, {experiment}: {past}, through the caches {through}; without the read for ownership a line crosses the \
         bus once instead of twice{beside}.{copied}",
        past = past.named("write, non-temporal"),
        through = through.named("write, through the caches"),
        beside = beside_twice(times),
        copied = copied(known)
    );
    Some(Conclusion::of(headline, because))
}

/// What the one transfer saved does not explain: it makes stores twice as fast, neither more nor less.
fn beside_twice(times: Found) -> &'static str {
    match times.ends() {
        Some((low, _)) if low > 2.0 => {
            ", which makes them twice as fast; what is beyond that is not explained"
        }
        Some((_, high)) if high < 2.0 => {
            ", which would make them twice as fast; why it is less is not explained"
        }
        _ => ", which makes them twice as fast",
    }
}

/// What the effect makes of a copy: one of the three transfers is the read for ownership.
const OF_A_COPY: f64 = 1.5;

/// Whether a copy shows the effect, by the pair of rates that tells their ratio best.
fn copied(known: &Known) -> Option<Statement> {
    let pairs = [COPY, COPY_BY_THREADS].into_iter().flat_map(|points| pairs(&points, known));
    let alike = pairs.filter(|pair| pair.is_of_one_state() && pair.past.is_of_the_state_of(&pair.through));
    let width = |pair: &StorePair| pair.past.over(pair.through).ends().map(|(low, high)| high / low);
    let by_width = alike.filter_map(|pair| Some((width(&pair)?, pair)));
    let (_, pair) = by_width.min_by(|(one, _), (other, _)| one.total_cmp(other))?;
    let StorePair { method, experiment, threads, through, past } = pair;
    let times = past.over(through);
    let differs = past.differs_from(&through) == Some(true);
    let verdict = match times.ends()? {
        (_, high) if !differs && high >= OF_A_COPY => ", too wide to tell whether it does",
        _ if !differs => ", which does not show it",
        (low, high) if low <= OF_A_COPY && OF_A_COPY <= high => ", as it would",
        _ => "",
    };
    let threads =
        threads.map(|threads| format!(", {threads} {}", if threads == 1 { "thread" } else { "threads" }));
    Some(statement!(
        " The same effect would make a copy {OF_A_COPY} times as fast; measured, where the intervals are narrowest \
         ({method}{threads}, {experiment}): {past}, through the caches {through}, {times} times{verdict}.",
        threads = threads.unwrap_or_default(),
        past = past.named("copy, non-temporal"),
        through = through.named("copy, through the caches"),
        times = times.named("non-temporal over through the caches, copy")
    ))
}

/// Every method in both forms, with all else alike.
fn pairs(points: &Selector, known: &Known) -> Vec<StorePair> {
    let all = points.all(known);
    let pair = |(point, past): &(&Point, Found)| {
        let plain = point.name_of("method")?.strip_suffix(NON_TEMPORAL)?;
        let of_caches = |(other, _): &&(&Point, Found)| {
            other.is("method", plain) && other.without("method") == point.without("method")
        };
        let (_, through) = all.iter().find(of_caches)?;
        let (method, threads) = (plain.to_owned(), point.number_of("threads"));
        Some(StorePair { method, experiment: points.experiment, threads, through: *through, past: *past })
    };
    all.iter().filter_map(pair).collect()
}

/// The method whose non-temporal form is the fastest, of those with one value in both forms.
fn quickest(known: &Known) -> Option<StorePair> {
    let pairs = [WRITE, WRITE_BY_ONE].into_iter().flat_map(|points| pairs(&points, known));
    pairs.filter(StorePair::is_of_one_state).max_by(|one, other| one.past.value.total_cmp(&other.past.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Dimension;
    use fathom_core::quantity::Unit;
    use fathom_core::statistics::{Interval, Measured};
    use serde_json::json;

    fn conclusion(past: f64) -> Option<Conclusion> {
        copying(past, (15e9, 0.02), (15e9, 0.1))
    }

    /// Copies past the caches at these rates, each within this share, by memory/bandwidth and by two threads; through the caches at ten.
    fn copying(past: f64, copied: (f64, f64), by_threads: (f64, f64)) -> Option<Conclusion> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let mut plant = |points: &Selector, method: &str, (rate, within): (f64, f64)| {
            let set = [("method", json!(method)), ("size", json!(1)), ("threads", json!(2))];
            let set = if *points == COPY_BY_THREADS { &set[..] } else { &set[..2] };
            let rate = fathom_described::found_within(within, rate, Dimension::Of(Unit::BytesPerSecond));
            known.learn(points.experiment, &points.point(set), rate);
        };
        plant(&WRITE, "avx2", (10e9, 0.02));
        plant(&WRITE, "avx2 non-temporal", (past, 0.02));
        plant(&WRITE, "memset", (40e9, 0.02));
        plant(&COPY, "avx2", (10e9, copied.1));
        plant(&COPY, "avx2 non-temporal", copied);
        plant(&COPY_BY_THREADS, "avx2", (10e9, by_threads.1));
        plant(&COPY_BY_THREADS, "avx2 non-temporal", by_threads);
        judge(&Premises { known: &known, points: &[] })
    }

    #[test]
    fn stores_that_do_not_read_their_line_are_twice_as_fast() {
        let conclusion = conclusion(20e9).expect("a mechanism");
        assert!(conclusion.headline.plain().contains("write memory {2} times as fast"));
        let because = conclusion.because.plain();
        assert!(
            because.contains("(avx2, memory/bandwidth): {15000000000}, through the caches {10000000000}, {1.5} times, as it would."),
            "{because}"
        );
    }

    #[test]
    fn a_copy_is_judged_by_the_pair_that_tells_most() {
        let said =
            |copied, by_threads| copying(20e9, copied, by_threads).expect("a mechanism").because.plain();
        let sharp = said((12.5e9, 0.3), (15e9, 0.03));
        assert!(sharp.contains("(avx2, 2 threads, memory/parallel_bandwidth)"), "{sharp}");
        assert!(
            said((12.5e9, 0.3), (12.5e9, 0.4)).contains("{1.25} times, too wide to tell whether it does.")
        );
        assert!(said((10.1e9, 0.03), (12.5e9, 0.4)).contains("{1.01} times, which does not show it."));
    }

    #[test]
    fn what_differs_from_twice_for_certain_is_said_not_to_be_explained() {
        let told = |value: f64| {
            let interval = Some(Interval { low: value * 0.95, high: value * 1.05 });
            beside_twice(Found::measured(Measured { value, interval }, Dimension::Ratio))
        };
        assert!(told(2.2).contains("beyond that is not explained") && told(1.8).contains("why it is less"));
        assert!(!told(2.0).contains("not explained"));
    }

    #[test]
    fn a_rate_of_two_states_is_of_no_pair() {
        let machine = planted::machine();
        let (mut known, set) =
            (Known::new(&machine, None), |method: &str| [("method", json!(method)), ("size", json!(1))]);
        let rate = |rate, is_mixture| {
            let rate = fathom_described::found_within(0.02, rate, Dimension::Of(Unit::BytesPerSecond));
            Found { is_mixture, ..rate }
        };
        let mut write = |points: &Selector, method: &str, rate| {
            known.learn(points.experiment, &points.point(&set(method)), rate);
        };
        write(&WRITE, "avx2", rate(10e9, true));
        write(&WRITE, "avx2 non-temporal", rate(20e9, false));
        write(&WRITE_BY_ONE, "sse", rate(9e9, false));
        write(&WRITE_BY_ONE, "sse non-temporal", rate(18e9, false));
        let quickest = quickest(&known).expect("a pair");
        assert_eq!((quickest.method.as_str(), quickest.experiment), ("sse", "memory/parallel_bandwidth"));
    }

    #[test]
    fn as_fast_or_much_faster_is_something_else() {
        assert!(conclusion(10e9).is_none() && conclusion(40e9).is_none());
    }
}
