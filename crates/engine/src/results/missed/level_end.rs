//! A level of memory that ends elsewhere than predicted, as the curve of loads shows: what is predicted to hit it hits the next one, or
//! the other way round.

use super::Figures;
use super::candidate::MissCandidate;
use super::miss::Missed;
use crate::results::accuracy::distance;
use crate::results::explanation::IN_THE_CURVE;
use fathom_core::experiment::{Dimension, Found, Level, Term, statement};
use fathom_core::quantity::Unit;

/// The prediction of a load whose set one level holds by the curve of this run, and another by the prediction: with the time that the
/// prediction has for the one in place of the other's. The curve gives the end alone, and no time, so that a load does not explain itself.
pub(super) fn of(missed: &Missed, figures: Figures) -> Option<MissCandidate> {
    let (experiment, point) = missed.place();
    let (_, shown) = figures.levels.iter().find(|(name, _)| name == experiment)?;
    let set = point.number_of(shown.along).filter(|_| point.without(shown.along) == shown.of)?;
    shown.levels.iter().find_map(|level| {
        let end = level.end?;
        let ended = LevelEnd::of(level, end, missed, figures)?;
        let again = ended.predicted_again(set as f64, missed.prediction.total())?;
        let mechanism = format!("the end of {} {IN_THE_CURVE}", level.name);
        Some(MissCandidate {
            sizes: statement!(
                "{mechanism}: {end} in this run, {predicted} in the prediction",
                mechanism = mechanism.as_str(),
                end = end.named(&mechanism),
                predicted = Found::exact(ended.predicted, Dimension::Of(Unit::Bytes))
                    .named(&format!("{}, as predicted", level.name))
            ),
            again: Found::exact(again, missed.measured.dimension),
            changes: Some(distance(ended.predicted / end.value)),
            part: None,
            is_again: false,
            mechanism,
        })
    })
}

/// Where a level ends, bytes, and what the prediction of a load has of it and of what comes after it.
struct LevelEnd<'run> {
    /// The end in the curve.
    end: (f64, f64),
    /// The declared size.
    declared: f64,
    /// The end that was predicted: of a guest's last level, the part that is its own for certain.
    predicted: f64,
    own: &'run Term,
    next: &'run Term,
}

impl<'run> LevelEnd<'run> {
    fn of(level: &Level, end: Found, missed: &'run Missed, figures: Figures) -> Option<Self> {
        let machine = figures.supported.machine;
        let number: u8 = level.name.strip_prefix('L')?.parse().ok()?;
        let cpu = machine.measured_cpu();
        let term = |name: &str| {
            let what = format!("loads that hit {name}");
            missed.prediction.terms.iter().find(|term| term.what.starts_with(&what))
        };
        Some(LevelEnd {
            end: end.ends()?,
            declared: machine.data_cache_bytes(cpu, number)? as f64,
            predicted: machine.data_cache_share_bytes(cpu, number)? as f64,
            own: term(&level.name)?,
            next: term(&format!("L{}", number + 1)).or_else(|| term("memory"))?,
        })
    }

    /// The prediction of a load from a set of this many bytes with the end of the curve; `None` where it would be the same, or
    /// where the end's interval leaves it open.
    fn predicted_again(&self, set: f64, total: f64) -> Option<f64> {
        let instead =
            |one: &Term, other: &Term| total - one.value() + one.times * other.value() / other.times;
        if self.end.1 <= set && set <= self.predicted {
            return Some(instead(self.own, self.next));
        }
        let holds_more = self.predicted < set && set <= self.end.0.min(self.declared);
        holds_more.then(|| instead(self.next, self.own))
    }
}

#[cfg(test)]
mod tests {
    use super::super::explain;
    use super::super::tests::result;
    use super::*;
    use crate::results::by_end::{self, WholeRun};
    use crate::results::missed::Explanation;
    use crate::results::{PointResult, planted};
    use fathom_core::experiment::{Basis, Known, Levels, Parameter, Point, Prediction, Statement};
    use fathom_core::machine::{Fact, Machine};

    /// Whether the end of a level of this name is given as the cause of a load from a set of these bytes, and what is said of it.
    fn said_of(
        machine: &Machine,
        (name, end): (&str, f64),
        set: u64,
        [own, next]: [f64; 2],
        measured: f64,
    ) -> (bool, String) {
        let size = Parameter::bytes("size", "a size");
        let end = fathom_described::found(end, Dimension::Of(Unit::Bytes));
        let level = Level { name: name.to_owned(), from: None, to: None, end: Some(end), value: 4.0 };
        let shown = Levels { of: Point::new(), along: "size", levels: vec![level], elsewhere: vec![] };
        let basis = |value| Basis::published(value, "a paper");
        let after = if name == "L2" { "L3" } else { "memory" };
        let hits = |level: &str| format!("loads that hit {level}, of an array visited in a cycle");
        let prediction = Prediction::new().hardware(&hits(name), own, basis(4.0)).hardware(
            &hits(after),
            next,
            basis(16.0),
        );
        let missed = result(Unit::Nanoseconds, measured, prediction);
        let point = Point::new().with(&size, set);
        let mut points = [PointResult { experiment: "a/test".to_owned(), point, ..missed }];
        let known = Known::new(machine, None);
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

    /// The same of a load that is predicted to hit L2, in sixteenths of the declared size, and of an end in parts of it.
    fn said(set: u64, end: f64, measured: f64) -> (bool, String) {
        let machine = planted::machine();
        let declared = machine.data_cache_bytes(machine.measured_cpu(), 2).expect("a second cache");
        said_of(&machine, ("L2", end * declared as f64), set * declared / 16, [0.9, 0.1], measured)
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
    #[test]
    fn a_load_from_more_of_a_last_level_than_is_a_guests_own_takes_that_levels_time() {
        let mut machine = planted::declaring(1 << 30);
        machine.virtualization.hypervisor = Fact::known(Some("KVM".to_owned()), "a test");
        let share = machine.data_cache_share_bytes(machine.measured_cpu(), 3).expect("a last level");
        let said = |set: f64, end: f64, measured| {
            let bytes = |shares: f64| (shares * share as f64) as u64;
            said_of(&machine, ("L3", bytes(end) as f64), bytes(set), [0.1, 0.9], measured)
        };
        let (is_cause, because) = said(2.0, 3.0, 4.7);
        assert!(is_cause && because.contains("he end of L3 in the curve of loads"), "{because}");
        assert!(!said(2.0, 1.5, 4.2).0, "the level ends before");
        assert!(!said(2.0, 2.0, 4.2).0, "its interval leaves it open");
        assert!(!said(0.9, 3.0, 4.2).0, "predicted to hit it");
    }
}
