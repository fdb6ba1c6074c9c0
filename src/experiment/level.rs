//! The levels of a hierarchy that a sweep shows.

use super::point::Point;

/// What answers between two settings of a sweep: a cache, memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// `L1`, `memory`.
    pub name: String,
    /// The setting from which on it answers; `None` of the first.
    pub from: Option<f64>,
    /// The setting up to which it does; `None` of the last.
    pub to: Option<f64>,
}

/// The levels that one curve of an experiment shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// The points of the curve, without the parameter that it goes along.
    pub of: Point,
    /// That parameter.
    pub along: &'static str,
    /// The levels, as far as they were found, in the order of the settings.
    pub levels: Vec<Level>,
}
