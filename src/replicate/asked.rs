//! Fathom's points, named as a person would with `--help` at hand: by the names of parameters, not by their constants.

use crate::experiment::{Parameter, Placement, Point, Scale};

/// A point of these variants and numbers.
pub fn point(placement: Placement, names: &[(&'static str, &str)], numbers: &[(&'static str, u64)]) -> Point {
    let parameter = |name, scale| Parameter { name, meaning: "", scale };
    let named = names
        .iter()
        .fold(Point::at(placement), |point, (name, value)| point.named(&parameter(name, Scale::Name), value));
    numbers.iter().fold(named, |point, (name, value)| point.with(&parameter(name, Scale::Count), *value))
}
