//! A level of memory that ends before its declared size, as the curve of loads shows: what is predicted to hit it hits the next one.

use super::Figures;
use super::candidate::MissCandidate;
use super::miss::Missed;
use crate::results::accuracy::distance;
use crate::results::explanation::IN_THE_CURVE;
use fathom_core::experiment::{Dimension, Found, statement};
use fathom_core::quantity::Unit;

/// The prediction of a load whose set is larger than a level for certain, and within its declared size: with the time that the prediction has
/// for the next level in place of this one's. The curve gives the end alone, and no time, so that a load does not explain itself.
pub(super) fn of(missed: &Missed, figures: Figures) -> Option<MissCandidate> {
    let (experiment, point) = missed.place();
    let (_, shown) = figures.levels.iter().find(|(name, _)| name == experiment)?;
    let set = point.number_of(shown.along).filter(|_| point.without(shown.along) == shown.of)?;
    let machine = figures.supported.machine;
    let terms = &missed.prediction.terms;
    let term =
        |name: &str| terms.iter().find(|term| term.what.starts_with(&format!("loads that hit {name}")));
    shown.levels.iter().find_map(|level| {
        let end = level.end?;
        let number: u8 = level.name.strip_prefix('L')?.parse().ok()?;
        let declared = machine.data_cache_bytes(machine.measured_cpu(), number)?;
        let is_between = end.ends().is_some_and(|(_, high)| high <= set as f64) && set <= declared;
        let (own, next) = (term(&level.name)?, term(&format!("L{}", number + 1)).or_else(|| term("memory"))?);
        let each = next.value() / next.times;
        let again = missed.prediction.total() - own.value() + own.times * each;
        let mechanism = format!("the end of {} {IN_THE_CURVE}", level.name);
        is_between.then(|| MissCandidate {
            sizes: statement!(
                "{mechanism}: {end} in this run, {declared} in the prediction",
                mechanism = mechanism.as_str(),
                end = end.named(&mechanism),
                declared = Found::exact(declared as f64, Dimension::Of(Unit::Bytes))
                    .named(&format!("{}, declared", level.name))
            ),
            again: Found::exact(again, missed.measured.dimension),
            changes: Some(distance(declared as f64 / end.value)),
            part: None,
            is_again: false,
            mechanism,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::explain;
    use super::super::tests::result;
    use super::*;
    use crate::results::by_end::{self, WholeRun};
    use crate::results::missed::Explanation;
    use crate::results::{PointResult, planted};
    use fathom_core::experiment::{Basis, Known, Level, Levels, Parameter, Point, Prediction, Statement};

    /// What is said of a load from a set that is predicted to hit L2, whose level ends at this many KiB.
    fn said(set: u64, end: f64, measured: f64) -> (bool, String) {
        let machine = planted::machine();
        let declared = machine.data_cache_bytes(machine.measured_cpu(), 2).expect("a second cache");
        let size = Parameter::bytes("size", "a size");
        let end = fathom_described::found(end * declared as f64, Dimension::Of(Unit::Bytes));
        let level = Level { name: "L2".to_owned(), from: None, to: None, end: Some(end), value: 4.0 };
        let shown = Levels { of: Point::new(), along: "size", levels: vec![level], elsewhere: vec![] };
        let basis = |value| Basis::published(value, "a paper");
        let prediction = Prediction::new()
            .hardware("loads that hit L2, of an array visited in a cycle", 0.9, basis(4.0))
            .hardware("loads that hit L3, of an array visited in a cycle", 0.1, basis(16.0));
        let missed = result(Unit::Nanoseconds, measured, prediction);
        let point = Point::new().with(&size, set * declared / 16);
        let mut points = [PointResult { experiment: "a/test".to_owned(), point, ..missed }];
        let known = Known::new(&machine, None);
        let whole = WholeRun::of_one_state(&known);
        by_end::mark(&mut points, &whole);
        let levels = [("a/test".to_owned(), shown)];
        explain(
            &["a/test"],
            &mut points,
            Figures { supported: &known, whole: &whole, shared: &[], levels: &levels, one_core_ns: &[] },
        );
        let because = points[0].because.as_ref().map(Statement::plain).unwrap_or_default();
        (matches!(points[0].explanation, Some(Explanation::OwnCurve { .. })), because)
    }

    #[test]
    fn a_load_beyond_the_end_of_a_shorter_level_takes_the_time_of_the_next() {
        let (is_cause, because) = said(12, 0.4, 15.8);
        assert!(is_cause && because.contains("he end of L2 in the curve of loads"), "{because}");
        let (is_cause, because) = said(4, 0.4, 15.8);
        assert!(!is_cause && !because.contains("he end of L2"), "the level holds it: {because}");
        let (is_cause, because) = said(17, 0.4, 15.8);
        assert!(!is_cause && !because.contains("he end of L2"), "larger than declared: {because}");
        assert!(!said(12, 0.4, 40.0).0, "slower than the next level");
    }
}
