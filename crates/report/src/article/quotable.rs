//! Which main figures of a run may be quoted, and of which state of the core they are.

use super::one_page;
use crate::main_figures::{self, Main, Ranked};
use crate::occupancy;
use crate::paper::{Key, Text};
use crate::precision::USEFUL;
use fathom_core::experiment::CoreUse;
use fathom_core::quantities;
use fathom_engine::results::{PointResult, Results};

/// What may be done with a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotation {
    /// It holds by itself, within [`USEFUL`].
    ByItself,
    /// It is of the core shared, which was too rarely alone.
    AsShared,
    /// Only with its interval, or as the limit that it is.
    WithInterval,
    /// Its evidence fails.
    NotAtAll,
}

impl Quotation {
    fn of(main: &Main) -> Self {
        if main.point().is_some_and(|point| !point.evidence_holds()) {
            Quotation::NotAtAll
        } else if main.point().and_then(PointResult::figure).and_then(|figure| figure.core)
            == Some(CoreUse::Shared)
        {
            Quotation::AsShared
        } else {
            Quotation::by_reach(&main.reaches())
        }
    }

    /// By how far the farther ends of the intervals are from the values, each as a share of its value.
    fn by_reach(reaches: &[Option<f64>]) -> Self {
        let is_useful = |reach: &Option<f64>| reach.is_some_and(|reach| reach <= USEFUL);
        if !reaches.is_empty() && reaches.iter().all(is_useful) {
            Quotation::ByItself
        } else {
            Quotation::WithInterval
        }
    }
}

/// The figures that are judged: the operations of the published reports, or of a run without these all main figures.
fn judged<'run>(results: &'run Results) -> Vec<Ranked<'run>> {
    let operations = one_page::operations(results);
    if operations.is_empty() { main_figures::all(results) } else { operations }
}

/// In a sentence, how many figures may be quoted; `None` without figures.
pub(super) fn count(results: &Results) -> Option<Text> {
    let all = judged(results);
    let certain = all.iter().filter(|figure| Quotation::of(&figure.main) == Quotation::ByItself).count();
    (!all.is_empty()).then(|| {
        Text::plain(format!(
            "Of its {} main operations {certain} are known within {}; ",
            all.len(),
            quantities::target(USEFUL)
        ))
        .and(Text::to(&Key::of("conclusion")))
        .and(" says which figures may be quoted.")
    })
}

/// Which figures may be quoted, and as what; `None` without figures.
pub(super) fn verdict(results: &Results) -> Option<Text> {
    let all = judged(results);
    let names = |of: Quotation| -> Vec<String> {
        let mine = all.iter().filter(|figure| Quotation::of(&figure.main) == of);
        mine.map(|figure| figure.main.name.clone()).collect()
    };
    let without =
        main_figures::without_value(results, |name| all.iter().any(|figure| figure.experiment == name));
    let [certain, shared, wide, doubtful] =
        [Quotation::ByItself, Quotation::AsShared, Quotation::WithInterval, Quotation::NotAtAll].map(names);
    let parts = [
        sentence(
            &certain,
            &format!("known within {} and may be quoted by themselves", quantities::target(USEFUL)),
        ),
        sentence(&shared, "of the core shared only, and to be quoted as such"),
        sentence(&wide, "less certain, and mean something with their intervals only"),
        sentence(&doubtful, "not to be quoted, because their evidence fails"),
        sentence(&without, "without a value"),
    ];
    let neighbour = occupancy::share_of_time(results).map(|text| format!(" {text}")).unwrap_or_default();
    (!all.is_empty()).then(|| {
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        Text::strong("What may be quoted.")
            .and(format!("{neighbour} Of the main operations "))
            .and(Text::prose(&parts.join(" ")))
    })
}

/// `3 are …: a; b; c.`; `None` of none.
fn sentence(names: &[String], what: &str) -> Option<String> {
    let verb = if names.len() == 1 { "is" } else { "are" };
    (!names.is_empty()).then(|| format!("{} {verb} {what}: {}.", names.len(), names.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_quoted_by_itself_only_if_every_state_of_it_is_known() {
        assert_eq!(Quotation::by_reach(&[Some(0.04)]), Quotation::ByItself);
        assert_eq!(Quotation::by_reach(&[Some(0.04), Some(0.3)]), Quotation::WithInterval);
        assert_eq!(
            Quotation::by_reach(&[None]),
            Quotation::WithInterval,
            "a limit, or a value without an interval"
        );
        assert_eq!(Quotation::by_reach(&[]), Quotation::WithInterval);
    }

    #[test]
    fn figures_are_counted_and_named() {
        let names = ["a load".to_owned(), "a call".to_owned()];
        assert_eq!(sentence(&names, "known").as_deref(), Some("2 are known: a load; a call."));
        assert_eq!(sentence(&names[..1], "known").as_deref(), Some("1 is known: a load."));
        assert_eq!(sentence(&[], "known"), None);
    }
}
