//! The terms of predictions, each with its source, and what predictions rest on.

use super::Point;
use crate::quantities;
use serde::{Deserialize, Serialize};

/// The column of the summary table to which a term belongs (R-PRE-10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The cost of the bare machine.
    Hardware,
    /// The cost that the operating system and the libraries add.
    Software,
}

/// The source of a term's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Source {
    /// A fact of this machine.
    Machine {
        /// The fact, in words.
        fact: String,
    },
    /// A published figure.
    Published {
        /// The publication.
        citation: String,
    },
    /// An assumed value, if no source has one: an order of magnitude, or counted from the work to be done.
    Assumed {
        /// The reason for the value.
        reason: String,
    },
    /// An earlier measurement of the same run.
    Measured {
        /// The experiment that measured it.
        experiment: String,
        /// Its point.
        point: Point,
    },
}

impl Source {
    /// How the value was derived, in words; `None` of another measurement.
    pub fn derivation(&self) -> Option<&str> {
        match self {
            Source::Machine { fact: words }
            | Source::Published { citation: words }
            | Source::Assumed { reason: words } => Some(words),
            Source::Measured { .. } => None,
        }
    }

    /// The same source, which names this length of the core's cycle, nanoseconds, where it names one.
    fn at_cycle(&self, cycle_ns: f64) -> Self {
        let again = |words: &str| at_cycle_in_words(words, cycle_ns).unwrap_or_else(|| words.to_owned());
        match self {
            Source::Machine { fact } => Source::Machine { fact: again(fact) },
            Source::Published { citation } => Source::Published { citation: again(citation) },
            Source::Assumed { reason } => Source::Assumed { reason: again(reason) },
            Source::Measured { .. } => self.clone(),
        }
    }
}

/// How a source says that its value is a core cycle, and a frequency, that were observed: as `Known::cycle` and predictions of rates write it.
pub(super) const BY_CHAINS: &str = "core cycle at the frequency measured with calibrated chains";
const FREQUENCY_BY_CHAINS: &str = ", measured with calibrated chains";

/// Words that name a length of the core's cycle, `36 cycles of 0.401 ns: …`, or a frequency by chains, with this one in its place.
fn at_cycle_in_words(words: &str, cycle_ns: f64) -> Option<String> {
    if let Some((_, rest)) = words.split_once(FREQUENCY_BY_CHAINS) {
        return Some(format!("{}{FREQUENCY_BY_CHAINS}{rest}", quantities::frequency(1e9 / cycle_ns)));
    }
    let behind = |mark: &str| words.find(mark).map(|at| at + mark.len());
    let at = behind(" cycles of ").or_else(|| behind(" cycle of "))?;
    let end = at + words[at..].find(" ns")?;
    Some(format!("{}{}{}", &words[..at], quantities::number(cycle_ns), &words[end..]))
}

/// Lengths of a cycle that differ by less than this share of them differ by their digits.
const BY_ROUNDING: f64 = 0.005;

/// The cycle in which a derivation of a program before [`Term::cycle_ns`] states its value, nanoseconds: `36 cycles of 0.401 ns: …`. A time of
/// a whole number of cycles says their length to more digits than the words.
fn cycle_in_words(words: &str, value: f64) -> Option<f64> {
    let (number, rest) = words.split_once(" cycle")?;
    let (length, _) = rest.strip_prefix('s').unwrap_or(rest).strip_prefix(" of ")?.split_once(" ns")?;
    let is_number =
        |text: &str| text.chars().all(|letter| letter.is_ascii_digit() || ".\u{202f}".contains(letter));
    let cycle: f64 = length.parse().ok().filter(|cycle| *cycle > 0.0 && is_number(number))?;
    let whole = number.replace('\u{202f}', "").parse().ok().filter(|cycles: &u64| *cycles > 0);
    let is_as_written = |exact: &f64| (exact / cycle - 1.0).abs() < BY_ROUNDING;
    Some(whole.map(|cycles| value / cycles as f64).filter(is_as_written).unwrap_or(cycle))
}

/// Terms at another length of the core's cycle, nanoseconds. A rate of which some terms are in cycles and others are not stays as it is: its
/// terms are not independent of each other.
pub(super) fn at_cycle(terms: &[Term], cycle_ns: f64, is_rate: bool) -> Vec<Term> {
    let moved: Vec<Option<Term>> = terms.iter().map(|term| term.at_cycle(cycle_ns, is_rate)).collect();
    if is_rate && moved.iter().any(Option::is_none) {
        return terms.to_vec();
    }
    moved.into_iter().zip(terms).map(|(moved, term)| moved.unwrap_or_else(|| term.clone())).collect()
}

