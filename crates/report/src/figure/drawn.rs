//! A figure that was drawn.

use super::axis::Axis;
use super::svg::Svg;
use fathom_core::quantity::Unit;

/// A figure with the text below it.
pub struct DrawnFigure {
    /// The content of the figure, without its number.
    pub caption: String,
    /// The meaning of the marks, if the document does not explain it once for all figures; may be empty.
    pub key: String,
    /// The unit of the table with its numbers.
    pub unit: Unit,
    pub svg: Svg,
    /// The drawing with the other scale, if that is useful.
    pub otherwise: Option<Svg>,
    /// The scale of the first drawing: `linear` or `logarithmic`.
    pub spread: &'static str,
}

impl DrawnFigure {
    pub(super) fn of(caption: String, unit: Unit, svg: Svg, axis: &Axis) -> Self {
        DrawnFigure { caption, key: String::new(), unit, svg, otherwise: None, spread: axis.spread() }
    }

    pub(super) fn keyed(self, key: String) -> Self {
        DrawnFigure { key, ..self }
    }

    /// The caption and the meaning of the marks.
    pub fn explained(&self) -> String {
        format!("{}{}", self.caption, self.key)
    }
}

/// The quantity with which a caption begins: `Time`, `Rate`.
pub(super) fn quantity(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "Time",
        Unit::BytesPerSecond => "Rate",
        Unit::Bytes => "Size",
        Unit::PartsPerMillion => "Share of time",
    }
}
