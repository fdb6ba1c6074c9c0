//! Misses that lie in one assumed term: where less was measured than the term alone was taken for, the term is too large, whatever the
//! others are, because no work takes a negative time. What the run measured of the other terms bounds it further.

use super::Figures;
use super::miss::Missed;
use crate::results::accuracy::FAIR;
use fathom_core::experiment::{Dimension, Found, Source, Statement, Term, statement};
use fathom_core::quantity::Unit;

/// A term that is too large, and the most that it can take here.
pub(super) struct Overstated {
    /// Its name, without its derivation.
    pub(super) name: String,
    /// What the prediction has for it.
    predicted: Found,
    /// What the measurement leaves for it.
    remaining: Found,
    /// Whether it is the whole prediction.
    is_whole: bool,
    /// The least and the greatest of the published values of which it is the mean, if what is left lies between them.
    published: Option<[Found; 2]>,
}

/// The term; `None` if the prediction is not too large, if no term alone makes it so, or if it is the whole of it and nothing is published of
/// its range.
pub(super) fn of(missed: &Missed, figures: Figures) -> Option<Overstated> {
    let is_time = missed.measured.dimension == Dimension::Of(Unit::Nanoseconds);
    if !is_time || missed.factor >= 1.0 || missed.measured.states.is_some() {
        return None;
    }
    let again = missed.predicted_again(figures.whole);
    let terms = &again.as_ref().unwrap_or(missed.prediction).terms;
    let term = terms
        .iter()
        .filter(|term| is_assumed(term))
        .max_by(|one, other| one.value().total_cmp(&other.value()))?;
    let others = || terms.iter().filter(|other| !std::ptr::eq(*other, term));
    let measured: f64 = others().filter(|other| !is_assumed(other)).map(Term::value).sum();
    let remaining = missed.measured.minus(missed.figure(measured));
    let (low, high) = remaining.ends()?;
    // The others alone must not miss as well: then it is not this term.
    let besides: f64 = others().map(Term::value).sum();
    let is_one = besides <= FAIR * missed.measured.value;
    let published = term.published_range.map(|ends| ends.map(|end| end * term.times));
    let published = published.filter(|[least, most]| (*least..=*most).contains(&remaining.value));
    let is_whole = terms.len() == 1;
    let is_said = !is_whole || published.is_some();
    (low > 0.0 && high < term.value() && is_one && is_said).then(|| Overstated {
        name: name(term),
        predicted: missed.figure(term.value()),
        remaining,
        is_whole,
        published: published.map(|ends| ends.map(|end| missed.figure(end))),
    })
}

/// Whether the term rests on no measurement of this run, or takes the proportions of another machine.
fn is_assumed(term: &Term) -> bool {
    term.scaled_from.is_some()
        || term.is_scaled()
        || !matches!(term.source, Source::Measured { .. } | Source::Machine { .. })
}

/// The words of a term before its derivation.
fn name(term: &Term) -> String {
    let derived = [", assumed:", ", in null writes", " (", ": "];
    let end = derived.iter().filter_map(|mark| term.what.find(mark)).min().unwrap_or(term.what.len());
    term.what[..end].to_owned()
}

impl Overstated {
    /// What is known of the miss.
    pub(super) fn because(&self) -> Statement {
        let remaining = self.remaining.named("left for the assumed term");
        // A measured value below half of the mean, and not of the least, is among values of a factor of more than four.
        let apart = if self.is_whole { ": so far apart they tell little of it" } else { "" };
        let published = self.published.map(|[least, most]| {
            statement!(
                "Published of it are {least} to {most}, of which the prediction has the geometric mean{apart}.",
                least = least.named("published, the least"),
                most = most.named("published, the most"),
                apart
            )
        });
        if self.is_whole {
            return published.unwrap_or_default();
        }
        let published = published.map(|published| statement!(" {published}", published));
        statement!(
            "One term of the prediction is too high: it has {predicted} for {name}, which this run does not measure, and the result \
             leaves {remaining} for it at most.{published}",
            name = Statement::from(self.name.as_str()),
            predicted = self.predicted.named("the assumed term, in the prediction"),
            remaining,
            published
        )
    }
}
