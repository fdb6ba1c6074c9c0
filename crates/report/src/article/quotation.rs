//! Whether and how a main figure may be quoted, and the sign of one that may not.

use crate::main_figures::{FigureSource, Main};
use crate::paper::Text;
use crate::precision::USEFUL;
use crate::{denied, main_figures, occupancy};
use fathom_core::experiment::{CoreUse, Prediction};
use fathom_core::quantities;
use fathom_engine::results::PointResult;

/// What may be done with a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotation {
    /// It holds by itself, within [`USEFUL`].
    ByItself,
    /// It is of the core shared, which was too rarely alone.
    AsShared,
    /// It is of a core that was alone and shared by turns, in whatever parts.
    AsMixture,
    /// It is of a level of a hierarchy and in part of the level before: only of an array of this size.
    AsOfItsSize,
    /// Another measurement of the same operation denies it.
    Denied,
    /// It is of switches that are mostly preemptions, and those of a cross-check always sleep.
    AsPreemption,
    /// Only with its interval, or as the limit that it is.
    WithInterval,
    /// Its interval reaches further than its value is large.
    TooWide,
    /// A state of it has too few trials for an interval.
    WithoutInterval,
    /// Its evidence fails.
    NotAtAll,
    /// It is the size of a limit that the run set.
    OfALimit,
}

impl Quotation {
    pub(super) fn of(main: &Main) -> Self {
        if main.point().is_some_and(|point| !point.evidence_holds()) {
            Quotation::NotAtAll
        } else if main.point().is_some_and(is_limit) {
            Quotation::OfALimit
        } else if main.point().and_then(denied::by).is_some() {
            Quotation::Denied
        } else if matches!(main.source, FigureSource::Slope(_)) && main.reaches() == [None] {
            // A slope is no limit: without an interval nothing is known of it.
            Quotation::WithoutInterval
        } else {
            let by_preemption = main.point().and_then(|point| point.by_preemption);
            let of_core = Quotation::by_reach(&main.reaches()).of_core(core(main));
            of_core.of_levels(main.is_of_two_levels).of_switches(by_preemption.is_some())
        }
    }

    /// The same of a core in this state: of one that was shared no value holds by itself.
    fn of_core(self, core: Option<CoreUse>) -> Self {
        match core {
            _ if matches!(self, Quotation::TooWide | Quotation::WithoutInterval) => self,
            Some(CoreUse::Shared) => Quotation::AsShared,
            Some(CoreUse::Mixture | CoreUse::Both) if self == Quotation::ByItself => Quotation::AsMixture,
            _ => self,
        }
    }

    /// The same of a figure whose loads are in part from the level before: of neither level it holds by itself.
    fn of_levels(self, two: bool) -> Self {
        if two && self == Quotation::ByItself { Quotation::AsOfItsSize } else { self }
    }

    /// The same of switches by preemption: those that sleep take another time, so it holds for these alone.
    fn of_switches(self, preempted: bool) -> Self {
        if preempted && self == Quotation::ByItself { Quotation::AsPreemption } else { self }
    }

    /// Whether it may be quoted in any way.
    fn is_allowed(self) -> bool {
        use Quotation::{NotAtAll, OfALimit, TooWide, WithoutInterval};
        !matches!(self, TooWide | WithoutInterval | NotAtAll | OfALimit)
    }

    /// What the table says of a figure: with what its cross-check gave, where that differs, or how many of its switches are preemptions.
    pub(super) fn words(self, main: &Main) -> String {
        let preempted = main.point().and_then(|point| point.by_preemption);
        if let Some(share) = preempted.filter(|_| self == Quotation::AsPreemption) {
            return format!("{} ({} of them)", self.kind(), quantities::percent(share));
        }
        let other = main.point().and_then(|point| {
            let other = denied::by(point).filter(|_| self == Quotation::Denied)?;
            Some(format!(" ({})", quantities::value(point.unit, other.value)))
        });
        self.kind().to_owned() + &other.unwrap_or_default()
    }

    fn kind(self) -> &'static str {
        match self {
            Quotation::ByItself => "by itself",
            Quotation::AsShared => "as of the core shared: it was too rarely alone",
            Quotation::AsMixture => "with its interval: the core was alone and shared by turns",
            Quotation::AsOfItsSize => "as of an array of this size: in part from the level before",
            Quotation::AsPreemption => "as of switches by preemption",
            Quotation::Denied => "beside its cross-check, which differs",
            Quotation::WithInterval => "with its interval",
            Quotation::TooWide => "no: its interval reaches to more than twice its value",
            Quotation::WithoutInterval => "no: a value of it has no interval",
            Quotation::NotAtAll => "no: its evidence fails",
            Quotation::OfALimit => "no: a limit that this run set",
        }
    }

    /// By how far the farther ends of the intervals are from the values, each as a share of its value.
    fn by_reach(reaches: &[Option<f64>]) -> Self {
        let is_useful = |reach: &Option<f64>| reach.is_some_and(|reach| reach <= USEFUL);
        if !reaches.is_empty() && reaches.iter().all(is_useful) {
            Quotation::ByItself
        } else if reaches.len() > 1 && reaches.iter().any(Option::is_none) {
            Quotation::WithoutInterval
        } else if reaches.iter().flatten().any(|reach| *reach > 1.0) {
            Quotation::TooWide
        } else {
            Quotation::WithInterval
        }
    }
}

