//! Rules of thumb of the literature, set beside what was measured: how far they are off is part of the result (R-FIX-27).

use crate::experiment::{Finding, Found, Known, Question, Statement, said};

/// A rule, and what it says of this machine.
pub struct Rule {
    /// The rule with its source.
    pub text: &'static str,
    /// What it says.
    pub says: Found,
}

impl Rule {
    /// A figure of lmbench's machine of 167 MHz (`McVoy` and Staelin, USENIX 1996), by the ratio of its clock to this core's, as
    /// report 000 scaled it; `None` where the core's clock was not observed. `ns` is its figure in nanoseconds.
    pub fn by_clock_ratio(text: &'static str, ns: f64, like: Found, known: &Known) -> Option<Self> {
        let says = Found::exact(ns * 167e6 / known.core_hz?, like.dimension);
        Some(Rule { text, says })
    }

    fn told(&self, measured: Found) -> Statement {
        let text = self.text;
        let (says, over) = (format!("{text}, predicted"), format!("{text}, measured over predicted"));
        said![
            text,
            " says ",
            self.says.named(&says),
            " (measured over it: ",
            measured.over(self.says).named(&over),
            ")"
        ]
    }
}

/// What rules say of a figure, with their errors; `None` where no rule says anything.
pub fn beside(what: &'static str, measured: Found, rules: impl IntoIterator<Item = Rule>) -> Option<Finding> {
    let told = rules.into_iter().map(|rule| rule.told(measured)).collect();
    let told = Statement::joined(told, "; ")?;
    Some(Finding::of(
        Question::Prediction,
        said![format!("Rules of thumb for {what}; measured: "), measured.named(what), ": ", told, "."],
    ))
}
