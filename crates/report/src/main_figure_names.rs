//! Of what the name of a main figure is made beside its own words.

use super::words;
use fathom_core::experiment::{AXIS_PLACEMENT, MainFigure, PEER, Point, VIRTUAL_PEER, Value};
use fathom_engine::results::PointResult;

/// The words of a figure behind the experiment's name without its family.
pub(super) fn of_experiment(name: &str, words: &str) -> String {
    let short = name.split_once('/').map_or(name, |(_, short)| short);
    format!("{}: {words}", words::spelt(short))
}

/// The placement in parentheses, where the experiment has points of another one, measured or not, and the setting of the figure
/// names none.
pub(super) fn placement<'run>(
    figure: &MainFigure,
    point: &PointResult,
    all: impl Iterator<Item = &'run PointResult>,
) -> String {
    let is_named = figure.at.0.iter().any(|(name, _)| *name == AXIS_PLACEMENT.name);
    let placement = point.point.placement();
    let mut others = all.map(|other| other.point.placement());
    if is_named || others.all(|other| other == placement) {
        return String::new();
    }
    format!(" ({})", words::placement(placement))
}

/// A virtual peer is never shown as a real one.
pub(super) fn shown_peer(words: &str, point: &Point) -> String {
    let is_virtual =
        point.parameters().any(|(_, value)| matches!(value, Value::Name(name) if name == VIRTUAL_PEER));
    if is_virtual { words.replace(PEER, VIRTUAL_PEER) } else { words.to_owned() }
}
