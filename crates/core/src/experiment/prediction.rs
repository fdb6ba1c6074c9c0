//! Predictions: made before measuring, term by term, and kept if they were wrong.

use super::term::{self, Basis, Ground, Part, Source, Term, TermEvent};
use crate::quantity::Cycles;
use crate::statistics::{Measured, are_telling};
use serde::{Deserialize, Serialize};

/// The fact behind a size that is the memory limit of the run.
pub const LIMIT_OF_THE_RUN: &str = "the limit that this run sets";

/// The prediction of a point, as a sum of terms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Prediction {
    /// The derivation.
    pub terms: Vec<Term>,
}

impl Prediction {
    /// What it rests on: a published machine's proportions before a measurement of the same run, because the factor is the weaker.
    pub fn ground(&self) -> Ground {
        if self.terms.iter().any(Term::is_scaled) {
            Ground::Scaled
        } else if self.has_figures_of_the_run() {
            Ground::ThisRun
        } else {
            Ground::Independent
        }
    }

    /// Whether it takes a measurement of the same run, whatever else it rests on.
    pub fn has_figures_of_the_run(&self) -> bool {
        self.terms.iter().any(Term::is_measured)
    }

    /// Whether it is only the size of a limit that the run set itself, so that a result near it confirms nothing.
    pub fn is_limit_of_the_run(&self) -> bool {
        let is_set =
            |term: &Term| matches!(&term.source, Source::Machine { fact } if fact == LIMIT_OF_THE_RUN);
        !self.terms.is_empty() && self.terms.iter().all(is_set)
    }

    /// A prediction without terms.
    pub fn new() -> Self {
        Prediction::default()
    }

    fn term(mut self, part: Part, what: &str, times: f64, each: Basis) -> Self {
        let Basis { value: each, source, cycle_ns } = each;
        let what = what.to_owned();
        let (event, scaled_from, published_range, of_hardware) = (None, None, None, None);
        self.terms.push(Term {
            part,
            what,
            times,
            each,
            source,
            event,
            scaled_from,
            published_range,
            cycle_ns,
            of_hardware,
        });
        self
    }

    fn with_last(mut self, change: impl FnOnce(&mut Term)) -> Self {
        self.terms.last_mut().map(change);
        self
    }

