//! Curves over a swept setting: marks with their intervals, joined or with the fitted line.

use super::axis::Axis;
use super::drawn::{DrawnFigure, quantity};
use super::mark::{Mark, extent, key};
use super::placing::{self, Names};
use super::svg::{self, Drawing, Svg, WIDTH};
use crate::words;
use fathom_core::experiment::{Landmark, Scale};
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Unit;
use fathom_engine::results::TrendResult;

const PLOT_HEIGHT: f64 = 160.0;

/// The content of a figure, independent of the scale of its axes.
pub struct Curves<'a> {
    /// The measured object: an experiment, a method.
    pub of: &'a str,
    /// The parameters that all curves share, in words; empty if there are none, or if the names have them.
    pub shared: String,
    /// The statistic of the marks if it is not a median: "Mean".
    pub statistic: &'static str,
    /// The name of the setting.
    pub along: &'a str,
    /// The setting with its meaning.
    pub named: String,
    /// The format of its values.
    pub scale: Scale,
    pub unit: Unit,
    /// The curves, no more than can be distinguished.
    pub members: Vec<Curve<'a>>,
    /// How many more curves are in other figures.
    pub elsewhere: usize,
    /// The landmarks along the setting that the machine declares, such as cache sizes.
    pub landmarks: Vec<Landmark>,
}

pub struct Curve<'a> {
    pub name: String,
    /// Its settings, ascending, with their marks.
    pub marks: Vec<(f64, Mark)>,
    /// Settings that were tried and have no value.
    pub without_value: Vec<f64>,
    /// The line fitted to it.
    pub trend: Option<&'a TrendResult>,
}

/// Settings without a value from which what lies between two marks is unknown.
const GAP: usize = 2;

impl Curve<'_> {
    /// Of settings that all have a value, without a fitted line.
    pub fn of(name: String, marks: Vec<(f64, Mark)>) -> Self {
        Curve { name, marks, without_value: vec![], trend: None }
    }

    /// Its marks in the parts that a line joins: of one distance of the CPUs, because elsewhere the machine changed and not what is swept,
    /// and without several settings between them that have no value.
    fn joined(&self) -> impl Iterator<Item = &[(f64, Mark)]> {
        let is_joined = |(from, one): &(f64, Mark), (to, next): &(f64, Mark)| {
            let between = self.without_value.iter().filter(|setting| from < *setting && *setting < to);
            !one.is_apart && !next.is_apart && between.count() < GAP
        };
        self.marks.chunk_by(is_joined)
    }
}

/// A fitted line follows a mark if it passes through its interval, or misses it by less than this share of it.
const NEAR: f64 = 0.1;

/// A name with its meaning as far as it has room under an axis: to the end of its first clause. The page tells the rest.
fn first_clause(named: &str) -> String {
    let clause = named.split(';').next().and_then(|clause| clause.split(", ").next()).unwrap_or(named);
    let is_open = clause.matches('(').count() > clause.matches(')').count();
    format!("{clause}{}", if is_open { ")" } else { "" })
}

/// The parts of a sweep, each of at least two neighbouring settings, in which the fitted line follows the marks.
fn followed(curve: &Curve, trend: &TrendResult) -> Vec<(f64, f64)> {
    let fitted = |setting: f64| trend.points.iter().any(|(x, _)| x.total_cmp(&setting).is_eq());
    let marks: Vec<&(f64, Mark)> = curve.marks.iter().filter(|(setting, _)| fitted(*setting)).collect();
    let follows = |(setting, mark): &(f64, Mark)| {
        let line = trend.line.at(*setting);
        let within = mark.ends.is_some_and(|(low, high)| (low..=high).contains(&line));
        within || (line - mark.value).abs() <= NEAR * mark.value.abs()
    };
    let parts = marks.chunk_by(|one, other| follows(one) && follows(other));
    parts.filter(|part| part.len() > 1).map(|part| (part[0].0, part[part.len() - 1].0)).collect()
}

/// The area of the curves.
pub(super) struct Plot {
    pub x: Axis,
    pub y: Axis,
    pub left: f64,
    /// The upper edge.
    pub top: f64,
    /// The lower edge.
    pub bottom: f64,
}

