//! Levels of a hierarchy found in a sweep.

use super::point::Point;

/// The level that serves a range of settings in a sweep: a cache, or memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Its name: `L1`, `memory`.
    pub name: String,
    /// The setting from which it serves; `None` for the first.
    pub from: Option<f64>,
    /// The setting up to which it serves; `None` for the last.
    pub to: Option<f64>,
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
}