    /// Adds a cost of the operating system for which published machines differ: the geometric mean of their values, with its range.
    ///
    /// # Panics
    /// If there are no values: they are constants of the program.
    #[must_use]
    pub fn software_of(self, what: &str, values: &[f64], citation: &str) -> Self {
        let mean = (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp();
        let ends = values.iter().copied().reduce(f64::min).zip(values.iter().copied().reduce(f64::max));
        let (least, most) = ends.expect("published values");
        let range = (least < most).then_some([least, most]);
        self.software(what, 1.0, Basis::published(mean, citation)).within(range)
    }

    /// Says that the factor of the term that was added last is the ratio of two figures of this published machine.
    #[must_use]
    pub fn scaled_from(self, machine: &str) -> Self {
        self.with_last(|term| term.scaled_from = Some(machine.to_owned()))
    }

    /// Says what happens in the term that was added last.
    #[must_use]
    pub fn being(self, event: impl Into<Option<TermEvent>>) -> Self {
        self.with_last(|term| term.event = event.into())
    }

    /// Says what of each occurrence of the term that was added last, of software, is the bare machine's: at most all of it.
    #[must_use]
    pub fn of_which_hardware(self, each: f64) -> Self {
        self.with_last(|term| term.of_hardware = Some(each.min(term.each)))
    }

    /// Whether one of its terms is such an event.
    pub fn contains(&self, event: TermEvent) -> bool {
        self.terms.iter().any(|term| term.event == Some(event))
    }

    /// Adds a cost of the bare machine.
    #[must_use]
    pub fn hardware(self, what: &str, times: f64, each: Basis) -> Self {
        self.term(Part::Hardware, what, times, each)
    }

    /// Adds a cost of the operating system and the libraries.
    #[must_use]
    pub fn software(self, what: &str, times: f64, each: Basis) -> Self {
        self.term(Part::Software, what, times, each)
    }

    /// The sum of one part; `None` if no term has anything of it.
    pub fn part(&self, part: Part) -> Option<f64> {
        let terms: Vec<f64> = self.terms.iter().filter_map(|term| term.value_of(part)).collect();
        (!terms.is_empty()).then(|| terms.iter().sum())
    }

    /// What the terms up to this place come to, of a rate what is left of it: rates do not subtract, so what a term takes off one is no rate.
    pub fn up_to(&self, place: usize) -> f64 {
        self.terms.iter().take(place + 1).map(Term::value).sum()
    }

    /// Says how many times the term that was added last enters.
    #[must_use]
    pub fn times(self, times: f64) -> Self {
        self.with_last(|term| term.times = times)
    }

    /// Says within which values published devices or machines have the term that was added last.
    #[must_use]
    pub fn within(self, range: Option<[f64; 2]>) -> Self {
        self.with_last(|term| {
            term.published_range = range.filter(|_| !matches!(term.source, Source::Measured { .. }));
        })
    }

    /// The least and the greatest total that the published values allow; `None` if no term has a range.
    pub fn range(&self) -> Option<(f64, f64)> {
        self.terms.iter().any(|term| term.published_range.is_some()).then(|| {
            let end = |place: usize| {
                let of =
                    |term: &Term| term.published_range.map_or(term.each, |range| range[place]) * term.times;
                self.terms.iter().map(of).sum()
            };
            (end(0), end(1))
        })
    }

    /// Whether a result lies, with its interval, in the range of the published values behind it, and that says something: not of a range in
    /// which nearly every result would lie.
    pub fn is_range_of(&self, measured: &Measured) -> bool {
        self.spans(measured) && self.range().is_some_and(are_telling)
    }

    /// Whether a result lies, with its interval, in the range of the published values behind it, however wide that is.
    pub fn spans(&self, measured: &Measured) -> bool {
        self.range().zip(measured.ends()).is_some_and(|(of, ends)| of.0 <= ends.0 && ends.1 <= of.1)
    }

    /// The same at another frequency of the core, hertz: terms that are a number of its cycles keep that number. Of a `rate`, if all are.
    #[must_use]
    pub fn at_frequency(&self, hz: f64, is_rate: bool) -> Self {
        Prediction { terms: term::at_cycle(&self.terms, Cycles(1.0).nanoseconds(hz).0, is_rate) }
    }

    /// The sum of all terms.
    pub fn total(&self) -> f64 {
        self.terms.iter().map(Term::value).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Point;
    use crate::statistics::Interval;

    #[test]
    fn a_prediction_rests_on_its_weakest_term() {
        let measured = || Basis::measured(3.0, "cpu/system_call", Point::new());
        let independent = Prediction::new().hardware("a load", 1.0, Basis::published(1.0, "a table"));
        let of_run = independent.clone().software("a call", 2.0, measured());
        let scaled = of_run.clone().software("a process", 577.0, measured()).scaled_from("report 000");
        let grounds = [independent, of_run, scaled].map(|prediction| prediction.ground());
        assert_eq!(grounds, [Ground::Independent, Ground::ThisRun, Ground::Scaled]);
        let earlier =
            Prediction::new().software("fork, in null writes as in report 000 (1 / 2)", 1.0, measured());
        assert_eq!(earlier.ground(), Ground::Scaled);
    }

    #[test]
    fn published_machines_that_differ_give_a_range() {
        let prediction = Prediction::new().software_of("a process", &[40.0, 90.0], "two reports").software(
            "a call",
            2.0,
            Basis::published(1.5, "a paper"),
        );
        assert!((prediction.total() - 63.0).abs() < 1e-9);
        assert_eq!(prediction.range(), Some((43.0, 93.0)));
        let within = |low, high| {
            let interval = Some(Interval { low, high });
            prediction.is_range_of(&Measured { value: 0.5 * (low + high), interval })
        };
        assert!(within(50.0, 90.0) && !within(50.0, 94.0) && !within(42.0, 50.0), "with its whole interval");
        assert_eq!(Prediction::new().software_of("a thread", &[8.0], "a report").range(), None);
        let wide = Prediction::new().software_of("a connection", &[8.3, 108.2], "two reports");
        let measured = Measured { value: 20.9, interval: Some(Interval { low: 20.6, high: 22.2 }) };
        assert!(!wide.is_range_of(&measured), "nearly every result would lie in it");
        assert!(wide.spans(&measured), "and it does");
    }

    #[test]
    fn a_size_that_the_run_sets_is_told_from_one_that_it_predicts() {
        let of = |fact: &str| Prediction::new().hardware("memory", 1.0, Basis::fact(512.0, fact));
        assert!(of(LIMIT_OF_THE_RUN).is_limit_of_the_run());
        assert!(!of("memory that this process could have").is_limit_of_the_run());
        assert!(!Prediction::new().is_limit_of_the_run(), "nothing is no limit");
        let less = of(LIMIT_OF_THE_RUN).hardware("what programs use", -1.0, Basis::assumed(9.0, "a guess"));
        assert!(!less.is_limit_of_the_run(), "one term of it is predicted");
    }

    #[test]
    fn parts_add_up_and_a_part_without_terms_is_none() {
        let prediction = Prediction::new()
            .software("two mode switches", 2.0, Basis::published(50.0, "a paper"))
            .software("a call", 1.0, Basis::published(1.5, "a paper"));
        assert_eq!(prediction.part(Part::Hardware), None);
        assert_eq!(prediction.part(Part::Software), Some(101.5));
        assert!((prediction.total() - 101.5).abs() < 1e-12);
        let entered = prediction.software("entries", 2.0, Basis::published(105.0, "a paper"));
        let hardware = |each: f64| {
            let entered = entered.clone().of_which_hardware(each);
            let [hardware, software] =
                [Part::Hardware, Part::Software].map(|part| entered.part(part).unwrap_or_default());
            assert!((hardware + software - 311.5).abs() < 1e-12, "{hardware} and {software}");
            hardware
        };
        assert!((hardware(54.0) - 108.0).abs() < 1e-12);
        assert!((hardware(200.0) - 210.0).abs() < 1e-12, "at most all of it");
    }
}
