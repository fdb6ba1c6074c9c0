//! The memory hierarchy in one drawing: the latency of a load and the bandwidth, by the size of the working set, over one
//! axis, with the levels that the results show.

use super::axis::Axis;
use super::curves::{Curve, Plot, draw};
use super::drawn::DrawnFigure;
use super::mark::{Mark, extent, is_drawn, mark, without_value};
use super::placing::Names;
use super::svg::{Drawing, SERIES, Svg, WIDTH};
use crate::words;
use fathom_core::experiment::{Level, Scale, Value};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::sorting;
use fathom_engine::results::{PointResult, Results};

/// The experiment of the bandwidths at each size.
const RATES: &str = "memory/bandwidth";

/// Height of each panel, pixels.
const PANEL: f64 = 170.0;
const LEFT: f64 = 84.0;
/// Space between the panels, with the legend of the lower one, pixels.
const BETWEEN: f64 = 34.0;

struct Hierarchy<'run> {
    latency: Curve<'run>,
    rates: Vec<Curve<'run>>,
    levels: &'run [Level],
}

/// The figure, and the experiments whose results it shows; `None` if no levels were found.
pub(crate) fn figure<'a>(results: &'a Results) -> Option<(DrawnFigure, Vec<&'a str>)> {
    let (experiment, levels) = results.levels.first()?;
    let mine =
        || results.of_experiment(experiment).filter(|point| point.point.without(levels.along) == levels.of);
    let latency: Vec<&PointResult> = mine().filter(|point| is_drawn(point)).collect();
    let shown = Hierarchy {
        latency: Curve {
            name: latency.first().map(|point| words::short_label(*point, &levels.of))?,
            marks: marks(&latency, levels.along),
            without_value: without_value(mine(), levels.along),
            trend: None,
        },
        rates: rates(results),
        levels: &levels.levels,
    };
    let svg = shown.drawn();
    let y = Axis::of_values(
        &extent(shown.latency.marks.iter().map(|(_, mark)| mark)),
        Unit::Nanoseconds,
        1.0,
        0.0,
    );
    let experiments = [experiment.as_str()].into_iter().chain((!shown.rates.is_empty()).then_some(RATES));
    Some((DrawnFigure::of(shown.caption(), Unit::Nanoseconds, svg, &y), experiments.collect()))
}

/// The marks of some points by a numeric parameter, ascending.
fn marks(points: &[&PointResult], along: &str) -> Vec<(f64, Mark)> {
    let placed = |point: &&PointResult| Some((point.point.number_of(along)? as f64, mark(point)?));
    let mut marks: Vec<(f64, Mark)> = points.iter().filter_map(placed).collect();
    sorting::by_number(&mut marks, |(at, _)| *at);
    marks
}

/// A curve for each kind of transfer: the bandwidth of the best method at every size.
fn rates<'a>(results: &'a Results) -> Vec<Curve<'a>> {
    let mut best: Vec<(&str, &Value, &PointResult)> = vec![];
    for point in results.of_experiment(RATES).filter(|point| is_drawn(point)) {
        let (Some(kind), Some(size)) = (point.point.name_of("kind"), point.point.get("size")) else {
            continue;
        };
        match best.iter_mut().find(|(known, at, _)| *known == kind && *at == size) {
            Some((.., known)) if point.merit() > known.merit() => *known = point,
            Some(_) => {}
            None => best.push((kind, size, point)),
        }
    }
    let mut kinds: Vec<&str> = best.iter().map(|(kind, ..)| *kind).collect();
    kinds.dedup();
    let curve = |kind: &str| {
        let mine: Vec<&PointResult> =
            best.iter().filter(|(known, ..)| *known == kind).map(|(.., point)| *point).collect();
        Curve::of(kind.to_owned(), marks(&mine, "size"))
    };
    let curves = kinds.into_iter().map(curve).filter(|curve| curve.marks.len() > 1);
    curves.take(SERIES - 1).collect()
}

