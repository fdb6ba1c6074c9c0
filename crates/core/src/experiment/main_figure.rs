//! The figures that represent an experiment on one page.

use super::best::is_like_the_best;
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
        self.candidates(points, landmarks).first().copied()
    }

    /// The same with known results: if the figure is the best over a parameter, all points that the results do not tell apart from the
    /// best, in the order of the sweep. `worth` is the least and the greatest [worth](super::Found::worth) of a point's result, `None`
    /// without one. The figure is the first of them, which no result chose: the highest of several alike is so by chance, and the more of
    /// them there are, the further above what it is (selection bias).
    ///
    /// Told apart from the best is what is at most worth less than another at least: two intervals of 95 % that do not overlap are so by
    /// chance once in 180 (normal), which of ten settings allows for the nine comparisons (Bonferroni; Hsu 1984, multiple comparisons with
    /// the best). What may be a quarter worse than it stands for no best either.
    pub fn choose_best<'a>(
        &self,
        points: impl Iterator<Item = &'a Point>,
        landmarks: &[Landmark],
        worth: impl Fn(&Point) -> Option<[f64; 2]>,
    ) -> Vec<&'a Point> {
        let candidates = self.candidates(points, landmarks);
        let least = candidates.iter().filter_map(|point| worth(point)).map(|[least, _]| least);
        let Some(best) = least.reduce(f64::max).filter(|_| self.is_best()) else {
            return candidates.into_iter().take(1).collect();
        };
        let is_alike = |point: &&Point| worth(point).is_some_and(|worth| is_like_the_best(worth, best));
        candidates.into_iter().filter(is_alike).collect()
    }

    /// The points that satisfy the setting, whatever is the best over.
    fn candidates<'a>(
        &self,
        points: impl Iterator<Item = &'a Point>,
        landmarks: &[Landmark],
    ) -> Vec<&'a Point> {
        let mut candidates: Vec<&Point> = points.collect();
        self.at.narrow(&mut candidates, None, landmarks);
        candidates
    }

    /// The name of the figure of points that are not told apart, of which the first has its value, with the values of the parameters over
    /// which it is the best, and of the one in its name, each formatted by `written`: `read (avx2 or sse)`, `read (avx2 or 3 others)`.
    pub fn label(&self, points: &[&Point], written: impl Fn(&Point, &str, &Value) -> String) -> String {
        self.labelled(self.words, points, written)
    }

    /// Its name for readers who know no experiment, with the same values; `None` if it has none.
    pub fn reader_label(
        &self,
        points: &[&Point],
        written: impl Fn(&Point, &str, &Value) -> String,
    ) -> Option<String> {
        (!self.name.is_empty()).then(|| self.labelled(self.name, points, written))
    }

    fn labelled(
        &self,
        words: &str,
        points: &[&Point],
        written: impl Fn(&Point, &str, &Value) -> String,
    ) -> String {
        let setting = |point: &Point| {
            let named = self.best_over().chain([self.with]).filter(|name| !name.is_empty());
            let values = named.filter_map(|name| Some(written(point, name, point.get(name)?)));
            values.collect::<Vec<_>>().join(", ")
        };
        let settings: Vec<String> = points.iter().map(|point| setting(point)).collect();
        match settings.as_slice() {
            [] => words.to_owned(),
            [first, ..] if first.is_empty() => words.to_owned(),
            [only] => format!("{words} ({only})"),
            [one, other] if !one.contains(", ") => format!("{words} ({one} or {other})"),
            [one, _] => format!("{words} ({one}, or 1 other)"),
            [one, others @ ..] if one.contains(", ") => {
                format!("{words} ({one}, or {} others)", others.len())
            }
            [one, others @ ..] => format!("{words} ({one} or {} others)", others.len()),
        }
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
        let written = |_: &Point, _: &str, value: &Value| value.to_string();
        let point = |order: &str, size| Point::new().named(&ORDER, order).with(&SIZE, size);
        let points = [point("even", 64), point("odd", 64), point("random", 64), point("small", 8)];
        let worth = |point: &Point| match point.name(&ORDER) {
            "even" => None,
            "small" => Some([9.0, 10.0]),
            "odd" => Some([1.5, 2.5]),
            _ => Some([2.0, 3.0]),
        };
        let alike = BEST.choose_best(points.iter(), &[], worth);
        assert_eq!(
            BEST.label(&alike, written),
            "x (odd or random)",
            "the first of those that are not told apart"
        );
        let best = OVER_BOTH.choose_best(points.iter(), &[], worth);
        assert_eq!(OVER_BOTH.label(&best, written), "x (small, 8)", "every value that was chosen is named");
        assert_eq!(BEST.choose(points.iter(), &[]), Some(&points[0]), "of which nothing is known");
        assert_eq!(MainFigure::of("x", &[]).label(&best, written), "x");
        assert_eq!(MainFigure::of("x", &[]).with("size").label(&[&point("odd", 64)], written), "x (64)");
    }

    /// The most of several alike is not their rate: whichever is the most by chance, the first of the sweep is shown.
    #[test]
    fn of_settings_that_are_not_told_apart_no_result_chooses() {
        const BEST: MainFigure = MainFigure::of("x", &[("order", At::Best)]);
        let points = ["a", "b", "c", "d"].map(|order| Point::new().named(&ORDER, order));
        let chosen = |rates: [f64; 4]| {
            let worth = |point: &Point| {
                let place = points.iter().position(|one| one == point)?;
                Some([rates[place] - 1.0, rates[place] + 1.0])
            };
            let alike = BEST.choose_best(points.iter(), &[], worth);
            BEST.label(&alike, |_, _, value| value.to_string())
        };
        assert_eq!(chosen([35.0, 36.0, 35.5, 30.0]), "x (a or 2 others)");
        assert_eq!(chosen([35.0, 34.0, 36.5, 30.0]), "x (a or c)");
        assert_eq!(chosen([33.0, 36.0, 30.0, 30.0]), "x (b)", "told apart");
        let unknown = BEST.choose_best(points.iter(), &[], |_| None);
        assert_eq!(unknown, [&points[0]], "of which nothing is known");
    }
}