impl Plot {
    /// Draws the tick values at the left edge, with a grid line at each.
    pub(super) fn values(&self, drawing: &mut Drawing, unit: Unit) {
        for tick in self.y.ticks(7) {
            let y = self.y.place(tick);
            drawing.line("grid", (self.left, y), (WIDTH - 12.0, y));
            drawing.text("tick", "end", (self.left - 6.0, y + 4.0), &quantities::tick(unit, tick));
        }
        drawing.upright((14.0, f64::midpoint(self.top, self.bottom)), words::quantity(unit));
    }

    /// Draws the ticks of the settings at the lower edge.
    pub(super) fn settings(&self, drawing: &mut Drawing, scale: Scale, named: &str) {
        for (x, words) in placing::ticks(&self.x, 10, |tick| setting(scale, tick)) {
            drawing.line("axis", (x, self.bottom), (x, self.bottom + 4.0));
            drawing.text("tick", "middle", (x, self.bottom + 17.0), &words);
        }
        drawing.line("axis", (self.left, self.bottom), (WIDTH - 12.0, self.bottom));
        let middle = f64::midpoint(self.left, WIDTH - 12.0);
        // As many letters as have room on both sides of the middle.
        let named = svg::shortened(named, svg::letters("name", 2.0 * (WIDTH - middle)));
        drawing.text("name", "middle", (middle, self.bottom + 38.0), &named);
    }
}