impl Hierarchy<'_> {
    fn all_marks(&self) -> impl Iterator<Item = &(f64, Mark)> {
        self.rates.iter().chain([&self.latency]).flat_map(|curve| &curve.marks)
    }

    fn settings(&self) -> Axis {
        let settings: Vec<f64> = self.all_marks().map(|(setting, _)| *setting).collect();
        Axis::of_settings(&settings, Scale::Bytes, LEFT, WIDTH - 12.0)
    }

    fn plot<'a>(&self, curves: impl Iterator<Item = &'a Curve<'a>>, unit: Unit, top: f64) -> Plot {
        let bottom = top + PANEL;
        let values = extent(curves.flat_map(|curve| curve.marks.iter().map(|(_, mark)| mark)));
        Plot { x: self.settings(), y: Axis::of_values(&values, unit, bottom, top), left: LEFT, top, bottom }
    }

    fn drawn(&self) -> Svg {
        let above = self.level_names(&self.settings()).height() + 8.0;
        let upper = self.plot([&self.latency].into_iter(), Unit::Nanoseconds, above);
        let lower = self.plot(self.rates.iter(), Unit::BytesPerSecond, upper.bottom + BETWEEN);
        let last = if self.rates.is_empty() { &upper } else { &lower };
        let mut drawing = Drawing::new(last.bottom + 46.0);
        upper.values(&mut drawing, Unit::Nanoseconds);
        drawing.line("axis", (LEFT, upper.bottom), (WIDTH - 12.0, upper.bottom));
        drawing.curve(&self.latency.name, |drawing| draw(drawing, &upper, 0, &self.latency));
        if !self.rates.is_empty() {
            lower.values(&mut drawing, Unit::BytesPerSecond);
            let names: Vec<String> = self.rates.iter().map(|curve| curve.name.clone()).collect();
            drawing.legend_from(1, LEFT, upper.bottom + 8.0, &names);
            for (index, curve) in self.rates.iter().enumerate() {
                drawing.curve(&curve.name, |drawing| draw(drawing, &lower, index + 1, curve));
            }
        }
        last.settings(&mut drawing, Scale::Bytes, "array size");
        self.name_levels(&mut drawing, &upper, last.bottom);
        drawing.finish(
            "The memory hierarchy: time of a load and rate of moving bytes, by size",
            &self.description(),
        )
    }

    /// Draws a name over the middle of each level, and a line at its end.
    fn name_levels(&self, drawing: &mut Drawing, plot: &Plot, bottom: f64) {
        let names = self.level_names(&plot.x);
        for (level, (middle, y)) in self.levels.iter().zip(names.above(plot.top - 6.0)) {
            drawing.text("level", "middle", (middle, y), &level.name);
            if let Some(to) = level.to.filter(|to| plot.x.shows(*to)) {
                let x = plot.x.place(to);
                drawing.line("landmark", (x, plot.top - 4.0), (x, bottom));
            }
        }
    }

    fn level_names(&self, x: &Axis) -> Names {
        let place = |at: Option<f64>, otherwise: f64| at.map_or(otherwise, |at| x.place(at));
        let middle = |level: &Level| f64::midpoint(place(level.from, LEFT), place(level.to, WIDTH - 12.0));
        Names::placed(self.levels.iter().map(|level| (middle(level), level.name.as_str())), (0.0, WIDTH))
    }

    fn caption(&self) -> String {
        let lower = "; below, the rate at which bytes move, at each size by the best method";
        let rates = if self.rates.is_empty() { "" } else { lower };
        format!(
            "The memory hierarchy: the time of a load ({}) by the size of what is loaded from{rates}. Names are of the levels found; \
             dashed lines stand where each ends: where a load takes 1.5 times as long, or half way to the next.",
            self.latency.name
        )
    }

    /// The text alternative: the end of each level.
    fn description(&self) -> String {
        let size = |at: f64| quantities::value(Unit::Bytes, at);
        let levels = self.levels.iter().map(|level| match (level.from, level.to) {
            (_, Some(to)) => format!("{} up to {}", level.name, size(to)),
            (Some(from), None) => format!("{} from {}", level.name, size(from)),
            (None, None) => level.name.clone(),
        });
        let ends = self.rates.iter().chain([&self.latency]).filter_map(|curve| {
            let ((_, first), (_, last)) = (curve.marks.first()?, curve.marks.last()?);
            Some(format!("{}; {}", first.words, last.words))
        });
        levels.chain(ends).collect::<Vec<_>>().join("; ") + "."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark_of(value: f64) -> Mark {
        Mark::of(value, None, String::new())
    }

    /// The position of the words in a drawing.
    fn place(body: &str, words: &str) -> f64 {
        let element = body.split("<text ").find(|text| text.contains(&format!(">{words}</text>")));
        let rest = element.and_then(|text| text.split("x=\"").nth(1)).expect(words);
        rest.split('"').next().and_then(|x| x.parse().ok()).expect("a number")
    }

    #[test]
    fn names_of_levels_stand_over_the_sizes_where_they_were_found() {
        let sizes: Vec<f64> = (10..=30).map(|power| 2_f64.powi(power)).collect();
        let (first, second) = (2_f64.powi(15), 2_f64.powi(21));
        let latency = |size: f64| match size {
            size if size <= first => 1.0,
            size if size <= second => 5.0,
            _ => 100.0,
        };
        let level = |name: &str, from, to| Level { name: name.to_owned(), from, to, end: None, value: 1.0 };
        let levels = [
            level("L1", None, Some(first)),
            level("L2", Some(first), Some(second)),
            level("memory", Some(second), None),
        ];
        let curve = |name: &str, marks| Curve::of(name.to_owned(), marks);
        let shown = Hierarchy {
            latency: curve("huge", sizes.iter().map(|size| (*size, mark_of(latency(*size)))).collect()),
            rates: vec![curve("read", vec![(first, mark_of(8e10)), (2_f64.powi(29), mark_of(1e10))])],
            levels: &levels,
        };
        let svg = shown.drawn();
        let x = Axis::of_settings(&sizes, Scale::Bytes, LEFT, WIDTH - 12.0);
        let places = ["L1", "L2", "memory"].map(|name| place(svg.body(), name));
        let ends = [first, second].map(|size| x.place(size));
        assert!(places[0] < ends[0] && ends[0] < places[1], "{places:?} {ends:?}");
        assert!(places[1] < ends[1] && ends[1] < places[2], "{places:?} {ends:?}");
        assert!((places[1] - f64::midpoint(ends[0], ends[1])).abs() < 0.1, "over its middle");
        let lines = svg.body().matches("class=\"landmark\"").count();
        assert_eq!(lines, 2, "one where each cache ends");
        for end in ends {
            assert!(svg.body().contains(&format!("class=\"landmark\" x1=\"{end:.1}\"")), "{end}");
        }
        assert!(svg.description.contains("L1 up to 32") && svg.description.contains("memory from 2"));
    }
}
