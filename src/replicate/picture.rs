//! The figures of a published report, each with what draws it again here.

use super::{Series, Trials};
use crate::experiment::Scale;
use crate::quantity::Unit;

/// A figure of a report.
pub struct Picture {
    /// Its number in the report; 0 where it has none.
    pub number: u8,
    /// What it shows: "block read time against file size".
    pub shows: &'static str,
    /// How it is drawn again.
    pub drawn: Drawn,
}

/// How a figure is drawn again.
pub enum Drawn {
    /// From what a method has found, whose variants may be drawn in part.
    By {
        /// The method's name.
        method: &'static str,
        /// Whether a variant of its series belongs to the figure.
        variant: fn(&str) -> bool,
        /// What the values count.
        unit: Unit,
        /// As what.
        shape: Shape,
    },
    /// Not here, for this reason.
    Not(&'static str),
}

/// What a figure is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// The mean of the trials over what was swept, and how its values are written.
    Sweep(&'static str, Scale),
    /// The share of the trials at or below a value: those at one setting, or all of a variant together.
    Distribution(Option<f64>),
}

impl Picture {
    /// All variants of a method over what it sweeps, as times.
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

    /// Not drawn here, for this reason.
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