impl Curves<'_> {
    pub fn figure(&self) -> DrawnFigure {
        let suited = self.plot(Axis::of_values);
        let otherwise = self.other_plot().map(|plot| self.drawn(&plot));
        let drawn = self.drawn(&suited);
        let joined = if self.is_fitted() { "" } else { " Lines only join neighbours of a sweep." };
        let key = key(&self.marks().collect::<Vec<_>>()) + joined;
        DrawnFigure {
            otherwise,
            ..DrawnFigure::of(self.caption(&suited), self.unit, drawn, &suited.y).keyed(key)
        }
    }

    fn is_fitted(&self) -> bool {
        self.members.iter().any(|curve| curve.trend.is_some())
    }

    /// The sentence on the fitted lines; empty if nothing is fitted.
    fn fits(&self) -> &'static str {
        let fitted = || self.members.iter().filter_map(|curve| Some((curve, curve.trend?)));
        let whole = |(curve, trend): (&Curve, &TrendResult)| {
            let ends = curve.marks.first().zip(curve.marks.last()).map(|((low, _), (high, _))| (*low, *high));
            followed(curve, trend).first().copied() == ends
        };
        let drawn = |(curve, trend): (&Curve, &TrendResult)| !followed(curve, trend).is_empty();
        if fitted().next().is_none() {
            ""
        } else if fitted().all(whole) {
            " Lines are least-squares fits."
        } else if fitted().any(drawn) {
            " Lines are least-squares fits, drawn only where they pass within 10 % of the marks or through their intervals."
        } else {
            " The least-squares fits miss most marks and are not drawn."
        }
    }

    fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.members.iter().flat_map(|curve| curve.marks.iter().map(|(_, mark)| mark))
    }

    fn values(&self) -> Vec<f64> {
        extent(self.marks())
    }

    fn names(&self) -> Vec<String> {
        self.members.iter().map(|curve| curve.name.clone()).collect()
    }

    fn other_plot(&self) -> Option<Plot> {
        Axis::of_values_otherwise(&self.values(), self.unit, 0.0, 1.0)?;
        let otherwise = |values: &[f64], unit, from, to| {
            Axis::of_values_otherwise(values, unit, from, to)
                .unwrap_or_else(|| Axis::of_values(values, unit, from, to))
        };
        Some(self.plot(otherwise))
    }

    fn plot(&self, axis: impl Fn(&[f64], Unit, f64, f64) -> Axis) -> Plot {
        let values = self.values();
        let ticks = axis(&values, self.unit, 0.0, 1.0).ticks(7);
        let widest =
            ticks.iter().map(|tick| svg::width(&quantities::tick(self.unit, *tick))).fold(20.0, f64::max);
        let left = widest + 30.0;
        let settings: Vec<f64> =
            self.members.iter().flat_map(|curve| curve.marks.iter().map(|(setting, _)| *setting)).collect();
        let x = Axis::of_settings(&settings, self.scale, left, WIDTH - 12.0);
        let top = svg::legend_height(left, &self.names()) + 8.0 + self.landmark_names(&x).height();
        let bottom = top + PLOT_HEIGHT;
        Plot { x, y: axis(&values, self.unit, bottom, top), left, top, bottom }
    }

    fn drawn(&self, plot: &Plot) -> Svg {
        let mut drawing = Drawing::new(plot.bottom + 46.0);
        drawing.legend(plot.left, 0.0, &self.names());
        plot.values(&mut drawing, self.unit);
        plot.settings(&mut drawing, self.scale, &first_clause(&self.named));
        self.draw_landmarks(&mut drawing, plot);
        for (index, curve) in self.members.iter().enumerate() {
            drawing.curve(&curve.name, |drawing| draw(drawing, plot, index, curve));
        }
        let name = format!("{}: {} by {}", self.of, quantity(self.unit).to_lowercase(), self.named);
        drawing.finish(&name, &self.description())
    }

    fn caption(&self, plot: &Plot) -> String {
        let quantity = quantity(self.unit);
        let along = words::spelt(self.along);
        let along = match self.shared.as_str() {
            "" => along,
            shared => format!("{along} (each: {shared})"),
        };
        let mut caption = match self.statistic {
            "" => format!("{quantity} by {along}."),
            statistic => format!("{statistic} {} by {along}.", quantity.to_lowercase()),
        };
        caption += &self.visible();
        caption += &match self.elsewhere {
            0 => String::new(),
            1 => " One more curve is in another figure.".to_owned(),
            more => format!(" {more} more curves are in other figures."),
        };
        caption += self.fits();
        if self.landmarks(&plot.x).next().is_some() {
            caption += " Dashed lines mark limits that the machine declares";
            let of_share = " and, of a cache that CPUs elsewhere use too, the share of those that are here";
            caption += if self.landmarks(&plot.x).any(|landmark| landmark.is_share) { of_share } else { "" };
            caption.push('.');
        }
        caption
    }

    /// The declared landmarks along this setting within the range of the axis.
    fn landmarks(&self, x: &Axis) -> impl Iterator<Item = &Landmark> {
        self.landmarks.iter().filter(|landmark| x.shows(landmark.at))
    }

    /// Their names above the plot, where no mark is.
    fn landmark_names(&self, x: &Axis) -> Names {
        let named = self.landmarks(x).map(|landmark| (x.place(landmark.at), landmark.name.as_str()));
        Names::placed(named, (0.0, WIDTH))
    }

    /// Draws a dashed line for each landmark, up to its name.
    fn draw_landmarks(&self, drawing: &mut Drawing, plot: &Plot) {
        let names = self.landmark_names(&plot.x);
        for (landmark, (middle, y)) in self.landmarks(&plot.x).zip(names.above(plot.top - 5.0)) {
            let x = plot.x.place(landmark.at);
            drawing.line("landmark", (x, plot.top - 3.0), (x, plot.bottom));
            drawing.text("tick", "middle", (middle, y), &landmark.name);
        }
    }

    /// The text alternative of the figure: the ends of every curve.
    fn description(&self) -> String {
        let rates = Measure::of_rates(self.members.iter().flat_map(|curve| {
            [curve.marks.first(), curve.marks.last()]
                .into_iter()
                .flatten()
                .map(|(_, mark)| (self.unit, mark.value))
        }));
        let ends = self.members.iter().filter_map(|curve| {
            let ((first, start), (last, end)) = (curve.marks.first()?, curve.marks.last()?);
            let value = |mark: &Mark| {
                let measure = rates.unwrap_or_else(|| Measure::of(self.unit, mark.value));
                format!("{} {}", measure.number(mark.value, None), measure.symbol)
            };
            let (start, end) = (value(start), value(end));
            let [first, last] = [first, last].map(|number| setting(self.scale, *number));
            Some(format!("{}: {start} at {} {first}, {end} at {last}", curve.name, self.along))
        });
        ends.collect::<Vec<_>>().join("; ") + "."
    }
}

/// A tick of the settings: only sizes and times have a unit, and only whole numbers are settings.
pub(super) fn setting(scale: Scale, tick: f64) -> String {
    match scale {
        Scale::Bytes | Scale::Nanoseconds if tick >= 0.0 && tick.fract() == 0.0 => {
            words::number(scale, tick as u64)
        }
        _ if tick.fract() == 0.0 => quantities::plain(tick),
        _ => String::new(),
    }
}

