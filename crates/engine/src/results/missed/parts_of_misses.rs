//! What takes part in a miss, and what measured the same work again.

use super::tests::{CALLS, ENTRY, cost, judged, result};
use super::*;
use crate::results::{CoreState, PointCore};
use fathom_core::experiment::{Basis, Parameter, Prediction};
use fathom_core::quantity::Unit;

/// What is said of the only point, in a run that measured getppid at this value.
fn said_of(point: PointResult, getppid: f64) -> (Option<Explanation>, String) {
    let mut points = [point];
    let _ = judged(Some(getppid), &mut points);
    let [point] = points;
    (point.explanation, point.because.map(|because| because.plain()).unwrap_or_default())
}

/// The same work, measured again by the same experiment, does not explain why it takes as long as it does.
#[test]
fn a_measurement_of_the_whole_operation_by_its_own_experiment_is_no_cause() {
    let entry = |term: f64| {
        let basis = |value| Basis::published(value, "a paper");
        let whole = Prediction::new().software(ENTRY, 1.0, basis(term));
        let whole = whole.software("work", 1.0, basis(60.0 - term));
        PointResult { experiment: CALLS.to_owned(), ..result(Unit::Nanoseconds, 190.0, whole) }
    };
    let (explanation, text) = said_of(entry(55.0), 180.0);
    assert_eq!(explanation, Some(Explanation::NotExplained));
    assert!(text.contains("but is the same work measured again"), "{text}");
    let (explanation, _) = said_of(entry(40.0), 170.0);
    assert!(matches!(explanation, Some(Explanation::Cause { .. })), "a part of it: {explanation:?}");
}

/// A neighbour that makes an operation take twice as long has a part in a miss, though it does not account for all of it.
#[test]
fn a_neighbour_on_the_core_takes_part_in_a_miss() {
    let beside = |alone: f64| {
        let core = PointCore {
            state: CoreState::Shared,
            shared_share: Some(0.9),
            alone: Some(alone),
            shared: None,
            observations: [10, 90, 0],
        };
        PointResult { core: Some(core), ..cost(360.0) }
    };
    let (_, text) = said_of(beside(200.0), 50.0);
    assert!(text.contains("Takes part, but does not account for all: another hardware thread"), "{text}");
    assert!(text.contains("{200}), {0.53") && !text.contains("Excluded"), "{text}");
    let (_, text) = said_of(beside(355.0), 50.0);
    assert!(
        text.contains("Excluded: another hardware thread on the core (without one it takes {355})"),
        "{text}"
    );
}

#[test]
fn work_that_no_other_operation_has_by_itself_is_named() {
    let access = Parameter::named("access", "what is touched");
    let of = |access_of: &str| PointResult {
        experiment: "memory/minor_fault".to_owned(),
        point: Point::new().named(&access, access_of),
        ..cost(500.0)
    };
    let (_, text) = said_of(of("cached file, written, shared"), 50.0);
    assert!(
        text.contains("Not separable in a run: the call of the file system") && text.contains("page_mkwrite")
    );
    let (_, text) = said_of(of("cached file, read, page by page"), 50.0);
    assert!(!text.contains("page_mkwrite"), "{text}");
}
