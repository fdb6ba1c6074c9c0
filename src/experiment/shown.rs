//! How the results of an experiment are shown.

use super::level::Levels;
use super::main_figure::{Landmark, MainFigure};
use super::point::{Parameter, Point};
use super::prediction::Known;
use crate::machine::Machine;

/// What pages and drawings have to know of an experiment besides its points.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// The figures that tell of it on one page; the first that was measured, where none is named.
    pub main_figures: &'static [MainFigure],
    /// What the machine declares along the parameters of the sweep.
    pub landmarks: fn(&Machine) -> Vec<Landmark>,
    /// The levels of a hierarchy that the results show; `None` where they show none.
    pub levels: fn(&Known) -> Option<Levels>,
    /// Whether the observations of a point say something by their order, and are to be drawn in it.
    pub in_order: fn(&Point) -> bool,
    /// The point of the same setting that the result of a point is drawn against: what a load takes against the bandwidth
    /// that others drew meanwhile.
    pub against: fn(&Point) -> Option<Point>,
    /// Two numbers of every point that are the row and the column of a matrix, such as two CPUs.
    pub matrix: Option<(&'static Parameter, &'static Parameter)>,
}

impl Shown {
    /// By these figures; nothing declared, no levels, nothing in order, nothing against another.
    pub const fn by(main_figures: &'static [MainFigure]) -> Self {
        Shown {
            main_figures,
            landmarks: |_| vec![],
            levels: |_| None,
            in_order: |_| false,
            against: |_| None,
            matrix: None,
        }
    }

    /// With what the machine declares.
    #[must_use]
    pub const fn landmarks(self, landmarks: fn(&Machine) -> Vec<Landmark>) -> Self {
        Shown { landmarks, ..self }
    }

    /// With the levels that the results show.
    #[must_use]
    pub const fn levels(self, levels: fn(&Known) -> Option<Levels>) -> Self {
        Shown { levels, ..self }
    }

    /// With observations in their order.
    #[must_use]
    pub const fn in_order(self, in_order: fn(&Point) -> bool) -> Self {
        Shown { in_order, ..self }
    }

    /// As a matrix of two numbers.
    #[must_use]
    pub const fn matrix(self, sides: (&'static Parameter, &'static Parameter)) -> Self {
        Shown { matrix: Some(sides), ..self }
    }

    /// With results against others.
    #[must_use]
    pub const fn against(self, against: fn(&Point) -> Option<Point>) -> Self {
        Shown { against, ..self }
    }
}
