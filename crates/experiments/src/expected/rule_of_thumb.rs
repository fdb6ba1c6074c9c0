//! Rules of thumb from the literature, compared with the measured results: their errors are part of the result (R-FIX-27).

use fathom_core::prelude::*;

/// A rule, and its prediction for this machine.
pub struct RuleOfThumb {
    pub text: &'static str,
    pub says: Found,
}

impl RuleOfThumb {
    /// A time in nanoseconds, of the same dimension as the figure beside which it stands.
    pub fn of_time(text: &'static str, ns: f64, like: Found) -> Self {
        RuleOfThumb { text, says: Found::exact(ns, like.dimension) }
    }

    /// A figure of lmbench's machine of 167 MHz (`McVoy` and Staelin, USENIX 1996), scaled by the ratio of its clock to this
    /// core's, as in report 000; `None` if the core's clock was not observed. `ns` is its figure in nanoseconds.
    pub fn by_clock_ratio(text: &'static str, ns: f64, like: Found, known: &Known) -> Option<Self> {
        Some(RuleOfThumb::of_time(text, ns * 167e6 / known.core_hz?, like))
    }

    /// What the rule predicts, and how far the measured value is from it.
    pub fn statement(&self, measured: Found) -> Statement {
        let text = self.text;
        let (says, over) = (format!("{text}, predicted"), format!("{text}, measured over predicted"));
        let compared = if let Some(states) = measured.states {
            let [one, other] = states.map(|state| Found::measured(state, measured.dimension).over(self.says));
            let of = |state: &str| format!("{over}, {state}");
            statement!(
                "{one} or {other} times that, by the state of the machine",
                one = one.named(&of("in one state")),
                other = other.named(&of("in another state"))
            )
        } else if measured.differs_from(&self.says) == Some(false) {
            statement!("not significantly different")
        } else {
            statement!("{ratio} times that", ratio = measured.over(self.says).named(&over))
        };
        statement!("{text} predicts {says}; measured is {compared}", says = self.says.named(&says), compared)
    }
}

/// Where a figure lies beside a published range, considering all of its interval.
pub fn place(measured: Found, low: f64, high: f64) -> &'static str {
    let (least, most) =
        measured.interval.map_or((measured.value, measured.value), |ends| (ends.low, ends.high));
    if most < low {
        "below"
    } else if least > high {
        "above"
    } else if least >= low && most <= high {
        "within"
    } else {
        "at the edge of"
    }
}

/// A range of a published table, and who cites it (R-PRE-09).
pub struct PublishedRange {
    /// What it is a range of.
    pub of: &'static str,
    /// Its ends, nanoseconds.
    pub ns: (f64, f64),
}

impl PublishedRange {
    /// The figure and where it lies.
    pub fn beside(&self, measured: Found) -> Statement {
        let (low, high) = self.ns;
        let end = |value| Found::exact(value, measured.dimension);
        statement!(
            "{of} {measured}, {place} {low} to {high}",
            of = self.of,
            measured = measured.named(&format!("{}, beside a published range", self.of)),
            place = place(measured, low, high),
            low = end(low).named(&format!("{}, least published", self.of)),
            high = end(high).named(&format!("{}, most published", self.of))
        )
    }
}

/// The finding that compares a figure with the predictions of rules; `None` if no rule predicts it.
pub fn beside(
    what: &'static str,
    measured: Found,
    rules: impl IntoIterator<Item = RuleOfThumb>,
) -> Option<Finding> {
    let rules = Statement::joined(rules.into_iter().map(|rule| rule.statement(measured)), "; ")?;
    Some(
        finding!(
            Question::Prediction,
            "For {what} this machine {verb} {measured}. Rules of thumb: {rules}.",
            verb =
                if measured.dimension == Dimension::Of(Unit::BytesPerSecond) { "reaches" } else { "takes" },
            measured = measured.named(what),
            rules
        )
        .about(what),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_that_of_the_whole_interval() {
        let of = |low: f64, high: f64| {
            let interval = Some(fathom_core::statistics::Interval { low, high });
            let value = f64::midpoint(low, high);
            let measured = fathom_core::statistics::Measured { value, interval };
            place(Found::measured(measured, Unit::Nanoseconds), 2.0, 8.0)
        };
        assert_eq!([of(0.9, 1.1), of(3.0, 4.0), of(9.0, 10.0)], ["below", "within", "above"]);
        assert_eq!([of(1.0, 3.0), of(7.0, 9.0)], ["at the edge of"; 2]);
    }
}