/// Draws a curve: its line, and its marks with their tooltips.
pub(super) fn draw(drawing: &mut Drawing, plot: &Plot, index: usize, curve: &Curve) {
    if let Some(trend) = curve.trend {
        for part in followed(curve, trend) {
            drawing.path(&format!("line l{index}"), &fit(plot, trend, part));
        }
    } else {
        for part in curve.joined() {
            let joined =
                part.iter().map(|(setting, mark)| (plot.x.place(*setting), plot.y.place(mark.value)));
            drawing.path(&format!("line thin l{index}"), &joined.collect::<Vec<_>>());
        }
    }
    for (setting, mark) in &curve.marks {
        let x = plot.x.place(*setting);
        drawing.titled(&mark.words, |drawing| point(drawing, plot, index, x, mark));
    }
}

/// A part of the fitted line, as far as the axes can show it: on logarithmic axes only above zero.
fn fit(plot: &Plot, trend: &TrendResult, (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    let steps = plot.x.steps(low, high).into_iter();
    let values =
        steps.map(|setting| (setting, trend.line.at(setting))).filter(|(_, value)| plot.y.shows(*value));
    values.map(|(setting, value)| (plot.x.place(setting), plot.y.place(value))).collect()
}

fn point(drawing: &mut Drawing, plot: &Plot, index: usize, x: f64, mark: &Mark) {
    let place = |value: f64| plot.y.place(value);
    if let Some(predicted) = mark.predicted {
        drawing.mark(&format!("s{index} hollow"), index, (x, place(predicted)));
    }
    if let Some((low, high)) = mark.ends {
        drawing.line(&format!("bar l{index}"), (x, place(low)), (x, place(high)));
    }
    if mark.limit {
        let y = place(mark.value);
        let end = (y + 16.0).min(plot.bottom - 4.0);
        drawing.line(&format!("bar l{index}"), (x - 4.0, y), (x + 4.0, y));
        drawing.line(&format!("bar l{index}"), (x, y), (x, end));
        drawing.mark(&format!("s{index}"), 4, (x, end));
    } else if mark.is_apart {
        drawing.cross(&format!("bar l{index}"), (x, place(mark.value)));
    } else {
        drawing.mark(&format!("s{index}"), index, (x, place(mark.value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::Point;
    use fathom_core::statistics::Line;

    #[test]
    fn no_line_leads_over_settings_that_have_no_value() {
        let mark = |value: f64| Mark::of(value, None, String::new());
        let parts = |without_value: &[f64]| {
            let marks = vec![(1.0, mark(1.0)), (2.0, mark(1.0)), (64.0, mark(9.0)), (128.0, mark(9.0))];
            let curve =
                Curve { name: String::new(), marks, without_value: without_value.to_vec(), trend: None };
            curve.joined().map(<[(f64, Mark)]>::len).collect::<Vec<_>>()
        };
        assert_eq!(parts(&[8.0, 16.0, 256.0]), [2, 2]);
        assert_eq!(parts(&[8.0]), [4], "one alone");
        assert_eq!(parts(&[]), [4], "nothing lies between");
    }

    #[test]
    fn a_fitted_line_is_drawn_only_where_it_follows_the_marks() {
        let mark = |value: f64, room: f64| Mark::of(value, Some((value - room, value + room)), String::new());
        let line = Line {
            slope: 1.0,
            intercept: -8.0,
            slope_interval: None,
            intercept_interval: None,
            r_squared: None,
            squares: 0.0,
            points: 5,
        };
        let values = [(1.0, 1.0), (4.0, 2.0), (16.0, 8.1), (64.0, 55.0), (256.0, 250.0), (1024.0, 3000.0)];
        let trend = TrendResult {
            experiment: String::new(),
            parameters: vec![],
            group: Point::new(),
            along: "n".to_owned(),
            step: 1.0,
            slope_of: String::new(),
            unit: Unit::Nanoseconds,
            points: values[..5].to_vec(),
            is_uneven: false,
            line,
            predicted: None,
            two_lines: None,
            core: None,
            at_hz: None,
        };
        let marks = |room: f64| values.iter().map(|(n, value)| (*n, mark(*value, room))).collect();
        let curve = |room| Curve {
            name: String::new(),
            marks: marks(room),
            without_value: vec![],
            trend: Some(&trend),
        };
        assert_eq!(followed(&curve(0.1), &trend), [(16.0, 256.0)], "nor where nothing was fitted");
        assert_eq!(followed(&curve(20.0), &trend), [(1.0, 256.0)], "through every interval");
    }
}
