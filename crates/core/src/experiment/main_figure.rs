//! The figures that represent an experiment on one page.

use super::point::{Point, Value};
use super::selector::{At, Landmark, PointSettings};

/// A figure that represents an experiment on a page with little space.
#[derive(Debug, Clone, Copy)]
pub struct MainFigure {
    /// Its name, in a few words next to the experiment's name.
    pub words: &'static str,
    /// Its name for readers who know no experiment; empty if it has none.
    pub name: &'static str,
    /// Whether it is the cost of one step of the sweep, the slope of the fitted line, instead of a point's figure.
    pub slope: bool,
    /// Whether it is one of the dozen figures that represent a machine if there is no space for more.
    pub leads: bool,
    /// The setting; the first point of the sweep that has it is taken.
    pub at: PointSettings,
    /// A parameter whose value is part of the name, such as the size of the array that represents a cache; empty if there is none.
    pub with: &'static str,
}

impl MainFigure {
    /// The figure of a point.
    pub const fn of(words: &'static str, at: &'static [(&'static str, At)]) -> Self {
        MainFigure { words, name: "", slope: false, leads: false, at: PointSettings(at), with: "" }
    }

    /// The figure of a point, and one of the dozen that represent a machine.
    pub const fn leading(words: &'static str, at: &'static [(&'static str, At)]) -> Self {
        MainFigure { words, name: "", slope: false, leads: true, at: PointSettings(at), with: "" }
    }

    /// The cost of one step, by the line through the points of this setting.
    pub const fn slope(words: &'static str, at: &'static [(&'static str, At)]) -> Self {
        MainFigure { words, name: "", slope: true, leads: false, at: PointSettings(at), with: "" }
    }

    /// The same with the value of a parameter in its name.
    #[must_use]
    pub const fn with(self, parameter: &'static str) -> Self {
        MainFigure { with: parameter, ..self }
    }

    /// The same with a name for readers who know no experiment.
    #[must_use]
    pub const fn called(self, name: &'static str) -> Self {
        MainFigure { name, ..self }
    }

    /// The first of these points that satisfies the setting; `landmarks` are the machine's declared limits.
    pub fn choose<'a>(
        &self,
        points: impl Iterator<Item = &'a Point>,
        landmarks: &[Landmark],
    ) -> Option<&'a Point> {
        self.choose_best(points, landmarks, |_| 0.0)
    }

    /// The same with known results: if the figure is the best over a parameter, the point with the highest `merit`; of several,
    /// the first.
    pub fn choose_best<'a>(
        &self,
        points: impl Iterator<Item = &'a Point>,
        landmarks: &[Landmark],
        merit: impl Fn(&Point) -> f64,
    ) -> Option<&'a Point> {
        let mut candidates: Vec<&Point> = points.collect();
        self.at.narrow(&mut candidates, None, landmarks);
        if self.best_over().next().is_none() {
            return candidates.first().copied();
        }
        // `max_by` returns the last of equals, which is the first of the sweep.
        candidates.into_iter().rev().max_by(|one, other| merit(one).total_cmp(&merit(other)))
    }

    /// The name of a point's figure, with the values of the parameters over which it is the best, and of the one in its name, each
    /// formatted by `written`.
    pub fn label(&self, point: &Point, written: impl Fn(&str, &Value) -> String) -> String {
        self.labelled(self.words, point, written)
    }

    /// Its name for readers who know no experiment, with the same values; `None` if it has none.
    pub fn reader_label(&self, point: &Point, written: impl Fn(&str, &Value) -> String) -> Option<String> {
        (!self.name.is_empty()).then(|| self.labelled(self.name, point, written))
    }

    fn labelled(&self, words: &str, point: &Point, written: impl Fn(&str, &Value) -> String) -> String {
        let named = self.best_over().chain([self.with]).filter(|name| !name.is_empty());
        let best = named.filter_map(|name| Some(written(name, point.get(name)?)));
        let best: Vec<String> = best.collect();
        if best.is_empty() { words.to_owned() } else { format!("{words} ({})", best.join(", ")) }
    }

    /// Whether its point is the best of several settings.
    pub fn is_best(&self) -> bool {
        self.best_over().next().is_some()
    }

    fn best_over(&self) -> impl Iterator<Item = &'static str> {
        self.at.0.iter().filter(|(_, at)| *at == At::Best).map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::point::{Parameter, Placement};
    use super::*;

    const SIZE: Parameter = Parameter::bytes("size", "size");
    const ORDER: Parameter = Parameter::named("order", "order");

    fn points() -> Vec<Point> {
        let point = |order: &str, size| Point::at(Placement::OneCpu).named(&ORDER, order).with(&SIZE, size);
        vec![point("even", 8), point("random", 16), point("random", 64), point("random", 1024)]
    }

    fn chosen(at: &'static [(&'static str, At)]) -> Option<u64> {
        let landmarks = [Landmark { along: "size", at: 200.0, name: "L1".to_owned(), is_share: false }];
        let points = points();
        MainFigure::of("x", at).choose(points.iter(), &landmarks).map(|point| point.number(&SIZE))
    }

