//! What is said of a speed that is not lost during a trial but is not known to stay the same either.

use crate::apparatus::lasting::{self, FIRST, SUSTAINED};
use fathom_core::prelude::*;
use fathom_core::quantity::Kind;

/// How far from one the ratio of both speeds may itself be where they are called the same.
const SAME: f64 = 1.03;

/// As [`lasting::compared`], but a speed that seems greater in the second half by more than [`SAME`] is not called sustained within
/// that: its ratio is shown, and that no loss shows.
pub fn compared(
    operation: &str,
    kind: Kind,
    figure: impl Fn(&'static str) -> Option<Found>,
) -> Option<Statement> {
    let (first, later) = (figure(FIRST)?, figure(SUSTAINED)?);
    let (of, speed) =
        if kind == Kind::Rate { ("rate", later.over(first)) } else { ("time", first.over(later)) };
    let is_one = !first.is_mixture && !later.is_mixture && first.differs_from(&later) == Some(false);
    let may_be_lost = speed.ends().is_none_or(|(least, _)| least < 1.0 / SAME);
    if !is_one || may_be_lost || speed.value <= SAME {
        return lasting::compared(operation, kind, figure);
    }
    Some(statement!(
        "{operation}: {first}, then {later}: no loss shows, the later {of} is {ratio} times the first",
        first = first.named(&format!("{operation}, first")),
        later = later.named(&format!("{operation}, sustained")),
        ratio = later.over(first).named(&format!("{operation}, later {of} over first"))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_described::found_within;

    #[test]
    fn a_ratio_further_from_one_than_three_percent_is_shown_and_not_called_sustained_within_that() {
        let text = |kind, unit, [first, later]: [(f64, f64); 2]| {
            let of = |(value, share)| found_within(share, value, Dimension::Of(unit));
            let figure = |name| Some(of(if name == FIRST { first } else { later }));
            compared("a stream", kind, figure).expect("both").plain()
        };
        let rate = text(Kind::Rate, Unit::BytesPerSecond, [(100.0, 0.01), (108.0, 0.1)]);
        assert_eq!(
            rate,
            "a stream: {100}, then {108}: no loss shows, the later rate is {1.08} times the first"
        );
        let time = text(Kind::Cost, Unit::Nanoseconds, [(100.0, 0.01), (92.0, 0.1)]);
        assert!(time.ends_with("no loss shows, the later time is {0.92} times the first"), "{time}");
        let same = text(Kind::Rate, Unit::BytesPerSecond, [(100.0, 0.01), (101.0, 0.01)]);
        assert!(same.ends_with("the speed is sustained within 3 %"), "{same}");
        let loose = text(Kind::Rate, Unit::BytesPerSecond, [(100.0, 0.2), (108.0, 0.2)]);
        assert!(loose.contains("no significant difference"), "{loose}");
    }
}