/// A value for predictions, with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    /// The value, in the unit of the prediction (nanoseconds for times).
    pub value: f64,
    /// Its source.
    pub source: Source,
    /// The length of the core's cycle, nanoseconds, of a number of cycles; `None` of other values.
    pub cycle_ns: Option<f64>,
}

impl Basis {
    /// A published figure.
    pub fn published(value: f64, citation: &str) -> Self {
        Basis { value, source: Source::Published { citation: citation.to_owned() }, cycle_ns: None }
    }

    /// A value assumed for want of a source.
    pub fn assumed(value: f64, reason: &str) -> Self {
        Basis { value, source: Source::Assumed { reason: reason.to_owned() }, cycle_ns: None }
    }

    /// A fact of this machine.
    pub fn fact(value: f64, fact: &str) -> Self {
        Basis { value, source: Source::Machine { fact: fact.to_owned() }, cycle_ns: None }
    }

    /// An earlier measurement of the same run, or a value derived from it.
    pub fn measured(value: f64, experiment: &str, point: Point) -> Self {
        Basis { value, source: Source::Measured { experiment: experiment.to_owned(), point }, cycle_ns: None }
    }

    /// The same, computed with a core cycle of this length, nanoseconds.
    #[must_use]
    pub fn of_cycle(self, cycle_ns: impl Into<Option<f64>>) -> Self {
        Basis { cycle_ns: cycle_ns.into(), ..self }
    }
}

/// What happens in a term, if reports conclude something from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TermEvent {
    /// The guest is left for its hypervisor, and entered again.
    VmExit,
    /// A sleeping CPU is woken.
    WakeUp,
    /// The kernel is entered and left.
    KernelEntry,
}

/// One term of a prediction: `times` × `each`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Term {
    /// Hardware or software.
    pub part: Part,
    /// The meaning of the term.
    pub what: String,
    /// The factor with which it enters.
    pub times: f64,
    /// Its value each time, in the point's unit.
    pub each: f64,
    /// The source of the value.
    pub source: Source,
    /// What happens in it; absent if reports conclude nothing from it, and in files of earlier programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<TermEvent>,
    /// The published machine whose ratio of two figures is its factor; absent where no other machine's proportions are assumed, and
    /// in files of earlier programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaled_from: Option<String>,
    /// The least and the greatest of the published values of which `each` is the geometric mean; absent where it is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_range: Option<[f64; 2]>,
    /// The length of the core's cycle, nanoseconds, with which `each` was computed from a number of cycles; absent where it is no number of
    /// cycles, and in files of earlier programs, whose sources name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle_ns: Option<f64>,
    /// What of `each` is the bare machine's in a term of software that was measured whole, in the point's unit; absent where none is, and
    /// in files of earlier programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_hardware: Option<f64>,
}

impl Term {
    /// The contribution of the term, in the point's unit.
    pub fn value(&self) -> f64 {
        self.times * self.each
    }

    /// What of it is this part's; `None` if nothing is.
    pub fn value_of(&self, part: Part) -> Option<f64> {
        let of_hardware = self.of_hardware.map(|each| self.times * each);
        match (self.part == part, of_hardware) {
            (true, of_hardware) => Some(self.value() - of_hardware.unwrap_or(0.0)),
            (false, of_hardware) => of_hardware,
        }
    }

    /// The same at another length of the core's cycle, nanoseconds, where it is a number of cycles; `None` where it is not. A rate falls as
    /// the cycle grows. The number of cycles is what was predicted: the cycle is the one that was observed until then.
    fn at_cycle(&self, cycle_ns: f64, is_rate: bool) -> Option<Term> {
        let before = self.cycle_ns.or_else(|| self.cycle_in_words(is_rate))?;
        let longer = cycle_ns / before;
        let by = if is_rate { 1.0 / longer } else { longer };
        Some(Term {
            each: self.each * by,
            published_range: self.published_range.map(|range| range.map(|end| end * by)),
            of_hardware: self.of_hardware.map(|each| each * by),
            source: self.source.at_cycle(cycle_ns),
            cycle_ns: self.cycle_ns.map(|_| cycle_ns),
            ..self.clone()
        })
    }