    #[test]
    fn conditions_narrow_the_sweep_one_after_the_other() {
        assert_eq!(chosen(&[("order", At::Name("random")), ("size", At::Least)]), Some(16));
        assert_eq!(chosen(&[("order", At::Name("random")), ("size", At::Most)]), Some(1024));
        assert_eq!(chosen(&[("order", At::Name("random")), ("size", At::Within(1))]), Some(64));
        assert_eq!(chosen(&[("size", At::Within(2))]), None);
        assert_eq!(chosen(&[("size", At::Number(9))]), None);
        assert_eq!(chosen(&[]), Some(8));
    }

    #[test]
    fn what_lies_in_a_smaller_cache_is_not_called_within_a_larger() {
        let points = points();
        let within = |second: f64| {
            let mark = |at| Landmark { along: "size", at, name: String::new(), is_share: false };
            let figure = MainFigure::of("x", &[("size", At::Within(2))]);
            figure.choose(points.iter(), &[mark(200.0), mark(second)]).map(|point| point.number(&SIZE))
        };
        assert_eq!((within(3000.0), within(300.0)), (Some(1024), None));
        let figure = MainFigure::of("x", &[("size", At::Within(2))]);
        let mark = |at| Landmark { along: "size", at, name: String::new(), is_share: false };
        let smallest = figure.choose(points.iter(), &[mark(8.0), mark(3000.0)]);
        assert_eq!(smallest.map(|point| point.number(&SIZE)), Some(16), "where others push out least");
    }

    #[test]
    fn the_best_over_a_parameter_is_the_one_of_the_most_merit_and_is_named() {
        const BEST: MainFigure = MainFigure::of("x", &[("size", At::Most), ("order", At::Best)]);
        const OVER_BOTH: MainFigure = MainFigure::of("x", &[("order", At::Best), ("size", At::Best)]);
        let written = |_: &str, value: &Value| value.to_string();
        let point = |order: &str, size| Point::new().named(&ORDER, order).with(&SIZE, size);
        let points = [point("even", 64), point("odd", 64), point("random", 64), point("small", 8)];
        let merit = |point: &Point| match point.name(&ORDER) {
            "even" => f64::NEG_INFINITY,
            "small" => 9.0,
            _ => 2.0,
        };
        let best = BEST.choose_best(points.iter(), &[], merit).unwrap();
        assert_eq!(
            (best.name(&ORDER), &*BEST.label(best, written)),
            ("odd", "x (odd)"),
            "the first of the best"
        );
        let best = OVER_BOTH.choose_best(points.iter(), &[], merit).unwrap();
        assert_eq!(OVER_BOTH.label(best, written), "x (small, 8)", "every value that was chosen is named");
        assert_eq!(BEST.choose(points.iter(), &[]), Some(&points[0]), "of which nothing is known");
        assert_eq!(MainFigure::of("x", &[]).label(best, written), "x");
        assert_eq!(MainFigure::of("x", &[]).with("size").label(&point("odd", 64), written), "x (64)");
    }
}
