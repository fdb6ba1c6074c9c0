//! Curves over a setting that was swept: marks with their intervals, joined or with the line that was fitted.

use super::axis::Axis;
use super::drawn::{Figure, quantity};
use super::mark::{Mark, extent, key};
use super::svg::{self, Drawing, Svg, WIDTH};
use crate::experiment::{Landmark, Scale};
use crate::quantity::Unit;
use crate::report::{quantities, words};
use crate::results::TrendResult;

const PLOT_HEIGHT: f64 = 300.0;

/// What a figure shows, however its values are spread.
pub(super) struct Curves<'a> {
    /// What was measured: an experiment, a method.
    pub(super) of: &'a str,
    /// What the marks are, where that is not a median: "Mean".
    pub(super) statistic: &'static str,
    /// The setting in a word.
    pub(super) along: &'a str,
    /// The setting with what it means.
    pub(super) named: String,
    /// How its values are written.
    pub(super) scale: Scale,
    /// What the values count.
    pub(super) unit: Unit,
    /// As many as can be told apart.
    pub(super) members: Vec<Curve<'a>>,
    /// What the machine declares along the setting.
    pub(super) landmarks: Vec<Landmark>,
}

/// One of them.
pub(super) struct Curve<'a> {
    /// Its name in the legend.
    pub(super) name: String,
    /// Its settings, ascending, with what stands there.
    pub(super) marks: Vec<(f64, Mark)>,
    /// The line that was fitted to it.
    pub(super) trend: Option<&'a TrendResult>,
}

struct Plot {
    x: Axis,
    y: Axis,
    left: f64,
    bottom: f64,
}

impl Curves<'_> {
    /// The figure.
    pub(super) fn figure(&self) -> Figure {
        let suited = self.plot(Axis::of_values);
        let otherwise = self.other_plot().map(|plot| self.drawn(&plot));
        let drawn = self.drawn(&suited);
        Figure { otherwise, ..Figure::of(self.caption(&suited), self.unit, drawn, &suited.y) }
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
            bottom,
        }
    }

    fn drawn(&self, plot: &Plot) -> Svg {
        let mut drawing = Drawing::new(plot.bottom + 46.0);
        drawing.legend(plot.left, 0.0, &self.names());
        self.frame(&mut drawing, plot);
        for (index, landmark) in self.landmarks(plot).enumerate() {
            draw_landmark(&mut drawing, plot, index, landmark);
        }
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
        caption += &key(&self.marks().collect::<Vec<_>>());
        let fitted = self.members.iter().any(|curve| curve.trend.is_some());
        caption += if fitted {
            " Lines are least-squares fits."
        } else {
            " Lines only join neighbouring points of a sweep."
        };
        if self.landmarks(plot).next().is_some() {
            caption += " Dashed lines mark limits that the machine declares.";
        }
        caption
    }

    /// What the machine declares along this setting, as far as the axis reaches.
    fn landmarks(&self, plot: &Plot) -> impl Iterator<Item = &Landmark> {
        self.landmarks.iter().filter(|landmark| plot.x.shows(landmark.at))
    }

    fn frame(&self, drawing: &mut Drawing, plot: &Plot) {
        for tick in plot.y.ticks(7) {
            let y = plot.y.place(tick);
            drawing.line("grid", (plot.left, y), (WIDTH - 12.0, y));
            drawing.text("tick", "end", (plot.left - 6.0, y + 4.0), &quantities::tick(self.unit, tick));
        }
        for tick in plot.x.ticks(10) {
            let x = plot.x.place(tick);
            drawing.line("axis", (x, plot.bottom), (x, plot.bottom + 4.0));
            drawing.text("tick", "middle", (x, plot.bottom + 17.0), &setting(self.scale, tick));
        }
        drawing.line("axis", (plot.left, plot.bottom), (WIDTH - 12.0, plot.bottom));
        let middle = f64::midpoint(plot.left, WIDTH - 12.0);
        drawing.text("name", "middle", (middle, plot.bottom + 38.0), &self.named);
        drawing.upright((14.0, plot.bottom - PLOT_HEIGHT / 2.0), words::quantity(self.unit));
    }

    /// For those who do not see the figure: the ends of every curve.
    fn description(&self) -> String {
        let ends = self.members.iter().filter_map(|curve| {
            let ((first, start), (last, end)) = (curve.marks.first()?, curve.marks.last()?);
            let value = |mark: &Mark| quantities::value(self.unit, mark.value);
            let (start, end) = (value(start), value(end));
            Some(format!("{}: {start} at {} {first}, {end} at {last}", curve.name, self.along))
        });
        ends.collect::<Vec<_>>().join("; ") + "."
    }
}

/// A dashed line with its name; names of neighbours stand on two lines, so that they do not meet.
fn draw_landmark(drawing: &mut Drawing, plot: &Plot, index: usize, landmark: &Landmark) {
    let x = plot.x.place(landmark.at);
    let top = plot.bottom - PLOT_HEIGHT;
    drawing.line("landmark", (x, top), (x, plot.bottom));
    let (anchor, beside) =
        if x + svg::width(&landmark.name) > WIDTH { ("end", -4.0) } else { ("start", 4.0) };
    let y = top + 12.0 + 15.0 * (index % 2) as f64;
    drawing.text("tick", anchor, (x + beside, y), &landmark.name);
}

/// A setting at the axis: only sizes and times have a unit, and only whole numbers are settings.
fn setting(scale: Scale, tick: f64) -> String {
    match scale {
        Scale::Bytes | Scale::Nanoseconds if tick >= 0.0 && tick.fract() == 0.0 => {
            words::number(scale, tick as u64)
        }
        _ if tick.fract() == 0.0 => format!("{tick:.0}"),
        _ => String::new(),
    }
}

fn draw(drawing: &mut Drawing, plot: &Plot, index: usize, curve: &Curve) {
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

/// The line where it has a place: on logarithmic axes not at or below zero.
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
