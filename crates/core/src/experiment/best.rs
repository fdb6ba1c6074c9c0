//! The best of several settings: chosen once for tables, drawings and sentences.

use super::{Found, Known, Point};
use crate::sorting;

/// How far below the best a setting's worth may begin to stand for it, as a share: of a wider one too little is known.
const BELOW: f64 = 0.25;

/// Whether a setting that is worth this at least and at most is as good as the best, which is worth this at least: it is not told from it, and
/// certainly not much worse.
pub(super) fn is_like_the_best([least, most]: [f64; 2], best: f64) -> bool {
    most >= best && least >= best - BELOW * best.abs()
}

impl<'run> Known<'run> {
    /// The figures by which what a report says once is decided.
    pub fn deciding(&self) -> &Known<'run> {
        self.decided_by.unwrap_or(self)
    }

    /// The best of several settings of an experiment, with its figure here: the first in the plan that is not told from the one whose
    /// [merit](Found::merit) is the greatest, nor perhaps much worse, as a [main figure](super::MainFigure::choose_best) is. Tables, drawings and sentences
    /// choose by this.
    pub fn best<T>(
        &self,
        experiment: &str,
        settings: impl IntoIterator<Item = (T, Point)>,
    ) -> Option<(T, Found)> {
        let worth = |(of, point)| Some((of, self.deciding().found(experiment, &point)?.worth(), point));
        let mut all: Vec<(T, [f64; 2], Point)> = settings.into_iter().filter_map(worth).collect();
        sorting::by_key(&mut all, |(.., point)| self.deciding().place(experiment, point));
        let best = all.iter().map(|(_, [least, _], _)| *least).reduce(f64::max)?;
        let (of, _, point) = all.into_iter().find(|(_, worth, _)| is_like_the_best(*worth, best))?;
        Some((of, self.found(experiment, &point)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{At, Dimension, Parameter, Selector};
    use crate::quantity::Unit;
    use crate::statistics::{Interval, Measured};

    const METHOD: Parameter = Parameter::named("method", "by what");

    /// Figures of methods: the value, and the ends of its interval.
    fn known<'run>(
        machine: &'run crate::machine::Machine,
        unit: Unit,
        figures: &[(&str, [f64; 3])],
    ) -> Known<'run> {
        let mut known = Known::new(machine, None);
        for (method, [value, low, high]) in figures {
            let measured = Measured { value: *value, interval: Some(Interval { low: *low, high: *high }) };
            let point = Point::new().named(&METHOD, method);
            known.learn("an/experiment", &point, Found::measured(measured, Dimension::Of(unit)));
        }
        known
    }

    fn best(known: &Known) -> Option<(&'static str, f64)> {
        let settings = ["one", "other", "third"].map(|method| (method, Point::new().named(&METHOD, method)));
        known.best("an/experiment", settings).map(|(method, figure)| (method, figure.value))
    }

    #[test]
    fn the_best_is_at_least_so_good_and_not_the_one_that_varies_most() {
        let machine = crate::machine::described::machine();
        let figures = [("one", [2.6, 2.5, 2.7]), ("other", [8.0, 2.0, 9.0]), ("third", [2.6, 2.5, 2.8])];
        assert_eq!(best(&known(&machine, Unit::BytesPerSecond, &figures)), Some(("one", 2.6)));
        let costs = [("one", [2.6, 2.5, 2.7]), ("other", [2.0, 1.0, 9.0])];
        assert_eq!(best(&known(&machine, Unit::Nanoseconds, &costs)), Some(("one", 2.6)));
    }

    #[test]
    fn the_first_is_that_of_the_plan_in_whatever_order_they_are_named() {
        let machine = crate::machine::described::machine();
        let figures = [("other", [34.1, 33.3, 34.6]), ("one", [33.7, 32.8, 34.3])];
        let mut known = known(&machine, Unit::BytesPerSecond, &figures);
        assert_eq!(best(&known), Some(("other", 34.1)));
        let selected = Selector::of("an/experiment", &[("method", At::Any)]).best(&known);
        assert_eq!(selected.map(|(_, figure)| figure.value), Some(34.1), "not the first by name");
        // What is learnt again keeps its place.
        let first = known.found("an/experiment", &Point::new().named(&METHOD, "other")).expect("learnt");
        known.learn("an/experiment", &Point::new().named(&METHOD, "other"), first);
        assert_eq!(best(&known), Some(("other", 34.1)));
    }

    #[test]
    fn of_settings_not_told_from_the_best_it_is_the_first() {
        let machine = crate::machine::described::machine();
        let rates = |first: f64| {
            let figures = [("one", [33.7, 32.8, first]), ("other", [34.1, 33.3, 34.6])];
            best(&known(&machine, Unit::BytesPerSecond, &figures))
        };
        assert_eq!(
            rates(34.3),
            Some(("one", 33.7)),
            "its interval begins lower and reaches that of the other"
        );
        assert_eq!(rates(33.2), Some(("other", 34.1)), "told from it");
    }

    /// A stream of 2.55 GB/s (2.19 to 4.93) stood for one of 5.19 (4.12 to 5.83), because five trials did not tell them apart.
    #[test]
    fn what_may_be_much_worse_stands_for_no_best() {
        let machine = crate::machine::described::machine();
        let figures = [("one", [2.55, 2.19, 4.93]), ("other", [5.19, 4.12, 5.83])];
        assert_eq!(best(&known(&machine, Unit::BytesPerSecond, &figures)), Some(("other", 5.19)));
        let costs = [("one", [3.0, 2.0, 4.6]), ("other", [2.0, 1.9, 2.1])];
        assert_eq!(best(&known(&machine, Unit::Nanoseconds, &costs)), Some(("other", 2.0)));
    }

    #[test]
    fn figures_of_another_state_of_the_core_choose_no_other() {
        let machine = crate::machine::described::machine();
        let rates = |figures: &[(&str, [f64; 3])]| known(&machine, Unit::BytesPerSecond, figures);
        let alone = rates(&[("one", [20.0, 17.0, 21.0]), ("other", [21.0, 16.0, 22.0])]);
        let figures = [("one", [15.0, 14.0, 15.5]), ("other", [21.0, 16.0, 22.0])];
        let mut shared = rates(&figures);
        assert_eq!(best(&shared), Some(("other", 21.0)), "by itself");
        shared.decided_by = Some(&alone);
        assert_eq!(best(&shared), Some(("one", 15.0)));
        let mut without = rates(&figures[1..]);
        without.decided_by = Some(&alone);
        assert_eq!(best(&without), None, "the best has no figure with the core shared");
    }
}
