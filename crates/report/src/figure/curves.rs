//! Curves over a swept setting: marks with their intervals, joined or with the fitted line.

use super::axis::Axis;
use super::drawn::{DrawnFigure, quantity};
use super::mark::{Mark, extent, key};
use super::svg::{self, Drawing, Svg, WIDTH};
use crate::words;
use fathom_core::experiment::{Landmark, Scale};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_engine::results::TrendResult;

const PLOT_HEIGHT: f64 = 210.0;

/// The content of a figure, independent of the scale of its axes.
pub struct Curves<'a> {
    /// The measured object: an experiment, a method.
    pub of: &'a str,
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
    /// The landmarks along the setting that the machine declares, such as cache sizes.
    pub landmarks: Vec<Landmark>,
}

pub struct Curve<'a> {
    pub name: String,
    /// Its settings, ascending, with their marks.
    pub marks: Vec<(f64, Mark)>,
    /// The line fitted to it.
    pub trend: Option<&'a TrendResult>,
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
        for tick in self.x.ticks(10) {
            let x = self.x.place(tick);
            drawing.line("axis", (x, self.bottom), (x, self.bottom + 4.0));
            drawing.text("tick", "middle", (x, self.bottom + 17.0), &setting(scale, tick));
        }
        drawing.line("axis", (self.left, self.bottom), (WIDTH - 12.0, self.bottom));
        let middle = f64::midpoint(self.left, WIDTH - 12.0);
        drawing.text("name", "middle", (middle, self.bottom + 38.0), named);
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
        let top = svg::legend_height(left, &self.names()) + 8.0;
        let bottom = top + PLOT_HEIGHT;
        let settings: Vec<f64> =
            self.members.iter().flat_map(|curve| curve.marks.iter().map(|(setting, _)| *setting)).collect();
        Plot {
            x: Axis::of_settings(&settings, left, WIDTH - 12.0),
            y: axis(&values, self.unit, bottom, top),
            left,
            top,
            bottom,
        }
    }

    fn drawn(&self, plot: &Plot) -> Svg {
        let mut drawing = Drawing::new(plot.bottom + 46.0);
        drawing.legend(plot.left, 0.0, &self.names());
        plot.values(&mut drawing, self.unit);
        plot.settings(&mut drawing, self.scale, &self.named);
        draw_landmarks(&mut drawing, plot, self.landmarks(plot));
        for (index, curve) in self.members.iter().enumerate() {
            drawing.curve(&curve.name, |drawing| draw(drawing, plot, index, curve));
        }
        let name = format!("{}: {} by {}", self.of, quantity(self.unit).to_lowercase(), self.named);
        drawing.finish(&name, &self.description())
    }

    fn caption(&self, plot: &Plot) -> String {
        let quantity = quantity(self.unit);
        let mut caption = match self.statistic {
            "" => format!("{quantity} by {}.", self.named),
            statistic => format!("{statistic} {} by {}.", quantity.to_lowercase(), self.named),
        };
        if self.is_fitted() {
            caption += " Lines are least-squares fits.";
        }
        if self.landmarks(plot).next().is_some() {
            caption += " Dashed lines mark limits that the machine declares.";
        }
        caption
    }

    /// The declared landmarks along this setting within the range of the axis.
    fn landmarks(&self, plot: &Plot) -> impl Iterator<Item = &Landmark> {
        self.landmarks.iter().filter(|landmark| plot.x.shows(landmark.at))
    }

    /// The text alternative of the figure: the ends of every curve.
    fn description(&self) -> String {
        let ends = self.members.iter().filter_map(|curve| {
            let ((first, start), (last, end)) = (curve.marks.first()?, curve.marks.last()?);
            let value = |mark: &Mark| quantities::value(self.unit, mark.value);
            let (start, end) = (value(start), value(end));
            let [first, last] = [first, last].map(|number| setting(self.scale, *number));
            Some(format!("{}: {start} at {} {first}, {end} at {last}", curve.name, self.along))
        });
        ends.collect::<Vec<_>>().join("; ") + "."
    }
}

/// Draws a dashed line for each landmark with its name next to it, on the first line without overlap.
fn draw_landmarks<'a>(drawing: &mut Drawing, plot: &Plot, landmarks: impl Iterator<Item = &'a Landmark>) {
    let mut taken: Vec<Vec<(f64, f64)>> = vec![];
    for landmark in landmarks {
        let x = plot.x.place(landmark.at);
        drawing.line("landmark", (x, plot.top), (x, plot.bottom));
        let width = svg::width(&landmark.name);
        let (anchor, from, to) =
            if x + width > WIDTH { ("end", x - width, x - 4.0) } else { ("start", x + 4.0, x + width) };
        let is_free = |row: &Vec<(f64, f64)>| row.iter().all(|(start, end)| to < *start || *end < from);
        let row = taken.iter().position(is_free).unwrap_or(taken.len());
        if row == taken.len() {
            taken.push(vec![]);
        }
        taken[row].push((from, to));
        let y = plot.top + 12.0 + 15.0 * row as f64;
        drawing.text("tick", anchor, (if anchor == "end" { to } else { from }, y), &landmark.name);
    }
}

/// A tick of the settings: only sizes and times have a unit, and only whole numbers are settings.
fn setting(scale: Scale, tick: f64) -> String {
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
        drawing.path(&format!("line l{index}"), &fit(plot, trend));
    } else {
        let joined =
            curve.marks.iter().map(|(setting, mark)| (plot.x.place(*setting), plot.y.place(mark.value)));
        drawing.path(&format!("line thin l{index}"), &joined.collect::<Vec<_>>());
    }
    for (setting, mark) in &curve.marks {
        let x = plot.x.place(*setting);
        drawing.told(&mark.words, |drawing| point(drawing, plot, index, x, mark));
    }
}

/// The points of the fitted line that the axes can show: on logarithmic axes only above zero.
fn fit(plot: &Plot, trend: &TrendResult) -> Vec<(f64, f64)> {
    let settings =
        || trend.points.iter().map(|(setting, _)| *setting).filter(|setting| plot.x.shows(*setting));
    let (low, high) = (settings().fold(f64::INFINITY, f64::min), settings().fold(0.0, f64::max));
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
    } else {
        drawing.mark(&format!("s{index}"), index, (x, place(mark.value)));
    }
}
