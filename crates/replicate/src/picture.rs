//! The figures of a published report, each with the data that draw it again.

use super::{Series, Trials};
use fathom_core::experiment::Scale;
use fathom_core::quantity::Unit;

/// A figure of a report.
pub struct Picture {
    /// Its number in the report; 0 where it has none.
    pub number: u8,
    /// Its subject: "block read time against file size".
    pub shows: &'static str,
    /// How it is drawn again.
    pub drawn: Drawn,
}

/// How a figure is drawn again.
pub enum Drawn {
    /// From the results of a method, all variants or some.
    By {
        /// The method's name.
        method: &'static str,
        /// Whether a variant of its series belongs to the figure.
        variant: fn(&str) -> bool,
        /// The unit of the values.
        unit: Unit,
        /// As what.
        shape: Shape,
    },
    /// Fathom does not draw it, for this reason.
    Not(&'static str),
}

/// The kind of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// The mean of the trials against the swept parameter, whose name and scale these are.
    Sweep(&'static str, Scale),
    /// The share of the trials at or below a value: of those at one setting, or of all trials of a variant.
    Distribution(Option<f64>),
}

impl Picture {
    /// All variants of a method against its swept parameter, as times.
    pub const fn swept(
        number: u8,
        shows: &'static str,
        method: &'static str,
        along: &'static str,
        scale: Scale,
    ) -> Self {
        let shape = Shape::Sweep(along, scale);
        Picture {
            number,
            shows,
            drawn: Drawn::By { method, variant: |_| true, unit: Unit::Nanoseconds, shape },
        }
    }

    /// A figure that Fathom does not draw, for this reason.
    pub const fn not(number: u8, shows: &'static str, reason: &'static str) -> Self {
        Picture { number, shows, drawn: Drawn::Not(reason) }
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