/// The sign behind the name of a figure that may not be quoted.
const MARK: &str = "‖";

/// The sign with its space, if a figure may not be quoted; else nothing.
pub(super) fn mark(main: &Main) -> String {
    if Quotation::of(main).is_allowed() { String::new() } else { format!(" {MARK}") }
}

/// The value of a figure in a table: strong where it may be quoted.
pub(super) fn value(main: &Main, written: String) -> Text {
    if Quotation::of(main).is_allowed() { Text::strong(written) } else { Text::plain(written) }
}

/// The meaning of the sign below a table, and of names with several settings; empty if no figure has either.
pub(super) fn legend<'a>(mut figures: impl Iterator<Item = &'a Main<'a>> + Clone) -> String {
    let alike = main_figures::legend_of_alike(figures.clone()).map(|words| format!(" {words}."));
    let not_quotable = figures
        .any(|main| !Quotation::of(main).is_allowed())
        .then(|| format!(" {MARK}: not quotable (interval missing or too wide, no evidence, or a limit)."));
    alike.unwrap_or_default() + &not_quotable.unwrap_or_default()
}

/// The state of the core of a figure; of work that is not short a mixture where the core was shared at times.
fn core(main: &Main) -> Option<CoreUse> {
    match main.source {
        FigureSource::Point(point) => {
            let whatever = occupancy::is_whatever_the_core_did(point).then_some(CoreUse::Mixture);
            point.figure().and_then(|figure| figure.core).or(whatever)
        }
        FigureSource::Slope(trend) => trend.core,
    }
}

/// Whether a point's prediction is only the size of a limit that the run set.
pub(super) fn is_limit(point: &PointResult) -> bool {
    point.prediction.as_ref().is_some_and(Prediction::is_limit_of_the_run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_quoted_by_itself_only_if_every_state_of_it_is_known() {
        assert_eq!(Quotation::by_reach(&[Some(0.04)]), Quotation::ByItself);
        assert_eq!(Quotation::by_reach(&[Some(0.04), Some(0.3)]), Quotation::WithInterval);
        let stalled = Quotation::by_reach(&[Some(0.04), Some(1664.0)]);
        assert_eq!(stalled.of_core(Some(CoreUse::Shared)), Quotation::TooWide);
        assert_eq!(
            Quotation::by_reach(&[None]),
            Quotation::WithInterval,
            "a limit, or a value without an interval"
        );
        assert_eq!(Quotation::by_reach(&[]), Quotation::WithInterval);
        assert_eq!(
            Quotation::by_reach(&[Some(0.04), None]),
            Quotation::WithoutInterval,
            "a state of few trials"
        );
    }

    #[test]
    fn a_figure_of_two_levels_is_quoted_as_of_its_size_and_of_neither_level() {
        assert_eq!(Quotation::ByItself.of_levels(true), Quotation::AsOfItsSize);
        assert_eq!(Quotation::ByItself.of_levels(false), Quotation::ByItself);
        assert_eq!(Quotation::WithInterval.of_levels(true), Quotation::WithInterval);
    }

    /// A switch of 2.52 µs, 88.4 % by preemption, was quoted by itself beside 3.24 µs in a ring that sleeps.
    #[test]
    fn a_switch_by_preemption_is_quoted_as_one() {
        assert_eq!(Quotation::ByItself.of_switches(true), Quotation::AsPreemption);
        assert_eq!(Quotation::ByItself.of_switches(false), Quotation::ByItself);
        assert_eq!(Quotation::AsShared.of_switches(true), Quotation::AsShared);
        assert!(Quotation::AsPreemption.is_allowed());
    }

    #[test]
    fn a_value_of_a_core_that_was_shared_at_times_is_not_quoted_by_itself() {
        let of = |core| Quotation::ByItself.of_core(core);
        assert_eq!(of(Some(CoreUse::Alone)), Quotation::ByItself);
        assert_eq!(of(None), Quotation::ByItself, "of a core that never was");
        assert_eq!(of(Some(CoreUse::Mixture)), Quotation::AsMixture);
        assert_eq!(of(Some(CoreUse::Shared)), Quotation::AsShared);
        assert_eq!(Quotation::WithInterval.of_core(Some(CoreUse::Mixture)), Quotation::WithInterval);
    }
}
