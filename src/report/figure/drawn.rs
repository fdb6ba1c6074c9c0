//! A figure that was drawn.

use super::axis::Axis;
use super::svg::Svg;
use crate::quantity::Unit;

/// A figure with what is said below it.
pub(in crate::report) struct Figure {
    /// What is seen, without the number.
    pub caption: String,
    /// What the marks mean, where the document does not say it once for all figures; may be empty.
    pub key: String,
    /// The unit of the table that has its numbers.
    pub unit: Unit,
    /// The drawing.
    pub svg: Svg,
    /// The same on an axis that is spread the other way, where that too shows something.
    pub otherwise: Option<Svg>,
    /// How the values of the first are spread: `linear` or `logarithmic`.
    pub spread: &'static str,
}

impl Figure {
    pub(super) fn of(caption: String, unit: Unit, svg: Svg, axis: &Axis) -> Self {
        Figure { caption, key: String::new(), unit, svg, otherwise: None, spread: axis.spread() }
    }

    pub(super) fn keyed(self, key: String) -> Self {
        Figure { key, ..self }
    }

    /// What is seen, and what the marks mean.
    pub fn explained(&self) -> String {
        format!("{}{}", self.caption, self.key)
    }
}

/// `Time`, `Rate`: how a caption begins.
pub(super) fn quantity(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "Time",
        Unit::BytesPerSecond => "Rate",
        Unit::Bytes => "Size",
        Unit::PartsPerMillion => "Share of time",
    }
}
