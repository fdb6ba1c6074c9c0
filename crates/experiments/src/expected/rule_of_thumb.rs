//! Rules of thumb from the literature, compared with the measured results: their errors are part of the result (R-FIX-27).

use fathom_core::prelude::*;

/// A rule, and its prediction for this machine.
pub struct RuleOfThumb {
    pub text: &'static str,
    pub says: Found,
}

impl RuleOfThumb {
    /// A figure of lmbench's machine of 167 MHz (`McVoy` and Staelin, USENIX 1996), scaled by the ratio of its clock to this
    /// core's, as in report 000; `None` if the core's clock was not observed. `ns` is its figure in nanoseconds.
    pub fn by_clock_ratio(text: &'static str, ns: f64, like: Found, known: &Known) -> Option<Self> {
        let says = Found::exact(ns * 167e6 / known.core_hz?, like.dimension);
        Some(RuleOfThumb { text, says })
    }

    fn statement(&self, measured: Found) -> Statement {
        let text = self.text;
        let (says, over) = (format!("{text}, predicted"), format!("{text}, measured over predicted"));
        let compared = if measured.differs_from(&self.says) == Some(false) {
            statement!("not significantly different")
        } else {
            statement!("{ratio} times that", ratio = measured.over(self.says).named(&over))
        };
        statement!("{text} predicts {says}; measured is {compared}", says = self.says.named(&says), compared)
    }
}

/// The finding that compares a figure with the predictions of rules; `None` if no rule predicts it.
pub fn beside(
    what: &'static str,
    measured: Found,
    rules: impl IntoIterator<Item = RuleOfThumb>,
) -> Option<Finding> {
    let rules = Statement::joined(rules.into_iter().map(|rule| rule.statement(measured)), "; ")?;
    Some(finding!(
        Question::Prediction,
        "For {what} this machine {verb} {measured}. Rules of thumb: {rules}.",
        verb = if measured.dimension == Dimension::Of(Unit::BytesPerSecond) { "reaches" } else { "takes" },
        measured = measured.named(what),
        rules
    ))
}