    /// The length of the core's cycle, nanoseconds, of a term of a program that said it in words alone.
    fn cycle_in_words(&self, is_rate: bool) -> Option<f64> {
        let words = self.source.derivation()?;
        cycle_in_words(words, self.each).or_else(|| {
            if is_rate {
                words.contains(FREQUENCY_BY_CHAINS).then_some(1e9 / self.each)
            } else {
                words.ends_with(BY_CHAINS).then_some(self.each)
            }
        })
    }

    /// Whether it is another figure of the same run.
    pub fn is_measured(&self) -> bool {
        matches!(self.source, Source::Measured { .. })
    }

    /// Whether it assumes the proportions of a published machine. Earlier programs said so in words alone.
    pub fn is_scaled(&self) -> bool {
        self.scaled_from.is_some() || SCALED_IN_WORDS.iter().any(|words| self.what.contains(words))
    }
}

/// How programs of schema 2 and before named a term that is scaled from report 000's machine.
const SCALED_IN_WORDS: [&str; 2] = ["in null writes as in report 000", "where a null write takes"];

/// What a prediction rests on: the kinds are counted apart, because the later ones are easier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ground {
    /// Data sheets, published tables, first principles and assumptions.
    Independent,
    /// The proportions of one published machine, whatever they are applied to.
    Scaled,
    /// A measurement of the same run.
    ThisRun,
}

impl Ground {
    /// All of them, the hardest first.
    pub const ALL: [Ground; 3] = [Ground::Independent, Ground::Scaled, Ground::ThisRun];

    /// Its name, in a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Ground::Independent => "independent",
            Ground::Scaled => "scaled from a published machine",
            Ground::ThisRun => "from this run",
        }
    }

    /// Its name where there is little room.
    pub const fn short_name(self) -> &'static str {
        match self {
            Ground::Independent => "independent",
            Ground::Scaled => "scaled",
            Ground::ThisRun => "this run",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(each: f64, source: Source) -> Term {
        let (part, what) = (Part::Hardware, String::new());
        let (event, scaled_from, published_range, cycle_ns) = (None, None, None, None);
        let of_hardware = None;
        Term {
            part,
            what,
            times: 2.0,
            each,
            source,
            event,
            scaled_from,
            published_range,
            cycle_ns,
            of_hardware,
        }
    }

    fn published(words: &str) -> Source {
        Source::Published { citation: words.to_owned() }
    }

    #[test]
    fn a_number_of_cycles_is_stated_at_the_cycle_of_the_results() {
        let terms = [
            term(14.41, published("36 cycles of 0.400 ns: a table")),
            term(60.0, published("a paper")),
            term(0.4, Source::Machine { fact: BY_CHAINS.to_owned() }),
            term(400.0, Source::Assumed { reason: "1\u{202f}000 cycles of 0.400 ns: an order".to_owned() }),
        ];
        let moved = at_cycle(&terms, 0.5, false);
        let values: Vec<f64> = moved.iter().map(Term::value).collect();
        let near = |(one, other): (&f64, f64)| (one - other).abs() < 1e-9;
        assert!(values.iter().zip([36.0, 120.0, 1.0, 1000.0]).all(near), "{values:?}");
        assert_eq!(moved[0].source, published("36 cycles of 0.500 ns: a table"));
        assert_eq!(moved[1], terms[1], "a time is no number of cycles");
    }

    #[test]
    fn a_rate_falls_with_the_frequency_where_all_of_it_is_in_cycles() {
        let of_core = term(2.5e9, published("2.500 GHz, measured with calibrated chains; a manual"));
        let moved = at_cycle(std::slice::from_ref(&of_core), 0.5, true);
        assert!((moved[0].each - 2e9).abs() < 1.0, "{moved:?}");
        assert_eq!(moved[0].source, published("2.000 GHz, measured with calibrated chains; a manual"));
        let of_both = [of_core, term(1e9, published("a paper"))];
        assert_eq!(at_cycle(&of_both, 0.5, true), of_both);
    }

    #[test]
    fn a_recorded_cycle_needs_no_words() {
        let half = |source| Term { cycle_ns: Some(0.4), ..term(18.0 * 0.4, source) };
        let terms = [half(published("half of 36 cycles of 0.400 ns")), half(published("a table"))];
        let moved = at_cycle(&terms, 0.5, false);
        assert!(
            moved.iter().all(|term| (term.each - 9.0).abs() < 1e-9 && term.cycle_ns == Some(0.5)),
            "{moved:?}"
        );
        assert_eq!(moved[0].source, published("half of 36 cycles of 0.500 ns"));
        assert_eq!(moved[1].source, terms[1].source);
    }
}
