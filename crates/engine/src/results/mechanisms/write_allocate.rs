//! Write-allocate: a store through the caches reads its line first; a non-temporal one does not, so a line crosses the bus
//! once instead of twice.

use super::{Conclusion, Premises, Rule};
use crate::results::accuracy::{CLOSE, distance};
use fathom_core::experiment::At::{Any, Name};
use fathom_core::experiment::{Found, Known, Selector, Statement, statement};

pub(super) const RULE: Rule = Rule {
    name: "write_allocate",
    condition: "non-temporal stores write memory significantly faster than the same stores through the caches, and \
                twice as fast within a factor of 1.25",
    judge,
    points: &[WRITE, COPY],
};

const WRITE: Selector = Selector::only(
    "memory/bandwidth",
    &[("kind", Name("write")), ("level", Name("memory")), ("method", Any), ("size", Any)],
);
const COPY: Selector = Selector::only(
    "memory/bandwidth",
    &[("kind", Name("copy")), ("level", Name("memory")), ("method", Any), ("size", Any)],
);

const NON_TEMPORAL: &str = " non-temporal";

/// The same stores, through the caches and non-temporal.
struct StorePair {
    method: String,
    through: Found,
    past: Found,
}

fn judge(premises: &Premises) -> Option<Conclusion> {
    let known = premises.known;
    let StorePair { method, through, past } = quickest(&WRITE, known)?;
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
        "{method}: {past}, through the caches {through}; without the read for ownership a line crosses the \
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

/// One of the three transfers of a copy is the read for ownership.
fn copied(known: &Known) -> Statement {
    let Some(StorePair { method, through, past }) = quickest(&COPY, known) else {
        return Statement::default();
    };
    let times = past.times_as("fast", through, "non-temporal over through the caches, copy");
    statement!(" The same effect would make a copy ({method}) 1.5 times as fast; measured: {times}.", times)
}

/// The method whose non-temporal form is the fastest, in both forms.
fn quickest(points: &Selector, known: &Known) -> Option<StorePair> {
    let all = points.all(known).into_iter();
    let all: Vec<(&str, Found)> =
        all.filter_map(|(point, rate)| Some((point.name_of("method")?, rate))).collect();
    let pair = |(name, past): &(&str, Found)| {
        let plain = name.strip_suffix(NON_TEMPORAL)?;
        let (_, through) = all.iter().find(|(other, _)| *other == plain)?;
        Some(StorePair { method: plain.to_owned(), through: *through, past: *past })
    };
    all.iter().filter_map(pair).max_by(|one, other| one.past.value.total_cmp(&other.past.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Dimension;
    use fathom_core::statistics::{Interval, Measured};
    use serde_json::json;

    fn conclusion(past: f64) -> Option<Conclusion> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let mut plant = |points: &Selector, method: &str, rate| {
            points.plant_at(&mut known, &[("method", json!(method)), ("size", json!(1))], rate);
        };
        plant(&WRITE, "avx2", 10e9);
        plant(&WRITE, "avx2 non-temporal", past);
        plant(&WRITE, "memset", 40e9);
        plant(&COPY, "avx2", 10e9);
        plant(&COPY, "avx2 non-temporal", 15e9);
        judge(&Premises { known: &known, points: &[] })
    }

    #[test]
    fn stores_that_do_not_read_their_line_are_twice_as_fast() {
        let conclusion = conclusion(20e9).expect("a mechanism");
        assert!(conclusion.headline.plain().contains("write memory {2} times as fast"));
        assert!(conclusion.because.plain().contains(
            "The same effect would make a copy (avx2) 1.5 times as fast; measured: {1.5} times as fast."
        ));
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
    fn as_fast_or_much_faster_is_something_else() {
        assert!(conclusion(10e9).is_none() && conclusion(40e9).is_none());
    }
}
