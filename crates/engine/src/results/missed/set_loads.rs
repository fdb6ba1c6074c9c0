//! Terms that are a load of a point's own set of lines: what the run measured in their place is a load from as many bytes on the same
//! pages, and not the load of any level.

use super::measured_terms::{LOADS, MeasuredTerm};
use super::miss::Missed;
use fathom_core::experiment::At::{self, Any, Name};
use fathom_core::experiment::{Known, Point, Selector, Term};
use fathom_core::quantity::declared;

/// The beginnings of their names.
const OF_THE_SET: [&str; 4] = [
    "a load, shared by",
    "a load while no other core uses memory",
    "the first lines of each page, which are not prefetched",
    "lines that are not prefetched",
];

/// The loads that no prefetcher foresees, by the size of their set.
const CURVES: [(&str, Selector); 2] = [
    ("base", curve(&[("order", Name("random cycle")), ("pages", Name("base")), ("size", Any)])),
    ("huge", curve(&[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Any)])),
];

const fn curve(settings: &'static [(&'static str, At)]) -> Selector {
    Selector::only(LOADS, settings)
}

/// Whether a term is such a load.
pub(super) fn is_one(term: &Term) -> bool {
    OF_THE_SET.iter().any(|name| term.what.starts_with(name))
}

/// The measured load in place of such a term; `None` of other terms, and where no set of that size was measured.
pub(super) fn of(term: &Term, missed: &Missed, known: &Known) -> Option<MeasuredTerm> {
    is_one(term).then_some(())?;
    let point = missed.place().1;
    let (set, pages) = (bytes(point, known)?, point.name_of("pages")?);
    let (_, curve) = CURVES.iter().find(|(name, _)| *name == pages)?;
    let (_, each) = curve.along("size", known).into_iter().find(|(size, _)| *size == set)?;
    Some(MeasuredTerm {
        mechanism: format!("a load from {} on {pages} pages", declared::size(set)),
        is_same_work: false,
        each,
        times: term.times,
    })
}

/// The bytes of the lines that are visited. Lines at a fixed stride share the fewer sets of the first two caches the farther apart they are,
/// so that these hold no more of them than of the whole array: such lines are a smaller set only where the second cache holds nothing
/// of that either.
fn bytes(point: &Point, known: &Known) -> Option<u64> {
    let (size, line) = (point.number_of("size")?, known.machine.line_bytes());
    let apart = point.number_of("stride").unwrap_or(line).max(line);
    let visited = size / (apart / line);
    let second = known.machine.data_cache_bytes(known.machine.measured_cpu(), 2)?;
    let is_a_set = apart == line || !point.is("order", "fixed stride") || visited >= 2 * second;
    is_a_set.then_some(visited)
}

/// The curves, for tests.
#[cfg(test)]
pub(super) fn selectors() -> impl Iterator<Item = Selector> {
    CURVES.into_iter().map(|(_, curve)| curve)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::PointResult;
    use crate::results::missed::Explanation;
    use crate::results::missed::tests::{explain_from, result};
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::{Basis, Parameter, Prediction, Statement};
    use fathom_core::quantity::Unit;

    /// What is said of a naive variant in a run whose memory is slower than predicted, and a load from a smaller set in it less slow.
    fn said(
        order: &str,
        stride: Option<u64>,
        size: u64,
        (term, times): (&str, f64),
        measured: f64,
    ) -> (bool, String) {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let (_, base) = &CURVES[0];
        let (_, huge) = &CURVES[1];
        for (mebibytes, ns) in [(1_u64, 20.0), (4, 130.0), (8, 170.0), (16, 180.0)] {
            base.plant_at(&mut known, &[("size", (mebibytes << 20).into())], ns);
        }
        huge.plant_at(&mut known, &[("size", (1_u64 << 30).into())], 220.0);
        let parameters = [Parameter::named("order", "an order"), Parameter::named("pages", "the pages")];
        let numbers = [Parameter::bytes("size", "a size"), Parameter::bytes("stride", "a stride")];
        let point =
            Point::new().named(&parameters[0], order).named(&parameters[1], "base").with(&numbers[0], size);
        let point = stride.map_or(point.clone(), |stride| point.with(&numbers[1], stride));
        let prediction =
            Prediction::new().hardware("a load that hits L1", 1.0, Basis::published(1.0, "a paper"));
        let prediction = prediction.hardware(term, times, Basis::published(16.0, "a paper"));
        let missed = result(Unit::Nanoseconds, measured, prediction);
        let mut points = [PointResult { experiment: LOADS.to_owned(), point, ..missed }];
        explain_from(&[LOADS], &mut points, &known);
        let because = points[0].because.as_ref().map(Statement::plain).unwrap_or_default();
        (matches!(points[0].explanation, Some(Explanation::Cause { .. })), because)
    }

    #[test]
    fn a_load_of_the_set_is_measured_by_as_many_bytes_on_the_same_pages() {
        let shared = ("a load, shared by those in flight", 0.1);
        let (is_cause, because) = said("random elements", None, 4 << 20, shared, 14.0);
        assert!(
            is_cause && because.contains("A load from 4 MiB on base pages: {130} in this run, {16} in"),
            "{because}"
        );
        let (is_cause, because) = said("random elements", None, 4 << 20, shared, 25.0);
        assert!(!is_cause && !because.contains("220"), "the load from 1 GiB is of another set: {because}");
        assert!(because.contains("Takes part") && because.contains("({11} remain)"), "{because}");
    }

    #[test]
    fn the_lines_at_a_stride_are_the_set() {
        let first = (
            "the first lines of each page, which are not prefetched, from the level that holds the array",
            0.09375,
        );
        let (is_cause, because) = said("fixed stride", Some(128), 16 << 20, first, 17.0);
        assert!(
            is_cause && because.contains("A load from 8 MiB on base pages: {170} in this run"),
            "{because}"
        );
        let (is_cause, because) = said("fixed stride", Some(2048), 32 << 20, first, 17.0);
        assert!(!is_cause && !because.contains("a load from"), "in the sets of few lines: {because}");
        let unforeseen = ("lines that are not prefetched, from the level that holds the array", 1.0);
        let (is_cause, because) = said("random within stride", Some(512), 32 << 20, unforeseen, 130.0);
        assert!(is_cause && because.contains("A load from 4 MiB on base pages"), "{because}");
    }
}
