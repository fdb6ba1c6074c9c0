//! The figures of a published report, each with the data that draw it again.

use super::{Series, Trials};
use fathom_core::experiment::Scale;
use fathom_core::quantity::Unit;
use serde::Deserialize;

#[derive(Debug)]
pub struct Picture {
    /// Its number in the report; 0 where it has none.
    pub number: u8,
    /// Its subject: "block read time against file size".
    pub shows: &'static str,
    pub drawn: Drawn,
}

/// How a figure is drawn again.
#[derive(Debug)]
pub enum Drawn {
    /// From the results of a method, all variants or some.
    By { method: &'static str, form: FigureForm },
    /// Fathom does not draw it, for this reason.
    Not(&'static str),
}

/// What of a method's results is drawn, and how.
#[derive(Debug, Clone, Copy)]
pub struct FigureForm {
    /// The variants of its series that belong to the figure.
    pub variants: Variants,
    pub unit: Unit,
    pub shape: FigureShape,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FigureShape {
    /// The mean of the trials against the swept parameter, whose name and scale these are.
    Sweep(&'static str, Scale),
    /// The share of the trials at or below a value: of those at one setting, or of all trials of a variant.
    Distribution(Option<f64>),
}

/// Names of variants: a name with `*` for any beginning or end, after `!` all others.
#[derive(Debug, Clone, Copy)]
pub struct Variants(&'static str);

impl Variants {
    pub const ALL: Variants = Variants("*");

    /// Whether a variant is one of them.
    pub fn has(self, variant: &str) -> bool {
        let (others, pattern) = self.0.strip_prefix('!').map_or((false, self.0), |pattern| (true, pattern));
        let is = match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
            (Some(end), _) => variant.ends_with(end),
            (_, Some(beginning)) => variant.starts_with(beginning),
            _ => variant == pattern,
        };
        is != others
    }
}

/// A figure as the file of its report has it: a sweep `along` a parameter, or a `distribution` at one setting or, if that is
/// infinite, of all; or not drawn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PictureData {
    #[serde(default)]
    number: u8,
    shows: String,
    #[serde(default)]
    method: String,
    /// All, where they are left out.
    variants: Option<String>,
    /// Nanoseconds, where it is left out.
    unit: Option<Unit>,
    #[serde(default)]
    along: String,
    /// A count, where it is left out.
    scale: Option<Scale>,
    distribution: Option<f64>,
    not_drawn: Option<String>,
}

impl From<PictureData> for Picture {
    fn from(data: PictureData) -> Self {
        let shape = match data.distribution {
            Some(at) => FigureShape::Distribution(at.is_finite().then_some(at)),
            None => FigureShape::Sweep(data.along.leak(), data.scale.unwrap_or(Scale::Count)),
        };
        let variants = data.variants.map_or(Variants::ALL, |names| Variants(names.leak()));
        let form = FigureForm { variants, unit: data.unit.unwrap_or(Unit::Nanoseconds), shape };
        let drawn = match data.not_drawn {
            Some(reason) => Drawn::Not(reason.leak()),
            None => Drawn::By { method: data.method.leak(), form },
        };
        Picture { number: data.number, shows: data.shows.leak(), drawn }
    }
}

impl FigureForm {
    /// The variants of a series that are drawn, each with its settings.
    pub(super) fn variants_of(self, series: &Series) -> Vec<(&str, Vec<&Trials>)> {
        let mut variants = series.variants();
        variants.retain(|(name, _)| self.variants.has(name));
        variants
    }
}

impl Series {
    /// The variants, in the order of their first settings, each with its settings.
    pub fn variants(&self) -> Vec<(&str, Vec<&Trials>)> {
        let mut variants: Vec<(&str, Vec<&Trials>)> = vec![];
        for trials in &self.points {
            match variants.iter_mut().find(|(name, _)| *name == trials.variant) {
                Some((_, settings)) => settings.push(trials),
                None => variants.push((&trials.variant, vec![trials])),
            }
        }
        variants
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_named_by_their_beginning_their_end_or_what_they_are_not() {
        let has = |pattern: &'static str, name: &str| Variants(pattern).has(name);
        assert!(has("*", "any") && has("*", "") && has("", "") && !has("", "received"));
        assert!(has("stride*", "stride 64 B") && !has("stride*", "L1"));
        assert!(has("*by size", "random, by size") && !has("!*by size", "random, by size"));
        assert!(has("!penalty", "random") && !has("!penalty", "penalty"));
    }
}
