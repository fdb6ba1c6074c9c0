//! Display of an experiment's results, and the levels of a hierarchy that a sweep shows.

use super::found::Found;
use super::main_figure::MainFigure;
use super::point::{Parameter, Point};
use super::prediction::Known;
use super::selector::Landmark;
use crate::machine::Machine;

/// Information for pages and charts about an experiment besides its points.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// The figures that represent it on one page; if none is named, the first that was measured.
    pub main_figures: &'static [MainFigure],
    /// The limits that the machine declares along the parameters of the sweep.
    pub landmarks: fn(&Machine) -> Vec<Landmark>,
    /// The levels of a hierarchy found in the results; `None` if there are none.
    pub levels: fn(&Known) -> Option<Levels>,
    /// Whether the order of a point's observations is meaningful, so that they are plotted in order.
    pub in_order: fn(&Point) -> bool,
    /// The point of the same setting against which a point's result is plotted: the latency of a load against the bandwidth that
    /// other threads drew meanwhile.
    pub against: fn(&Point) -> Option<Point>,
    /// Two numbers of every point that are the row and the column of a matrix, such as two CPUs.
    pub matrix: Option<(&'static Parameter, &'static Parameter)>,
    /// The parameter by which tables also divide a result: the iterations of a loop.
    pub divided_by: Option<&'static str>,
}

impl Shown {
    /// Represented by these figures; no landmarks, levels, order or second axis.
    pub const fn by(main_figures: &'static [MainFigure]) -> Self {
        Shown {
            main_figures,
            landmarks: |_| vec![],
            levels: |_| None,
            in_order: |_| false,
            against: |_| None,
            matrix: None,
            divided_by: None,
        }
    }

    /// Adds the machine's declared limits.
    #[must_use]
    pub const fn landmarks(self, landmarks: fn(&Machine) -> Vec<Landmark>) -> Self {
        Shown { landmarks, ..self }
    }

    /// Adds the levels found in the results.
    #[must_use]
    pub const fn levels(self, levels: fn(&Known) -> Option<Levels>) -> Self {
        Shown { levels, ..self }
    }

    /// Plots observations in order.
    #[must_use]
    pub const fn in_order(self, in_order: fn(&Point) -> bool) -> Self {
        Shown { in_order, ..self }
    }

    /// Shows the results as a matrix of two numbers.
    #[must_use]
    pub const fn matrix(self, sides: (&'static Parameter, &'static Parameter)) -> Self {
        Shown { matrix: Some(sides), ..self }
    }

    /// Shows the results divided by a parameter as well.
    #[must_use]
    pub const fn divided_by(self, parameter: &'static str) -> Self {
        Shown { divided_by: Some(parameter), ..self }
    }

    /// Plots results against those of other points.
    #[must_use]
    pub const fn against(self, against: fn(&Point) -> Option<Point>) -> Self {
        Shown { against, ..self }
    }
}

/// The level that serves a range of settings in a sweep: a cache, or memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Its name: `L1`, `memory`.
    pub name: String,
    /// The setting from which it serves; `None` for the first.
    pub from: Option<f64>,
    /// The setting up to which it serves; `None` for the last.
    pub to: Option<f64>,
    /// That end as it was found, with its interval and the state of the core of the curve; `None` where it is too uncertain to be told.
    pub end: Option<Found>,
}

/// The levels found in one curve of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// The points of the curve, without the parameter along it.
    pub of: Point,
    /// The parameter along the curve.
    pub along: &'static str,
    /// The levels found, in the order of the settings.
    pub levels: Vec<Level>,
    /// Levels that only another curve shows, as one on pages of another size.
    pub elsewhere: Vec<Level>,
}

impl Levels {
    /// The same, with those of another curve that this one does not show.
    #[must_use]
    pub fn beside(mut self, other: Levels) -> Self {
        for level in other.levels.into_iter().chain(other.elsewhere) {
            if self.named(&level.name).is_none() {
                self.elsewhere.push(level);
            }
        }
        self
    }

    /// The level of this name on whatever curve shows it.
    pub fn named(&self, name: &str) -> Option<&Level> {
        self.levels.iter().chain(&self.elsewhere).find(|level| level.name == name)
    }
}
